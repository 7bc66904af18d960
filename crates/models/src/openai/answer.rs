//! Assembly of a response from the received pieces.

use std::sync::Arc;

use bytes::Bytes;
use pollux_protocol::{FinishReason, ModelError, ModelErrorKind, Part, ResponseChunk};

use super::calls::Calls;
use super::emulation;
use super::reasoning::{Gathered, Reasoning, ReasoningReturn};
use super::refusal::Refusals;
use super::splitter::{Segment, Splitter};
use super::wire::{WireAnswer, WireChoice, WireMessage};
use crate::answer_stream::{self, Assembly};
use crate::surrogates;
use crate::thoughts::Thoughts;
use crate::tool_names::Names;

/// Maximum size of text that is held back until its meaning is known, in bytes.
const MAX_HELD: usize = 16 * 1024 * 1024;

/// Options for reading a response.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    /// True if calls are fenced blocks in the text.
    pub(super) emulated: bool,
    /// Rule for reasoning that is sent back.
    pub(super) reasoning: ReasoningReturn,
    /// Original names of the functions.
    pub(super) names: Arc<Names>,
    /// Reader of errors that arrive in place of a piece of the response.
    pub(super) refusals: Arc<Refusals>,
}

/// Decodes one response in isolation: the payload of an event of a stream, or a whole
/// `chat.completion`. Arguments of a call that are not JSON are kept as text; an unpaired surrogate
/// becomes U+FFFD.
///
/// # Errors
/// [`ModelErrorKind::Broken`] (retryable) for text that is not JSON of this shape; the error of the
/// service for an error object.
pub fn decode_chat_chunk(json: &[u8]) -> Result<ResponseChunk, ModelError> {
    let mut answer = Answer::new(Reading::default());
    answer.take_whole(json)
}

/// Response received so far.
#[derive(Debug)]
pub(super) struct Answer {
    reading: Reading,
    splitter: Splitter,
    thoughts: Thoughts,
    calls: Calls,
    /// Reasoning that is sent back.
    reasoning: Gathered,
    finished: bool,
}

impl Answer {
    pub(super) fn new(reading: Reading) -> Self {
        Self {
            splitter: Splitter::new(reading.emulated),
            thoughts: Thoughts::default(),
            calls: Calls::default(),
            reasoning: Gathered::new(reading.reasoning.clone()),
            finished: false,
            reading,
        }
    }

    /// Processes a payload.
    ///
    /// # Errors
    /// The errors of [`decode_chat_chunk`], and [`ModelErrorKind::Broken`] for responses that are
    /// too large to hold.
    pub(super) fn take(&mut self, json: &[u8]) -> Result<ResponseChunk, ModelError> {
        let wire = self.decode(json)?;
        let usage = wire.usage.or_else(|| wire.x_groq.and_then(|groq| groq.usage));
        let present = |text: String| (!text.is_empty()).then_some(text);
        let mut chunk = ResponseChunk {
            usage: usage.map(Into::into),
            response_id: present(wire.id.text),
            model_version: present(wire.model.text),
            ..ResponseChunk::default()
        };
        let mut choices = wire.choices.into_iter().flatten().flatten();
        if let Some(choice) = choices.find(is_first) {
            if choice.error.is_some() {
                return Err(self.reading.refusals.in_payload(json));
            }
            self.choose(choice, &mut chunk)?;
        }
        Ok(chunk)
    }

    /// Decodes the payload, unless it is an error.
    fn decode(&self, json: &[u8]) -> Result<WireAnswer, ModelError> {
        let wire: WireAnswer = surrogates::decode(json)?;
        let is_error = wire.error.is_some()
            || wire.object.text == "error"
            || (wire.choices.is_none() && wire.detail.is_some());
        if is_error { Err(self.reading.refusals.in_payload(json)) } else { Ok(wire) }
    }

    fn choose(&mut self, choice: WireChoice, chunk: &mut ResponseChunk) -> Result<(), ModelError> {
        if let Some(message) = choice.delta.or(choice.message) {
            self.hear(message, chunk)?;
        }
        let reason = choice.finish_reason.text;
        if !reason.is_empty() {
            self.flush(chunk);
            self.finished = true;
            chunk.finish = Some(finish_reason(reason));
        }
        Ok(())
    }

