//! Tests that hidden content stays hidden after Gemini CLI has resumed the session in between.

use indexmap::IndexMap;
use pollux_protocol::{
    CallId, CallRecord, CallStatus, Compression, EntryId, History, MessageDisplay, MessageRecord,
    Part, Record, Shortened, Summary,
};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::encoder::Encoder;
use crate::resume::SessionData;

const HEADER: &str = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-01-31T12:00:00.000Z","lastUpdated":"2026-01-31T12:00:00.000Z","kind":"main"}"#;
const NOW: &str = "2026-01-31T12:00:00.000Z";

/// Session file, and the turns with results in it.
struct Session {
    encoder: Encoder,
    lines: Vec<String>,
    turns: Vec<String>,
}

impl Session {
    fn new() -> Self {
        let lines = vec![HEADER.to_owned()];
        let mut session = Self { encoder: Encoder::new(true), lines, turns: Vec::new() };
        let id = EntryId::new("context");
        session.log(&Record::Context { id, parts: vec![Part::text("<session_context>\nhere")] });
        let parts = vec![Part::text("find it")];
        session.log(&Record::User {
            id: EntryId::new("asked"),
            parts,
            display: MessageDisplay::Parts,
        });
        session
    }

    fn log(&mut self, record: &Record) {
        let lines = self.encoder.encode(record, NOW, || "n".to_owned()).unwrap();
        self.lines.extend(lines.into_iter().map(|line| String::from_utf8(line).unwrap()));
    }

    /// Adds a model message with calls, and the results.
    fn turn(&mut self, calls: usize, is_reversed: bool) {
        let id = format!("m{}", self.turns.len());
        let mut calls: Vec<CallRecord> = (0..calls).map(|call| call_record(&id, call)).collect();
        let call = |call: &CallRecord| Part::call(call.id.as_str(), "tool", json!({}));
        let mut parts = vec![Part::text(format!("Looking, {id}."))];
        parts.extend(calls.iter().map(call));
        self.log(&Record::Model(answer(&id, parts, calls.clone())));
        for call in &mut calls {
            call.status = CallStatus::Success;
            let output = format!("what {} found", call.id.as_str());
            call.result = Some(vec![Part::output(call.id.as_str(), "tool", output)]);
            self.log(&Record::CallFinished(call.clone()));
        }
        if is_reversed {
            calls.reverse();
        }
        let reported = format!("text{}", self.turns.len());
        let parts = calls.into_iter().filter_map(|call| call.result).flatten().collect();
        self.log(&Record::Responses { id: EntryId::new(reported.as_str()), parts, typed: None });
        self.turns.push(reported);
    }

    /// Returns the file as Gemini CLI leaves it after resuming it `times` times: each message, and
    /// the results once more for each time.
    fn resumed(&self, times: usize) -> Vec<String> {
        let mut living: IndexMap<String, Value> = IndexMap::new();
        for line in &self.lines {
            let line: Value = serde_json::from_str(line).unwrap();
            let listed = line["$set"]["messages"].as_array().cloned().unwrap_or_default();
            let message = line.get("id").map(|_| line.clone());
            for message in listed.into_iter().chain(message) {
                living.insert(message["id"].as_str().unwrap().to_owned(), message);
            }
        }
        let mut messages = Vec::new();
        for (id, message) in living {
            let calls = message["toolCalls"].as_array().cloned().unwrap_or_default();
            let results: Vec<Value> =
                calls.iter().flat_map(|call| call["result"].as_array().unwrap().clone()).collect();
            messages.push(message);
            let reported = json!({
                "id": format!("{id}_response"), "timestamp": NOW, "type": "user", "content": results,
            });
            let reported = (!results.is_empty()).then_some(reported);
            messages.extend(std::iter::repeat_n(reported, times).flatten());
        }
        let checkpoint = |messages: &[Value]| {
            json!({ "$set": { "messages": messages, "lastUpdated": NOW } }).to_string()
        };
        let mut lines = self.lines.clone();
        // Within the same minute Gemini CLI opens the same file, with the context alone.
        lines.extend([HEADER.to_owned(), checkpoint(&messages[..1]), checkpoint(&messages)]);
        lines
    }
}

