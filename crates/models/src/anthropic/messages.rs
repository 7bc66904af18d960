//! Conversion of the conversation to messages, with the places up to which the service caches it.
//!
//! Consecutive entries of one role become one message. The service reads the longest prefix of a
//! request from its cache that ended at a breakpoint of an earlier request, and writes the prefixes
//! of this request's breakpoints. Two of the four breakpoints are at the ends of the last two
//! messages of the user: the earlier one finds what the previous request has written, the later one
//! writes for the next request.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use pollux_protocol::{HistoryEntry, Role, estimate};

use super::blocks::{Blocks, Shape, blocks};
use crate::body::Body;
use crate::entry_cache::EntryCache;

/// Number of breakpoints in the messages. The other two are after the tools and after the system
/// instruction.
const BREAKPOINTS: usize = 2;

/// End of a block that is a breakpoint, in place of its closing brace.
pub(super) const BREAKPOINT: &str = r#","cache_control":{"type":"ephemeral"}}"#;

/// Content of a message of which nothing can be sent.
const NOTHING: &str = r#"{"type":"text","text":"[empty message]"}"#;

/// Encoded entries with their estimated numbers of tokens, shared by all models of a vendor.
#[derive(Debug, Default)]
pub(super) struct BlocksCache {
    encoded: Mutex<EntryCache<(u64, Shape), (Blocks, f64)>>,
}

impl BlocksCache {
    /// Writes the messages of a conversation. Returns the estimated number of tokens.
    pub(super) fn write(
        &self,
        body: &mut Body,
        entries: &[Arc<HistoryEntry>],
        shape: &Shape,
        breakpoints: bool,
    ) -> Result<f64, serde_json::Error> {
        let mut cache = self.encoded.lock().unwrap_or_else(PoisonError::into_inner);
        cache.begin_request();
        let mut tokens = 0.0;
        let mut said: Run = Vec::with_capacity(entries.len());
        for entry in entries {
            let content = entry.content();
            let encode = || Ok((blocks(content, shape)?, estimate::content(content)));
            let (blocks, estimated) = cache.get((entry.serial(), shape.clone()), encode)?;
            tokens += estimated;
            // A model that said nothing leaves no message; the user's messages remain.
            if content.role == Role::User || !blocks.is_empty() {
                said.push((content.role, blocks.clone()));
            }
        }
        cache.end_request();
        drop(cache);

        let messages: Vec<&[(Role, Blocks)]> =
            said.chunk_by(|(left, _), (right, _)| left == right).collect();
        let users = messages.iter().filter(|message| message[0].0 == Role::User).count();
        let mut user = 0;
        for (index, message) in messages.into_iter().enumerate() {
            let is_user = message[0].0 == Role::User;
            user += usize::from(is_user);
            let is_breakpoint = breakpoints && is_user && user + BREAKPOINTS > users;
            body.text(if index > 0 { "," } else { "" });
            write_message(body, message, is_breakpoint);
        }
        Ok(tokens)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.encoded.lock().unwrap().len()
    }
}

type Run = Vec<(Role, Blocks)>;

fn write_message(body: &mut Body, message: &[(Role, Blocks)], is_breakpoint: bool) {
    body.text(match message[0].0 {
        Role::User => r#"{"role":"user","content":["#,
        Role::Model => r#"{"role":"assistant","content":["#,
    });
    let results = message.iter().map(|(_, blocks)| &blocks.results);
    let others = message.iter().map(|(_, blocks)| &blocks.others);
    let lists: Vec<&Bytes> = results.chain(others).filter(|list| !list.is_empty()).collect();
    if lists.is_empty() {
        body.text(NOTHING);
    }
    for (index, list) in lists.iter().enumerate() {
        body.text(if index > 0 { "," } else { "" });
        if is_breakpoint && index + 1 == lists.len() {
            // The list ends with the brace that closes its last block.
            body.bytes(&list.slice(..list.len() - 1));
            body.text(BREAKPOINT);
        } else {
            body.bytes(list);
        }
    }
    body.text("]}");
}

#[cfg(test)]
mod tests;
