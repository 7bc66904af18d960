//! Tests that replaying the durable events gives the same conversation, and that the files of other
//! programs can be read.

use pollux_protocol::{
    CallId, CallRecord, CallStatus, FunctionCall, History, MessageDisplay, MessageRecord, Opaque,
    Record, Usage,
};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::encoder::Encoder;
use crate::resume::SessionData;

const HEADER: &str = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-01-31T12:00:00.000Z","lastUpdated":"2026-01-31T12:00:00.000Z","kind":"main"}"#;

fn read(bytes: &[u8]) -> SessionData {
    SessionData::from_bytes(bytes).unwrap()
}

fn read_lines(lines: &[&str]) -> SessionData {
    read(
        std::iter::once(HEADER)
            .chain(lines.iter().copied())
            .collect::<Vec<_>>()
            .join("\n")
            .as_bytes(),
    )
}

fn shape(contents: &[(EntryId, Content)]) -> Value {
    let entry = |(id, content): &(EntryId, Content)| {
        let role = if content.role == Role::Model { "model" } else { "user" };
        json!([id, role, content.parts])
    };
    Value::Array(contents.iter().map(entry).collect())
}

/// One step of a session.
#[derive(Debug, Clone)]
enum Step {
    User(String),
    Answer {
        texts: Vec<String>,
        calls: usize,
        signature: u8,
        interrupted: bool,
    },
    /// Finishes this many of the running calls, from the front or the back.
    Finish {
        count: usize,
        from_back: bool,
        media: bool,
    },
    Tell {
        steering: bool,
        reversed: bool,
    },
    Notice,
    /// The caller requests that the conversation be cleared.
    Forget,
    /// The process dies and another process resumes the session.
    Die,
}

fn step() -> impl Strategy<Value = Step> {
    let text = prop_oneof![
        "[a-z ]{0,6}",
        Just("/x".to_owned()),
        Just("?".to_owned()),
        Just("é\n".to_owned())
    ];
    prop_oneof![
        3 => text.clone().prop_map(Step::User),
        4 => (prop::collection::vec(text, 0..3), 0..4usize, 0..4u8, prop::bool::weighted(0.1))
            .prop_map(|(texts, calls, signature, interrupted)| {
                Step::Answer { texts, calls, signature, interrupted }
            }),
        5 => (0..4usize, any::<bool>(), any::<bool>())
            .prop_map(|(count, from_back, media)| Step::Finish { count, from_back, media }),
        4 => (any::<bool>(), any::<bool>())
            .prop_map(|(steering, reversed)| Step::Tell { steering, reversed }),
        1 => Just(Step::Notice),
        1 => Just(Step::Forget),
        1 => Just(Step::Die),
    ]
}

/// Session that runs as in the agent: first the log, then the history.
struct Run {
    history: History,
    encoder: Encoder,
    file: Vec<u8>,
    calls: Vec<CallRecord>,
    next: usize,
}

impl Run {
    fn new() -> Self {
        let mut run = Self {
            history: History::new(),
            encoder: Encoder::new(true),
            file: format!("{HEADER}\n").into_bytes(),
            calls: Vec::new(),
            next: 0,
        };
        run.open();
        run
    }

    fn open(&mut self) {
        let (id, parts) = (self.id(), vec![Part::text("<session_context>\nhere")]);
        self.log(&Record::Context { id: id.clone(), parts: parts.clone() });
        self.history.push_user(id, parts);
    }

    fn id(&mut self) -> EntryId {
        self.next += 1;
        EntryId::new(format!("e{}", self.next))
    }

    fn log(&mut self, record: &Record) {
        let lines =
            self.encoder.encode(record, "2026-01-31T12:00:00.000Z", || "n".to_owned()).unwrap();
        for line in lines {
            self.file.extend_from_slice(&line);
            self.file.push(b'\n');
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::User(text) if self.calls.is_empty() => self.user(text),
            Step::Answer { texts, calls, signature, interrupted } if self.calls.is_empty() => {
                self.answer(texts, *calls, *signature, *interrupted);
            }
            Step::Finish { count, from_back, media } => self.finish(*count, *from_back, *media),
            Step::Tell { steering, reversed } if self.all_finished() => {
                self.tell(*steering, *reversed);
            }
            Step::Notice => {
                let text = "careful".to_owned();
                self.log(&Record::Notice { severity: pollux_protocol::Severity::Info, text });
            }
            Step::Forget if self.calls.is_empty() => {
                self.log(&Record::Cleared);
                self.history = History::new();
                self.open();
            }
            Step::Die => {
                self.die();
                self.encoder = Encoder::new(false);
            }
            Step::User(_) | Step::Answer { .. } | Step::Tell { .. } | Step::Forget => {}
        }
    }

