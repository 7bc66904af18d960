//! From durable events to lines. Pure: no I/O, no clock.
//!
//! A call appears three times: in its message with a status in flight, in a line of its own when it ends before its
//! siblings, and in its message again when the last sibling has ended. So each result is durable at once, and the
//! message, which may be large, is written twice and not once for each call.
//!
//! The results as the model is told them are a `$pollux` line that refers to the results in the message. Gemini CLI
//! writes them as a user message, yet when it resumes it builds the same turn from the message's calls as well and
//! sends every result twice, which Gemini refuses; without that message it sends them once.

use pollux_protocol::{
    CallRecord, ConfinementLevel, EntryId, History, MessageRecord, Part, Record,
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

/// Knows of the file what the next line depends on: the turn whose calls are under way.
pub(crate) struct Encoder {
    /// No message has been written: the context can open the file.
    is_fresh: bool,
    turn: Option<OpenTurn>,
}

/// A turn of the model whose results the model has not been told.
struct OpenTurn {
    message: MessageRecord,
    /// What the history keeps of the message.
    parts: Vec<Part>,
    /// When the message came.
    timestamp: String,
    /// When each call last changed.
    call_times: Vec<String>,
}

impl Encoder {
    /// For a file with or without messages.
    pub(crate) fn new(is_fresh: bool) -> Self {
        Self { is_fresh, turn: None }
    }

    /// The lines of one event. `fresh_id` names messages that have no id of their own.
    pub(crate) fn encode(
        &mut self,
        record: &Record,
        now: &str,
        fresh_id: impl FnOnce() -> String,
    ) -> serde_json::Result<Lines> {
        match record {
            Record::Context { id, parts } if self.is_fresh => {
                let message = user_message(id.as_str(), now, parts, None, Extra::default());
                let set = json!({ "$set": { "messages": [message], "lastUpdated": now } });
                self.is_fresh = false;
                Ok(vec![line(&set)?])
            }
            Record::Context { id, parts } => self.said(id, parts, None, now),
            Record::Cleared => {
                // As Gemini CLI takes messages back: the file has those that are listed, from here on.
                (self.is_fresh, self.turn) = (true, None);
                Ok(vec![line(&json!({ "$set": { "messages": [], "lastUpdated": now } }))?])
            }
            Record::User { id, parts, display } => self.said(id, parts, display.as_deref(), now),
            Record::Model(message) => self.answered(message, now),
            Record::Decided { call_id, decision } => {
                own("decided", &json!({ "callId": call_id, "decision": decision }))
            }
            Record::CallStarted { call_id, effects: declared, level } => {
                let mut started = json!({ "callId": call_id, "effects": effects(declared) });
                if *level != ConfinementLevel::None {
                    started["confinement"] = json!(level);
                }
                own("started", &started)
            }
            Record::CallFinished(call) => self.finished(call, now),
            Record::Responses { id, parts } => self.told(id, parts, now),
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

    fn said(
        &mut self,
        id: &EntryId,
        parts: &[Part],
        display: Option<&str>,
        now: &str,
    ) -> serde_json::Result<Lines> {
        self.is_fresh = false;
        self.turn = None;
        let extra = Extra { said: is_ignorable(&words(parts)), ..Extra::default() };
        let message = user_message(id.as_str(), now, parts, display, extra);
        Ok(vec![line(&message)?, updated(now)?])
    }

    fn answered(&mut self, message: &MessageRecord, now: &str) -> serde_json::Result<Lines> {
        self.is_fresh = false;
        let turn = OpenTurn {
            parts: kept(message),
            timestamp: now.to_owned(),
            call_times: vec![now.to_owned(); message.calls.len()],
            message: message.clone(),
        };
        let lines = vec![turn.line()?, updated(now)?];
        self.turn = (!message.calls.is_empty() && !message.interrupted).then_some(turn);
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

    fn told(&mut self, id: &EntryId, parts: &[Part], now: &str) -> serde_json::Result<Lines> {
        let Some(turn) = self.turn.take() else {
            return self.said(id, parts, None, now);
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
                display_content: None,
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
        let message = &self.message;
        let stripped = without_foreign(&self.parts);
        let has_foreign = stripped.is_some();
        let cache_write = message.usage.map_or(0, |usage| usage.cache_write);
        let extra = (has_foreign || message.interrupted || cache_write > 0).then(|| Extra {
            parts: has_foreign.then(|| self.parts.clone()),
            interrupted: message.interrupted,
            cache_write,
            ..Extra::default()
        });
        let calls = message.calls.iter().zip(&self.call_times);
        let tool_calls = calls.map(|(call, time)| ToolCall::new(call, time)).collect();
        let stamped = |thought| StampedThought { thought, timestamp: &self.timestamp };
        line(&Message {
            id: message.id.as_str(),
            timestamp: &self.timestamp,
            kind: "gemini",
            content: stripped.map_or_else(|| answer_words(&self.parts), Words::Owned),
            display_content: None,
            answer: Some(Answer {
                thoughts: message.thoughts.iter().map(stamped).collect(),
                tokens: message.usage.map(Into::into),
                model: &message.model,
                tool_calls: (!message.calls.is_empty() && !message.interrupted)
                    .then_some(tool_calls),
            }),
            extra,
        })
    }
}

/// What the history will keep of an answer; the file holds exactly that.
fn kept(message: &MessageRecord) -> Vec<Part> {
    let mut scratch = History::new();
    let (id, parts) = (message.id.clone(), message.parts.clone());
    if message.interrupted {
        scratch.push_interrupted(id, parts);
    } else {
        scratch.push_model(id, parts);
    }
    scratch.entries().last().map(|entry| entry.content().parts.clone()).unwrap_or_default()
}

/// A bare string, as Gemini CLI writes while it runs, where that says everything; else the parts, so that calls,
/// signatures and the borders between parts survive. Gemini CLI takes both.
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
    display: Option<&'a str>,
    mut extra: Extra,
) -> Message<'a> {
    let stripped = without_foreign(parts);
    if stripped.is_some() {
        extra.parts = Some(parts.to_vec());
    }
    let is_plain = extra.parts.is_none() && !extra.said;
    Message {
        id,
        timestamp: now,
        kind: "user",
        content: stripped.map_or_else(|| Words::Parts(parts.iter().collect()), Words::Owned),
        display_content: display.map(|text| Words::Owned(vec![Part::text(text)])),
        answer: None,
        extra: (!is_plain).then_some(extra),
    }
}

/// Replaces each part that is in a call's result by a reference to it.
fn refer(parts: &[Part], calls: &[CallRecord]) -> Vec<ResultPart> {
    let mut free: Vec<(&str, usize, &Part)> = calls
        .iter()
        .filter_map(|call| Some((call.id.as_str(), call.result.as_ref()?)))
        .flat_map(|(id, result)| result.iter().enumerate().map(move |(at, part)| (id, at, part)))
        .collect();
    let reference = |part: &Part| {
        // Completed order is close to the order of the calls: the wanted part is near the front.
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

/// Words that go with the results and are no result.
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

/// A line that only Pollux understands.
pub(crate) fn own(key: &str, value: &impl Serialize) -> serde_json::Result<Lines> {
    let value: Value = serde_json::to_value(value)?;
    Ok(vec![line(&json!({ "$pollux": { key: value } }))?])
}

pub(crate) fn line(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(value)
}
