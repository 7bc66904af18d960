//! Conversations as contents in JSON, the form in which Gemini CLI saves and shares them: an array
//! of contents, or an object with the array under the key `history`.

use std::path::Path;

use pollux_protocol::{
    Body, CallId, CallRecord, CallStatus, Content, EntryId, FunctionCall, History, HistoryEntry,
    MessageDisplay, MessageRecord, Part, Record, Role,
};
use serde::Deserialize;
use uuid::Uuid;

use crate::encoder::{Encoder, Lines};
use crate::error::SessionError;
use crate::layout::{SESSION_CONTEXT, without_foreign};

/// Maximum size of a file with contents, in bytes.
const LARGEST: u64 = 100 << 20;

/// Reason given for a call whose result the file does not have.
const UNANSWERED: &str = "No result was saved.";

/// Object with the contents of a conversation.
#[derive(Deserialize)]
struct Saved {
    history: Vec<Content>,
}

/// Reads the contents of a conversation. `None` if the file has another form, or no contents.
///
/// # Errors
/// [`SessionError::Files`] if the file cannot be read or is larger than 100 MiB.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<Content>>, SessionError> {
    let bytes = pollux_fs::read_bytes(path, LARGEST)?;
    let contents: Option<Vec<Content>> = match bytes.trim_ascii_start().first() {
        Some(b'[') => serde_json::from_slice(&bytes).ok(),
        Some(b'{') => serde_json::from_slice::<Saved>(&bytes).ok().map(|saved| saved.history),
        _ => None,
    };
    Ok(contents.filter(|contents| !contents.is_empty()))
}

/// Returns the contents of a conversation as they are saved: without data that only vendors other
/// than Gemini understand, and the messages of one role that follow each other as one content.
pub(crate) fn contents(history: &History) -> Vec<Content> {
    let mut contents: Vec<Content> = Vec::new();
    for entry in history.entries() {
        let Content { role, parts } = entry.content();
        let parts = without_foreign(parts).unwrap_or_else(|| parts.clone());
        match contents.last_mut() {
            Some(last) if last.role == *role => last.parts.extend(parts),
            _ if parts.is_empty() => {}
            _ => contents.push(Content { role: *role, parts }),
        }
    }
    contents
}

/// Formats a value with an indentation of two spaces.
pub(crate) fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}")
}

/// Returns the conversation with these contents. Contents that no vendor accepts are repaired.
pub(crate) fn history(contents: Vec<Content>) -> History {
    let mut named = Vec::with_capacity(contents.len() + 1);
    for mut content in contents {
        // The context and the first prompt are one content, but two entries.
        if named.is_empty()
            && content.role == Role::User
            && let Some(context) = take_context(&mut content)
        {
            named.push((EntryId::new(EntryId::CONTEXT), context));
        }
        named.push((EntryId::new(Uuid::new_v4().to_string()), content));
    }
    let (mut history, _) = History::restore(named);
    history.close_pending(UNANSWERED);
    history
}

/// Takes the context of a session off the first content.
fn take_context(content: &mut Content) -> Option<Content> {
    let text = content.parts.first()?.as_text()?;
    if !text.trim_start().starts_with(SESSION_CONTEXT) {
        return None;
    }
    Some(Content::user(vec![content.parts.remove(0)]))
}

/// Returns the lines of a session file that records this conversation.
pub(crate) fn lines(history: &History, now: &str) -> serde_json::Result<Lines> {
    let mut encoder = Encoder::new(false);
    let mut lines = Lines::new();
    let mut record = |record: Record| -> serde_json::Result<()> {
        lines.extend(encoder.encode(&record, now, || Uuid::new_v4().to_string())?);
        Ok(())
    };
    let mut calls: Vec<FunctionCall> = Vec::new();
    for entry in history.entries() {
        let (id, parts) = (entry.id().clone(), entry.content().parts.clone());
        match entry.content().role {
            Role::Model => {
                calls = entry.content().calls().cloned().collect();
                record(Record::Model(answer(entry)))?;
            }
            Role::User if entry.content().responses().next().is_some() => {
                for call in calls.drain(..) {
                    record(Record::CallFinished(finished(call, &parts)))?;
                }
                record(Record::Responses { id, parts, typed: None })?;
            }
            Role::User if id.as_str() == EntryId::CONTEXT => {
                record(Record::Context { id, parts })?;
            }
            Role::User => record(Record::User { id, parts, display: MessageDisplay::Parts })?,
        }
    }
    Ok(lines)
}

fn answer(entry: &HistoryEntry) -> MessageRecord {
    MessageRecord {
        id: entry.id().clone(),
        parts: entry.content().parts.clone(),
        thoughts: Vec::new(),
        usage: None,
        model: String::new(),
        interrupted: false,
        calls: entry.content().calls().cloned().map(requested).collect(),
    }
}

fn requested(call: FunctionCall) -> CallRecord {
    CallRecord {
        id: CallId::new(call.id),
        display_name: call.name.clone(),
        name: call.name,
        args: call.args,
        status: CallStatus::Scheduled,
        result: None,
        result_display: None,
        description: String::new(),
        kind: None,
        locations: Vec::new(),
        render_output_as_markdown: false,
    }
}

/// Returns the record of a call that one of these parts answers.
fn finished(call: FunctionCall, parts: &[Part]) -> CallRecord {
    let answer =
        parts.iter().find(|part| part.as_response().is_some_and(|response| response.id == call.id));
    let is_error = answer.is_some_and(|part| match &part.body {
        Body::Response(response) => response.response.get("error").is_some(),
        _ => false,
    });
    CallRecord {
        status: if is_error { CallStatus::Error } else { CallStatus::Success },
        result: answer.map(|part| vec![part.clone()]),
        ..requested(call)
    }
}

#[cfg(test)]
mod tests;
