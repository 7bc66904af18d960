//! Assembly of a response from the received pieces.

use std::sync::Arc;

use pollux_protocol::{FinishReason, ModelError, ModelErrorKind, Part, ResponseChunk};

use super::calls::Calls;
use super::emulation;
use super::reasoning::{Gathered, Reasoning, ReasoningReturn};
use super::refusal::Refusals;
use super::splitter::{Segment, Splitter};
use super::wire::{WireAnswer, WireChoice, WireMessage};
use crate::surrogates;
use crate::tool_names::Names;

/// Maximum size of text that is held back until its meaning is known, in bytes.
const MAX_HELD: usize = 16 * 1024 * 1024;

/// Maximum size of a piece of a thought that is held back until its end, in bytes.
const MAX_THOUGHT: usize = 8 * 1024;

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
    /// Thought text that was not reported yet: thoughts arrive word by word and are reported by
    /// paragraph.
    thought: String,
    calls: Calls,
    /// Reasoning that is sent back.
    reasoning: Gathered,
    finished: bool,
}

impl Answer {
    pub(super) fn new(reading: Reading) -> Self {
        Self {
            splitter: Splitter::new(reading.emulated),
            thought: String::new(),
            calls: Calls::default(),
            reasoning: Gathered::new(reading.reasoning.clone()),
            finished: false,
            reading,
        }
    }

    /// True if the model reported a finish reason.
    pub(super) fn is_finished(&self) -> bool {
        self.finished
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

    /// Processes an event of a stream. An event named `error` is an error, whatever its payload.
    pub(super) fn take_event(
        &mut self,
        name: &str,
        json: &[u8],
    ) -> Result<ResponseChunk, ModelError> {
        if name == "error" {
            return Err(self.reading.refusals.in_payload(json));
        }
        self.take(json)
    }

    /// Processes a complete body that was sent in response to a streaming request.
    pub(super) fn take_whole(&mut self, body: &[u8]) -> Result<ResponseChunk, ModelError> {
        if let Some(error) = self.reading.refusals.no_answer(body) {
            return Err(error);
        }
        let mut chunk = self.take(body)?;
        chunk.parts.extend(self.finish().parts);
        Ok(chunk)
    }

    /// Ends the stream and returns the text that was held back.
    pub(super) fn finish(&mut self) -> ResponseChunk {
        let mut chunk = ResponseChunk::default();
        self.flush(&mut chunk);
        chunk
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
            self.think(words, chunk);
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
            self.end_thought(chunk);
            self.calls.take(fragment)?;
        }
        Ok(())
    }

    fn say(&mut self, segments: Vec<Segment>, chunk: &mut ResponseChunk) {
        for segment in segments {
            match segment {
                Segment::Thought(words) => self.think(&words, chunk),
                Segment::Text(words) => {
                    self.end_thought(chunk);
                    chunk.parts.push(Part::text(words));
                }
                Segment::Block(block) => {
                    self.end_thought(chunk);
                    chunk.parts.extend(emulation::read_calls(&block));
                }
            }
        }
    }

    fn think(&mut self, words: &str, chunk: &mut ResponseChunk) {
        self.thought.push_str(words);
        if let Some(end) = self.thought.rfind("\n\n") {
            let rest = self.thought.split_off(end);
            self.end_thought(chunk);
            rest.trim_start().clone_into(&mut self.thought);
        } else if self.thought.len() > MAX_THOUGHT {
            self.end_thought(chunk);
        }
    }

    fn end_thought(&mut self, chunk: &mut ResponseChunk) {
        let thought = std::mem::take(&mut self.thought);
        if !thought.trim().is_empty() {
            chunk.parts.push(Part::thought(thought.trim()));
        }
    }

    fn flush(&mut self, chunk: &mut ResponseChunk) {
        let segments = self.splitter.finish();
        self.say(segments, chunk);
        self.end_thought(chunk);
        let calls = self.calls.finish(&self.reading.names);
        if !calls.is_empty() {
            chunk.parts.extend(self.reasoning.take_part());
        }
        chunk.parts.extend(calls);
    }
}

/// True for the first of several parallel choices; the others are ignored.
fn is_first(choice: &WireChoice) -> bool {
    choice.index.as_ref().and_then(serde_json::Value::as_u64).unwrap_or(0) == 0
}

/// Reads a finish reason. Gateways also send the names of other APIs.
fn finish_reason(word: String) -> FinishReason {
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
