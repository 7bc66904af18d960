//! One answer during streaming: joins its parts, gives ids to its calls, and creates the events.

use std::collections::HashSet;

use pollux_protocol::{
    Body, Call, CallId, Citation, Event, FinishReason, FunctionCall, ModelError, Opaque, Part,
    ResponseChunk, Thought, Usage, text_of,
};
use serde_json::{Value, json};

use crate::loop_guard::{Chant, Finding};
use crate::validity::{StreamEnd, judge};

/// Maximum size of an answer in bytes. A longer answer would probably not end.
pub(crate) const LONGEST_ANSWER: usize = 64 << 20;
/// Maximum number of bytes of a tool's name and of a call's id.
const LONGEST_NAME: usize = 256;
/// Name for a call without a name.
const NAMELESS: &str = "generic_tool";

/// Answer, complete or still streaming.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    prompt_id: String,
    /// Milliseconds from 1970 to the start of the turn. Part of generated call ids.
    epoch_ms: i64,
    /// Beginning of the ids of all calls; `None` to keep the ids of the model.
    own_ids: Option<String>,
    /// Parts for the history.
    pub(crate) parts: Vec<Part>,
    pub(crate) thoughts: Vec<Thought>,
    pub(crate) calls: Vec<Call>,
    pub(crate) usage: Option<Usage>,
    pub(crate) finish: Option<FinishReason>,
    pub(crate) response_id: Option<String>,
    /// Name of the answering model, as the vendor reports it.
    model_version: Option<String>,
    /// True if a chunk of the answer has arrived.
    pub(crate) begun: bool,
    citations: Vec<Citation>,
    /// Ids of `calls`.
    ids: HashSet<String>,
    /// Number of ids generated for calls without one.
    made_up: usize,
    /// Number of bytes received so far.
    bytes: usize,
    chant: Chant,
}

impl Turn {
    pub(crate) fn new(prompt_id: &str, epoch_ms: i64) -> Self {
        Self { prompt_id: prompt_id.to_owned(), epoch_ms, ..Self::default() }
    }

    /// Gives all calls ids that begin with a text which no other answer of the session has. The
    /// answers of two agents may contain the same ids.
    pub(crate) fn with_own_ids(self, beginning: Option<String>) -> Self {
        Self { own_ids: beginning, ..self }
    }

    /// Adds one chunk. Returns the events to report, in order: thoughts, text, calls.
    pub(crate) fn take(&mut self, chunk: ResponseChunk) -> Vec<Event> {
        let mut thoughts = Vec::new();
        let mut text = String::new();
        let mut calls = Vec::new();
        self.begun = true;
        for part in chunk.parts {
            self.bytes += size(&part);
            if part.thought {
                if let Some(text) = part.as_thought().filter(|text| !text.is_empty()) {
                    let thought = Thought::parse(text);
                    self.thoughts.push(thought.clone());
                    thoughts.push(Event::Thought(thought));
                }
                if part.is_signed_thought() {
                    self.parts.push(part);
                }
                continue;
            }
            if let Some(words) = part.as_text() {
                text.push_str(words);
            }
            match part.body {
                Body::Call(asked) => {
                    calls.push(Event::CallRequested(self.take_call(asked, part.opaque)));
                }
                _ => self.take_part(part),
            }
        }
        self.citations.extend(chunk.citations);
        self.usage = chunk.usage.or(self.usage);
        self.finish = chunk.finish.or(self.finish.take());
        self.response_id = chunk.response_id.or(self.response_id.take());
        let version = chunk.model_version.filter(|version| !version.is_empty());
        self.model_version = self.model_version.take().or(version);
        let mut events = thoughts;
        if !text.is_empty() {
            events.push(Event::Text(text));
        }
        events.extend(calls);
        events
    }

