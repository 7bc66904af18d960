use pollux_protocol::{Content, Declaration, HistoryEntry, Part};
use pretty_assertions::assert_eq;

use super::*;

fn settings() -> CallSettings {
    CallSettings {
        model: "gpt-x".to_owned(),
        parameters: Map::new(),
        effort: None,
        tool_choice: None,
        schema: None,
        stream: true,
        shape: Shape { vision: true, documents: false, origin: None },
        extras: Extras { summary: true, encrypted: true },
    }
}

fn request() -> ModelRequest {
    let declaration = Declaration {
        name: "glob".to_owned(),
        description: "Finds.".to_owned(),
        parameters: json!({"type": "object", "properties": {}}),
    };
    ModelRequest {
        entries: vec![HistoryEntry::detached(Content::user(vec![Part::text("hi")]))],
        system: Some(Arc::from("Be \"good\".")),
        tools: Arc::from([declaration]),
        ..ModelRequest::default()
    }
}

fn encoded(request: &ModelRequest, settings: CallSettings) -> (String, u64) {
    let frames = FrameCache::default();
    let encoded = encode(request, settings, 0, &Encodings::default(), &frames).unwrap();
    (String::from_utf8(encoded.body.concat()).unwrap(), encoded.tokens)
}

fn body(settings: CallSettings) -> Value {
    serde_json::from_str(&encoded(&request(), settings).0).unwrap()
}

#[test]
fn a_streamed_request_byte_for_byte() {
    let expected = concat!(
        r#"{"model":"gpt-x","instructions":"Be \"good\".","input":[{"role":"user","content":"hi"}],"#,
        r#""tools":[{"type":"function","name":"glob","description":"Finds.","parameters":{"type":"object","properties":{}},"strict":false}],"#,
        r#""reasoning":{"summary":"auto"},"include":["reasoning.encrypted_content"],"store":false,"stream":true}"#,
    );
    let (text, tokens) = encoded(&request(), settings());
    assert_eq!(text, expected);
    // 10 + 2 characters of text, and 4 + 6 + 33 bytes of declaration, at a quarter each.
    assert_eq!(tokens, 13);
}

#[test]
fn nothing_around_the_conversation_is_still_a_body() {
    let plain = ModelRequest { system: None, tools: Arc::from([]), ..request() };
    let extras = Extras { summary: false, encrypted: false };
    let text = encoded(&plain, CallSettings { stream: false, extras, ..settings() }).0;
    assert_eq!(text, r#"{"model":"gpt-x","input":[{"role":"user","content":"hi"}],"store":false}"#);
}

#[test]
fn settings_have_their_keys() {
    let config = json!({"temperature": 0.2, "topP": null, "topK": 64, "maxOutputTokens": 9,
        "thinkingConfig": {"thinkingLevel": "HIGH"}});
    let config = config.as_object().unwrap();
    let body = body(CallSettings {
        parameters: configured(config),
        effort: effort(config),
        tool_choice: Some("required"),
        schema: Some(json!({"type": "OBJECT"})),
        ..settings()
    });
    let keys =
        ["temperature", "max_output_tokens", "top_p", "top_k", "reasoning", "tool_choice", "text"];
    assert_eq!(
        keys.map(|key| body[key].clone()),
        [
            json!(0.2),
            json!(9),
            Value::Null,
            Value::Null,
            json!({"effort": "high", "summary": "auto"}),
            json!("required"),
            json!({"format": {"type": "json_schema", "name": "answer", "schema": {"type": "object"}}}),
        ]
    );
}

#[test]
fn a_choice_of_tools_needs_tools() {
    let plain = ModelRequest { tools: Arc::from([]), ..request() };
    let text = encoded(&plain, CallSettings { tool_choice: Some("none"), ..settings() }).0;
    assert!(!text.contains("tool"), "{text}");
}
