//! Conversion of the conversation to the format of the service.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use pollux_protocol::{Content, HistoryEntry, Role};

use crate::body::Body;
use crate::entry_cache::EntryCache;

mod part;
mod signature;

use part::{WirePart, is_sent};

/// Encoded parts of entries as JSON, joined by commas, shared by all models of this dialect.
#[derive(Debug, Default)]
pub(crate) struct PartsCache {
    encoded: Mutex<EntryCache<Form, Bytes>>,
}

/// Cache key: an entry, by its serial, in one of its wire forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Form {
    serial: u64,
    /// True if a substitute signature was added to the first call.
    made_up: bool,
    /// True if media stay inside the responses that contain them.
    nested: bool,
}

/// Requirements of the model that receives a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Takes {
    /// True if the first call of each model turn since the last prompt must carry a signature, if
    /// necessary a substitute.
    pub(crate) signatures: bool,
    /// True if media may be inside a response. Otherwise they follow the response: the conversation
    /// may have begun with another model.
    pub(crate) nested_media: bool,
}

impl PartsCache {
    /// Writes the `contents` array of a request. Consecutive entries of one role become one
    /// content; entries without anything to send are omitted.
    pub(crate) fn write_contents(
        &self,
        body: &mut Body,
        entries: &[Arc<HistoryEntry>],
        takes: Takes,
    ) -> Result<(), serde_json::Error> {
        let sent: Vec<&HistoryEntry> = entries
            .iter()
            .map(Arc::as_ref)
            .filter(|entry| entry.content().parts.iter().any(is_sent))
            .collect();
        let made_up =
            if takes.signatures { signature::missing(&sent) } else { vec![false; sent.len()] };

        let mut cache = self.encoded.lock().unwrap_or_else(PoisonError::into_inner);
        cache.begin_request();
        let mut role = None;
        body.text("[");
        for (entry, made_up) in sent.iter().zip(made_up) {
            body.text(separator(role, entry.content().role));
            role = Some(entry.content().role);
            // Most entries have one form for all models.
            let nested = takes.nested_media || !has_nested_media(entry.content());
            let form = Form { serial: entry.serial(), made_up, nested };
            body.bytes(cache.get(form, || encode_parts(entry.content(), made_up, nested))?);
        }
        body.text(if role.is_some() { "]}]" } else { "]" });
        cache.end_request();
        Ok(())
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.encoded.lock().unwrap().len()
    }
}

/// Returns the JSON text between the parts of two entries.
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