    fn take_part(&mut self, part: Part) {
        if part.is_empty() {
            return;
        }
        // Unsigned text continues the unsigned text before it. A part with a signature stays
        // separate.
        if let (Body::Text(more), None) = (&part.body, &part.opaque)
            && let Some(Part { body: Body::Text(text), thought: false, opaque: None }) =
                self.parts.last_mut()
        {
            text.push_str(more);
            return;
        }
        self.parts.push(part);
    }

    fn take_call(&mut self, mut asked: FunctionCall, opaque: Option<Opaque>) -> Call {
        let count = self.calls.len();
        shorten(&mut asked.name);
        shorten(&mut asked.id);
        if asked.name.trim().is_empty() {
            NAMELESS.clone_into(&mut asked.name);
        }
        if asked.id.is_empty() {
            asked.id = format!("{}_{}_{}", asked.name, self.epoch_ms, self.made_up);
            self.made_up += 1;
        }
        asked.id = match &self.own_ids {
            Some(beginning) => format!("{beginning}-{count}"),
            None => self.unused(&call_id(&asked.name, &asked.id), count),
        };
        let call = Call {
            id: CallId::new(asked.id.as_str()),
            name: asked.name.clone(),
            args: asked.args.clone(),
            prompt_id: self.prompt_id.clone(),
        };
        self.parts.push(Part { body: Body::Call(asked), thought: false, opaque });
        self.calls.push(call.clone());
        call
    }

    /// Removes the calls, so that they are not run.
    pub(crate) fn forget_calls(&mut self) {
        self.parts.retain(|part| part.as_call().is_none());
        self.calls.clear();
    }

    /// True if the answer is longer than any useful answer.
    pub(crate) fn is_too_long(&self) -> bool {
        self.bytes > LONGEST_ANSWER
    }

    /// Returns a finding if the text has begun to repeat itself. Must be called once for each new
    /// text.
    pub(crate) fn hear(&mut self, words: &str) -> Option<Finding> {
        self.chant.hear(words)
    }

    /// Returns the id, with a number appended if another call of the answer already has it.
    fn unused(&mut self, id: &str, count: usize) -> String {
        let mut unused = id.to_owned();
        let mut number = count;
        while !self.ids.insert(unused.clone()) {
            unused = format!("{id}_{number}");
            number += 1;
        }
        unused
    }

    /// Returns the name of the answering model if it is known, otherwise `asked`.
    pub(crate) fn answered_by<'a>(&'a self, asked: &'a str) -> &'a str {
        self.model_version.as_deref().unwrap_or(asked)
    }

    /// Returns the answer as a single response of the Gemini API, in a list as readers of telemetry
    /// expect it.
    pub(crate) fn to_json(&self) -> String {
        let mut candidate =
            json!({ "content": { "role": "model", "parts": self.parts }, "index": 0 });
        if let Some(finish) = &self.finish {
            candidate["finishReason"] = json!(finish.as_str());
        }
        let mut answer = json!({ "candidates": [candidate] });
        if let Some(usage) = self.usage {
            answer["usageMetadata"] = usage_json(usage);
        }
        for (key, value) in
            [("responseId", &self.response_id), ("modelVersion", &self.model_version)]
        {
            if let Some(value) = value {
                answer[key] = json!(value);
            }
        }
        json!([answer]).to_string()
    }

    /// True if anything other than thoughts has arrived.
    pub(crate) fn has_content(&self) -> bool {
        self.parts.iter().any(|part| !part.thought)
    }

    /// Returns the error of an unusable answer; `None` for a usable one.
    pub(crate) fn fault(&self, answers_results: bool) -> Option<ModelError> {
        let reason = judge(StreamEnd {
            finish: self.finish.as_ref(),
            text: &text_of(&self.parts),
            has_calls: !self.calls.is_empty(),
            has_thoughts: !self.thoughts.is_empty(),
            answers_results,
        })?;
        let error = ModelError::unusable(reason);
        let message = match &self.finish {
            Some(reason @ FinishReason::PromptBlocked(_)) => {
                format!("{} The prompt was blocked: {}.", error.message, reason.shown())
            }
            // The messages of all other reasons name them.
            Some(reason @ FinishReason::Other(word)) if word != "OTHER" => {
                format!("{} Finish reason: {}.", error.message, reason.shown())
            }
            _ => return Some(error),
        };
        // The same prompt would be blocked again.
        let is_final =
            matches!(&self.finish, Some(FinishReason::PromptBlocked(word)) if word != "OTHER");
        Some(ModelError { message, retryable: !is_final, ..error })
    }