    fn user(&mut self, text: &str) {
        let (id, parts) = (self.id(), vec![Part::text(text)]);
        self.log(&Record::User {
            id: id.clone(),
            parts: parts.clone(),
            display: MessageDisplay::Parts,
        });
        self.history.push_user(id, parts);
    }

    fn answer(&mut self, texts: &[String], calls: usize, signature: u8, interrupted: bool) {
        let id = self.id();
        let mut parts: Vec<Part> = texts.iter().map(Part::text).collect();
        // Ids that collide are made unique by the history.
        parts
            .extend((0..calls).map(|call| {
                Part::call(format!("{id}c{}", call / 2), "tool", json!({ "n": call }))
            }));
        if let Some(last) = parts.last_mut() {
            last.opaque = match signature {
                1 => Some(Opaque { dialect: Opaque::GEMINI.to_owned(), data: "sig".to_owned() }),
                2 | 3 => Some(Opaque { dialect: "other".to_owned(), data: "sig".to_owned() }),
                _ => None,
            };
            let opaque = last.opaque.clone().filter(|_| signature == 3);
            if opaque.is_some() {
                parts.insert(parts.len() / 2, Part { opaque, ..Part::thought("why") });
            }
        }
        let mut ahead = self.history.clone();
        let stored = if interrupted {
            ahead.push_interrupted(id.clone(), parts.clone());
            Vec::new()
        } else {
            ahead.push_model(id.clone(), parts.clone())
        };
        self.calls = stored.iter().map(call_record).collect();
        self.log(&Record::Model(MessageRecord {
            id,
            parts,
            thoughts: Vec::new(),
            usage: None,
            model: "m".to_owned(),
            interrupted,
            calls: self.calls.clone(),
        }));
        self.history = ahead;
    }

    fn finish(&mut self, count: usize, from_back: bool, media: bool) {
        for _ in 0..count {
            let mut open = self.calls.iter_mut().filter(|call| !call.status.is_final());
            let Some(call) = (if from_back { open.next_back() } else { open.next() }) else {
                return;
            };
            call.status = CallStatus::Success;
            let mut result = vec![Part::output(call.id.as_str(), "tool", "done")];
            if media {
                result.push(Part::inline("image/png", "AA=="));
            }
            call.result = Some(result);
            let finished = call.clone();
            self.log(&Record::CallFinished(finished));
        }
    }

    fn all_finished(&self) -> bool {
        !self.calls.is_empty() && self.calls.iter().all(|call| call.status.is_final())
    }

    fn tell(&mut self, steering: bool, reversed: bool) {
        let id = self.id();
        let mut calls = std::mem::take(&mut self.calls);
        if reversed {
            calls.reverse();
        }
        let results: Vec<Part> =
            calls.into_iter().filter_map(|call| call.result).flatten().collect();
        let (responses, siblings): (Vec<Part>, Vec<Part>) =
            results.into_iter().partition(|part| part.as_response().is_some());
        let mut parts = if steering { vec![Part::text("faster")] } else { Vec::new() };
        parts.extend(responses.into_iter().chain(siblings));
        self.log(&Record::Responses { id: id.clone(), parts: parts.clone(), typed: None });
        self.history.push_responses(id, parts);
    }

    /// Ends the running calls in the history in the same way as resume must do.
    fn die(&mut self) {
        let calls = std::mem::take(&mut self.calls);
        let Some(last) = self.history.entries().last().map(|entry| entry.id().to_string()) else {
            return;
        };
        if !calls.is_empty() {
            let parts = calls.into_iter().flat_map(|call| {
                call.result
                    .unwrap_or_else(|| vec![interrupted(call.id.as_str(), "tool", INTERRUPTED)])
            });
            self.history.push_responses(EntryId::new(format!("{last}_response")), parts.collect());
        }
    }
}

