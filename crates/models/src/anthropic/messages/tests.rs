use pollux_protocol::{Content, EntryId, FileReference, History, Opaque, Part};
use pollux_testkit::validate_messages;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::thinking::Thought;
use super::*;
use crate::entry_cache::KEPT_FOR_REQUESTS;

fn shape() -> Shape {
    Shape { thoughts_of: Some("m".into()), vision: true, documents: true }
}

fn user(parts: Vec<Part>) -> Arc<HistoryEntry> {
    HistoryEntry::detached(Content::user(parts))
}

fn model(parts: Vec<Part>) -> Arc<HistoryEntry> {
    HistoryEntry::detached(Content::model(parts))
}

fn thought(model: &str, text: &str) -> Part {
    let thinking = Thought::Thinking { thinking: text.to_owned(), signature: "c2ln".to_owned() };
    thinking.into_part(model).unwrap()
}

fn written(
    cache: &BlocksCache,
    entries: &[Arc<HistoryEntry>],
    shape: &Shape,
    breakpoints: bool,
) -> String {
    let mut body = Body::default();
    body.text("[");
    cache.write(&mut body, entries, shape, breakpoints).unwrap();
    body.text("]");
    String::from_utf8(body.finish().concat()).unwrap()
}

fn messages(entries: &[Arc<HistoryEntry>], shape: &Shape) -> Value {
    serde_json::from_str(&written(&BlocksCache::default(), entries, shape, false)).unwrap()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn conversation() -> Vec<Arc<HistoryEntry>> {
    vec![
        user(vec![Part::text("context")]),
        user(vec![Part::text("\"hi\"\n")]),
        model(vec![
            thought("m", "hm"),
            Part::text("Look:"),
            Part::call("a", "glob", json!({"pattern": "*"})),
            Part::call("b", "mcp_s_read.file", json!([1])),
        ]),
        user(vec![
            Part::output("a", "glob", "x"),
            Part::text("By the way"),
            Part::error("b", "mcp_s_read.file", "no"),
        ]),
        user(vec![Part::text("go on")]),
        model(vec![Part::text("Done.")]),
        user(vec![Part::text("see"), Part::inline("image/png", "AA==")]),
    ]
}

#[test]
fn a_conversation_becomes_messages() {
    let sent_name =
        crate::tool_names::sent_name("mcp_s_read.file", crate::tool_schema::ToolDialect::Anthropic);
    assert_eq!(
        messages(&conversation(), &shape()),
        json!([
            {"role": "user", "content": [text("context"), text("\"hi\"\n")]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                text("Look:"),
                {"type": "tool_use", "id": "a", "name": "glob", "input": {"pattern": "*"}},
                {"type": "tool_use", "id": "b", "name": sent_name, "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "x"},
                {"type": "tool_result", "tool_use_id": "b", "content": "Error: no", "is_error": true},
                text("By the way"),
                text("go on"),
            ]},
            {"role": "assistant", "content": [text("Done.")]},
            {"role": "user", "content": [
                text("see"),
                {"type": "image", "source":
                    {"type": "base64", "media_type": "image/png", "data": "AA=="}},
            ]},
        ])
    );
}

#[test]
fn thoughts_go_back_to_their_model_only() {
    let gemini = Some(Opaque { dialect: "gemini".to_owned(), data: "QQ==".to_owned() });
    let entries = [
        user(vec![Part::text("hi")]),
        model(vec![
            thought("m", "mine"),
            thought("other", "another model's"),
            Thought::RedactedThinking { data: "x".to_owned() }.into_part("m").unwrap(),
            Part { opaque: gemini, ..Part::text("signed by Gemini") },
        ]),
        user(vec![Part::text("go on")]),
    ];
    let kinds = |shape: &Shape| -> Vec<String> {
        let messages = messages(&entries, shape);
        let blocks = messages[1]["content"].as_array().unwrap().iter();
        blocks.map(|block| block["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&shape()), ["thinking", "redacted_thinking", "text"]);
    assert_eq!(
        kinds(&Shape { thoughts_of: Some("other".into()), ..shape() }),
        ["thinking", "text"]
    );
    assert_eq!(kinds(&Shape { thoughts_of: None, ..shape() }), ["text"]);
}

#[test]
fn media_are_sent_where_the_service_takes_them() {
    let mut shown = Part::output("c", "read_file", "a picture");
    let pollux_protocol::Body::Response(response) = &mut shown.body else { panic!() };
    response.parts = vec![Part::inline("image/png", "AA=="), Part::text("dropped")];
    let file = |uri: &str, kind: Option<&str>| {
        Part::new(pollux_protocol::Body::File(FileReference {
            mime_type: kind.map(str::to_owned),
            file_uri: uri.to_owned(),
        }))
    };
    let entries = [
        user(vec![Part::text("hi")]),
        model(vec![Part::inline("image/png", "AA=="), Part::call("c", "read_file", json!({}))]),
        user(vec![
            shown,
            Part::inline("application/pdf", "JVBERg=="),
            Part::inline("image/bmp", "AA=="),
            file("https://x/a.png", Some("image/png")),
            file("https://x/a.pdf", Some("application/pdf")),
            file("gs://x/a.png", Some("image/png")),
        ]),
    ];
    let image = json!({"type": "image", "source":
        {"type": "base64", "media_type": "image/png", "data": "AA=="}});
    let url = |kind: &str, url: &str| json!({"type": kind, "source": {"type": "url", "url": url}});
    let sent = messages(&entries, &shape());
    assert_eq!(sent[1]["content"].as_array().unwrap().len(), 1, "no media of the model");
    assert_eq!(
        sent[2]["content"],
        json!([
            {"type": "tool_result", "tool_use_id": "c", "content": [text("a picture"), image]},
            {"type": "document", "source":
                {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="}},
            text("[image/bmp: this model cannot read it.]"),
            url("image", "https://x/a.png"),
            url("document", "https://x/a.pdf"),
            text("[The model cannot read the file gs://x/a.png.]"),
        ])
    );
    let blind = Shape { vision: false, documents: false, ..shape() };
    let sent = messages(&entries, &blind).to_string();
    assert!(!sent.contains("\"image\"") && !sent.contains("\"document\""), "{sent}");
}

#[test]
fn what_the_service_refuses_is_not_sent() {
    let entries = [
        user(vec![Part::text(" \n")]),
        model(vec![Part::thought("hm")]),
        user(vec![Part::text("")]),
        model(vec![Part::text("  "), Part::call("a", "t", json!({}))]),
        user(vec![Part::output("a", "t", " ")]),
    ];
    assert_eq!(
        messages(&entries, &shape()),
        json!([
            {"role": "user", "content": [text("[empty message]")]},
            {"role": "assistant", "content":
                [{"type": "tool_use", "id": "a", "name": "t", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
        ])
    );
}

#[test]
fn the_last_two_messages_of_the_user_are_breakpoints() {
    let cache = BlocksCache::default();
    let places = |entries: &[Arc<HistoryEntry>]| -> Vec<(usize, usize)> {
        let json = written(&cache, entries, &shape(), true);
        let messages: Value = serde_json::from_str(&json).unwrap();
        let all = messages.as_array().unwrap().iter().enumerate().flat_map(|(at, message)| {
            let blocks = message["content"].as_array().unwrap().clone();
            blocks.into_iter().enumerate().map(move |(number, block)| (at, number, block))
        });
        let marked = all.filter(|(.., block)| !block["cache_control"].is_null());
        marked
            .map(|(at, number, block)| {
                assert_eq!(block["cache_control"], json!({"type": "ephemeral"}));
                (at, number)
            })
            .collect()
    };
    let entries = conversation();
    assert_eq!(places(&entries), [(2, 3), (4, 1)]);
    assert_eq!(places(&entries[..5]), [(0, 1), (2, 3)]);
    assert_eq!(places(&entries[..2]), [(0, 1)]);
    assert_eq!(places(&[user(vec![Part::text("")])]), []);
    assert!(!written(&cache, &entries, &shape(), false).contains("cache_control"));
}

#[test]
fn entries_are_encoded_once_and_forgotten_when_unused() {
    let cache = BlocksCache::default();
    let entries = conversation();
    let first = written(&cache, &entries, &shape(), true);
    assert_eq!(written(&cache, &entries, &shape(), true), first);
    assert_eq!(cache.len(), entries.len());
    for _ in 0..KEPT_FOR_REQUESTS {
        written(&cache, &entries[..1], &shape(), true);
    }
    assert_eq!(cache.len(), 1);
}

fn any_part() -> impl Strategy<Value = Part> {
    prop_oneof![
        "[ a\n]{0,3}".prop_map(Part::text),
        "[ab]{0,2}".prop_map(Part::thought),
        Just(thought("m", "hm")),
        Just(thought("other", "hm")),
        ("[a-c]", "[a.é ]{1,3}").prop_map(|(id, name)| Part::call(id, name, json!({"p": 1}))),
        Just(Part::inline("image/png", "AA==")),
        Just(Part::inline("audio/wav", "AA==")),
    ]
}

proptest! {
    // Whatever a conversation contains, and whichever models have written it.
    #[test]
    fn every_history_is_accepted(
        turns in prop::collection::vec((prop::collection::vec(any_part(), 0..5), 0_u8..4), 1..10),
        breakpoints in any::<bool>(),
    ) {
        let mut history = History::new();
        for (number, (parts, kind)) in turns.into_iter().enumerate() {
            let id = EntryId::new(format!("e{number}"));
            match kind {
                0 => history.push_user(id, parts),
                1 => history.push_interrupted(id, parts),
                _ => drop(history.push_model(id, parts)),
            }
            if kind == 3 {
                let results = history.pending().iter();
                let results = results.map(|(id, name)| Part::output(id, name, "x")).collect();
                history.push_responses(EntryId::new(format!("r{number}")), results);
            }
        }
        history.close_pending("over");
        history.push_user(EntryId::new("last"), vec![Part::text("go on")]);
        let entries = history.request().unwrap();
        let cache = BlocksCache::default();
        let json = written(&cache, &entries, &shape(), breakpoints);
        let messages: Value = serde_json::from_str(&json).unwrap();
        let body = json!({"model": "m", "max_tokens": 1, "messages": messages});
        let accepted = validate_messages(&body);
        prop_assert!(accepted.is_ok(), "{accepted:?}\n{messages:#}");
    }
}
