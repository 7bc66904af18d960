//! The conversation of one agent: what a request sends, and the log that holds it first.

use std::sync::Arc;

use pollux_protocol::{
    Call, CallRecord, Compression, Content, Effects, Entry, EntryId, History, JournalError, Limits,
    MessageRecord, NotReady, Part, Record, Role, Severity,
};

use crate::chat::Answer;
use crate::context::{CONTEXT_ENTRY_ID, SessionContext};
use crate::outlet::Outlet;
use crate::recorder::Recorder;

mod fill;

use fill::Fill;
pub(crate) use fill::Load;

/// End of an answer that was cut short, for the model that reads it later.
const CUT_SHORT: &str = "\n\n[This answer was interrupted here.]";

/// Minimum number of characters that one result may have, however full the conversation is: enough to
/// go on with.
const LEAST_ROOM: usize = 2000;

/// History and log of one agent. Every change is in the log before it is in the history.
pub(crate) struct Conversation {
    recorder: Recorder,
    history: History,
    /// Gathers what opens a new conversation.
    context: Box<dyn Fn() -> SessionContext + Send + Sync>,
    new_id: Arc<dyn Fn() -> String + Send + Sync>,
    fill: Fill,
    /// Tokens of the last request and its answer.
    last_tokens: u64,
}

