use std::path::PathBuf;

use pollux_protocol::{
    CallId, CallStatus, ConfinementLevel, Decision, Effects, Opaque, Severity, Thought, Usage,
};
use pretty_assertions::assert_eq;

use super::*;

const NOW: &str = "2026-01-31T12:00:00.000Z";

fn encode(encoder: &mut Encoder, record: &Record) -> Vec<String> {
    let lines = encoder.encode(record, NOW, || "fresh".to_owned()).unwrap();
    lines.into_iter().map(|line| String::from_utf8(line).unwrap()).collect()
}

fn all(records: &[Record]) -> Vec<String> {
    let mut encoder = Encoder::new(true);
    records.iter().flat_map(|record| encode(&mut encoder, record)).collect()
}

fn call(id: &str, status: CallStatus, output: Option<&str>) -> CallRecord {
    CallRecord {
        id: CallId::new(id),
        name: "read_file".to_owned(),
        args: json!({ "file_path": "a.txt" }),
        status,
        result: output.map(|output| vec![Part::output(id, "read_file", output)]),
        result_display: None,
        description: "a.txt".to_owned(),
        display_name: "ReadFile".to_owned(),
        kind: None,
        locations: Vec::new(),
        render_output_as_markdown: true,
    }
}

fn message(parts: Vec<Part>, calls: Vec<CallRecord>) -> MessageRecord {
    MessageRecord {
        id: EntryId::new("m1"),
        parts,
        thoughts: vec![Thought { subject: "Plan".to_owned(), description: "look".to_owned() }],
        usage: Some(Usage { prompt: 10, candidates: 2, total: 12, ..Usage::default() }),
        model: "gemini-x".to_owned(),
        interrupted: false,
        calls,
    }
}

#[test]
fn a_plain_exchange_has_the_lines_of_gemini_cli() {
    let lines = all(&[
        Record::Context { id: EntryId::new("c"), parts: vec![Part::text("<session_context>x")] },
        Record::User {
            id: EntryId::new("u1"),
            parts: vec![Part::text("hi")],
            display: MessageDisplay::Parts,
        },
        Record::Model(message(vec![Part::text("hello")], Vec::new())),
        Record::Notice { severity: Severity::Warning, text: "careful".to_owned() },
    ]);
    assert_eq!(
        lines,
        [
            r#"{"$set":{"messages":[{"id":"c","timestamp":"2026-01-31T12:00:00.000Z","type":"user","content":[{"text":"<session_context>x"}]}],"lastUpdated":"2026-01-31T12:00:00.000Z"}}"#,
            r#"{"id":"u1","timestamp":"2026-01-31T12:00:00.000Z","type":"user","content":[{"text":"hi"}]}"#,
            r#"{"$set":{"lastUpdated":"2026-01-31T12:00:00.000Z"}}"#,
            r#"{"id":"m1","timestamp":"2026-01-31T12:00:00.000Z","type":"gemini","content":"hello","thoughts":[{"subject":"Plan","description":"look","timestamp":"2026-01-31T12:00:00.000Z"}],"tokens":{"input":10,"output":2,"cached":0,"thoughts":0,"tool":0,"total":12},"model":"gemini-x"}"#,
            r#"{"$set":{"lastUpdated":"2026-01-31T12:00:00.000Z"}}"#,
            r#"{"id":"fresh","timestamp":"2026-01-31T12:00:00.000Z","type":"warning","content":"careful"}"#,
            r#"{"$set":{"lastUpdated":"2026-01-31T12:00:00.000Z"}}"#,
        ]
    );
}

#[test]
fn a_conversation_that_is_forgotten_begins_again() {
    let context = Record::Context { id: EntryId::new("c"), parts: vec![Part::text("x")] };
    let lines = all(&[context.clone(), Record::Cleared, context]);
    let opened = r#"{"$set":{"messages":[{"id":"c","timestamp":"2026-01-31T12:00:00.000Z","type":"user","content":[{"text":"x"}]}],"lastUpdated":"2026-01-31T12:00:00.000Z"}}"#;
    let cleared = r#"{"$set":{"messages":[],"lastUpdated":"2026-01-31T12:00:00.000Z"}}"#;
    assert_eq!(lines, [opened, cleared, opened]);
}