fn call_record(message: &str, call: usize) -> CallRecord {
    CallRecord {
        id: CallId::new(format!("{message}c{call}")),
        name: "tool".to_owned(),
        args: json!({}),
        status: CallStatus::Validating,
        result: None,
        result_display: None,
        description: String::new(),
        display_name: String::new(),
        kind: None,
        locations: Vec::new(),
        render_output_as_markdown: false,
    }
}

fn answer(id: &str, parts: Vec<Part>, calls: Vec<CallRecord>) -> MessageRecord {
    MessageRecord {
        id: EntryId::new(id),
        parts,
        thoughts: Vec::new(),
        usage: None,
        model: "m".to_owned(),
        interrupted: false,
        calls,
    }
}

fn history(lines: &[String]) -> History {
    SessionData::from_bytes(lines.join("\n").as_bytes()).unwrap().history().0
}

/// Returns the content that the model sees; the order of results within their turn does not matter.
fn seen(history: &History) -> Vec<Vec<String>> {
    let seen = history.entries().iter().map(|entry| {
        let parts = entry.content().parts.iter();
        let mut parts: Vec<String> =
            parts.map(|part| serde_json::to_string(part).unwrap()).collect();
        parts.sort();
        parts
    });
    seen.collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_out_of_sight_stays_so_when_gemini_cli_wrote_the_session_again(
        turns in prop::collection::vec((1..4usize, any::<bool>()), 2..6),
        through in any::<prop::sample::Index>(),
        shortened in any::<prop::sample::Index>(),
        has_summary in any::<bool>(),
        times in 1..3usize,
    ) {
        let mut session = Session::new();
        for (calls, is_reversed) in &turns {
            session.turn(*calls, *is_reversed);
        }
        // The last turn stays visible, with a shortened result.
        let through = through.index(turns.len() - 1);
        let last = turns.len() - 1;
        let summary = has_summary.then(|| Summary {
            words: "what was found".to_owned(),
            from: EntryId::new("asked"),
            through: EntryId::new(session.turns[through].as_str()),
            acknowledged: false,
        });
        let short = Shortened {
            entry: EntryId::new(session.turns[last].as_str()),
            part: shortened.index(turns[last].0),
            response: json!({ "output": "short" }),
        };
        let compression = Compression { id: EntryId::new("s"), summary, shortened: vec![short], tokens: None };
        session.log(&Record::Compressed(compression));
        session.log(&Record::Model(answer("end", vec![Part::text("Found.")], Vec::new())));

        let whole = seen(&history(&session.lines));
        prop_assert!(whole.iter().flatten().any(|part| part.contains("short")));
        prop_assert_eq!(whole.iter().flatten().any(|part| part.contains("what was found")), has_summary);
        let resumed = session.resumed(times);
        prop_assert_eq!(seen(&history(&resumed)), whole);
        session.lines = resumed;
        session.log(&Record::Uncompressed);
        let all = history(&session.lines);
        prop_assert_eq!(all.entries().len(), 2 * turns.len() + 3);
    }
}

#[test]
fn results_that_gemini_cli_recorded_are_found_after_it_wrote_them_again() {
    let result = r#"[{"functionResponse":{"id":"c","name":"tool","response":{"output":"x"}}}]"#;
    let lines: Vec<String> = [
        HEADER.to_owned(),
        r#"{"id":"u","type":"user","content":[{"text":"one"}]}"#.to_owned(),
        format!(r#"{{"id":"m","type":"gemini","content":"two","toolCalls":[{{"id":"c","name":"tool","args":{{}},"status":"success","result":{result}}}]}}"#),
        format!(r#"{{"id":"x","type":"user","content":{result}}}"#),
        r#"{"$pollux":{"compressed":{"id":"s","summary":{"words":"short","from":"u","through":"x","acknowledged":false}}}}"#.to_owned(),
        r#"{"id":"n","type":"gemini","content":"three"}"#.to_owned(),
    ]
    .into();
    let texts = |lines: &[String]| -> Vec<String> {
        history(lines).entries().iter().map(|entry| entry.content().text().into_owned()).collect()
    };
    assert_eq!(texts(&lines), ["short", "three"]);
    let anew = format!(
        r#"{{"$set":{{"messages":[{},{},{{"id":"m_response","type":"user","content":{result}}},{},{}]}}}}"#,
        lines[1], lines[2], lines[3], lines[5]
    );
    assert_eq!(texts(&[&lines[..], &[anew]].concat()), ["short", "three"]);
}
