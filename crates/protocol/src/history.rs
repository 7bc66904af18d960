//! The conversation, valid by construction.
//!
//! Vendors refuse a request whose roles do not alternate, whose function calls lack a response (or
//! have two), or whose responses lack a call; one invalid turn then makes every later request fail.
//! [`History`] cannot hold such a conversation: each method that changes it repairs what the change
//! would break. Cancel, crash, resume, compaction and rewind all use these methods.
//!
//! Invariants that hold between any two method calls, where consecutive entries of one role count
//! as one turn (the dialects join them):
//!
//! 1. the first turn is the user's;
//! 2. every call of a model turn is answered exactly once in the user turn after it, unless it is
//!    the last turn: then it is *pending*;
//! 3. every response answers a call of the model turn before it;
//! 4. ids of calls are unique in their turn, their arguments are objects, no part is empty, no
//!    entry is without parts;
//! 5. a thought is kept only if it is signed, and stays before the parts that it led to: vendors
//!    that require their thoughts back refuse a thought that no other part follows.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Body, Content, Effects, FunctionCall, Part, Role};

mod compressed;
mod declared;

use compressed::Fold;

/// Placeholder for a model turn that never came, between tool results and the user's next message.
pub const INTERRUPTED_RESPONSE: &str = "[The previous response was interrupted.]";

/// Text at the end of an answer of the model that was cut short.
pub const CUT_SHORT: &str = "\n\n[This answer was interrupted here.]";

/// Placeholder for the user's message in a conversation that must begin or continue without one.
pub const CONTINUE: &str = "Please continue.";

/// Durable id of an entry; also the id of its message in the session log.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(Arc<str>);

impl EntryId {
    /// Id of the entry that describes the session's surroundings. It is the same in every session,
    /// and the same as in Gemini CLI: the first 32 hex digits of SHA-256 of `environment-context`.
    pub const CONTEXT: &str = "d04923d38bb0f6017037e74183378ef4";

    /// Creates an id from this text, unchanged.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// One entry of the history. Entries are immutable: a change creates an entry with a new serial, so
/// that a dialect may cache the encoded bytes of an entry by its serial.
#[derive(Debug)]
pub struct HistoryEntry {
    serial: u64,
    id: EntryId,
    content: Content,
}

impl HistoryEntry {
    fn new(id: EntryId, content: Content) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self { serial: NEXT.fetch_add(1, Ordering::Relaxed), id, content })
    }

    /// Creates an entry outside any history, for a side call with its own conversation.
    pub fn detached(content: Content) -> Arc<Self> {
        Self::new(EntryId::new(""), content)
    }

    /// Returns the serial, which is unique in the process and identifies exactly this content.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Returns the durable id.
    pub fn id(&self) -> &EntryId {
        &self.id
    }

    /// Returns the content.
    pub fn content(&self) -> &Content {
        &self.content
    }
}

/// Error of a history that cannot be sent in its present state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// There is no entry.
    #[error("the conversation is empty")]
    Empty,
    /// The last turn is the model's.
    #[error("the model spoke last")]
    ModelSpokeLast,
    /// Calls wait for their responses.
    #[error("calls wait for their responses")]
    CallsPending,
}

/// Repair of a rule violation in a restored conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repair {
    /// A call without a response was given an error response.
    AnsweredCall(String),
    /// A response without a call, or to a call that was already answered, was dropped.
    DroppedResponse(String),
    /// An entry without remaining content was dropped.
    DroppedEntry(String),
    /// The conversation began with the model; a user turn was inserted before it.
    AddedStart,
    /// Tool results were followed by a user message; a model turn was inserted between them.
    AddedPlaceholder,
}

/// A conversation. See the invariants in the module documentation.
#[derive(Debug, Clone, Default)]
pub struct History {
    entries: Vec<Arc<HistoryEntry>>,
    pending: Vec<(String, String)>,
    /// Entries that compressions have replaced, the latest compression last.
    folds: Vec<Fold>,
    /// True if replaced entries were dropped from memory.
    is_put_away: bool,
    /// Effects that calls declared when they started, by the ids of the calls.
    effects: Arc<HashMap<String, Arc<Effects>>>,
}

impl History {
    /// Creates an empty history.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns all entries, oldest first.
    pub fn entries(&self) -> &[Arc<HistoryEntry>] {
        &self.entries
    }

