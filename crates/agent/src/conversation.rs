//! Conversation of one agent: the entries for requests, and the log that records each of them
//! first.

use std::sync::Arc;
use std::time::Duration;

use pollux_protocol::{
    CUT_SHORT, Call, CallRecord, Compression, Content, Effects, EntryId, History, HistoryEntry,
    JournalError, MessageDisplay, MessageRecord, ModelLimits, NotReady, Part, Record, Role,
    Severity,
};

use crate::chat::Answer;
use crate::context::SessionContext;
use crate::outlet::Outlet;
use crate::recorder::HistoryRecorder;

mod context_usage;

use context_usage::ContextUsage;
pub(crate) use context_usage::Load;

/// Time that a cancellation waits for the storage device.
const CANCEL_PATIENCE: Duration = Duration::from_millis(20);
/// Minimum number of characters that one result may have, even in an almost full conversation:
/// enough for the model to continue.
const LEAST_ROOM: usize = 2000;

/// History and log of one agent. Each change is written to the log before the history changes.
pub(crate) struct Conversation {
    recorder: HistoryRecorder,
    history: History,
    /// Function that collects the context block of a new conversation.
    context: Option<Box<dyn Fn() -> SessionContext + Send + Sync>>,
    new_id: Arc<dyn Fn() -> String + Send + Sync>,
    usage: ContextUsage,
    /// Number of tokens of the last request and its answer.
    last_tokens: u64,
}

impl Conversation {
    pub(crate) fn new(
        recorder: HistoryRecorder,
        mut history: History,
        context: Option<Box<dyn Fn() -> SessionContext + Send + Sync>>,
        new_id: Arc<dyn Fn() -> String + Send + Sync>,
    ) -> Self {
        history.put_away();
        Self { recorder, history, context, new_id, usage: ContextUsage::default(), last_tokens: 0 }
    }

    pub(crate) fn recorder(&self) -> &HistoryRecorder {
        &self.recorder
    }

    pub(crate) fn outlet(&self) -> &Outlet {
        self.recorder.outlet()
    }

    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// Returns the entries that a request sends, oldest first.
    pub(crate) fn entries(&self) -> &[Arc<HistoryEntry>] {
        self.history.entries()
    }

    /// Returns the entries of the next request.
    ///
    /// # Errors
    /// Returns an error if the conversation cannot be sent in its current state.
    pub(crate) fn request(&self) -> Result<Vec<Arc<HistoryEntry>>, NotReady> {
        self.history.request()
    }

    /// Returns an id for a new entry.
    pub(crate) fn new_id(&self) -> EntryId {
        EntryId::new((self.new_id)())
    }

    /// Starts the conversation with the context block, unless it has one.
    pub(crate) async fn open(&mut self) -> Result<(), JournalError> {
        let id = EntryId::new(EntryId::CONTEXT);
        // An imported conversation has no context block.
        if let Some(context) = &self.context
            && !has(&self.history, &id)
        {
            let parts = vec![Part::text(context().render())];
            self.record(Record::Context { id: id.clone(), parts: parts.clone() }).await?;
            self.history.push_user(id, parts);
        }
        Ok(())
    }

    /// Adds a message of the user's side.
    pub(crate) async fn say(
        &mut self,
        parts: Vec<Part>,
        display: MessageDisplay,
    ) -> Result<(), JournalError> {
        let id = self.new_id();
        self.record(Record::User { id: id.clone(), parts: parts.clone(), display }).await?;
        self.history.push_user(id, parts);
        Ok(())
    }

