use pollux_protocol::{Content, EntryId, History, Opaque, Part};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::reasoning::ReasoningReturn;
use super::*;
use crate::catalog::{CallIds, ReasoningKey};
use crate::entry_cache::KEPT_FOR_REQUESTS;

const SHAPE: Shape = Shape {
    emulated: false,
    vision: true,
    documents: false,
    audio: false,
    call_ids: CallIds::Standard,
    reasoning: ReasoningReturn::Never,
    user_after_tool: true,
};

fn user(parts: Vec<Part>) -> Arc<HistoryEntry> {
    HistoryEntry::detached(Content::user(parts))
}

fn model(parts: Vec<Part>) -> Arc<HistoryEntry> {
    HistoryEntry::detached(Content::model(parts))
}

fn written(cache: &MessagesCache, entries: &[Arc<HistoryEntry>], shape: &Shape) -> String {
    let mut body = Body::default();
    body.text("[");
    cache.write(&mut body, entries, shape, true).unwrap();
    body.text("]");
    String::from_utf8(body.finish().concat()).unwrap()
}

fn messages(entries: &[Arc<HistoryEntry>], shape: &Shape) -> Value {
    serde_json::from_str(&written(&MessagesCache::default(), entries, shape)).unwrap()
}

fn conversation() -> Vec<Arc<HistoryEntry>> {
    vec![
        user(vec![Part::text("con"), Part::text("text")]),
        user(vec![Part::text("\"hi\"\n")]),
        model(vec![
            Part::text("Look:"),
            Part::call("a", "glob", json!({"pattern": "*"})),
            Part::call("b", "read_file", json!({})),
        ]),
        user(vec![Part::output("a", "glob", "x"), Part::error("b", "read_file", "no")]),
        model(vec![Part::text("Done.")]),
        user(vec![Part::text("see"), Part::inline("image/png", "AA==")]),
    ]
}

#[test]
fn a_conversation_becomes_messages() {
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    assert_eq!(
        messages(&conversation(), &SHAPE),
        json!([
            {"role": "user", "content": "context\n\n\"hi\"\n"},
            {"role": "assistant", "content": "Look:", "tool_calls": [
                call("a", "glob", "{\"pattern\":\"*\"}"), call("b", "read_file", "{}")]},
            {"role": "tool", "tool_call_id": "a", "content": "x"},
            {"role": "tool", "tool_call_id": "b", "content": "Error: no"},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": [
                {"type": "text", "text": "see"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]},
        ])
    );
    assert_eq!(messages(&[], &SHAPE), json!([]));
    assert_eq!(messages(&[user(vec![]), model(vec![Part::thought("x")])], &SHAPE), json!([]));
}

#[test]
fn emulated_tools_are_text() {
    let shape = Shape { emulated: true, vision: false, ..SHAPE };
    let messages = messages(&conversation(), &shape);
    let texts: Vec<&str> =
        messages.as_array().unwrap().iter().map(|one| one["content"].as_str().unwrap()).collect();
    assert_eq!(
        texts[1],
        "Look:\n```tool_call\n{\"name\":\"glob\",\"arguments\":{\"pattern\":\"*\"}}\n```\n\n```tool_call\n{\"name\":\"read_file\",\"arguments\":{}}\n```\n"
    );
    assert!(texts[2].contains("```tool_result glob\nx\n```"), "{}", texts[2]);
    assert_eq!(texts[4], "see[image/png: this model cannot read it.]");
}

#[test]
fn media_beside_and_inside_results_follow_them() {
    let mut inside = Part::output("a", "t", "Binary content provided (1 item(s)).");
    if let pollux_protocol::Body::Response(response) = &mut inside.body {
        response.parts.push(Part::inline("image/png", "AA=="));
    }
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}});
    for parts in [
        vec![inside],
        vec![
            Part::output("a", "t", "Binary content provided (1 item(s))."),
            Part::inline("image/png", "AA=="),
        ],
    ] {
        let result = json!({"role": "tool", "tool_call_id": "a", "content": "Binary content provided (1 item(s))."});
        let followed = json!([result, {"role": "user", "content": [image]}]);
        assert_eq!(messages(&[user(parts.clone())], &SHAPE), followed);
        let shape = Shape { user_after_tool: false, ..SHAPE };
        assert_eq!(messages(&[user(parts)], &shape)[1]["role"], "assistant");
    }
}