#[test]
fn a_call_is_in_flight_with_an_answer_then_finished_in_its_message() {
    let mut signed = Part::call("a", "read_file", json!({ "file_path": "a.txt" }));
    signed.opaque = Some(Opaque { dialect: Opaque::GEMINI.to_owned(), data: "c2ln".to_owned() });
    let lines = all(&[
        Record::Model(message(vec![signed], vec![call("a", CallStatus::Scheduled, None)])),
        Record::Decided { call_id: CallId::new("a"), decision: Decision::Accept },
        Record::CallStarted {
            call_id: CallId::new("a"),
            description: String::new(),
            effects: Effects::read("/p/a.txt"),
            level: ConfinementLevel::None,
        },
        Record::CallFinished(call("a", CallStatus::Success, Some("x"))),
        Record::Responses {
            id: EntryId::new("r1"),
            parts: vec![Part::output("a", "read_file", "x")],
            typed: None,
        },
    ]);
    assert_eq!(
        lines,
        [
            r#"{"id":"m1","timestamp":"2026-01-31T12:00:00.000Z","type":"gemini","content":[{"functionCall":{"id":"a","name":"read_file","args":{"file_path":"a.txt"}},"thoughtSignature":"c2ln"}],"thoughts":[{"subject":"Plan","description":"look","timestamp":"2026-01-31T12:00:00.000Z"}],"tokens":{"input":10,"output":2,"cached":0,"thoughts":0,"tool":0,"total":12},"model":"gemini-x","toolCalls":[{"id":"a","name":"read_file","args":{"file_path":"a.txt"},"result":[{"functionResponse":{"id":"a","name":"read_file","response":{"error":"[Operation Cancelled] Reason: The call was interrupted."}}}],"status":"scheduled","timestamp":"2026-01-31T12:00:00.000Z","description":"a.txt","displayName":"ReadFile","renderOutputAsMarkdown":true}]}"#,
            r#"{"$set":{"lastUpdated":"2026-01-31T12:00:00.000Z"}}"#,
            r#"{"$pollux":{"decided":{"callId":"a","decision":"accept"}}}"#,
            r#"{"$pollux":{"started":{"callId":"a","effects":{"reads":["/p/a.txt"]}}}}"#,
            r#"{"id":"m1","timestamp":"2026-01-31T12:00:00.000Z","type":"gemini","content":[{"functionCall":{"id":"a","name":"read_file","args":{"file_path":"a.txt"}},"thoughtSignature":"c2ln"}],"thoughts":[{"subject":"Plan","description":"look","timestamp":"2026-01-31T12:00:00.000Z"}],"tokens":{"input":10,"output":2,"cached":0,"thoughts":0,"tool":0,"total":12},"model":"gemini-x","toolCalls":[{"id":"a","name":"read_file","args":{"file_path":"a.txt"},"result":[{"functionResponse":{"id":"a","name":"read_file","response":{"output":"x"}}}],"status":"success","timestamp":"2026-01-31T12:00:00.000Z","description":"a.txt","displayName":"ReadFile","renderOutputAsMarkdown":true}]}"#,
            r#"{"$pollux":{"responses":{"id":"r1","parts":[{"call":"a","part":0}]}}}"#,
            r#"{"$set":{"lastUpdated":"2026-01-31T12:00:00.000Z"}}"#,
        ]
    );
}