    /// Returns the sources as lines for the user; `None` without sources.
    pub(crate) fn citations(&self) -> Option<String> {
        let mut lines: Vec<String> = self
            .citations
            .iter()
            .map(|citation| match &citation.title {
                Some(title) => format!("({title}) {}", citation.uri),
                None => citation.uri.clone(),
            })
            .collect();
        lines.sort();
        lines.dedup();
        (!lines.is_empty()).then(|| format!("Citations:\n{}", lines.join("\n")))
    }
}

fn usage_json(usage: Usage) -> Value {
    json!({
        "promptTokenCount": usage.prompt,
        "candidatesTokenCount": usage.candidates,
        "totalTokenCount": usage.total,
        "thoughtsTokenCount": usage.thoughts,
        "cachedContentTokenCount": usage.cached,
        "toolUsePromptTokenCount": usage.tool,
    })
}

/// Returns the approximate number of bytes of a part in memory.
fn size(part: &Part) -> usize {
    let opaque = part.opaque.as_ref().map_or(0, |opaque| opaque.data.len());
    opaque
        + match &part.body {
            Body::Text(text) => text.len(),
            Body::Inline(blob) => blob.data.len(),
            Body::Call(call) => call.name.len() + call.args.as_str().map_or(256, str::len),
            Body::File(_) | Body::Response(_) | Body::Other(_) => 256,
        }
}

fn shorten(name: &mut String) {
    name.truncate(name.floor_char_boundary(LONGEST_NAME));
}

