//! Assembly of a response from the events of a stream.

use std::sync::Arc;

use bytes::Bytes;
use pollux_protocol::{FinishReason, ModelError, Part, ResponseChunk};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::super::refusal::Refusals;
use super::kept::{self, Origin};
use super::output::{Kind, Output, Place};
use super::wire::{WireEvent, WireItem, WireResponse};
use crate::answer_stream::{self, Assembly};
use crate::surrogates;
use crate::thoughts::Thoughts;
use crate::tool_names::Names;

/// Options for reading a response.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    /// Sender of the response.
    pub(super) origin: Origin,
    /// Original names of the functions.
    pub(super) names: Arc<Names>,
    /// Reader of errors that arrive in place of a piece of the response.
    pub(super) refusals: Arc<Refusals>,
}

/// Response received so far.
#[derive(Debug, Default)]
pub(super) struct Answer {
    reading: Reading,
    output: Output,
    thoughts: Thoughts,
    text: Text,
    finished: bool,
}

/// State of the text at its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Text {
    /// There is no text.
    #[default]
    Missing,
    /// Text of the current message.
    Open,
    /// Text of a message that has ended.
    Ended,
}

impl Answer {
    pub(super) fn new(reading: Reading) -> Self {
        Self { reading, ..Self::default() }
    }