    /// True if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the calls of the last turn that have no response yet, as `(id, name)`.
    pub fn pending(&self) -> &[(String, String)] {
        &self.pending
    }

    /// Adds a message of the user. Pending calls are first answered as cancelled. Responses among
    /// the parts are dropped (they are added by [`Self::push_responses`]), as are empty parts; if
    /// no part remains, the history does not change.
    pub fn push_user(&mut self, id: EntryId, parts: Vec<Part>) {
        let parts: Vec<Part> = parts.into_iter().filter(is_plain).collect();
        if parts.is_empty() {
            return;
        }
        self.close_pending("The call was interrupted.");
        if self.last_has_responses() {
            let content = Content::model(vec![Part::text(INTERRUPTED_RESPONSE)]);
            self.add(EntryId::new(format!("{id}_interrupted")), content);
        }
        self.add(id, Content::user(parts));
    }

    /// Adds an answer of the model. Returns its calls as they were stored (ids made unique,
    /// arguments made objects): [`Self::push_responses`] must answer exactly these calls.
    pub fn push_model(&mut self, id: EntryId, parts: Vec<Part>) -> Vec<FunctionCall> {
        let mut given = Given::new();
        let mut calls = Vec::new();
        let mut kept = Vec::with_capacity(parts.len());
        for mut part in parts {
            let is_unsigned = part.thought && !part.is_signed_thought();
            if is_unsigned || part.is_empty() || part.as_response().is_some() {
                continue;
            }
            if let Body::Call(call) = &mut part.body {
                if !call.args.is_object() {
                    call.args = Value::Object(Map::new());
                }
                make_unique(call, &mut given);
                calls.push(call.clone());
            }
            kept.push(part);
        }
        let last = kept.iter().rposition(|part| !part.thought);
        kept.truncate(last.map_or(0, |last| last + 1));
        if kept.is_empty() {
            return calls;
        }
        self.close_pending("The call was interrupted.");
        if self.entries.is_empty() {
            self.add(
                EntryId::new(format!("{id}_start")),
                Content::user(vec![Part::text(CONTINUE)]),
            );
        }
        self.add(id, Content::model(kept));
        self.pending = calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
        calls
    }

    /// Adds an answer of the model that was cut short: the parts received so far are kept, except
    /// calls, which never ran.
    pub fn push_interrupted(&mut self, id: EntryId, parts: Vec<Part>) {
        let said = parts.into_iter().filter(|part| part.as_call().is_none()).collect();
        self.push_model(id, said);
    }

    /// Adds the responses of tools. `parts` contains responses in the order of completion, and
    /// accompanying parts (media, a steering text). A pending call without a response is answered
    /// as cancelled; a response without a pending call is dropped. Without pending calls, this
    /// method is [`Self::push_user`].
    pub fn push_responses(&mut self, id: EntryId, parts: Vec<Part>) {
        if self.pending.is_empty() {
            self.push_user(id, parts);
            return;
        }
        let mut open = std::mem::take(&mut self.pending);
        let mut kept = Vec::with_capacity(parts.len());
        for part in parts {
            if let Some(response) = part.as_response() {
                let found =
                    open.iter().position(|(id, name)| *id == response.id && *name == response.name);
                let Some(index) = found else { continue };
                open.remove(index);
            } else if part.thought || part.is_empty() || part.as_call().is_some() {
                continue;
            }
            kept.push(part);
        }
        kept.extend(
            open.into_iter().map(|(id, name)| cancelled(id, name, "No result was received.")),
        );
        self.add(id, Content::user(kept));
    }

    /// Answers every pending call as cancelled, for this reason.
    pub fn close_pending(&mut self, reason: &str) {
        if self.pending.is_empty() {
            return;
        }
        let last = self.entries.last().map_or("", |entry| entry.id.as_str());
        let id = EntryId::new(format!("{last}_response"));
        let parts = std::mem::take(&mut self.pending)
            .into_iter()
            .map(|(id, name)| cancelled(id, name, reason))
            .collect();
        self.add(id, Content::user(parts));
    }

