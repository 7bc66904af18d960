//! Conversion of durable events to lines. Pure: no I/O, no clock.
//!
//! A call appears three times: in its message with a status of a running call, in a separate line
//! when it ends before its siblings, and in its message again when the last sibling has ended. Each
//! result is therefore durable immediately, and the message, which may be large, is written twice
//! instead of once per call.
//!
//! The results as sent to the model are a `$pollux` line that refers to the results in the message.
//! Gemini CLI writes them as a user message, but when it resumes, it also builds the same turn from
//! the message's calls. It then sends every result twice, which Gemini refuses. Without the user
//! message, Gemini CLI sends the results once.

use std::borrow::Cow;

use pollux_protocol::{
    Body, CallRecord, ConfinementLevel, EntryId, History, MessageDisplay, MessageRecord, Part,
    Record,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::layout::{
    Answer, Extra, Message, Responses, ResultPart, StampedThought, ToolCall, Words, effects,
    is_ignorable, notice_kind, without_foreign, words,
};

#[cfg(test)]
mod tests;

/// Lines without their line feeds, in order.
pub(crate) type Lines = Vec<Vec<u8>>;

/// Encoder with the state that the next line depends on: the turn whose calls are running.
pub(crate) struct Encoder {
    /// True if no message has been written yet, so that the context can be the first one in the
    /// file.
    is_fresh: bool,
    turn: Option<OpenTurn>,
}

/// Turn of the model whose results have not been sent to the model yet.
struct OpenTurn {
    message: MessageRecord,
    /// Parts of the message that the history keeps.
    parts: Vec<Part>,
    /// Time when the message arrived.
    timestamp: String,
    /// Time of the last change of each call.
    call_times: Vec<String>,
}

impl Encoder {
    /// Creates an encoder. `is_fresh` is true for a file without messages.
    pub(crate) fn new(is_fresh: bool) -> Self {
        Self { is_fresh, turn: None }
    }

    /// Returns the lines of one event. `fresh_id` creates ids for messages that have no id.
    pub(crate) fn encode(
        &mut self,
        record: &Record,
        now: &str,
        fresh_id: impl FnOnce() -> String,
    ) -> serde_json::Result<Lines> {
        match record {
            Record::Context { id, parts } if self.is_fresh => {
                let display = &MessageDisplay::Parts;
                let message = user_message(id.as_str(), now, parts, display, Extra::default());
                let set = json!({ "$set": { "messages": [message], "lastUpdated": now } });
                self.is_fresh = false;
                Ok(vec![line(&set)?])
            }
            Record::Context { id, parts } => {
                self.encode_user(id, parts, &MessageDisplay::Parts, now)
            }
            Record::Cleared => {
                // As when Gemini CLI takes messages back: from here on, the file has only the
                // listed messages.
                (self.is_fresh, self.turn) = (true, None);
                Ok(vec![line(&json!({ "$set": { "messages": [], "lastUpdated": now } }))?])
            }
            Record::User { id, parts, display } => self.encode_user(id, parts, display, now),
            Record::Model(message) => self.encode_model(message, now),
            Record::Decided { call_id, decision } => {
                own("decided", &json!({ "callId": call_id, "decision": decision }))
            }
            Record::CallStarted { call_id, description, effects: declared, level } => {
                let mut started = json!({ "callId": call_id, "effects": effects(declared) });
                if !description.is_empty() {
                    started["description"] = json!(description);
                }
                if *level != ConfinementLevel::None {
                    started["confinement"] = json!(level);
                }
                own("started", &started)
            }
            Record::CallFinished(call) => self.finished(call, now),
            Record::Responses { id, parts, typed } => {
                self.encode_results(id, parts, typed.as_deref(), now)
            }
            Record::Notice { severity, text } => {
                let id = fresh_id();
                let message = Message {
                    id: &id,
                    timestamp: now,
                    kind: notice_kind(*severity),
                    content: Words::Text(text),
                    display_content: None,
                    answer: None,
                    extra: None,
                };
                Ok(vec![line(&message)?, updated(now)?])
            }
            Record::Rewound { to } => {
                self.turn = None;
                Ok(vec![line(&json!({ "$rewindTo": to.as_str() }))?, updated(now)?])
            }
            Record::Compressed(compression) => own("compressed", compression),
            Record::Uncompressed => own("uncompressed", &true),
            Record::PromptEnded { prompt_id } => {
                own("promptEnded", &json!({ "promptId": prompt_id }))
            }
        }
    }

    fn encode_user(
        &mut self,
        id: &EntryId,
        parts: &[Part],
        display: &MessageDisplay,
        now: &str,
    ) -> serde_json::Result<Lines> {
        self.is_fresh = false;
        self.turn = None;
        let extra = Extra { said: is_ignorable(&words(parts)), ..Extra::default() };
        let message = user_message(id.as_str(), now, parts, display, extra);
        Ok(vec![line(&message)?, updated(now)?])
    }

    fn encode_model(&mut self, message: &MessageRecord, now: &str) -> serde_json::Result<Lines> {
        self.is_fresh = false;
        let call_times = vec![now.to_owned(); message.calls.len()];
        let parts = kept(message);
        let lines = vec![model_line(message, &parts, now, &call_times)?, updated(now)?];
        let is_open = !message.calls.is_empty() && !message.interrupted;
        self.turn = is_open.then(|| OpenTurn {
            message: message.clone(),
            parts: parts.into_owned(),
            timestamp: now.to_owned(),
            call_times,
        });
        Ok(lines)
    }

    fn finished(&mut self, call: &CallRecord, now: &str) -> serde_json::Result<Lines> {
        let Some(turn) = &mut self.turn else { return finished_alone(call, now) };
        let known = turn.message.calls.iter().position(|known| known.id == call.id);
        let Some(index) = known else { return finished_alone(call, now) };
        turn.message.calls[index] = call.clone();
        now.clone_into(&mut turn.call_times[index]);
        if turn.message.calls.iter().all(|call| call.status.is_final()) {
            return Ok(vec![turn.line()?]);
        }
        finished_alone(call, now)
    }

    fn encode_results(
        &mut self,
        id: &EntryId,
        parts: &[Part],
        typed: Option<&str>,
        now: &str,
    ) -> serde_json::Result<Lines> {
        let Some(turn) = self.turn.take() else {
            let typed = typed.map(str::to_owned);
            return self.encode_user(id, parts, &MessageDisplay::from(typed), now);
        };
        let parts = refer(parts, &turn.message.calls);
        let spoken: Vec<&Part> = parts.iter().filter_map(literal).collect();
        let mut lines = Vec::new();
        let responses = Responses { id: id.to_string(), parts: parts.clone() };
        lines.extend(own("responses", &responses)?);
        if !spoken.is_empty() {
            let message = Message {
                id: id.as_str(),
                timestamp: now,
                kind: "user",
                content: Words::Parts(spoken),
                display_content: typed.map(|text| Words::Owned(vec![Part::text(text)])),
                answer: None,
                extra: Some(Extra { with_results: true, ..Extra::default() }),
            };
            lines.push(line(&message)?);
        }
        lines.push(updated(now)?);
        Ok(lines)
    }
}

impl OpenTurn {
    fn line(&self) -> serde_json::Result<Vec<u8>> {
        model_line(&self.message, &self.parts, &self.timestamp, &self.call_times)
    }
}

/// Returns the line of a model message with these parts.
fn model_line(
    message: &MessageRecord,
    parts: &[Part],
    timestamp: &str,
    call_times: &[String],
) -> serde_json::Result<Vec<u8>> {
    let stripped = without_foreign(parts);
    let has_foreign = stripped.is_some();
    let cache_write = message.usage.map_or(0, |usage| usage.cache_write);
    let extra = (has_foreign || message.interrupted || cache_write > 0).then(|| Extra {
        parts: has_foreign.then(|| parts.to_vec()),
        interrupted: message.interrupted,
        cache_write,
        ..Extra::default()
    });
    let calls = message.calls.iter().zip(call_times);
    let tool_calls = calls.map(|(call, time)| ToolCall::new(call, time)).collect();
    let stamped = |thought| StampedThought { thought, timestamp };
    line(&Message {
        id: message.id.as_str(),
        timestamp,
        kind: "gemini",
        content: stripped.map_or_else(|| answer_words(parts), Words::Owned),
        display_content: None,
        answer: Some(Answer {
            thoughts: message.thoughts.iter().map(stamped).collect(),
            tokens: message.usage.map(Into::into),
            model: &message.model,
            tool_calls: (!message.calls.is_empty() && !message.interrupted).then_some(tool_calls),
        }),
        extra,
    })
}

/// Returns the parts of a model message that the history will keep; the file contains exactly
/// these. An answer of text alone, which may be long, is not copied.
fn kept(message: &MessageRecord) -> Cow<'_, [Part]> {
    let is_plain =
        |part: &Part| matches!(part.body, Body::Text(_)) && !part.thought && !part.is_empty();
    if message.parts.iter().all(is_plain) {
        return Cow::Borrowed(&message.parts);
    }
    let mut scratch = History::new();
    let (id, parts) = (message.id.clone(), message.parts.clone());
    if message.interrupted {
        scratch.push_interrupted(id, parts);
    } else {
        scratch.push_model(id, parts);
    }
    let kept = scratch.entries().last().map(|entry| entry.content().parts.clone());
    kept.unwrap_or_default().into()
}