#[test]
fn other_kinds_of_media() {
    let parts = vec![
        Part::inline("application/pdf", "AA=="),
        Part::inline("audio/mpeg", "BB=="),
        Part::inline("video/mp4", "CC=="),
        Part::new(pollux_protocol::Body::File(pollux_protocol::FileReference {
            mime_type: Some("image/png".to_owned()),
            file_uri: "https://h/i.png".to_owned(),
        })),
    ];
    let shape = Shape { documents: true, audio: true, ..SHAPE };
    assert_eq!(
        messages(&[user(parts)], &shape)[0]["content"],
        json!([
            {"type": "file", "file": {"filename": "document.pdf", "file_data": "data:application/pdf;base64,AA=="}},
            {"type": "input_audio", "input_audio": {"data": "BB==", "format": "mp3"}},
            {"type": "text", "text": "[video/mp4: this model cannot read it.]"},
            {"type": "image_url", "image_url": {"url": "https://h/i.png"}},
        ])
    );
}

#[test]
fn reasoning_goes_back_only_to_who_wants_it() {
    let data = json!({"reasoning_content": "hm"}).to_string();
    let wanting = || {
        let reasoning = ReasoningReturn::Vendor(ReasoningKey::ReasoningContent);
        Shape { reasoning, ..SHAPE }
    };
    let sent = |dialect: &str, shape: Shape| {
        let opaque = Some(Opaque { dialect: dialect.to_owned(), data: data.clone() });
        let thought = Part { opaque, ..Part::thought("hm") };
        let entries = [model(vec![thought, Part::call("a", "glob", json!({}))])];
        let sent = messages(&entries, &shape)[0].clone();
        assert_eq!(sent["content"] == Value::Null, !shape.emulated, "a thought is no text");
        sent.get("reasoning_content").cloned()
    };
    assert_eq!(sent("openai", wanting()), Some(json!("hm")));
    assert_eq!(sent("openai", SHAPE), None);
    assert_eq!(sent("openai", Shape { emulated: true, ..wanting() }), None);
    assert_eq!(sent("anthropic", wanting()), None);
}

#[test]
fn entries_are_encoded_once_and_forgotten_when_unused() {
    let cache = MessagesCache::default();
    let long = user(vec![Part::text("x".repeat(Body::COPIED))]);
    let pointer = || {
        let mut body = Body::default();
        cache.write(&mut body, std::slice::from_ref(&long), &SHAPE, true).unwrap();
        let pieces = body.finish();
        assert_eq!(pieces.len(), 3);
        pieces[1].as_ptr()
    };
    assert_eq!(pointer(), pointer());
    for _ in 0..=KEPT_FOR_REQUESTS {
        written(&cache, &[user(vec![Part::text("y")])], &SHAPE);
    }
    assert!(cache.len() <= KEPT_FOR_REQUESTS as usize);
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        ".{0,8}".prop_map(Part::text),
        "[a-c]{0,2}".prop_map(|id| Part::call(id, "tool.x", json!({"k": "v"}))),
        "[a-c]{0,2}".prop_map(|id| Part::output(id, "tool.x", "done")),
        Just(Part::inline("image/png", "AA==")),
        Just(Part::thought("hm")),
    ]
}

proptest! {
    /// Checks the rules of vendors: roles alternate, and each call has exactly one result directly
    /// after it.
    #[test]
    fn any_history_gives_messages_that_vendors_accept(
        turns in prop::collection::vec((any::<bool>(), prop::collection::vec(part(), 0..5)), 0..8),
        emulated: bool,
        user_after_tool: bool,
        nine: bool,
    ) {
        let mut history = History::new();
        for (index, (by_model, parts)) in turns.into_iter().enumerate() {
            let id = EntryId::new(index.to_string());
            if by_model {
                drop(history.push_model(id, parts));
            } else {
                history.push_responses(id, parts);
            }
        }
        history.close_pending("over");
        let call_ids = if nine { CallIds::NineAlphanumeric } else { CallIds::Standard };
        let shape = Shape { emulated, call_ids, user_after_tool, ..SHAPE };
        let messages = messages(history.entries(), &shape);
        let mut open: Vec<Value> = Vec::new();
        let mut before = String::new();
        for message in messages.as_array().unwrap() {
            let role = message["role"].as_str().unwrap().to_owned();
            if role == "tool" {
                let position = open.iter().position(|id| *id == message["tool_call_id"]);
                prop_assert!(position.is_some(), "a result without a call: {message}");
                open.remove(position.unwrap());
            } else {
                prop_assert!(open.is_empty(), "a call without a result before {message}");
                prop_assert_ne!(&role, &before);
            }
            if role == "user" && before == "tool" {
                prop_assert!(user_after_tool);
            }
            let calls = message["tool_calls"].as_array();
            open.extend(calls.into_iter().flatten().map(|call| call["id"].clone()));
            prop_assert!(!emulated || (calls.is_none() && role != "tool"));
            before = role;
        }
        prop_assert!(open.is_empty());
    }
}