/// Returns `<name>__<id>`, or the id itself if it already begins with that prefix.
fn call_id(name: &str, id: &str) -> String {
    let prefix = format!("{name}__");
    if id.starts_with(&prefix) { id.to_owned() } else { format!("{prefix}{id}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(parts: Vec<Part>) -> ResponseChunk {
        ResponseChunk { parts, ..ResponseChunk::default() }
    }

    #[test]
    fn text_is_joined_and_signatures_stay_apart() {
        let mut turn = Turn::new("p", 7);
        turn.take(chunk(vec![Part::thought("**Plan** look first"), Part::text("a")]));
        let mut signed = Part::text("");
        signed.opaque =
            Some(pollux_protocol::Opaque { dialect: "gemini".into(), data: "s".into() });
        let events = turn.take(chunk(vec![Part::text("b"), signed.clone(), Part::text("c")]));
        assert!(matches!(&events[..], [Event::Text(text)] if text == "bc"));
        assert_eq!(turn.parts, [Part::text("ab"), signed, Part::text("c")]);
        assert_eq!(turn.thoughts[0].subject, "Plan");
        assert_eq!(text_of(&turn.parts), "abc");
    }

    #[test]
    fn a_signed_thought_keeps_its_place_and_is_no_text() {
        let mut turn = Turn::new("p", 7);
        let opaque = Some(Opaque { dialect: "d".into(), data: "s".into() });
        let signed = Part { opaque, ..Part::thought("") };
        let reported = turn.take(chunk(vec![Part::thought("hm"), signed.clone()]));
        assert!(matches!(&reported[..], [Event::Thought(_)]), "{reported:?}");
        assert!(!turn.has_content());
        turn.take(chunk(vec![Part::text("a"), signed.clone(), Part::text("b")]));
        assert_eq!(turn.parts, [signed.clone(), Part::text("a"), signed, Part::text("b")]);
        assert_eq!((&*text_of(&turn.parts), turn.thoughts.len()), ("ab", 1));
    }

    #[test]
    fn calls_get_unique_prefixed_ids() {
        let mut turn = Turn::new("p", 7);
        let call = |id: &str, name: &str| Part::call(id, name, json!({}));
        turn.take(chunk(vec![call("", "glob"), call("x", "glob"), call("glob__y", "glob")]));
        turn.take(chunk(vec![call("x", "glob"), call("", " ")]));
        let ids: Vec<_> = turn.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(
            ids,
            ["glob__glob_7_0", "glob__x", "glob__y", "glob__x_3", "generic_tool__generic_tool_7_1"]
        );
        let stored: Vec<_> = turn
            .parts
            .iter()
            .filter_map(|part| part.as_call())
            .map(|call| call.id.as_str())
            .collect();
        assert_eq!(ids, stored);
    }

    #[test]
    fn a_subagent_replaces_the_ids_of_the_model() {
        let mut turn = Turn::new("p", 7).with_own_ids(Some("a#2".to_owned()));
        let call = |id: &str| Part::call(id, "glob", json!({}));
        turn.take(chunk(vec![call("x"), call("x"), call("")]));
        let ids: Vec<_> = turn.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["a#2-0", "a#2-1", "a#2-2"]);
    }

    #[test]
    fn an_id_made_unique_is_not_one_that_exists() {
        let mut turn = Turn::new("p", 7);
        let call = |id: &str| Part::call(id, "glob", json!({}));
        turn.take(chunk(vec![call("x"), call("x_2"), call("x")]));
        assert_eq!(turn.calls[2].id.as_str(), "glob__x_3");
    }

    #[test]
    fn the_model_that_answers_is_the_first_one_named() {
        let mut turn = Turn::new("p", 7);
        assert_eq!(turn.answered_by("asked"), "asked");
        for (version, expected) in
            [(None, "asked"), (Some(""), "asked"), (Some("a"), "a"), (Some("b"), "a"), (None, "a")]
        {
            let model_version = version.map(str::to_owned);
            turn.take(ResponseChunk { model_version, ..ResponseChunk::default() });
            assert_eq!(turn.answered_by("asked"), expected);
        }
    }

    #[test]
    fn an_answer_is_one_response_of_the_gemini_api() {
        let mut turn = Turn::new("p", 7);
        turn.take(chunk(vec![Part::text("a"), Part::call("x", "glob", json!({"pattern": "*"}))]));
        turn.take(ResponseChunk {
            finish: Some(FinishReason::MaxTokens),
            usage: Some(Usage { prompt: 3, total: 3, ..Usage::default() }),
            model_version: Some("m".to_owned()),
            ..ResponseChunk::default()
        });
        let answer: Value = serde_json::from_str(&turn.to_json()).unwrap();
        let candidate = &answer[0]["candidates"][0];
        assert_eq!(candidate["content"]["parts"][0]["text"], "a");
        assert_eq!(candidate["content"]["parts"][1]["functionCall"]["name"], "glob");
        assert_eq!(candidate["finishReason"], "MAX_TOKENS");
        assert_eq!(answer[0]["usageMetadata"]["promptTokenCount"], 3);
        assert_eq!(answer[0]["modelVersion"], "m");
        assert_eq!(answer[0].get("responseId"), None);
    }

    #[test]
    fn citations_are_sorted_and_unique() {
        let mut turn = Turn::new("p", 7);
        let cite = |title: Option<&str>, uri: &str| Citation {
            title: title.map(str::to_owned),
            uri: uri.to_owned(),
        };
        let citations = vec![cite(None, "u:b"), cite(Some("A"), "u:a"), cite(None, "u:b")];
        turn.take(ResponseChunk { citations, ..ResponseChunk::default() });
        assert_eq!(turn.citations().unwrap(), "Citations:\n(A) u:a\nu:b");
    }
}