    fn hear(&mut self, message: WireMessage, chunk: &mut ResponseChunk) -> Result<(), ModelError> {
        let reasoning = Reasoning {
            content: &message.reasoning_content.text,
            plain: &message.reasoning.text,
            details: message.reasoning_details,
        };
        let text = reasoning.text();
        self.reasoning.take(reasoning);
        for words in [text, &message.content.thought] {
            chunk.parts.extend(self.thoughts.take(words));
        }
        for words in [message.content.text, message.refusal.text] {
            let segments = self.splitter.push(&words);
            self.say(segments, chunk);
        }
        if self.splitter.held() > MAX_HELD {
            let message = "The response contains a tool call that is too large.";
            return Err(ModelError::new(ModelErrorKind::Broken, message));
        }
        for fragment in message.tool_calls.into_iter().flatten().flatten() {
            chunk.parts.extend(self.thoughts.finish());
            self.calls.take(fragment)?;
        }
        Ok(())
    }

    fn say(&mut self, segments: Vec<Segment>, chunk: &mut ResponseChunk) {
        for segment in segments {
            match segment {
                Segment::Thought(words) => chunk.parts.extend(self.thoughts.take(&words)),
                Segment::Text(words) => {
                    chunk.parts.extend(self.thoughts.finish());
                    chunk.parts.push(Part::text(words));
                }
                Segment::Block(block) => {
                    chunk.parts.extend(self.thoughts.finish());
                    chunk.parts.extend(emulation::read_calls(&block));
                }
            }
        }
    }

    fn flush(&mut self, chunk: &mut ResponseChunk) {
        let segments = self.splitter.finish();
        self.say(segments, chunk);
        chunk.parts.extend(self.thoughts.finish());
        let calls = self.calls.finish(&self.reading.names);
        if !calls.is_empty() {
            chunk.parts.extend(self.reasoning.take_part());
        }
        chunk.parts.extend(calls);
    }
}

impl Assembly for Answer {
    /// Processes an event of a stream. An event named `error` is an error, whatever its payload.
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
        let mut chunk = self.take(body)?;
        chunk.parts.extend(self.finish().parts);
        Ok(chunk)
    }

    fn is_finished(&self) -> bool {
        self.finished
    }

    fn finish(&mut self) -> ResponseChunk {
        let mut chunk = ResponseChunk::default();
        self.flush(&mut chunk);
        chunk
    }
}

/// Decodes a recorded stream, received in these pieces. Blocks of its text may call tools.
///
/// # Errors
/// The errors of [`decode_chat_chunk`], and [`ModelErrorKind::Broken`] for bytes that are not a
/// stream of events, or that stop before the end of the response.
pub fn decode_chat_stream(pieces: Vec<Bytes>) -> Result<Vec<ResponseChunk>, ModelError> {
    answer_stream::decode(pieces, Answer::new(Reading { emulated: true, ..Reading::default() }))
}

/// True for the first of several parallel choices; the others are ignored.
fn is_first(choice: &WireChoice) -> bool {
    choice.index.as_ref().and_then(serde_json::Value::as_u64).unwrap_or(0) == 0
}

/// Reads a finish reason. Gateways also send the names of other APIs.
pub(crate) fn finish_reason(word: String) -> FinishReason {
    match word.to_ascii_lowercase().as_str() {
        "stop" | "tool_calls" | "function_call" | "tool_call" | "tool_use" | "eos"
        | "eos_token" | "end_turn" | "stop_sequence" | "stop_token" | "complete" | "completed"
        | "finished" => FinishReason::Stop,
        "length"
        | "max_tokens"
        | "max_output_tokens"
        | "max_length"
        | "model_length"
        | "model_context_window_exceeded" => FinishReason::MaxTokens,
        "content_filter" | "content_filtered" | "safety" | "sensitive" | "refusal" => {
            FinishReason::Safety
        }
        "recitation" => FinishReason::Recitation,
        "malformed_function_call" => FinishReason::MalformedFunctionCall,
        "unexpected_tool_call" => FinishReason::UnexpectedToolCall,
        _ => FinishReason::Other(word),
    }
}

#[cfg(test)]
mod tests;