fn call_record(call: &FunctionCall) -> CallRecord {
    CallRecord {
        id: CallId::new(call.id.as_str()),
        name: call.name.clone(),
        args: call.args.clone(),
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

fn entries(history: &History) -> Value {
    let entries = history.entries().iter();
    shape(&entries.map(|entry| (entry.id().clone(), entry.content().clone())).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn replaying_the_log_gives_the_same_conversation(
        steps in prop::collection::vec(step(), 0..25),
    ) {
        let mut run = Run::new();
        for step in &steps {
            run.step(step);
        }
        run.die();
        let data = read(&run.file);
        prop_assert!(data.damage.is_empty(), "{:?}", data.damage);
        let (restored, repairs) = History::restore(data.contents);
        prop_assert_eq!(repairs, []);
        prop_assert_eq!(entries(&restored), entries(&run.history));
        prop_assert!(restored.pending().is_empty());
    }

    #[test]
    fn a_file_cut_anywhere_loses_at_most_its_last_line(
        steps in prop::collection::vec(step(), 1..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut run = Run::new();
        for step in &steps {
            run.step(step);
        }
        let at = HEADER.len() + 1 + cut.index(run.file.len() - HEADER.len());
        let whole = run.file[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let (cut, whole) = (read(&run.file[..at]), read(&run.file[..whole]));
        prop_assert!(cut.damage.len() <= 1);
        // A last line that lacks only its line feed is complete.
        if !cut.damage.is_empty() {
            prop_assert_eq!(shape(&cut.contents), shape(&whole.contents));
        }
        let (restored, _) = History::restore(cut.contents);
        prop_assert!(restored.pending().is_empty());
    }

    #[test]
    fn no_bytes_make_the_reader_fail(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut file = format!("{HEADER}\n").into_bytes();
        file.extend_from_slice(&bytes);
        let _data = read(&file);
    }
}

#[test]
fn tokens_written_to_a_cache_are_read_again_beside_those_that_gemini_cli_knows() {
    let usage = Usage { prompt: 10, cache_write: 4, total: 12, ..Usage::default() };
    let record = Record::Model(MessageRecord {
        id: EntryId::new("m"),
        parts: vec![Part::text("hello")],
        thoughts: Vec::new(),
        usage: Some(usage),
        model: "x".to_owned(),
        interrupted: false,
        calls: Vec::new(),
    });
    let lines = Encoder::new(false).encode(&record, "now", String::new).unwrap();
    let line: Value = serde_json::from_slice(&lines[0]).unwrap();
    assert_eq!(line["tokens"].as_object().unwrap().len(), 6);
    assert_eq!(line["$pollux"], json!({ "cacheWrite": 4 }));
    let data = read_lines(&[&line.to_string()]);
    assert_eq!(data.figures.models["x"].usage, usage);
}

#[test]
fn a_call_killed_while_it_ran_says_so() {
    let data = read_lines(&[
        r#"{"id":"m","type":"gemini","content":[{"functionCall":{"id":"a","name":"t","args":{}}},{"functionCall":{"id":"b","name":"t","args":{}}}],"toolCalls":[{"id":"a","name":"t","args":{},"result":[],"status":"executing"},{"id":"b","name":"t","args":{},"status":"scheduled"}]}"#,
        r#"{"$pollux":{"started":{"callId":"a","effects":{}}}}"#,
    ]);
    let results = &data.contents[1].1;
    let texts: Vec<String> =
        results.responses().map(|response| response.response["error"].to_string()).collect();
    assert!(texts[0].contains("while it ran"), "{texts:?}");
    assert!(texts[1].ends_with("The call was interrupted.\""), "{texts:?}");
}

#[test]
fn a_call_that_ended_without_a_result_is_answered() {
    let data = read_lines(&[
        r#"{"id":"m","type":"gemini","content":"","toolCalls":[{"id":"a","name":"t","args":{},"result":[],"status":"success"},{"id":"b","name":"t","args":{},"result":[{"functionResponse":{"id":"b","name":"t","response":{"output":"half"}}}],"status":"executing"}]}"#,
    ]);
    let errors: Vec<bool> = data.contents[1]
        .1
        .responses()
        .map(|answer| answer.response.get("error").is_some())
        .collect();
    assert_eq!(errors, [true, true]);
}

#[test]
fn text_beside_a_result_that_answers_no_call_is_kept() {
    let data = read_lines(&[
        r#"{"id":"u","type":"user","content":[{"functionResponse":{"id":"none","name":"t","response":{}}},{"text":"hi"}]}"#,
    ]);
    assert_eq!(shape(&data.contents), json!([["u", "user", [{ "text": "hi" }]]]));
}

#[test]
fn the_records_of_a_call_survive_a_checkpoint() {
    let message = r#"{"id":"m","type":"gemini","content":"","toolCalls":[{"id":"a","name":"t","args":{},"status":"executing"}]}"#;
    let checkpoint = format!(r#"{{"$set":{{"messages":[{message}]}}}}"#);
    let started = r#"{"$pollux":{"started":{"callId":"a","effects":{}}}}"#;
    let finished = r#"{"$pollux":{"call":{"id":"a","name":"t","args":{},"status":"success","result":"done"}}}"#;
    for (record, expected) in [(started, "while it ran"), (finished, "done")] {
        let data = read_lines(&[message, record, &checkpoint]);
        let answer = serde_json::to_string(&shape(&data.contents)[1]).unwrap();
        assert!(answer.contains(expected), "{answer}");
    }
}

#[test]
fn messages_that_cannot_be_loaded_are_named_up_to_a_limit() {
    let deep = format!("{}1{}", "[".repeat(500), "]".repeat(500));
    let lines: Vec<String> =
        (0..50).map(|id| format!(r#"{{"id":"d{id}","type":"user","content":{deep}}}"#)).collect();
    for (count, named) in [(30, 30), (50, 40)] {
        let lines: Vec<&str> = lines[..count].iter().map(String::as_str).collect();
        let data = read_lines(&lines);
        assert_eq!((data.contents.len(), data.damage.len()), (0, named));
        assert_eq!(data.damage[0], "message d0 could not be read and was skipped");
    }
}

#[test]
fn declared_effects_come_back_whatever_version_wrote_them() {
    let mut data = read_lines(&[
        r#"{"id":"m","type":"gemini","content":[{"functionCall":{"id":"a","name":"t","args":{}}},{"functionCall":{"id":"b","name":"t","args":{}}},{"functionCall":{"id":"c","name":"t","args":{}}}],"toolCalls":[]}"#,
        r#"{"$pollux":{"started":{"callId":"a","effects":{"reads":["/p/a"],"writes":["/p/a"]}}}}"#,
        r#"{"$pollux":{"started":{"callId":"b","effects":{"unknown":true,"command":"ls","folder":"/p","hosts":["h"],"later":1}}}}"#,
        r#"{"$pollux":{"started":{"callId":"c"}}}"#,
    ]);
    let (history, _) = data.history();
    let written = Effects { alone: false, ..Effects::write("/p/a") };
    assert_eq!(history.effects_of("a"), Some(&written));
    let ran = Effects { hosts: vec!["h".to_owned()], ..Effects::command("ls", "/p") };
    assert_eq!(history.effects_of("b"), Some(&ran.or_unknown()));
    assert_eq!(history.effects_of("c"), None);
}

#[test]
fn a_live_file_of_gemini_cli_is_read_once_each() {
    let data = read_lines(&[
        r#"{"$set":{"messages":[{"id":"c","type":"user","content":[{"text":"<session_context>\nx"}]}],"lastUpdated":"2026-11-20T15:15:13.235Z"}}"#,
        r#"{"id":"u","type":"user","content":[{"text":"please read a.txt"}]}"#,
        r#"{"id":"m","type":"gemini","content":"Let me look.","thoughts":[{"subject":"Plan","description":"think"}],"tokens":{"input":10,"output":2,"cached":0,"thoughts":0,"tool":0,"total":12},"model":"x","toolCalls":[{"id":"a","name":"read_file","args":{"p":1},"result":[{"functionResponse":{"id":"a","name":"read_file","response":{"output":"hi"}}}],"status":"success"}]}"#,
        r#"{"id":"r","type":"user","content":[{"functionResponse":{"id":"a","name":"read_file","response":{"output":"hi"}}}]}"#,
        r#"{"id":"i","type":"info","content":"note"}"#,
        r#"{"id":"s","type":"user","content":[{"text":"/help"}]}"#,
        r#"{"id":"m2","type":"gemini","content":"It says hi.","thoughts":[],"tokens":null,"model":"x"}"#,
    ]);
    assert_eq!(
        shape(&data.contents),
        json!([
            ["c", "user", [{ "text": "<session_context>\nx" }]],
            ["u", "user", [{ "text": "please read a.txt" }]],
            ["m", "model", [{ "text": "Let me look." }, { "functionCall": { "id": "a", "name": "read_file", "args": { "p": 1 } } }]],
            ["r", "user", [{ "functionResponse": { "id": "a", "name": "read_file", "response": { "output": "hi" } } }]],
            ["m2", "model", [{ "text": "It says hi." }]],
        ])
    );
    assert_eq!(data.figures.models["x"].requests, 2);
    assert_eq!(data.figures.models["x"].usage.prompt, 10);
    assert_eq!(data.figures.tools["read_file"].success, 1);
    let (_, repairs) = History::restore(data.contents);
    assert_eq!(repairs, []);
}

#[test]
fn results_that_gemini_cli_doubled_on_resume_are_reported_once() {
    let response = r#"{"functionResponse":{"id":"a","name":"t","response":{"output":"hi"}}}"#;
    let line = format!(
        r#"{{"$set":{{"messages":[{{"id":"m","type":"gemini","content":[{{"text":"p","thought":true}},{{"functionCall":{{"id":"a","name":"t","args":{{}}}}}}]}},{{"id":"m_response","type":"user","content":[{response}]}},{{"id":"r","type":"user","content":[{response}]}}]}}}}"#
    );
    let data = read_lines(&[&line]);
    let ids: Vec<&str> = data.contents.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["m", "m_response"]);
}

#[test]
fn sound_that_gemini_cli_keeps_in_a_response_follows_it() {
    let response = r#"{"functionResponse":{"id":"a","name":"t","response":{"output":"hi","__binary_injection__":[{"inlineData":{"mimeType":"audio/wav","data":"UklG"}}]}}}"#;
    let call = format!(
        r#"{{"id":"m","type":"gemini","content":"","toolCalls":[{{"id":"a","name":"t","args":{{}},"status":"success","result":[{response}]}}]}}"#
    );
    let message = format!(r#"{{"id":"r","type":"user","content":[{response}]}}"#);
    let expected = json!([
        { "functionResponse": { "id": "a", "name": "t", "response": { "output": "hi" } } },
        { "inlineData": { "mimeType": "audio/wav", "data": "UklG" } },
    ]);
    for lines in [vec![&*call], vec![&*call, &*message]] {
        let data = read_lines(&lines);
        assert_eq!(shape(&data.contents)[1][2], expected, "{lines:?}");
    }
}

#[test]
fn the_originals_records_win_over_our_notes() {
    // Gemini CLI rewound the message in which the user steered the model, and finished the call
    // itself.
    let data = read_lines(&[
        r#"{"id":"m","type":"gemini","content":[{"functionCall":{"id":"a","name":"t","args":{}}}],"toolCalls":[{"id":"a","name":"t","args":{},"status":"success","result":"theirs"}]}"#,
        r#"{"$pollux":{"call":{"id":"a","name":"t","args":{},"status":"success","result":"ours"}}}"#,
        r#"{"$pollux":{"responses":{"id":"r","parts":[{"text":"faster"},{"call":"a","part":0}]}}}"#,
        r#"{"id":"r","type":"user","content":[{"text":"faster"}],"$pollux":{"withResults":true}}"#,
        r#"{"$rewindTo":"r"}"#,
    ]);
    assert_eq!(
        shape(&data.contents)[1],
        json!(["r", "user", [{ "functionResponse": { "id": "a", "name": "t", "response": { "output": "theirs" } } }]])
    );
}

#[test]
fn missing_ids_are_paired() {
    let data = read_lines(&[
        r#"{"id":"m","type":"gemini","content":[{"functionCall":{"name":"t","args":{}}}]}"#,
        r#"{"id":"r","type":"user","content":[{"functionResponse":{"name":"t","response":{"output":"x"}}}]}"#,
    ]);
    let call = data.contents[0].1.calls().next().unwrap().id.clone();
    assert!(call.starts_with("synth_t_") && call.len() == "synth_t_".len() + 32, "{call}");
    assert_eq!(data.contents[1].1.responses().next().unwrap().id, call);
}

#[test]
fn an_old_session_of_one_object_is_read() {
    let text = serde_json::to_string_pretty(&json!({
        "sessionId": "old", "projectHash": "h", "startTime": "2025-01-01T00:00:00.000Z",
        "messages": [{ "id": "u", "type": "user", "content": "hi" }, { "id": "m", "type": "gemini", "content": "yo" }],
    }))
    .unwrap();
    let data = read(text.as_bytes());
    assert_eq!((data.id.as_str(), data.contents.len()), ("old", 2));
    assert_eq!(data.damage, Vec::<String>::new());
}

#[test]
fn a_session_that_gemini_cli_went_on_with_is_taken_back() {
    // The first half is in the layout of Pollux, which was killed during a call; Gemini CLI 0.61
    // resumed it and wrote the rest.
    let data = read(include_bytes!("../../tests/golden/continued.jsonl"));
    assert_eq!(data.damage, Vec::<String>::new());
    let (history, repairs) = History::restore(data.contents);
    assert_eq!(repairs, []);
    let ids: Vec<&str> = history.entries().iter().map(|entry| entry.id().as_str()).collect();
    assert_eq!(
        ids,
        [
            "context",
            "u1",
            "m1",
            "m1_response",
            "r1_interrupted",
            "r1",
            "m2",
            "m3",
            "m3_response",
            "u3_interrupted",
            "u3",
            "m4"
        ]
    );
    let signatures = history.entries().iter().flat_map(|entry| &entry.content().parts);
    let signatures: Vec<&str> =
        signatures.filter_map(|part| Some(part.opaque.as_ref()?.data.as_str())).collect();
    assert_eq!(signatures, ["c2ln", "c2lnMg==", "c2lnMw=="]);
}

#[test]
fn what_is_out_of_sight_is_so_after_a_resume_and_comes_back() {
    let talk = [
        r#"{"id":"u","type":"user","content":[{"text":"one"}]}"#,
        r#"{"id":"m","type":"gemini","content":"two","model":"x"}"#,
        r#"{"id":"v","type":"user","content":[{"text":"three"}]}"#,
        r#"{"$pollux":{"compressed":{"id":"s","summary":{"words":"short","from":"u","through":"m","acknowledged":true}}}}"#,
        r#"{"id":"n","type":"gemini","content":"four","model":"x"}"#,
    ];
    let texts = |lines: &[&str]| -> Vec<String> {
        let (history, _) = read_lines(lines).history();
        history.entries().iter().map(|entry| entry.content().text().into_owned()).collect()
    };
    assert_eq!(texts(&talk), ["short", "Understood. I will continue from there.", "three", "four"]);
    let whole = ["one", "two", "three", "four"];
    let back = [&talk[..], &[r#"{"$pollux":{"uncompressed":true}}"#]].concat();
    assert_eq!(texts(&back), whole);
    // The messages that the summary replaces were taken back since, or the line is invalid: then
    // nothing is hidden.
    let rewound = [&talk[..], &[r#"{"$rewindTo":"m"}"#]].concat();
    assert_eq!(texts(&rewound), ["one"]);
    for line in [
        r#"{"$pollux":{"compressed":{"id":"s","summary":{"words":"","from":"u","through":"m","acknowledged":true}}}}"#,
        r#"{"$pollux":{"compressed":{"id":"s","summary":{"words":"x","from":"m","through":"u","acknowledged":true}}}}"#,
        r#"{"$pollux":{"compressed":7}}"#,
    ] {
        let odd = [&talk[..3], &[line], &talk[4..]].concat();
        assert_eq!(texts(&odd), whole, "{line}");
    }
}
