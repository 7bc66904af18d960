use std::io::Cursor;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::resume::SessionData;

const HEADER: &str = r#"{"sessionId":"s","projectHash":"h"}"#;

fn saved(value: &serde_json::Value) -> Vec<Content> {
    serde_json::from_value(value.clone()).unwrap()
}

/// Records a conversation in a session file, and returns the contents of the resumed one.
fn resumed(history: &History) -> Vec<Content> {
    let mut file = HEADER.as_bytes().to_vec();
    for line in lines(history, "2026-01-02T00:00:00.000Z").unwrap() {
        file.push(b'\n');
        file.extend(line);
    }
    let mut data = SessionData::read(Path::new("s"), &mut Cursor::new(file)).unwrap();
    assert_eq!(data.damage, [""; 0]);
    contents(&data.history().0)
}

#[test]
fn a_conversation_of_gemini_cli_is_recorded_whole() {
    let conversation = json!([
        {"role": "user", "parts": [{"text": "<session_context>\nx"}, {"text": "go"}]},
        {"role": "model", "parts": [
            {"text": "I look."},
            {"functionCall": {"id": "a", "name": "glob", "args": {"pattern": "*"}}},
            {"functionCall": {"id": "b", "name": "read_file", "args": {}}, "thoughtSignature": "c2ln"},
        ]},
        {"role": "user", "parts": [
            {"functionResponse": {"id": "b", "name": "read_file", "response": {"error": "no"}}},
            {"functionResponse": {"id": "a", "name": "glob", "response": {"output": "one"}}},
        ]},
        {"role": "model", "parts": [{"text": "Done."}]},
    ]);
    let history = history(saved(&conversation));
    let ids: Vec<_> = history.entries().iter().map(|entry| entry.id().as_str()).collect();
    assert_eq!(ids[0], EntryId::CONTEXT);
    assert_eq!(ids.len(), 5, "the context is an entry of its own");
    assert_eq!(serde_json::to_value(resumed(&history)).unwrap(), conversation);
}

#[test]
fn a_call_without_a_result_is_answered() {
    let conversation = json!([
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "a", "name": "glob", "args": {}}}]},
    ]);
    let contents = resumed(&history(saved(&conversation)));
    assert_eq!(contents.len(), 3);
    assert!(contents[2].responses().next().unwrap().response["error"].is_string());
}

#[test]
fn only_contents_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let table = [
        (r#"[{"role":"user","parts":[{"text":"a"}]}]"#, true),
        (r#" {"history":[{"role":"user","parts":[{"text":"a"}]}],"authType":"x"}"#, true),
        ("[]", false),
        (r#"{"history":"no"}"#, false),
        (r#"{"sessionId":"s"}"#, false),
        ("text", false),
        ("", false),
        ("[[[[[[", false),
    ];
    for (text, is_read) in table {
        std::fs::write(&path, text).unwrap();
        assert_eq!(read(&path).unwrap().is_some(), is_read, "{text}");
    }
}

fn part() -> impl Strategy<Value = serde_json::Value> {
    let name = prop_oneof![Just("glob"), Just("x")];
    prop_oneof![
        "[a-z <]{0,5}".prop_map(|text| json!({ "text": text })),
        (0..3u8, name.clone())
            .prop_map(|(id, name)| json!({"functionCall": {"id": id.to_string(), "name": name, "args": {}}})),
        (0..3u8, name).prop_map(|(id, name)| {
            json!({"functionResponse": {"id": id.to_string(), "name": name, "response": {"output": "r"}}})
        }),
        Just(json!({"text": "t", "thought": true})),
    ]
}

proptest! {
    // Whatever a file contains, the conversation can continue, and the session that records it is
    // resumed as the same conversation.
    #[test]
    fn any_contents_become_a_conversation(
        turns in prop::collection::vec((any::<bool>(), prop::collection::vec(part(), 0..4)), 1..6)
    ) {
        let turns = turns.into_iter().map(|(is_user, parts)| {
            json!({"role": if is_user { "user" } else { "model" }, "parts": parts})
        });
        let mut history = history(saved(&turns.collect()));
        prop_assert!(history.pending().is_empty());
        prop_assert_eq!(resumed(&history), contents(&history));
        history.push_user(EntryId::new("next"), vec![Part::text("and now")]);
        prop_assert!(history.request().is_ok());
    }
}