impl Conversation {
    pub(crate) fn new(
        recorder: Recorder,
        mut history: History,
        context: Box<dyn Fn() -> SessionContext + Send + Sync>,
        new_id: Arc<dyn Fn() -> String + Send + Sync>,
    ) -> Self {
        history.put_away();
        Self { recorder, history, context, new_id, fill: Fill::default(), last_tokens: 0 }
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    pub(crate) fn outlet(&self) -> &Outlet {
        self.recorder.outlet()
    }

    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// Returns the entries that a request sends, oldest first.
    pub(crate) fn entries(&self) -> &[Arc<Entry>] {
        self.history.entries()
    }

    /// Returns the entries of the next request.
    ///
    /// # Errors
    /// The conversation is in no state to be sent.
    pub(crate) fn request(&self) -> Result<Vec<Arc<Entry>>, NotReady> {
        self.history.request()
    }

    /// Returns an id for a new entry.
    pub(crate) fn new_id(&self) -> EntryId {
        EntryId::new((self.new_id)())
    }

    /// Opens the conversation with the context of this place, unless it has been opened.
    pub(crate) async fn open(&mut self) -> Result<(), JournalError> {
        let id = EntryId::new(CONTEXT_ENTRY_ID);
        // An imported conversation comes without it.
        if !has(&self.history, &id) {
            let parts = vec![Part::text((self.context)().render())];
            self.record(Record::Context { id: id.clone(), parts: parts.clone() }).await?;
            self.history.push_user(id, parts);
        }
        Ok(())
    }

    /// Adds words of the user's side.
    pub(crate) async fn say(
        &mut self,
        parts: Vec<Part>,
        display: Option<String>,
    ) -> Result<(), JournalError> {
        let id = self.new_id();
        self.record(Record::User { id: id.clone(), parts: parts.clone(), display }).await?;
        self.history.push_user(id, parts);
        Ok(())
    }

    /// Adds the results of the calls of one turn.
    pub(crate) async fn respond(&mut self, parts: Vec<Part>) -> Result<(), JournalError> {
        let id = self.new_id();
        self.record(Record::Responses { id: id.clone(), parts: parts.clone() }).await?;
        self.history.push_responses(id, parts);
        Ok(())
    }

    /// Adds an answer of the model. `planned` describes each of its calls for the log.
    pub(crate) async fn answer(
        &mut self,
        answer: Answer,
        planned: impl Fn(&Call) -> CallRecord,
    ) -> Result<(), JournalError> {
        let id = self.new_id();
        let Answer { turn, model, .. } = answer;
        if let Some(usage) = turn.usage {
            self.last_tokens = usage.total;
            self.fill.counted(&self.history, usage.prompt);
        }
        self.history.push_model(id.clone(), turn.parts);
        let message = MessageRecord {
            parts: self.parts_of(&id),
            id,
            calls: turn.calls.iter().map(planned).collect(),
            thoughts: turn.thoughts,
            usage: turn.usage,
            model,
            interrupted: false,
        };
        if message.parts.is_empty() && message.thoughts.is_empty() {
            return Ok(());
        }
        self.record(Record::Model(message)).await
    }

    /// Adds what an answer had said when it was cut short, and marks it.
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
        let parts = self.parts_of(&id);
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

    /// Returns the parts of the answer with this id as the history holds them; empty if it has
    /// nothing to say.
    fn parts_of(&self, id: &EntryId) -> Vec<Part> {
        let last = self.history.entries().last();
        last.filter(|entry| entry.id() == id && entry.content().role == Role::Model)
            .map(|entry| Content::clone(entry.content()).parts)
            .unwrap_or_default()
    }

    /// Notes what calls declared when they began to run. The log has it.
    pub(crate) fn note_effects(&mut self, call_id: &str, effects: Effects) {
        self.history.note_effects(call_id, effects);
    }

    /// Applies a compression. `history` is the conversation with it.
    pub(crate) async fn compress(
        &mut self,
        compression: Compression,
        history: History,
    ) -> Result<(), JournalError> {
        self.record(Record::Compressed(compression)).await?;
        self.history = history;
        self.history.put_away();
        self.fill.forget();
        Ok(())
    }

    /// Makes old results short. What is left of the conversation keeps its count of tokens.
    pub(crate) async fn shorten(&mut self, compression: Compression) -> Result<(), JournalError> {
        self.record(Record::Compressed(compression.clone())).await?;
        self.history.compress(&compression);
        self.history.put_away();
        Ok(())
    }

    /// Brings back all that is out of sight. Returns false if nothing is.
    pub(crate) async fn uncompress(&mut self) -> Result<bool, JournalError> {
        if !self.history.is_compressed() {
            return Ok(false);
        }
        let whole = self.recorder.recall().await?;
        self.record(Record::Uncompressed).await?;
        self.history = whole;
        self.fill.forget();
        Ok(true)
    }

    /// Forgets everything from one entry on. Returns false if there is no such entry.
    pub(crate) async fn rewind(&mut self, to: &EntryId) -> Result<bool, JournalError> {
        // The entry may be out of sight, in the log alone.
        if !has_anywhere(&self.history, to) {
            self.history = self.recorder.recall().await?;
        }
        if !has_anywhere(&self.history, to) {
            return Ok(false);
        }
        self.record(Record::Rewound { to: to.clone() }).await?;
        self.history.rewind(to);
        self.fill.forget();
        Ok(true)
    }

    /// Takes back words that were not sent, so that the conversation can go on without them. Returns
    /// false, and takes back nothing, after results of tools: what those did is done.
    pub(crate) async fn take_back(&mut self) -> Result<bool, JournalError> {
        let last = self.history.entries().last().cloned();
        let Some(last) = last.filter(|last| last.content().responses().next().is_none()) else {
            return Ok(false);
        };
        self.record(Record::Rewound { to: last.id().clone() }).await?;
        self.history.rewind(last.id());
        Ok(true)
    }

    /// Forgets the whole conversation. The log says so, and nothing of it is sent again.
    pub(crate) async fn forget(&mut self) -> Result<(), JournalError> {
        self.record(Record::Cleared).await?;
        self.history = History::new();
        self.fill = Fill::default();
        self.last_tokens = 0;
        Ok(())
    }

    /// Writes the end of a prompt to the log, and brings the log to the device. `failure` is a
    /// message about an early end.
    pub(crate) async fn end_prompt(
        &self,
        prompt_id: &str,
        failure: Option<String>,
    ) -> Result<(), JournalError> {
        if let Some(text) = failure {
            self.record(Record::Notice { severity: Severity::Error, text }).await?;
        }
        self.record(Record::PromptEnded { prompt_id: prompt_id.to_owned() }).await?;
        self.recorder.sync().await
    }

    /// Returns the tokens of the last request.
    pub(crate) fn tokens(&mut self) -> u64 {
        self.fill.tokens(&self.history)
    }

    /// Returns the size of the next request, by what is new in it.
    pub(crate) fn load(&mut self) -> Load<'_> {
        self.fill.load(&self.history)
    }

    /// Returns the number of characters of one result for which the model has room: half of what is
    /// left, at four to a token. `None` if its context is not known. Gemini CLI takes all of it, and
    /// then cannot ask any more.
    pub(crate) fn room(&self, limits: Limits) -> Option<usize> {
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

fn has(history: &History, id: &EntryId) -> bool {
    history.entries().iter().any(|entry| entry.id() == id)
}

/// True if the history holds the entry, in sight or not.
fn has_anywhere(history: &History, id: &EntryId) -> bool {
    history.whole().iter().any(|entry| entry.id() == id)
}
