//! Conversion of the conversation to messages.
//!
//! Consecutive entries of one role become one message, because the templates of many open models
//! refuse two in a row.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use pollux_protocol::{HistoryEntry, Role, estimate};

mod encode;
mod shape;

use encode::Pieces;
pub(super) use encode::{append, escaped};
pub(super) use shape::Shape;

use crate::body::Body;
use crate::entry_cache::EntryCache;

/// Separator between the texts of two entries.
const BLANK_LINE: &str = r"\n\n";

/// Message between results and text for vendors that refuse a user message after results.
const BRIDGE: &str = r#"{"role":"assistant","content":"The results are in."}"#;

/// Encoded entries with their estimated numbers of tokens, shared by all models of a vendor.
#[derive(Debug, Default)]
pub(super) struct MessagesCache {
    encoded: Mutex<EntryCache<(u64, Shape), (Pieces, f64)>>,
}

impl MessagesCache {
    /// Writes the messages of a conversation, each preceded by a comma, except the first one if
    /// `first` is set. Returns the estimated number of tokens.
    pub(super) fn write(
        &self,
        body: &mut Body,
        entries: &[Arc<HistoryEntry>],
        shape: &Shape,
        first: bool,
    ) -> Result<f64, serde_json::Error> {
        let mut cache = self.encoded.lock().unwrap_or_else(PoisonError::into_inner);
        cache.begin_request();
        let mut tokens = 0.0;
        let mut said = Vec::with_capacity(entries.len());
        for entry in entries {
            let content = entry.content();
            let encode = || Ok((encode::pieces(content, shape)?, estimate::content(content)));
            let (pieces, estimated) = cache.get((entry.serial(), shape.clone()), encode)?;
            tokens += estimated;
            if !pieces.is_empty() {
                said.push((content.role, pieces.clone()));
            }
        }
        cache.end_request();
        drop(cache);

        let mut messages = Messages { body, first };
        for run in said.chunk_by(|(left, _), (right, _)| left == right) {
            match run[0].0 {
                Role::User => messages.user(run, shape),
                Role::Model => messages.assistant(run),
            }
        }
        Ok(tokens)
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.encoded.lock().unwrap().len()
    }
}

/// Writer of messages to a body.
struct Messages<'a> {
    body: &'a mut Body,
    first: bool,
}

type Run = [(Role, Pieces)];

impl Messages<'_> {
    /// Begins a message.
    fn begin(&mut self, text: &str) {
        if !std::mem::take(&mut self.first) {
            self.body.text(",");
        }
        self.body.text(text);
    }

    /// Writes the results of tools, then the user message.
    fn user(&mut self, run: &Run, shape: &Shape) {
        let results = || run.iter().map(|(_, pieces)| &pieces.results);
        for results in results().filter(|results| !results.is_empty()) {
            self.begin("");
            self.body.bytes(results);
        }
        if run.iter().all(|(_, pieces)| pieces.text.is_empty() && pieces.media.is_empty()) {
            return;
        }
        if !shape.user_after_tool && results().any(|results| !results.is_empty()) {
            self.begin(BRIDGE);
        }
        if run.iter().all(|(_, pieces)| pieces.media.is_empty()) {
            self.begin(r#"{"role":"user","content":""#);
            self.joined(run.iter().map(|(_, pieces)| &pieces.text), BLANK_LINE);
            self.body.text(r#""}"#);
        } else {
            self.begin(r#"{"role":"user","content":["#);
            self.parts(run);
            self.body.text("]}");
        }
    }

    fn parts(&mut self, run: &Run) {
        let mut first = true;
        for (_, pieces) in run {
            let text = if pieces.media.is_empty() { &pieces.text } else { &pieces.media };
            if text.is_empty() {
                continue;
            }
            if !std::mem::take(&mut first) {
                self.body.text(",");
            }
            if pieces.media.is_empty() {
                self.body.text(r#"{"type":"text","text":""#);
                self.body.bytes(text);
                self.body.text(r#""}"#);
            } else {
                self.body.bytes(text);
            }
        }
    }

    fn assistant(&mut self, run: &Run) {
        self.begin(r#"{"role":"assistant","content":"#);
        if run.iter().all(|(_, pieces)| pieces.text.is_empty()) {
            self.body.text("null");
        } else {
            self.body.text("\"");
            self.joined(run.iter().map(|(_, pieces)| &pieces.text), BLANK_LINE);
            self.body.text("\"");
        }
        if let Some((_, pieces)) = run.iter().find(|(_, pieces)| !pieces.reasoning.is_empty()) {
            self.body.text(",");
            self.body.bytes(&pieces.reasoning);
        }
        if run.iter().any(|(_, pieces)| !pieces.calls.is_empty()) {
            self.body.text(r#","tool_calls":["#);
            self.joined(run.iter().map(|(_, pieces)| &pieces.calls), ",");
            self.body.text("]");
        }
        self.body.text("}");
    }

    fn joined<'b>(&mut self, pieces: impl Iterator<Item = &'b Bytes>, separator: &str) {
        for (index, piece) in pieces.filter(|piece| !piece.is_empty()).enumerate() {
            if index > 0 {
                self.body.text(separator);
            }
            self.body.bytes(piece);
        }
    }
}

#[cfg(test)]
mod tests;