    fn take(&mut self, name: &str, json: &[u8]) -> Result<ResponseChunk, ModelError> {
        let mut chunk = ResponseChunk::default();
        if self.finished {
            return Ok(chunk);
        }
        let mut event: WireEvent = surrogates::decode(json)?;
        let kind = std::mem::take(&mut event.kind.text);
        let kind = if kind.is_empty() { name } else { &kind };
        match kind {
            "error" => return Err(self.failed(json)),
            "response.created" | "response.queued" | "response.in_progress" => {
                identify(&response_of(&event)?, &mut chunk);
            }
            "response.output_item.added" => self.begin(&event, &mut chunk)?,
            "response.output_text.delta" | "response.refusal.delta" => {
                let place = place(&event);
                self.say(place, &event.delta.text, &mut chunk)?;
            }
            "response.reasoning_summary_text.delta" => {
                self.begin_thought(&event)?;
                // A part of a summary has a title and a text.
                chunk.parts.extend(self.thoughts.hold(&event.delta.text));
            }
            "response.reasoning_text.delta" => {
                self.begin_thought(&event)?;
                chunk.parts.extend(self.thoughts.take(&event.delta.text));
            }
            "response.reasoning_summary_text.done"
            | "response.reasoning_summary_part.done"
            | "response.reasoning_text.done" => chunk.parts.extend(self.thoughts.finish()),
            "response.function_call_arguments.delta" => {
                self.output.argue(place(&event), &event.delta.text)?;
            }
            "response.function_call_arguments.done" => {
                let place = place(&event);
                self.output.set_arguments(place, event.arguments.unwrap_or_default())?;
            }
            "response.output_item.done" => {
                if let Some(item) = &event.item {
                    self.complete(place(&event), item, &mut chunk)?;
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.done" => {
                let status = kind.trim_start_matches("response.");
                self.conclude(response_of(&event)?, status, &mut chunk)?;
            }
            _ if event.error.is_some() => return Err(self.failed(json)),
            // Other events repeat what these contain, or belong to tools of the service.
            _ => {}
        }
        Ok(chunk)
    }

    fn begin(&mut self, event: &WireEvent, chunk: &mut ResponseChunk) -> Result<(), ModelError> {
        let Some(item) = &event.item else { return Ok(()) };
        let item: WireItem = surrogates::decode(item.get().as_bytes())?;
        let kind = Kind::of(&item.kind.text);
        if kind == Kind::Message {
            self.begin_message(&item, chunk);
        }
        let id = if item.id.text.is_empty() { &event.item_id.text } else { &item.id.text };
        let place = Place { id: id.clone(), ..place(event) };
        self.output.begin(place, kind, Some(&item))?;
        Ok(())
    }

    fn begin_message(&mut self, item: &WireItem, chunk: &mut ResponseChunk) {
        chunk.parts.extend(self.thoughts.finish());
        self.end_message();
        chunk.parts.extend(kept::phase(&self.reading.origin, &item.phase.text));
    }

    fn end_message(&mut self) {
        if self.text == Text::Open {
            self.text = Text::Ended;
        }
    }

    /// Reports text. Two messages of a response are separated by a blank line.
    fn say(
        &mut self,
        place: Place,
        text: &str,
        chunk: &mut ResponseChunk,
    ) -> Result<(), ModelError> {
        if text.is_empty() {
            return Ok(());
        }
        chunk.parts.extend(self.thoughts.finish());
        self.output.find(place, Kind::Message)?.reported += text.len();
        let separator = if self.text == Text::Ended { "\n\n" } else { "" };
        self.text = Text::Open;
        chunk.parts.push(Part::text(format!("{separator}{text}")));
        Ok(())
    }

    fn begin_thought(&mut self, event: &WireEvent) -> Result<(), ModelError> {
        self.output.find(place(event), Kind::Reasoning)?.reported += event.delta.text.len();
        Ok(())
    }

    /// Processes an item that is complete: what its events have not reported is reported now.
    fn complete(
        &mut self,
        place: Place,
        raw: &RawValue,
        chunk: &mut ResponseChunk,
    ) -> Result<(), ModelError> {
        let wire: WireItem = surrogates::decode(raw.get().as_bytes())?;
        let kind = Kind::of(&wire.kind.text);
        let place = if wire.id.text.is_empty() {
            place
        } else {
            Place { id: wire.id.text.clone(), ..place }
        };
        chunk.parts.extend(self.thoughts.finish());
        let item = self.output.find(place.clone(), kind)?;
        match kind {
            Kind::Message => {
                let text = wire.text();
                let rest = text.get(item.reported..).unwrap_or_default();
                if !item.is_announced && item.reported == 0 {
                    self.begin_message(&wire, chunk);
                }
                self.say(place.clone(), rest, chunk)?;
                self.output.find(place, kind)?.is_complete = true;
                self.end_message();
            }
            Kind::Call if wire.status.text == "incomplete" => item.is_complete = true,
            Kind::Call => chunk.parts.extend(item.complete_call(Some(&wire), &self.reading.names)),
            Kind::Reasoning => {
                item.is_complete = true;
                if item.reported == 0 {
                    let thoughts = wire.thoughts().map(str::trim).filter(|text| !text.is_empty());
                    chunk.parts.extend(thoughts.map(Part::thought));
                }
                chunk.parts.extend(kept::reasoning(&self.reading.origin, raw));
            }
            Kind::Other => item.is_complete = true,
        }
        Ok(())
    }

    /// Processes the end of the response.
    fn conclude(
        &mut self,
        response: WireResponse,
        status: &str,
        chunk: &mut ResponseChunk,
    ) -> Result<(), ModelError> {
        identify(&response, chunk);
        let status = if response.status.text.is_empty() { status } else { &response.status.text };
        let finish = match status {
            "completed" | "done" => FinishReason::Stop,
            "incomplete" => incomplete(
                response.incomplete_details.as_ref().map(|details| &*details.reason.text),
            ),
            _ => {
                let body = response.error.filter(|error| error.get() != "null");
                let body = body.map_or_else(
                    || json!({"error": {"message": format!("The status of the response is \"{status}\".")}}).to_string(),
                    |error| format!(r#"{{"error":{}}}"#, error.get()),
                );
                return Err(self.reading.refusals.in_payload(body.as_bytes()));
            }
        };
        // Some servers send the items at the end only.
        if self.output.is_empty() {
            for (index, item) in response.output.iter().flatten().enumerate() {
                let place = Place { index: Some(index as u64), id: String::new() };
                self.complete(place, item, chunk)?;
            }
        }
        chunk.parts.extend(self.thoughts.finish());
        if finish == FinishReason::Stop {
            chunk.parts.extend(self.output.complete_calls(&self.reading.names));
        }
        chunk.usage = response.usage.map(Into::into);
        chunk.finish = Some(finish);
        self.finished = true;
        Ok(())
    }

    /// Converts an event with an error: `{"type": "error", "code", "message"}`, or with these keys
    /// inside of `error`.
    fn failed(&self, json: &[u8]) -> ModelError {
        let mut keys: Map<String, Value> = serde_json::from_slice(json).unwrap_or_default();
        let error = keys.remove("error").filter(|error| !error.is_null()).unwrap_or_else(|| {
            keys.remove("type");
            keys.remove("sequence_number");
            keys.into()
        });
        self.reading.refusals.in_payload(json!({ "error": error }).to_string().as_bytes())
    }

    fn whole(&mut self, body: &[u8]) -> Result<ResponseChunk, ModelError> {
        if let Some(error) = self.reading.refusals.no_answer(body) {
            return Err(error);
        }
        let event: WireEvent = surrogates::decode(body)?;
        let is_error = event.error.as_ref().is_some_and(|error| error.get() != "null");
        if event.object.text != "response" && is_error {
            return Err(self.failed(body));
        }
        let mut chunk = ResponseChunk::default();
        self.conclude(surrogates::decode(body)?, "missing", &mut chunk)?;
        Ok(chunk)
    }
}

impl Assembly for Answer {
    fn take_event(&mut self, name: &str, payload: &[u8]) -> Result<ResponseChunk, ModelError> {
        self.take(name, payload)
    }

    fn take_whole(&mut self, body: &[u8]) -> Result<ResponseChunk, ModelError> {
        self.whole(body)
    }

    fn is_finished(&self) -> bool {
        self.finished
    }

    /// Only the event with the whole response ends a stream.
    fn ends_with_done(&self) -> bool {
        false
    }

    /// Returns nothing, because the last event completes the response.
    fn finish(&mut self) -> ResponseChunk {
        ResponseChunk::default()
    }
}

fn place(event: &WireEvent) -> Place {
    let index = event.output_index.as_ref().and_then(Value::as_u64);
    Place { index, id: event.item_id.text.clone() }
}

fn response_of(event: &WireEvent) -> Result<WireResponse, ModelError> {
    event.response.as_ref().map_or_else(
        || Ok(WireResponse::default()),
        |response| surrogates::decode(response.get().as_bytes()),
    )
}

fn identify(response: &WireResponse, chunk: &mut ResponseChunk) {
    let present = |text: &String| (!text.is_empty()).then(|| text.clone());
    chunk.response_id = present(&response.id.text);
    chunk.model_version = present(&response.model.text);
}

fn incomplete(reason: Option<&str>) -> FinishReason {
    match reason {
        Some("max_output_tokens") => FinishReason::MaxTokens,
        Some("content_filter") => FinishReason::Safety,
        Some("") | None => FinishReason::Other("incomplete".to_owned()),
        Some(other) => FinishReason::Other(other.to_owned()),
    }
}

/// Decodes a recorded stream of a Responses service, received in these pieces.
///
/// # Errors
/// The error of the service for an event with an error;
/// [`Broken`](pollux_protocol::ModelErrorKind::Broken) for bytes that
/// are not a stream of events of this shape, or that stop before the end of the response.
pub fn decode_responses_stream(pieces: Vec<Bytes>) -> Result<Vec<ResponseChunk>, ModelError> {
    answer_stream::decode(pieces, Answer::default())
}

#[cfg(test)]
mod tests;
