//! Assembly of a response from its events.
//!
//! A response is a list of blocks: texts, thoughts, calls. Parts are reported as they arrive, up to
//! the first call. From there on they are held back until the end of the response, so that calls of
//! a response that breaks off are not made, and thoughts between calls keep their places.

use std::sync::Arc;

use bytes::Bytes;
use pollux_protocol::{
    Citation, FinishReason, ModelError, ModelErrorKind, Part, ResponseChunk, Usage,
};
use serde_json::{Map, Value, json};

use super::pause::Paused;
use super::refusal::Refusals;
use super::thinking::Thought;
use super::wire::{WireBlock, WireDelta, WireEvent, WireMessage, WireUsage};
use crate::answer_stream::{self, Assembly};
use crate::call_arguments::arguments;
use crate::openai::finish_reason;
use crate::surrogates;
use crate::thoughts::Thoughts;
use crate::tool_names::Names;

/// Maximum number of blocks in a response.
const MAX_BLOCKS: usize = 1024;

/// Maximum size of all blocks of a response together, in bytes.
const MAX_SIZE: usize = 64 * 1024 * 1024;

/// Options for reading a response.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    /// Name of the requested model.
    pub(super) model: String,
    /// Original names of the functions.
    pub(super) names: Arc<Names>,
    /// Reader of errors that arrive in place of a piece of the response.
    pub(super) refusals: Arc<Refusals>,
    /// Place for a response that the service has paused.
    pub(super) paused: Paused,
}

/// Decodes a recorded stream, received in these pieces.
///
/// # Errors
/// [`ModelErrorKind::Broken`] for bytes that are not a stream of events of this dialect, or that
/// stop before the end of the response; the error of the service for an error event.
pub fn decode_messages_stream(pieces: Vec<Bytes>) -> Result<Vec<ResponseChunk>, ModelError> {
    answer_stream::decode(pieces, Answer::new(Reading::default()))
}

/// Response received so far.
#[derive(Debug)]
pub(super) struct Answer {
    reading: Reading,
    /// Blocks that have begun and not ended, by their numbers.
    open: Vec<(u64, Block)>,
    /// Blocks that have ended, as they are sent back when the service has paused.
    ended: Vec<Value>,
    size: usize,
    thoughts: Thoughts,
    /// Parts from the first call on.
    held: Vec<Part>,
    usage: WireUsage,
    finished: bool,
    complete: bool,
}

/// Block of the content.
#[derive(Debug)]
enum Block {
    Text(String),
    Thought(Thought),
    Call {
        id: String,
        name: String,
        /// Arguments that came with the beginning of the block.
        input: Option<Value>,
        /// Arguments that came in pieces.
        pieces: String,
    },
    /// Block of a kind that Pollux does not use.
    Other(Map<String, Value>),
}

impl Answer {
    pub(super) fn new(reading: Reading) -> Self {
        Self {
            reading,
            open: Vec::new(),
            ended: Vec::new(),
            size: 0,
            thoughts: Thoughts::default(),
            held: Vec::new(),
            usage: WireUsage::default(),
            finished: false,
            complete: false,
        }
    }

    fn take(&mut self, json: &[u8]) -> Result<ResponseChunk, ModelError> {
        let event: WireEvent = surrogates::decode(json)?;
        let mut chunk = ResponseChunk::default();
        match event.kind.as_deref() {
            Some("error") => return Err(self.reading.refusals.in_payload(json)),
            _ if event.error.is_some() => return Err(self.reading.refusals.in_payload(json)),
            Some("message_start") => {
                self.begin(event.message.unwrap_or_default(), &mut chunk)?;
            }
            Some("content_block_start") => {
                if let Some(block) = event.content_block {
                    self.open(event.index.unwrap_or_default(), block, &mut chunk)?;
                }
            }
            Some("content_block_delta") => {
                if let Some(delta) = event.delta {
                    self.change(event.index.unwrap_or_default(), delta, &mut chunk)?;
                }
            }
            Some("content_block_stop") => {
                self.close(event.index.unwrap_or_default(), &mut chunk);
            }
            Some("message_delta") => {
                self.count(event.usage, &mut chunk);
                let reason = event.delta.and_then(|delta| delta.stop_reason);
                self.stop(reason, &mut chunk);
            }
            Some("message_stop") => self.complete = true,
            // The specification permits events of new kinds.
            Some(_) => {}
            None => {
                let message = "The response of the model does not have the expected form.";
                let error = ModelError::new(ModelErrorKind::Broken, message);
                return Err(ModelError { retryable: true, ..error });
            }
        }
        Ok(chunk)
    }

