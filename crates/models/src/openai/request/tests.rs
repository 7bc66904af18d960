use pollux_protocol::{Content, Declaration, HistoryEntry, Part};
use pretty_assertions::assert_eq;

use super::super::frame::Frame;
use super::super::reasoning::ReasoningReturn;
use super::*;
use crate::catalog::CallIds;

const SHAPE: Shape = Shape {
    emulated: false,
    vision: true,
    documents: false,
    audio: false,
    call_ids: CallIds::Standard,
    reasoning: ReasoningReturn::Never,
    user_after_tool: true,
};

fn settings() -> CallSettings {
    CallSettings {
        model: "gpt-x".to_owned(),
        parameters: Map::new(),
        tool_choice: None,
        schema: None,
        stream: true,
        stream_usage: true,
        shape: SHAPE,
        quirks: Arc::new(Quirks::default()),
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
        system: Some(Arc::from("Be good.")),
        tools: Arc::from([declaration]),
        ..ModelRequest::default()
    }
}

fn encoded(request: &ModelRequest, settings: CallSettings) -> (String, u64) {
    let frames = FrameCache::default();
    let encoded = encode(request, settings, &Encodings::default(), &frames).unwrap();
    (String::from_utf8(encoded.body.concat()).unwrap(), encoded.tokens)
}

fn body(request: &ModelRequest, settings: CallSettings) -> Value {
    serde_json::from_str(&encoded(request, settings).0).unwrap()
}

#[test]
fn a_streamed_request_byte_for_byte() {
    let expected = concat!(
        r#"{"model":"gpt-x","messages":[{"role":"system","content":"Be good."},{"role":"user","content":"hi"}],"#,
        r#""tools":[{"type":"function","function":{"name":"glob","description":"Finds.","parameters":{"type":"object","properties":{}}}}],"#,
        r#""stream":true,"stream_options":{"include_usage":true}}"#,
    );
    let (text, tokens) = encoded(&request(), settings());
    assert_eq!(text, expected);
    // 8 + 2 characters of text, and 4 + 6 + 33 bytes of declaration, at a quarter each.
    assert_eq!(tokens, 13);
}

#[test]
fn nothing_around_the_messages_is_still_a_body() {
    let plain = ModelRequest { system: None, tools: Arc::from([]), ..request() };
    let text = encoded(&plain, CallSettings { stream: false, ..settings() }).0;
    assert_eq!(text, r#"{"model":"gpt-x","messages":[{"role":"user","content":"hi"}]}"#);
}

#[test]
fn json_is_asked_for_as_the_vendor_takes_it() {
    let with = |json: JsonFormat| CallSettings {
        schema: Some(json!({"type": "OBJECT", "properties": {"type": {"type": "STRING"}}})),
        stream: false,
        quirks: Arc::new(Quirks { json, ..Quirks::default() }),
        ..settings()
    };
    let lowered = json!({"type": "object", "properties": {"type": {"type": "string"}}});
    let schema = body(&request(), with(JsonFormat::Schema));
    assert_eq!(
        schema["response_format"],
        json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": lowered}})
    );
    let object = body(&request(), with(JsonFormat::Object));
    assert_eq!(object["response_format"], json!({"type": "json_object"}));
    let none = body(&request(), with(JsonFormat::None));
    assert_eq!(none.get("response_format"), None);
    for reported in [object, none] {
        let system = reported["messages"][0]["content"].as_str().unwrap();
        assert!(
            system.starts_with("Be good.\n\n") && system.ends_with(&lowered.to_string()),
            "{system}"
        );
    }
}

#[test]
fn emulated_tools_are_reported_and_not_declared() {
    let shape = Shape { emulated: true, ..SHAPE };
    let body = body(&request(), CallSettings { shape, ..settings() });
    assert_eq!(body.get("tools"), None);
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains(emulation::FENCE) && system.contains(r#""name":"glob""#), "{system}");
}

#[test]
fn only_known_parameters_are_sent_under_their_names() {
    let config = json!({"temperature": 0.2, "topP": null, "topK": 64, "maxOutputTokens": 9, "thinkingConfig": {}});
    let parameters = parameters(PARAMETERS, config.as_object().unwrap());
    assert_eq!(Value::Object(parameters), json!({"temperature": 0.2, "max_completion_tokens": 9}));
}

#[test]
fn the_frame_is_made_anew_only_when_it_changes() {
    let (frames, declarations) = (FrameCache::default(), DeclarationCache::new(ToolDialect::Chat));
    let get = |request: &ModelRequest| {
        let frame: Arc<Frame<CallSettings>> =
            frames.get(request, settings(), &declarations).unwrap();
        frame
    };
    let first = get(&request());
    assert!(Arc::ptr_eq(&first, &get(&request())));
    let other = ModelRequest { system: None, ..request() };
    assert!(!Arc::ptr_eq(&first, &get(&other)));
}