/// Returns a bare string, as Gemini CLI writes while it runs, if a string can represent everything.
/// Otherwise returns the parts, so that calls, signatures and the boundaries between parts are
/// kept. Gemini CLI reads both forms.
fn answer_words(parts: &[Part]) -> Words<'_> {
    match parts {
        [] => Words::Text(""),
        [only] if only.opaque.is_none() && only.as_text().is_some() => {
            Words::Text(only.as_text().unwrap_or_default())
        }
        parts => Words::Parts(parts.iter().collect()),
    }
}

fn user_message<'a>(
    id: &'a str,
    now: &'a str,
    parts: &'a [Part],
    display: &MessageDisplay,
    mut extra: Extra,
) -> Message<'a> {
    extra.hidden = *display == MessageDisplay::Hidden;
    let stripped = without_foreign(parts);
    if stripped.is_some() {
        extra.parts = Some(parts.to_vec());
    }
    let is_plain = extra.parts.is_none() && !extra.said && !extra.hidden;
    let typed = match display {
        MessageDisplay::Text(text) => Some(Words::Owned(vec![Part::text(text)])),
        MessageDisplay::Parts | MessageDisplay::Hidden => None,
    };
    Message {
        id,
        timestamp: now,
        kind: "user",
        content: stripped.map_or_else(|| Words::Parts(parts.iter().collect()), Words::Owned),
        display_content: typed,
        answer: None,
        extra: (!is_plain).then_some(extra),
    }
}