    /// Removes the entry with this id and everything after it. Calls of the new last turn become
    /// pending again. If the entry is hidden by a compression, all hidden entries are restored
    /// first. False if there is no such entry.
    pub fn rewind(&mut self, id: &EntryId) -> bool {
        let place = |history: &Self| history.entries.iter().position(|entry| entry.id == *id);
        if place(self).is_none() && self.whole().iter().any(|entry| entry.id == *id) {
            self.uncompress();
        }
        let Some(index) = place(self) else { return false };
        self.entries.truncate(index);
        self.forget_folds();
        self.pending = match self.entries.last() {
            Some(entry) if entry.content.role == Role::Model => {
                entry.content.calls().map(|call| (call.id.clone(), call.name.clone())).collect()
            }
            _ => Vec::new(),
        };
        true
    }

    /// Returns the conversation as a request sends it.
    pub fn request(&self) -> Result<Vec<Arc<HistoryEntry>>, NotReady> {
        if !self.pending.is_empty() {
            return Err(NotReady::CallsPending);
        }
        match self.entries.last() {
            None => Err(NotReady::Empty),
            Some(entry) if entry.content.role == Role::Model => Err(NotReady::ModelSpokeLast),
            Some(_) => Ok(self.entries.clone()),
        }
    }

    /// Builds a history from contents of any origin and repairs rule violations. A call at the end
    /// without a response stays pending: the caller knows whether it can still be answered.
    pub fn restore(contents: impl IntoIterator<Item = (EntryId, Content)>) -> (Self, Vec<Repair>) {
        let mut history = Self::new();
        let mut repairs = Vec::new();
        for (id, content) in contents {
            let before = history.entries.len();
            match content.role {
                Role::Model => history.restore_model(id.clone(), content, &mut repairs),
                Role::User => history.restore_user(id.clone(), content, &mut repairs),
            }
            if history.entries.len() == before {
                repairs.push(Repair::DroppedEntry(id.to_string()));
            }
        }
        (history, repairs)
    }

    fn restore_model(&mut self, id: EntryId, content: Content, repairs: &mut Vec<Repair>) {
        let pending: Vec<String> = self.pending.iter().map(|(id, _)| id.clone()).collect();
        let started = self.entries.is_empty();
        self.push_model(id, content.parts);
        if started && !self.entries.is_empty() {
            repairs.push(Repair::AddedStart);
        }
        repairs.extend(pending.into_iter().map(Repair::AnsweredCall));
    }

    fn restore_user(&mut self, id: EntryId, content: Content, repairs: &mut Vec<Repair>) {
        let mut open: HashSet<(String, String)> = self.pending.iter().cloned().collect();
        let mut answers = false;
        for response in content.responses() {
            if open.remove(&(response.id.clone(), response.name.clone())) {
                answers = true;
            } else {
                repairs.push(Repair::DroppedResponse(response.id.clone()));
            }
        }
        let speaks = answers || content.parts.iter().any(is_plain);
        if speaks {
            repairs.extend(open.into_iter().map(|(id, _)| Repair::AnsweredCall(id)));
        }
        if answers {
            self.push_responses(id, content.parts);
        } else {
            if speaks && (self.last_has_responses() || !self.pending.is_empty()) {
                repairs.push(Repair::AddedPlaceholder);
            }
            self.push_user(id, content.parts);
        }
    }

    fn last_has_responses(&self) -> bool {
        self.entries.last().is_some_and(|entry| {
            entry.content.role == Role::User && entry.content.responses().next().is_some()
        })
    }

    fn add(&mut self, id: EntryId, content: Content) {
        self.entries.push(HistoryEntry::new(id, content));
    }
}

/// True for a part that a user turn may contain without a call before it.
fn is_plain(part: &Part) -> bool {
    !part.thought && !part.is_empty() && part.as_call().is_none() && part.as_response().is_none()
}

/// Ids in use, each with the number of its last duplicate.
type Given = HashMap<String, usize>;

fn make_unique(call: &mut FunctionCall, given: &mut Given) {
    let wanted = if call.id.is_empty() { format!("{}__call", call.name) } else { call.id.clone() };
    let mut id = wanted.clone();
    while given.contains_key(&id) {
        let count = given.entry(wanted.clone()).or_insert(1);
        *count += 1;
        id = format!("{wanted}_{count}");
    }
    given.insert(id.clone(), 1);
    call.id = id;
}

fn cancelled(id: String, name: String, reason: &str) -> Part {
    Part::error(id, name, &format!("[Operation Cancelled] Reason: {reason}"))
}

#[cfg(test)]
mod tests;
