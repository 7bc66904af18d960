use pollux_protocol::{Content, HistoryEntry, Part};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::configs::{ModelConfigs, Purpose};

fn settings(alias: &str, setting: &Value) -> Arc<CallSettings> {
    let resolved = ModelConfigs::new(Some(setting)).resolve(alias, Purpose::default());
    Arc::new(CallSettings::new(resolved.unwrap()))
}

fn request(system: Option<&str>, tools: &[&str]) -> ModelRequest {
    let declaration = |name: &&str| Declaration {
        name: (*name).to_owned(),
        description: "Reads.".to_owned(),
        parameters: json!({"type": "object"}),
    };
    ModelRequest {
        entries: vec![HistoryEntry::detached(Content::user(vec![Part::text("hi")]))],
        system: system.map(Arc::from),
        tools: tools.iter().map(declaration).collect(),
        ..ModelRequest::default()
    }
}

fn body(request: &ModelRequest, settings: &Arc<CallSettings>) -> String {
    let encoded = encode(request, settings, &Encodings::default(), &SuffixCache::default());
    String::from_utf8(encoded.unwrap().body.concat()).unwrap()
}

#[test]
fn the_body_has_the_layout_of_gemini_cli() {
    let settings = settings("gemini-2.5-pro", &json!({}));
    let expected = concat!(
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"#,
        r#""systemInstruction":{"parts":[{"text":"Be good."}],"role":"user"},"#,
        r#""tools":[{"functionDeclarations":[{"name":"read_file","description":"Reads.","parametersJsonSchema":{"type":"object"}}]}],"#,
        r#""generationConfig":{"temperature":1,"topP":0.95,"topK":64,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}}}"#,
    );
    assert_eq!(body(&request(Some("Be good."), &["read_file"]), &settings), expected);
    assert_eq!(settings.model, "gemini-2.5-pro");
}

#[test]
fn a_bare_request_is_bare() {
    let bare = settings("m", &json!({"aliases": {"m": {"modelConfig": {"model": "m"}}}}));
    let expected = r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#;
    assert_eq!(body(&request(None, &[]), &bare), expected);
    assert_eq!(body(&request(Some(""), &[]), &bare), expected);
}

#[test]
fn settings_go_where_the_service_reads_them() {
    let setting = json!({"customAliases": {"mine": {"modelConfig": {"model": "m", "generateContentConfig": {
        "thinkingConfig": {"thinkingBudget": 1}, "httpOptions": {"x": 1}, "seed": 7,
        "safetySettings": [{"category": "c"}], "toolConfig": {"t": 1}, "cachedContent": "cachedContents/1",
        "tools": [{"googleSearch": {}}]
    }}}}});
    let settings = settings("mine", &setting);
    let read = |request: &ModelRequest| -> Value {
        serde_json::from_str(&body(request, &settings)).unwrap()
    };
    let mut value = read(&request(None, &[]));
    value.as_object_mut().unwrap().remove("contents");
    assert_eq!(
        value,
        json!({
            "safetySettings": [{"category": "c"}], "tools": [{"googleSearch": {}}], "toolConfig": {"t": 1},
            "cachedContent": "cachedContents/1",
            "generationConfig": {"seed": 7, "thinkingConfig": {"thinkingBudget": 1}}
        })
    );
    // Tools that the request offers replace those of the service.
    let value = read(&request(None, &["a"]));
    assert_eq!(value["tools"][0]["functionDeclarations"][0]["name"], "a");
}

#[test]
fn json_answers_are_asked_for_by_schema() {
    let settings = settings("classifier", &json!({}));
    let schema = json!({"type": "OBJECT"});
    let text = body(&request(None, &[]), &Arc::new(settings.for_json(&schema)));
    let expected = r#""generationConfig":{"temperature":0,"topP":1,"maxOutputTokens":1024,"responseMimeType":"application/json","responseJsonSchema":{"type":"OBJECT"},"thinkingConfig":{"thinkingBudget":512}}}"#;
    assert!(text.ends_with(expected), "{text}");
    assert_eq!(settings.model, "gemini-3.5-flash-lite");
}

#[test]
fn the_suffix_is_kept_until_something_in_it_changes() {
    let suffixes = SuffixCache::default();
    let declarations = DeclarationCache::new(ToolDialect::Gemini);
    let get = |request: &ModelRequest, settings| {
        suffixes.get(request, settings, &declarations).unwrap().bytes.clone()
    };
    let pro = settings("gemini-2.5-pro", &json!({}));
    let first = get(&request(Some("a"), &["t"]), &pro);
    // Equal values in other places count as the same.
    let again = get(&request(Some("a"), &["t"]), &pro);
    assert_eq!(first.as_ptr(), again.as_ptr());
    let flash = settings("gemini-3.5-flash", &json!({}));
    for (request, settings) in [
        (request(Some("b"), &["t"]), &pro),
        (request(None, &["t"]), &pro),
        (request(None, &[]), &pro),
        (request(Some("a"), &["t"]), &flash),
    ] {
        let changed = get(&request, settings);
        let tools = declarations.prepare(&request.tools).unwrap();
        assert_eq!(changed, encode_suffix(&request, &tools, settings).unwrap());
        assert_ne!(changed, first);
    }
}

#[test]
fn a_count_sends_the_contents_alone() {
    let settings = settings("gemini-2.5-pro", &json!({}));
    let request = request(Some("system"), &["t"]);
    let pieces = encode_count(&request, &settings, &PartsCache::default()).unwrap();
    assert_eq!(pieces.concat(), br#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#);
}