/// Replaces each part that occurs in a call's result by a reference to it.
fn refer(parts: &[Part], calls: &[CallRecord]) -> Vec<ResultPart> {
    let mut free: Vec<(&str, usize, &Part)> = calls
        .iter()
        .filter_map(|call| Some((call.id.as_str(), call.result.as_ref()?)))
        .flat_map(|(id, result)| result.iter().enumerate().map(move |(at, part)| (id, at, part)))
        .collect();
    let reference = |part: &Part| {
        // Calls are completed roughly in their order, so the wanted part is near the front.
        let found = free.iter().position(|(_, _, candidate)| *candidate == part)?;
        let (call, at, _) = free.remove(found);
        Some(ResultPart::Of { call: call.to_owned(), part: at })
    };
    let mut reference = reference;
    parts
        .iter()
        .map(|part| reference(part).unwrap_or_else(|| ResultPart::Literal(part.clone())))
        .collect()
}

/// Returns the part if it is text that was sent with the results and is not a result.
fn literal(part: &ResultPart) -> Option<&Part> {
    match part {
        ResultPart::Literal(part) if part.as_response().is_none() => Some(part),
        ResultPart::Literal(_) | ResultPart::Of { .. } => None,
    }
}

fn finished_alone(call: &CallRecord, now: &str) -> serde_json::Result<Lines> {
    own("call", &ToolCall::new(call, now))
}

fn updated(now: &str) -> serde_json::Result<Vec<u8>> {
    line(&json!({ "$set": { "lastUpdated": now } }))
}

/// Returns a line that only Pollux understands.
pub(crate) fn own(key: &str, value: &impl Serialize) -> serde_json::Result<Lines> {
    let value: Value = serde_json::to_value(value)?;
    Ok(vec![line(&json!({ "$pollux": { key: value } }))?])
}

pub(crate) fn line(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(value)
}