    /// Takes a message: its beginning in a stream, or all of it.
    fn begin(&mut self, message: WireMessage, chunk: &mut ResponseChunk) -> Result<(), ModelError> {
        let present = |text: Option<String>| text.filter(|text| !text.is_empty());
        chunk.response_id = present(message.id);
        chunk.model_version = present(message.model);
        self.count(message.usage, chunk);
        for (index, block) in message.content.into_iter().flatten().enumerate() {
            let index = index as u64;
            self.open(index, block, chunk)?;
            self.close(index, chunk);
        }
        self.stop(message.stop_reason, chunk);
        Ok(())
    }

    fn count(&mut self, usage: Option<WireUsage>, chunk: &mut ResponseChunk) {
        if let Some(usage) = usage {
            self.usage.update(usage);
            chunk.usage = Some(Usage::from(&self.usage));
        }
    }

    fn open(
        &mut self,
        index: u64,
        block: WireBlock,
        chunk: &mut ResponseChunk,
    ) -> Result<(), ModelError> {
        // A block that was not ended ends with the beginning of the next one of its number.
        self.close(index, chunk);
        if self.open.len() + self.ended.len() >= MAX_BLOCKS {
            return Err(too_much());
        }
        let text = block.text.unwrap_or_default();
        let begun = match block.kind.as_deref() {
            Some("text") => {
                self.say(&text, chunk)?;
                Block::Text(text)
            }
            Some("thinking") => {
                let thinking = block.thinking.unwrap_or_default();
                self.think(&thinking, chunk)?;
                let signature = block.signature.unwrap_or_default();
                self.grow(signature.len())?;
                Block::Thought(Thought::Thinking { thinking, signature })
            }
            Some("redacted_thinking") => {
                let data = block.data.unwrap_or_default();
                self.grow(data.len())?;
                Block::Thought(Thought::RedactedThinking { data })
            }
            Some("tool_use") => {
                let id = block.id.unwrap_or_default();
                let name = block.name.unwrap_or_default();
                self.grow(id.len() + name.len())?;
                Block::Call { id, name, input: block.input, pieces: String::new() }
            }
            kind => Block::Other(other(kind, block.id, block.name, block.input, block.others)),
        };
        self.open.push((index, begun));
        Ok(())
    }

    fn change(
        &mut self,
        index: u64,
        delta: WireDelta,
        chunk: &mut ResponseChunk,
    ) -> Result<(), ModelError> {
        if let Some(citation) = delta.citation
            && let Some(uri) = citation.url
        {
            chunk.citations.push(Citation { title: citation.title, uri });
        }
        if let Some(text) = &delta.text {
            self.say(text, chunk)?;
        }
        if let Some(text) = &delta.thinking {
            self.think(text, chunk)?;
        }
        let others = [&delta.signature, &delta.partial_json];
        self.grow(others.into_iter().flatten().map(String::len).sum())?;
        let Some((_, block)) = self.open.iter_mut().rfind(|(number, _)| *number == index) else {
            return Ok(());
        };
        match block {
            Block::Text(text) => text.push_str(&delta.text.unwrap_or_default()),
            Block::Thought(Thought::Thinking { thinking, signature }) => {
                thinking.push_str(&delta.thinking.unwrap_or_default());
                signature.push_str(&delta.signature.unwrap_or_default());
            }
            Block::Call { pieces, .. } => {
                pieces.push_str(&delta.partial_json.unwrap_or_default());
            }
            Block::Thought(Thought::RedactedThinking { .. }) | Block::Other(_) => {}
        }
        Ok(())
    }

    fn close(&mut self, index: u64, chunk: &mut ResponseChunk) {
        let Some(place) = self.open.iter().rposition(|(number, _)| *number == index) else {
            return;
        };
        let (_, block) = self.open.remove(place);
        chunk.parts.extend(self.thoughts.finish());
        self.ended.push(block.sent());
        match block {
            Block::Text(_) | Block::Other(_) => {}
            Block::Thought(thought) => {
                if let Some(part) = thought.into_part(&self.reading.model) {
                    self.report(part, chunk);
                }
            }
            Block::Call { id, name, input, pieces } => {
                let given = input.filter(|_| pieces.trim().is_empty());
                let args = given.unwrap_or_else(|| arguments(&pieces));
                self.held.push(Part::call(id, self.reading.names.own(name), args));
            }
        }
    }