    /// Adds messages that precede a prompt and that nobody typed.
    pub(crate) async fn precede(&mut self, messages: Vec<Content>) -> Result<(), JournalError> {
        for Content { role, parts } in messages {
            match role {
                Role::User => self.say(parts, MessageDisplay::Hidden).await?,
                Role::Model => {
                    let id = self.new_id();
                    self.history.push_model(id.clone(), parts);
                    let parts = parts_of(self.entry_of(&id).as_ref());
                    if !parts.is_empty() {
                        self.record(Record::Model(MessageRecord::of_text(id, parts))).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the results of the calls of one turn. `typed` is the text among them that the user
    /// typed.
    pub(crate) async fn respond(
        &mut self,
        parts: Vec<Part>,
        typed: Option<String>,
    ) -> Result<(), JournalError> {
        let id = self.new_id();
        self.record(Record::Responses { id: id.clone(), parts: parts.clone(), typed }).await?;
        self.history.push_responses(id, parts);
        Ok(())
    }

    /// Adds an answer of the model. `planned` describes each of its calls for the log. Returns the
    /// entry of the history, unless the answer has no content.
    pub(crate) async fn answer(
        &mut self,
        answer: Answer,
        planned: impl Fn(&Call) -> CallRecord,
    ) -> Result<Option<Arc<HistoryEntry>>, JournalError> {
        let id = self.new_id();
        let Answer { turn, model, .. } = answer;
        if let Some(usage) = turn.usage {
            self.last_tokens = usage.total;
            self.usage.counted(&self.history, usage.prompt);
        }
        self.history.push_model(id.clone(), turn.parts);
        let entry = self.entry_of(&id);
        let message = MessageRecord {
            parts: parts_of(entry.as_ref()),
            id,
            calls: turn.calls.iter().map(planned).collect(),
            thoughts: turn.thoughts,
            usage: turn.usage,
            model,
            interrupted: false,
        };
        if !message.parts.is_empty() || !message.thoughts.is_empty() {
            self.record(Record::Model(message)).await?;
        }
        Ok(entry)
    }

    /// Adds the received part of an answer that was cut short, and marks it.
    pub(crate) async fn answer_cut_short(&mut self, answer: Answer) -> Result<(), JournalError> {
        let id = self.new_id();
        let Answer { mut turn, model, .. } = answer;
        if !turn.has_content() {
            return Ok(());
        }
        if turn.parts.iter().any(|part| part.as_text().is_some_and(|text| !text.is_empty())) {
            turn.parts.push(Part::text(CUT_SHORT));
        }
        self.history.push_interrupted(id.clone(), turn.parts);
        let parts = parts_of(self.entry_of(&id).as_ref());
        if parts.is_empty() {
            return Ok(());
        }
        self.record(Record::Model(MessageRecord {
            id,
            parts,
            thoughts: turn.thoughts,
            usage: turn.usage,
            model,
            interrupted: true,
            calls: Vec::new(),
        }))
        .await
    }

    /// Returns the entry of the answer with this id; `None` if the answer has no content.
    fn entry_of(&self, id: &EntryId) -> Option<Arc<HistoryEntry>> {
        let last = self.history.entries().last().cloned();
        last.filter(|entry| entry.id() == id && entry.content().role == Role::Model)
    }

    /// Notes the effects that a call declared when it started. They are already in the log.
    pub(crate) fn note_effects(&mut self, call_id: &str, effects: Effects) {
        self.history.note_effects(call_id, effects);
    }

    /// Applies a compression. `history` is the compressed conversation.
    pub(crate) async fn compress(
        &mut self,
        compression: Compression,
        history: History,
    ) -> Result<(), JournalError> {
        self.record(Record::Compressed(compression)).await?;
        self.history = history;
        self.history.put_away();
        self.usage.forget();
        Ok(())
    }

    /// Shortens old results. The counted tokens of the remaining conversation are kept.
    pub(crate) async fn shorten(&mut self, compression: Compression) -> Result<(), JournalError> {
        self.record(Record::Compressed(compression.clone())).await?;
        self.history.compress(&compression);
        self.history.put_away();
        Ok(())
    }

    /// Restores the complete conversation from the log. Returns false if it is not compressed.
    pub(crate) async fn uncompress(&mut self) -> Result<bool, JournalError> {
        if !self.history.is_compressed() {
            return Ok(false);
        }
        let whole = self.recorder.recall().await?;
        self.record(Record::Uncompressed).await?;
        self.history = whole;
        self.usage.forget();
        Ok(true)
    }

    /// Removes an entry and everything after it. Returns false if there is no such entry.
    pub(crate) async fn rewind(&mut self, to: &EntryId) -> Result<bool, JournalError> {
        // A compression may have replaced the entry, so that only the log still holds it.
        if !has_anywhere(&self.history, to) {
            self.history = self.recorder.recall().await?;
        }
        if !has_anywhere(&self.history, to) {
            return Ok(false);
        }
        self.record(Record::Rewound { to: to.clone() }).await?;
        self.history.rewind(to);
        self.usage.forget();
        Ok(true)
    }

    /// Removes the last message of the user's side if it could not be sent, so that the
    /// conversation can continue without it. Returns false and removes nothing if the message holds
    /// results of tools: their actions cannot be undone.
    pub(crate) async fn take_back(&mut self) -> Result<bool, JournalError> {
        let last = self.history.entries().last().cloned();
        let is_message =
            |content: &Content| content.role == Role::User && content.responses().next().is_none();
        let Some(last) = last.filter(|last| is_message(last.content())) else {
            return Ok(false);
        };
        self.record(Record::Rewound { to: last.id().clone() }).await?;
        self.history.rewind(last.id());
        Ok(true)
    }

    /// Clears the whole conversation. The log records the change, and no old entry is sent again.
    pub(crate) async fn forget(&mut self) -> Result<(), JournalError> {
        self.record(Record::Cleared).await?;
        self.history = History::new();
        self.usage = ContextUsage::default();
        self.last_tokens = 0;
        Ok(())
    }

    /// Writes the end of a prompt to the log, and syncs the log to the storage device. `failure` is
    /// a message about an early end. A user who cancelled does not wait for a slow device: the log
    /// is then synced in the background.
    pub(crate) async fn end_prompt(
        &self,
        prompt_id: &str,
        failure: Option<String>,
        is_cancelled: bool,
    ) -> Result<(), JournalError> {
        if let Some(text) = failure {
            self.record(Record::Notice { severity: Severity::Error, text }).await?;
        }
        self.record(Record::PromptEnded { prompt_id: prompt_id.to_owned() }).await?;
        let synced = self.recorder.sync();
        if is_cancelled {
            return tokio::time::timeout(CANCEL_PATIENCE, synced).await.unwrap_or(Ok(()));
        }
        synced.await
    }

    /// Returns the number of tokens of the last request.
    pub(crate) fn tokens(&mut self) -> u64 {
        self.usage.tokens(&self.history)
    }

    /// Returns the size of the next request, with the new entries counted separately.
    pub(crate) fn load(&mut self) -> Load<'_> {
        self.usage.load(&self.history)
    }

    /// Returns the maximum number of characters for one result: half of the remaining context, at
    /// four characters to a token. `None` if the size of the context is unknown. Gemini CLI allows
    /// the whole remaining context, and then cannot send another request.
    pub(crate) fn room(&self, limits: ModelLimits) -> Option<usize> {
        if limits.context == 0 {
            return None;
        }
        let tokens = limits.context.saturating_sub(self.last_tokens);
        Some(usize::try_from(tokens.saturating_mul(2)).unwrap_or(usize::MAX).max(LEAST_ROOM))
    }

    async fn record(&self, record: Record) -> Result<(), JournalError> {
        self.recorder.record(record).await
    }
}

fn parts_of(entry: Option<&Arc<HistoryEntry>>) -> Vec<Part> {
    entry.map(|entry| entry.content().parts.clone()).unwrap_or_default()
}

fn has(history: &History, id: &EntryId) -> bool {
    history.entries().iter().any(|entry| entry.id() == id)
}

/// True if the history holds the entry, even if a compression replaced it.
fn has_anywhere(history: &History, id: &EntryId) -> bool {
    history.whole().iter().any(|entry| entry.id() == id)
}