#[test]
fn the_message_is_written_twice_however_many_calls_it_has() {
    let ids: Vec<String> = (0..50).map(|index| format!("c{index}")).collect();
    let parts = ids.iter().map(|id| Part::call(id, "read_file", json!({}))).collect();
    let calls = ids.iter().map(|id| call(id, CallStatus::Scheduled, None)).collect();
    let mut encoder = Encoder::new(false);
    let mut lines = encode(&mut encoder, &Record::Model(message(parts, calls)));
    for id in &ids {
        let finished = call(id, CallStatus::Success, Some("x"));
        lines.extend(encode(&mut encoder, &Record::CallFinished(finished)));
    }
    let messages = lines.iter().filter(|line| line.starts_with(r#"{"id":"m1""#)).count();
    let alone = lines.iter().filter(|line| line.starts_with(r#"{"$pollux":{"call":"#)).count();
    assert_eq!((messages, alone), (2, 49));
}

#[test]
fn words_reported_with_results_are_a_message_too() {
    let mut encoder = Encoder::new(false);
    let parts = vec![Part::call("a", "read_file", json!({}))];
    let calls = vec![call("a", CallStatus::Success, Some("x"))];
    encode(&mut encoder, &Record::Model(message(parts, calls)));
    let reported = vec![Part::text("stop soon"), Part::output("a", "read_file", "x")];
    let lines = encode(
        &mut encoder,
        &Record::Responses { id: EntryId::new("r1"), parts: reported, typed: None },
    );
    assert_eq!(
        lines[..2],
        [
            r#"{"$pollux":{"responses":{"id":"r1","parts":[{"text":"stop soon"},{"call":"a","part":0}]}}}"#,
            r#"{"id":"r1","timestamp":"2026-01-31T12:00:00.000Z","type":"user","content":[{"text":"stop soon"}],"$pollux":{"withResults":true}}"#,
        ]
    );
}

#[test]
fn what_another_vendor_needs_stays_out_of_the_content() {
    let mut part = Part::text("hello");
    part.opaque = Some(Opaque { dialect: "anthropic".to_owned(), data: "s".to_owned() });
    let lines = all(&[Record::Model(message(vec![part], Vec::new()))]);
    let line: Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(line["content"], json!([{ "text": "hello" }]));
    assert_eq!(line["$pollux"]["parts"][0]["$pollux"]["dialect"], "anthropic");
}

#[test]
fn an_interrupted_answer_keeps_its_words_and_loses_its_calls() {
    let parts = vec![Part::text("so far"), Part::call("a", "read_file", json!({}))];
    let mut cut = message(parts, vec![call("a", CallStatus::Validating, None)]);
    cut.interrupted = true;
    let line: Value = serde_json::from_str(&all(&[Record::Model(cut)])[0]).unwrap();
    assert_eq!(line["content"], "so far");
    assert_eq!(line["$pollux"], json!({ "interrupted": true }));
    assert!(line.get("toolCalls").is_none());
}

#[test]
fn words_that_look_like_a_command_are_marked_as_said() {
    let record = Record::User {
        id: EntryId::new("u"),
        parts: vec![Part::text("/usr/bin is what?")],
        display: MessageDisplay::Text("typed".to_owned()),
    };
    let line: Value = serde_json::from_str(&all(&[record])[0]).unwrap();
    assert_eq!(line["$pollux"], json!({ "said": true }));
    assert_eq!(line["displayContent"], json!([{ "text": "typed" }]));
}

#[cfg(unix)]
#[test]
fn a_path_that_is_no_unicode_does_not_stop_the_log() {
    use std::os::unix::ffi::OsStrExt;
    let path = PathBuf::from(std::ffi::OsStr::from_bytes(b"/p/\xff"));
    let record = Record::CallStarted {
        call_id: CallId::new("a"),
        description: String::new(),
        effects: Effects::write(path),
        level: ConfinementLevel::None,
    };
    let lines = all(&[record]);
    assert!(lines[0].contains("\"writes\":[\"/p/\u{fffd}\"]"), "{}", lines[0]);
}

#[test]
fn every_effect_but_the_order_of_calls_is_in_the_log() {
    let paths = |name: &str| vec![PathBuf::from(name)];
    let effects = Effects {
        unknown: true,
        reads: paths("/r"),
        searches: paths("/s"),
        writes: paths("/w"),
        deletes: paths("/d"),
        command: Some("ls".to_owned()),
        folder: Some("/f".into()),
        network: true,
        hosts: vec!["h".to_owned()],
        alone: false,
    };
    let record = Record::CallStarted {
        call_id: CallId::new("a"),
        description: String::new(),
        effects: effects.clone(),
        level: ConfinementLevel::Protect,
    };
    let line: Value = serde_json::from_str(&all(&[record])[0]).unwrap();
    let written = line["$pollux"]["started"]["effects"].clone();
    assert_eq!(serde_json::from_value::<Effects>(written).unwrap(), effects);
    assert_eq!(line["$pollux"]["started"]["confinement"], "protect");
}

#[test]
fn what_goes_out_of_sight_is_a_line_that_gemini_cli_ignores() {
    let summary = pollux_protocol::Summary {
        words: "short".to_owned(),
        from: EntryId::new("u1"),
        through: EntryId::new("m1"),
        acknowledged: true,
    };
    let compression = pollux_protocol::Compression {
        id: EntryId::new("s"),
        summary: Some(summary),
        shortened: Vec::new(),
        tokens: None,
    };
    assert_eq!(
        all(&[Record::Compressed(compression), Record::Uncompressed]),
        [
            r#"{"$pollux":{"compressed":{"id":"s","summary":{"words":"short","from":"u1","through":"m1","acknowledged":true}}}}"#,
            r#"{"$pollux":{"uncompressed":true}}"#,
        ]
    );
}
