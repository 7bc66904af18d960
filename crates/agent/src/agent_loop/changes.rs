//! Changes to the conversation that the user requests between prompts.

use pollux_protocol::{
    CancellationToken, EntryId, Event, PromptOutcome, SessionEndReason, SessionSource, Severity,
};

use super::{AgentLoop, End};
use crate::fitting::Cause;

impl AgentLoop {
    /// Reports the start of the session: the to-do list to the frontend, and the start itself to
    /// hooks. Text that the hooks return goes to the model with the first prompt.
    pub(crate) async fn session_start(&mut self, cancel: &CancellationToken) {
        let todos = std::mem::take(&mut self.todos);
        if !todos.is_empty() {
            self.outlet().emit(Event::TodosChanged(todos)).await;
        }
        let is_new = self.conversation.history().is_empty();
        let source = match (is_new, self.is_after_clear) {
            (true, true) => SessionSource::Clear,
            (true, false) => SessionSource::Startup,
            (false, _) => SessionSource::Resume,
        };
        self.opening = self.hooks.session_start(source, cancel).await;
    }

    /// Runs the `SessionEnd` hooks.
    pub(crate) async fn session_end(&self, reason: SessionEndReason) {
        self.hooks.session_end(reason).await;
    }

    /// Compresses the conversation on request of the user.
    pub(crate) async fn compress_now(&mut self, id: &str, cancel: &CancellationToken) {
        self.begin_change(id);
        let done = self.compress_asked(id, cancel).await;
        self.end_change(done, cancel).await;
    }

    /// Restores the complete conversation, as it was before any compression.
    pub(crate) async fn uncompress_now(&mut self, id: &str) {
        self.begin_change(id);
        let done = self.uncompress().await;
        self.end_change(done, &CancellationToken::new()).await;
    }

    /// Clears the conversation. The next prompt starts a new one.
    pub(crate) async fn clear_now(&mut self, id: &str) {
        self.begin_change(id);
        let done = self.clear().await;
        self.end_change(done, &CancellationToken::new()).await;
    }

    /// Removes an entry and everything after it from the conversation.
    pub(crate) async fn rewind_now(&mut self, id: &str, to: &EntryId) {
        self.begin_change(id);
        let done = self.rewind(to).await;
        self.end_change(done, &CancellationToken::new()).await;
    }

    fn begin_change(&self, id: &str) {
        self.outlet().set_prompt(Some(id));
    }

    async fn end_change(&self, done: Result<(), End>, cancel: &CancellationToken) {
        let synced = match done {
            Ok(()) => self.conversation.recorder().sync().await.map_err(End::Log),
            failed => failed,
        };
        let outcome = match synced {
            Ok(()) if cancel.is_cancelled() => PromptOutcome::Cancelled,
            Ok(()) => PromptOutcome::Done,
            Err(End::Outcome(outcome)) => outcome,
            Err(End::Log(error)) => PromptOutcome::LogFailed(error.to_string()),
        };
        self.outlet().emit(Event::PromptEnded(outcome)).await;
        self.outlet().set_prompt(None);
    }

    async fn compress_asked(&mut self, id: &str, cancel: &CancellationToken) -> Result<(), End> {
        let context = self.select_context();
        let selecting = self.services.models.select(&context);
        let Some(choice) = cancel.run_until_cancelled(selecting).await else {
            return Err(PromptOutcome::Cancelled.into());
        };
        let choice = choice.map_err(PromptOutcome::Failed)?;
        self.own_side_calls(id, self.side_models.owner().instruction.clone());
        self.compress(Cause::Asked, &choice, id, cancel).await.map(drop)
    }

    async fn uncompress(&mut self) -> Result<(), End> {
        if !self.conversation.uncompress().await? {
            self.notify(Severity::Info, "The conversation is not compressed.".to_owned()).await;
            return Ok(());
        }
        self.fitting.changed();
        let (messages, tokens) = (self.conversation.entries().len(), self.conversation.tokens());
        let text = format!(
            "The whole conversation is restored: {messages} messages, about {tokens} tokens."
        );
        self.notify(Severity::Info, text).await;
        Ok(())
    }

    async fn clear(&mut self) -> Result<(), End> {
        self.hooks.session_end(SessionEndReason::Clear).await;
        self.conversation.forget().await?;
        self.instruction.forget();
        let never = CancellationToken::new();
        self.opening = self.hooks.session_start(SessionSource::Clear, &never).await;
        Ok(())
    }

    async fn rewind(&mut self, to: &EntryId) -> Result<(), End> {
        if self.conversation.rewind(to).await? {
            self.fitting.changed();
        } else {
            let text = "The conversation does not contain this message.".to_owned();
            self.notify(Severity::Error, text).await;
        }
        Ok(())
    }

    async fn notify(&self, severity: Severity, text: String) {
        self.outlet().emit(Event::Notice { severity, text }).await;
    }
}