    fn say(&mut self, text: &str, chunk: &mut ResponseChunk) -> Result<(), ModelError> {
        self.grow(text.len())?;
        if !text.is_empty() {
            chunk.parts.extend(self.thoughts.finish());
            self.report(Part::text(text), chunk);
        }
        Ok(())
    }

    /// Reports the text of a thought. The user may see it at once, whatever is held back.
    fn think(&mut self, text: &str, chunk: &mut ResponseChunk) -> Result<(), ModelError> {
        self.grow(text.len())?;
        chunk.parts.extend(self.thoughts.take(text));
        Ok(())
    }

    fn report(&mut self, part: Part, chunk: &mut ResponseChunk) {
        if self.held.is_empty() { chunk.parts.push(part) } else { self.held.push(part) }
    }

    fn grow(&mut self, size: usize) -> Result<(), ModelError> {
        self.size = self.size.saturating_add(size);
        if self.size > MAX_SIZE { Err(too_much()) } else { Ok(()) }
    }

    /// Ends the response for this reason, if there is one.
    fn stop(&mut self, reason: Option<String>, chunk: &mut ResponseChunk) {
        let Some(reason) = reason.filter(|reason| !reason.is_empty()) else { return };
        self.finished = true;
        self.flush(chunk);
        if reason == "pause_turn" && self.reading.paused.keep(std::mem::take(&mut self.ended)) {
            return;
        }
        chunk.finish = Some(match finish_reason(reason) {
            // Nobody continues it, so it is cut off.
            FinishReason::Other(word) if word == "pause_turn" => FinishReason::MaxTokens,
            reason => reason,
        });
    }

    fn flush(&mut self, chunk: &mut ResponseChunk) {
        while let Some((index, _)) = self.open.first() {
            let index = *index;
            self.close(index, chunk);
        }
        chunk.parts.extend(self.thoughts.finish());
        chunk.parts.append(&mut self.held);
    }
}

impl Assembly for Answer {
    fn take_event(&mut self, name: &str, payload: &[u8]) -> Result<ResponseChunk, ModelError> {
        if name == "error" {
            return Err(self.reading.refusals.in_payload(payload));
        }
        self.take(payload)
    }

    fn take_whole(&mut self, body: &[u8]) -> Result<ResponseChunk, ModelError> {
        if let Some(error) = self.reading.refusals.no_answer(body) {
            return Err(error);
        }
        let event: WireEvent = surrogates::decode(body)?;
        if event.kind.as_deref() != Some("message") {
            return self.take(body);
        }
        let mut chunk = ResponseChunk::default();
        self.begin(surrogates::decode(body)?, &mut chunk)?;
        self.flush(&mut chunk);
        Ok(chunk)
    }

    fn is_finished(&self) -> bool {
        self.finished
    }

    fn is_complete(&self) -> bool {
        self.complete
    }

    fn finish(&mut self) -> ResponseChunk {
        let mut chunk = ResponseChunk::default();
        self.flush(&mut chunk);
        chunk
    }
}

impl Block {
    /// Returns the block in the form in which it is sent back.
    fn sent(&self) -> Value {
        match self {
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Thought(thought) => json!(thought),
            Self::Call { id, name, input, pieces } => {
                let given = input.clone().filter(|_| pieces.trim().is_empty());
                let input = given.unwrap_or_else(|| arguments(pieces));
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
            Self::Other(keys) => keys.clone().into(),
        }
    }
}

/// Returns the keys of a block of an unknown kind.
fn other(
    kind: Option<&str>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Value>,
    others: Map<String, Value>,
) -> Map<String, Value> {
    let known = [
        ("type", kind.map(Value::from)),
        ("id", id.map(Value::from)),
        ("name", name.map(Value::from)),
        ("input", input),
    ];
    let known = known.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    known.chain(others).collect()
}

fn too_much() -> ModelError {
    ModelError::new(ModelErrorKind::Broken, "The response is larger than Pollux supports.")
}

#[cfg(test)]
mod tests;
