//! Conversion of the live messages of a file to the contents of a conversation.
//!
//! The records of Gemini CLI decide which messages exist. Pollux's own lines add information that
//! these records cannot hold: results that arrived before a crash, the order in which results were
//! sent to the model, and text that was sent with them.

use std::collections::HashSet;

use pollux_protocol::{Body, Content, Effects, EntryId, INTERRUPTED_RESPONSE, Part, Role};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::figures::RecordedFigures;
use crate::layout::{
    INTERRUPTED, INTERRUPTED_RUNNING, Responses, ResultPart, SESSION_CONTEXT, interrupted,
    is_ignorable, words,
};
use crate::renamed::Renamed;
use crate::stored::{StoredCall, StoredMessage};

#[cfg(test)]
mod tests;

/// Pollux's notes about the calls of one message.
#[derive(Default)]
pub(crate) struct Notes {
    /// Calls that ended before their siblings.
    pub(crate) finished: Vec<StoredCall>,
    /// Calls that started to run.
    pub(crate) started: Vec<StartedCall>,
    /// Turn in which the results were sent to the model.
    pub(crate) responses: Option<Responses>,
}

/// Call that started to run, as recorded in the log.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartedCall {
    pub(crate) call_id: String,
    /// Description of the call in one line.
    #[serde(default)]
    pub(crate) description: String,
    /// Effects that the call declared; `None` in logs that do not record them.
    #[serde(default)]
    pub(crate) effects: Option<Effects>,
}

/// Converter that takes messages in order and yields contents.
#[derive(Default)]
pub(crate) struct Rebuild {
    contents: Vec<(EntryId, Content)>,
    effects: Vec<(String, Effects)>,
    figures: RecordedFigures,
    renamed: Renamed,
    open: Option<OpenTurn>,
    has_begun: bool,
}

/// Result of the conversion.
pub(crate) struct Rebuilt {
    /// Contents for `History::restore`.
    pub(crate) contents: Vec<(EntryId, Content)>,
    /// Effects that calls declared when they started to run, by the ids of the calls.
    pub(crate) effects: Vec<(String, Effects)>,
    pub(crate) figures: RecordedFigures,
    pub(crate) renamed: Renamed,
}

/// Turn of the model whose calls are not yet followed by a turn with their results.
struct OpenTurn {
    id: String,
    calls: Vec<OpenCall>,
    responses: Option<Responses>,
    /// True if the message with the text that was sent with the results is live.
    words_live: bool,
}

struct OpenCall {
    id: String,
    name: String,
    result: Vec<Part>,
}

impl Rebuild {
    /// Adds the next live message.
    pub(crate) fn push(&mut self, message: StoredMessage, notes: Notes) {
        match message.kind.as_str() {
            "user" => self.user(message),
            "gemini" => self.answer(message, notes),
            // Notices are for the user only.
            _ => {}
        }
    }

    /// Finishes the conversion after the last message.
    pub(crate) fn finish(mut self) -> Rebuilt {
        self.close();
        let Self { contents, effects, figures, renamed, .. } = self;
        Rebuilt { contents, effects, figures, renamed }
    }

    fn user(&mut self, mut message: StoredMessage) {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        if message.extra.with_results
            && let Some(open) = &mut self.open
            && open.responses.as_ref().is_some_and(|responses| responses.id == message.id)
        {
            open.words_live = true;
            self.close();
            return;
        }
        if message.parts.iter().any(|part| part.as_response().is_some()) {
            self.results(message);
            return;
        }
        let said = words(&message.parts);
        let is_context = is_first && said.trim_start().starts_with(SESSION_CONTEXT);
        if is_ignorable(&said) && !message.extra.said && !is_context {
            return;
        }
        let parts = std::mem::take(&mut message.parts);
        self.said(message.id, parts);
    }

    /// Adds a message of the user. If the model never answered the preceding results, a note about
    /// the interruption is inserted first, as the history did originally.
    fn said(&mut self, id: String, parts: Vec<Part>) {
        self.close();
        let last = self.contents.last().map(|(_, content)| content);
        let unanswered = last.is_some_and(|content| {
            content.role == Role::User && content.responses().next().is_some()
        });
        if unanswered && parts.iter().any(|part| !part.is_empty()) {
            let words = Content::model(vec![Part::text(INTERRUPTED_RESPONSE)]);
            self.add(format!("{id}_interrupted"), words);
        }
        self.add(id, Content::user(parts));
    }

    /// Adds a user message with results. Results of calls that were already answered are omitted:
    /// Gemini CLI records them twice after a resume.
    fn results(&mut self, message: StoredMessage) {
        let mut open = self.open.take();
        let mut parts = Vec::new();
        let mut answered = HashSet::new();
        let reported = message.parts.iter().map(answered_call).collect();
        for mut part in message.parts {
            if let Body::Response(response) = &mut part.body {
                let calls = open.iter().flat_map(|open| &open.calls);
                let call = calls.filter(|call| !answered.contains(&call.id)).find(|call| {
                    response.id == call.id || (response.id.is_empty() && response.name == call.name)
                });
                let Some(call) = call else { continue };
                call.id.clone_into(&mut response.id);
                call.name.clone_into(&mut response.name);
                answered.insert(call.id.clone());
            }
            parts.push(part);
        }
        if answered.is_empty() {
            // The message answers no call, so the remaining parts are a user message.
            self.open = open;
            if parts.iter().any(|part| !part.is_empty()) {
                self.said(message.id, parts);
            } else {
                self.reported_again(message.id, reported);
            }
            return;
        }
        if let Some(open) = &mut open {
            if let Some(responses) = open.responses.take().filter(|turn| turn.id != message.id) {
                let calls = responses.parts.iter().map(ResultPart::call).collect();
                self.renamed.add(responses.id, &message.id, calls);
            }
            open.calls.retain(|call| !answered.contains(&call.id));
            parts.extend(open.calls.drain(..).flat_map(|call| call.result));
        }
        self.add(message.id, Content::user(parts));
    }

