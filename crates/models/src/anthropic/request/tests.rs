use pollux_protocol::{Content, HistoryEntry, Part};
use pretty_assertions::assert_eq;

use super::*;
use crate::catalog::ModelFacts;

fn settings() -> CallSettings {
    CallSettings {
        opening: Opening::Model("claude-x".to_owned()),
        parameters: Parameters::new(&Map::new(), ModelFacts::default()),
        tool_choice: None,
        schema: None,
        stream: true,
        breakpoints: true,
        shape: Shape { thoughts_of: None, vision: true, documents: true },
    }
}

fn request() -> ModelRequest {
    let tool = |name: &str, description: &str| Declaration {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: json!({"type": "object", "properties": {}}),
    };
    ModelRequest {
        entries: vec![HistoryEntry::detached(Content::user(vec![Part::text("hi")]))],
        system: Some(Arc::from("Be good.")),
        tools: Arc::from([tool("glob", "Finds."), tool("mcp_a.b", "")]),
        ..ModelRequest::default()
    }
}

fn encoded(request: &ModelRequest, settings: CallSettings) -> Encoded {
    encode(request, settings, &Encodings::default(), &FrameCache::default()).unwrap()
}

fn body(request: &ModelRequest, settings: CallSettings) -> Value {
    serde_json::from_slice(&encoded(request, settings).body().concat()).unwrap()
}

#[test]
fn a_body_has_its_parts_and_breakpoints() {
    let cached = json!({"type": "ephemeral"});
    let sent = encoded(&request(), settings());
    let second = crate::tool_names::sent_name("mcp_a.b", ToolDialect::Anthropic);
    let schema = json!({"type": "object", "properties": {}});
    assert_eq!(
        serde_json::from_slice::<Value>(&sent.body().concat()).unwrap(),
        json!({
            "model": "claude-x",
            "tools": [
                {"name": "glob", "description": "Finds.", "input_schema": schema},
                {"name": second, "input_schema": schema, "cache_control": cached},
            ],
            "system": [{"type": "text", "text": "Be good.", "cache_control": cached}],
            "max_tokens": 32_000,
            "stream": true,
            "messages": [{"role": "user", "content":
                [{"type": "text", "text": "hi", "cache_control": cached}]}],
        })
    );
    assert_eq!(sent.names.own(second.into_owned()), "mcp_a.b");
    let names: Vec<&str> = sent.tools.iter().map(|tool| tool.own.as_str()).collect();
    assert_eq!(names, ["glob", "mcp_a.b"]);
    assert!(sent.tokens > 0);
}

#[test]
fn what_is_missing_is_not_sent() {
    let bare = ModelRequest { system: None, tools: Arc::default(), ..request() };
    let settings =
        CallSettings { stream: false, breakpoints: false, tool_choice: Some("any"), ..settings() };
    assert_eq!(
        body(&bare, settings),
        json!({"model": "claude-x", "max_tokens": 32_000, "messages":
            [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]})
    );
}

#[test]
fn a_schema_is_part_of_the_instruction() {
    let schema = Some(json!({"type": "OBJECT"}));
    let settings = CallSettings { schema, tool_choice: Some("none"), ..settings() };
    let sent = body(&request(), settings);
    let instruction = sent["system"][0]["text"].as_str().unwrap();
    assert!(instruction.starts_with("Be good.\n\nAnswer with exactly one"), "{instruction}");
    assert!(instruction.ends_with(r#"{"type":"object"}"#), "{instruction}");
    assert_eq!(sent["tool_choice"], json!({"type": "none"}));
}

#[test]
fn a_paused_response_is_sent_back() {
    let blocks = [json!({"type": "text", "text": "a"})];
    let sent = encoded(&request(), settings()).continued(&blocks).body().concat();
    let sent: Value = serde_json::from_slice(&sent).unwrap();
    assert_eq!(sent["messages"][1], json!({"role": "assistant", "content": blocks}));
}

#[test]
fn the_frame_is_encoded_again_only_when_it_changes() {
    let (encodings, frames) = (Encodings::default(), FrameCache::default());
    let head = |request: &ModelRequest, settings| {
        drop(encode(request, settings, &encodings, &frames).unwrap());
        let last = frames.last.lock().unwrap();
        last.as_ref().unwrap().head.as_ptr()
    };
    let first = head(&request(), settings());
    assert_eq!(head(&request(), settings()), first);
    let other = ModelRequest { system: Some(Arc::from("Be quick.")), ..request() };
    let other = encode(&other, settings(), &encodings, &frames).unwrap().body().concat();
    assert!(String::from_utf8(other).unwrap().contains("Be quick."));
}
