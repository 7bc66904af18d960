//! The conversation in the form that the service reads.
//!
//! The bytes of an entry are encoded once and kept for as long as requests use the entry, so that a
//! turn late in a long conversation costs no more to encode than an early one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use pollux_protocol::{Content, Entry, Role};

use crate::body::Body;

mod part;
mod signature;

use part::{WirePart, is_sent};

/// An entry that this many requests did not use is forgotten. More than one, because side calls and
/// subagents with conversations of their own come in between.
const KEPT_FOR_REQUESTS: u64 = 16;

/// The encoded parts of entries, shared by all models that speak this dialect.
#[derive(Debug, Default)]
pub(crate) struct PartsCache {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    requests: u64,
    encoded: HashMap<Form, Encoded>,
}

/// An entry, by its serial, in one of the forms that it is sent in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Form {
    serial: u64,
    /// A signature was made up for its first call.
    made_up: bool,
    /// Media stay inside of the responses that brought them.
    nested: bool,
}

/// What the model is like that a conversation is sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Takes {
    /// The first call of each model turn since the person last spoke carries a signature, if need be a made-up one.
    pub(crate) signatures: bool,
    /// Media may sit inside of a response. Where they may not, they follow it: a conversation may have begun with
    /// another model.
    pub(crate) nested_media: bool,
}

#[derive(Debug)]
struct Encoded {
    /// The parts as JSON, joined by commas.
    parts: Bytes,
    /// The last request that used it.
    request: u64,
}

impl PartsCache {
    /// Writes the `contents` array of a request. Entries of one role that follow each other become one
    /// content; entries without anything to send are left out.
    pub(crate) fn write_contents(
        &self,
        body: &mut Body,
        entries: &[Arc<Entry>],
        takes: Takes,
    ) -> Result<(), serde_json::Error> {
        let sent: Vec<&Entry> = entries
            .iter()
            .map(Arc::as_ref)
            .filter(|entry| entry.content().parts.iter().any(is_sent))
            .collect();
        let made_up =
            if takes.signatures { signature::missing(&sent) } else { vec![false; sent.len()] };

        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.requests += 1;
        let request = state.requests;
        let mut role = None;
        body.text("[");
        for (entry, made_up) in sent.iter().zip(made_up) {
            body.text(separator(role, entry.content().role));
            role = Some(entry.content().role);
            body.bytes(&state.parts_of(entry, made_up, takes.nested_media)?);
        }
        body.text(if role.is_some() { "]}]" } else { "]" });
        state.encoded.retain(|_, encoded| request - encoded.request < KEPT_FOR_REQUESTS);
        Ok(())
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.state.lock().unwrap().encoded.len()
    }
}

impl State {
    fn parts_of(
        &mut self,
        entry: &Entry,
        made_up: bool,
        nested: bool,
    ) -> Result<Bytes, serde_json::Error> {
        // Most entries have one form for all models.
        let nested = nested || !has_nested_media(entry.content());
        let key = Form { serial: entry.serial(), made_up, nested };
        if let Some(encoded) = self.encoded.get_mut(&key) {
            encoded.request = self.requests;
            return Ok(encoded.parts.clone());
        }
        let parts = encode_parts(entry.content(), made_up, nested)?;
        let encoded = Encoded { parts: parts.clone(), request: self.requests };
        self.encoded.insert(key, encoded);
        Ok(parts)
    }
}

/// What stands between the parts of two entries.
fn separator(before: Option<Role>, role: Role) -> &'static str {
    match (before, role) {
        (Some(before), role) if before == role => ",",
        (None, Role::User) => r#"{"role":"user","parts":["#,
        (None, Role::Model) => r#"{"role":"model","parts":["#,
        (Some(_), Role::User) => r#"]},{"role":"user","parts":["#,
        (Some(_), Role::Model) => r#"]},{"role":"model","parts":["#,
    }
}

fn has_nested_media(content: &Content) -> bool {
    content.responses().any(|response| !response.parts.is_empty())
}

fn encode_parts(
    content: &Content,
    made_up: bool,
    nested: bool,
) -> Result<Bytes, serde_json::Error> {
    let first_call = content.parts.iter().position(|part| part.as_call().is_some());
    let mut bytes = Vec::new();
    let mut write = |part: &WirePart<'_>| {
        if !bytes.is_empty() {
            bytes.push(b',');
        }
        serde_json::to_writer(&mut bytes, part)
    };
    for (index, part) in content.parts.iter().enumerate().filter(|(_, part)| is_sent(part)) {
        let made_up = made_up && first_call == Some(index);
        write(&WirePart { part, made_up, nested })?;
        let beside = part.as_response().filter(|_| !nested).map(|response| &response.parts);
        for part in beside.into_iter().flatten() {
            write(&WirePart { part, made_up: false, nested })?;
        }
    }
    Ok(bytes.into())
}

#[cfg(test)]
mod tests;