    /// Handles a message that repeats the results of the last turn: its id may be a former id of
    /// that turn.
    fn reported_again(&mut self, id: String, reported: Vec<Option<String>>) {
        let Some((now, content)) = self.contents.last() else { return };
        let repeats = |call: &String| content.responses().any(|response| response.id == *call);
        if *now.as_str() != *id && reported.iter().flatten().any(repeats) {
            self.renamed.add(id, now.as_str(), reported);
        }
    }

    fn answer(&mut self, message: StoredMessage, notes: Notes) {
        self.has_begun = true;
        self.close();
        let StoredMessage { id, mut parts, mut calls, model, usage, .. } = message;
        let tails = take_finished(&mut calls, notes.finished);
        self.figures.add_answer(model.as_deref().unwrap_or("unknown"), usage);
        for call in calls.iter().chain(tails.iter().rev()) {
            self.figures.add_call(&call.name, call.status);
        }
        if !parts.iter().any(|part| part.as_call().is_some()) {
            let call = |call: &StoredCall| Part::call(&*call.id, &*call.name, call.args.clone());
            parts.extend(calls.iter().map(call));
        }
        name_calls(&id, self.contents.len(), &mut parts);
        let content = Content::model(parts);
        let open_calls: Vec<OpenCall> = content
            .calls()
            .map(|call| open_call(&call.id, &call.name, &calls, &notes.started))
            .collect();
        let started = notes.started.into_iter();
        self.effects.extend(started.filter_map(|call| Some((call.call_id, call.effects?))));
        self.add(id.clone(), content);
        if !open_calls.is_empty() {
            let responses = notes.responses;
            self.open = Some(OpenTurn { id, calls: open_calls, responses, words_live: false });
        }
    }

    /// Answers the calls of the open turn with the known results.
    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let OpenTurn { id, mut calls, responses, words_live } = open;
        let Some(responses) = responses else {
            let parts = calls.into_iter().flat_map(|call| call.result).collect();
            self.add(format!("{id}_response"), Content::user(parts));
            return;
        };
        let mut parts = Vec::new();
        let mut reported = HashSet::new();
        for part in responses.parts {
            let part = match part {
                ResultPart::Literal(part) if part.as_response().is_some() || words_live => {
                    Some(part)
                }
                ResultPart::Literal(_) => None,
                ResultPart::Of { call, part } => calls
                    .iter()
                    .find(|known| known.id == call)
                    .and_then(|known| known.result.get(part).cloned()),
            };
            let Some(part) = part else { continue };
            if let Some(response) = part.as_response() {
                reported.insert(response.id.clone());
            }
            parts.push(part);
        }
        calls.retain(|call| !reported.contains(&call.id));
        parts.extend(calls.into_iter().flat_map(|call| call.result));
        self.add(responses.id, Content::user(parts));
    }

    fn add(&mut self, id: String, mut content: Content) {
        content
            .parts
            .retain(|part| !part.is_empty() && (!part.thought || part.is_signed_thought()));
        if !content.parts.is_empty() {
            self.contents.push((EntryId::new(id), content));
        }
    }
}

/// Updates the calls of a message from Pollux's notes about their ends. Returns the records of tail
/// calls, the last first: a tail call has a record of its own, and answers under the id of another
/// call.
pub(crate) fn take_finished(
    calls: &mut [StoredCall],
    finished: Vec<StoredCall>,
) -> Vec<StoredCall> {
    let mut tails = Vec::new();
    // The latest record of a call counts.
    for finished in finished.into_iter().rev() {
        match calls.iter_mut().find(|call| call.id == finished.id) {
            Some(call) if !call.is_final() => *call = finished,
            Some(_) => {}
            None => tails.push(finished),
        }
    }
    tails
}

/// Returns the id of the call that a part answers.
fn answered_call(part: &Part) -> Option<String> {
    part.as_response().map(|response| response.id.clone())
}

impl ResultPart {
    /// Returns the id of the call that the part answers or belongs to.
    fn call(&self) -> Option<String> {
        match self {
            Self::Of { call, .. } => Some(call.clone()),
            Self::Literal(part) => answered_call(part),
        }
    }
}

/// Returns the result of a call, or an error response that gives the reason why the result is
/// missing.
fn open_call(id: &str, name: &str, calls: &[StoredCall], started: &[StartedCall]) -> OpenCall {
    let stored = calls.iter().find(|call| call.id == id);
    let result = match stored {
        Some(call) if call.is_final() && !call.result.is_empty() => call.result.clone(),
        _ => {
            let is_started = |started: &StartedCall| stored.is_some() && started.call_id == id;
            let reason =
                if started.iter().any(is_started) { INTERRUPTED_RUNNING } else { INTERRUPTED };
            vec![interrupted(id, name, reason)]
        }
    };
    OpenCall { id: id.to_owned(), name: name.to_owned(), result }
}

/// Gives calls without an id the same id that Gemini CLI would generate.
fn name_calls(message: &str, turn: usize, parts: &mut [Part]) {
    for (index, part) in parts.iter_mut().enumerate() {
        if let Body::Call(call) = &mut part.body
            && call.id.is_empty()
        {
            let mut sources = [message.to_owned(), turn.to_string(), index.to_string()];
            sources.sort_unstable();
            let hash = Sha256::digest(sources.join("|").as_bytes());
            let half = hash.first_chunk().copied().map_or(0, u128::from_be_bytes);
            call.id = format!("synth_{}_{half:032x}", call.name);
        }
    }
}
