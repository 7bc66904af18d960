//! One answer as it streams in: parts are put together, calls get their ids, events are told.

use pollux_protocol::{
    Body, Call, CallId, Chunk, Citation, Event, FinishReason, FunctionCall, Opaque, Part, Thought,
    Usage,
};

use crate::validity::{StreamEnd, judge};

/// The name of a call that came without one.
const NAMELESS: &str = "generic_tool";

/// An answer under way or complete.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    prompt_id: String,
    /// Milliseconds since 1970 when the turn began; part of made-up call ids.
    epoch_ms: i64,
    /// What goes into the history.
    pub(crate) parts: Vec<Part>,
    pub(crate) thoughts: Vec<Thought>,
    pub(crate) calls: Vec<Call>,
    pub(crate) usage: Option<Usage>,
    pub(crate) finish: Option<FinishReason>,
    pub(crate) response_id: Option<String>,
    citations: Vec<Citation>,
}

impl Turn {
    pub(crate) fn new(prompt_id: &str, epoch_ms: i64) -> Self {
        Self { prompt_id: prompt_id.to_owned(), epoch_ms, ..Self::default() }
    }

    /// Takes in one chunk; gives the events to tell, in order: thoughts, text, calls.
    pub(crate) fn take(&mut self, chunk: Chunk) -> Vec<Event> {
        let mut thoughts = Vec::new();
        let mut text = String::new();
        let mut calls = Vec::new();
        for part in chunk.parts {
            if part.thought {
                if let Some(words) = part.as_text().filter(|words| !words.is_empty()) {
                    let thought = Thought::parse(words);
                    self.thoughts.push(thought.clone());
                    thoughts.push(Event::Thought(thought));
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
        // Plain text goes on where plain text ended; anything with a signature stays by itself.
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
        if asked.name.trim().is_empty() {
            NAMELESS.clone_into(&mut asked.name);
        }
        let id = call_id(&asked.name, &asked.id, self.epoch_ms, count);
        let taken = self.calls.iter().any(|call| call.id.as_str() == id);
        asked.id = if taken { format!("{id}_{count}") } else { id };
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

    /// The answer's words.
    pub(crate) fn text(&self) -> String {
        self.parts.iter().filter_map(Part::as_text).collect()
    }

    /// Something has come.
    pub(crate) fn has_content(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The reason why the answer cannot be used, if there is one.
    pub(crate) fn judge(&self, answers_results: bool) -> Option<pollux_protocol::InvalidStream> {
        judge(StreamEnd {
            finish: self.finish.as_ref(),
            text: &self.text(),
            has_calls: !self.calls.is_empty(),
            has_thoughts: !self.thoughts.is_empty(),
            answers_results,
        })
    }

    /// Sources as lines for a person; none when none were named.
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

/// `<name>__<id>`, with an id made up from the time and the position when the model gave none.
fn call_id(name: &str, given: &str, epoch_ms: i64, count: usize) -> String {
    let prefix = format!("{name}__");
    if given.is_empty() {
        format!("{prefix}{name}_{epoch_ms}_{count}")
    } else if given.starts_with(&prefix) {
        given.to_owned()
    } else {
        format!("{prefix}{given}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chunk(parts: Vec<Part>) -> Chunk {
        Chunk { parts, ..Chunk::default() }
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
        assert_eq!(turn.text(), "abc");
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
            ["glob__glob_7_0", "glob__x", "glob__y", "glob__x_3", "generic_tool__generic_tool_7_4"]
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
    fn citations_are_sorted_and_unique() {
        let mut turn = Turn::new("p", 7);
        let cite = |title: Option<&str>, uri: &str| Citation {
            title: title.map(str::to_owned),
            uri: uri.to_owned(),
        };
        let citations = vec![cite(None, "u:b"), cite(Some("A"), "u:a"), cite(None, "u:b")];
        turn.take(Chunk { citations, ..Chunk::default() });
        assert_eq!(turn.citations().unwrap(), "Citations:\n(A) u:a\nu:b");
    }
}
