//! Parts of the conversation that the person takes back.

use pollux_protocol::{
    CancellationToken, EntryId, History, HookEvent, HookPayload, Record, SessionEndReason,
    SessionSource, Severity,
};

use super::{End, Session};
use crate::instruction::Instruction;

impl Session {
    /// Forgets the conversation. The next prompt opens a new one.
    pub(crate) async fn clear_now(&mut self, id: &str) {
        self.parts.emitter.set_prompt(Some(id));
        let done = self.clear().await;
        self.command_ended(done, &CancellationToken::new()).await;
    }

    /// Forgets the conversation from one entry on.
    pub(crate) async fn rewind_now(&mut self, id: &str, to: &EntryId) {
        self.parts.emitter.set_prompt(Some(id));
        let done = self.rewind(to).await;
        self.command_ended(done, &CancellationToken::new()).await;
    }

    async fn clear(&mut self) -> Result<(), End> {
        let never = CancellationToken::new();
        if self.hooks.has(HookEvent::SessionEnd) {
            let payload = HookPayload::SessionEnd { reason: SessionEndReason::Clear };
            self.hooks.fire(&payload, &never).await;
        }
        self.forget().await?;
        self.instruction = Instruction::default();
        self.opening = None;
        if self.hooks.has(HookEvent::SessionStart) {
            let payload = HookPayload::SessionStart { source: SessionSource::Clear };
            self.opening = self.hooks.fire(&payload, &never).await.fenced_context();
        }
        Ok(())
    }

    async fn rewind(&mut self, to: &EntryId) -> Result<(), End> {
        // The entry may be out of sight, in the log alone.
        if !has(&self.parts.history, to) {
            self.parts.history = self.parts.emitter.recall().await?;
        }
        if !has(&self.parts.history, to) {
            let text = "The conversation has no such message.".to_owned();
            self.tell(Severity::Error, text).await;
            return Ok(());
        }
        self.record(Record::Rewound { to: to.clone() }).await?;
        self.parts.history.rewind(to);
        self.changed();
        Ok(())
    }
}

fn has(history: &History, id: &EntryId) -> bool {
    history.whole().iter().any(|entry| entry.id() == id)
}
