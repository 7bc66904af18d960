use std::sync::Arc;

use pollux_models::{ModelsOptions, assemble};
use pollux_protocol::{
    CancellationToken, Declaration, EntryId, History, JsonRequest, Model, ModelRequest, Part,
};
use pollux_testkit::{ModelReply, ModelServer, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::harness::{
    CHAT, answer, delta, events, finish, openai, openai_options, say, script, select, settings,
    text,
};

fn fine() -> ModelReply {
    reply().status(200, events(&[delta(&json!({"content": "ok"})), finish("stop")]))
}

fn tools() -> Arc<[Declaration]> {
    let parameters = json!({"type": "object"});
    Arc::from([Declaration {
        name: "glob".to_owned(),
        description: "Finds.".to_owned(),
        parameters,
    }])
}

async fn send(model: &Arc<dyn Model>, request: ModelRequest) -> Vec<Part> {
    let stream = model.stream(request, CancellationToken::new()).await.unwrap();
    let chunks: Vec<_> = futures::StreamExt::collect(stream).await;
    chunks.into_iter().flat_map(|chunk| chunk.unwrap().parts).collect()
}

#[tokio::test]
async fn a_request_goes_where_it_should_with_its_headers() {
    let server = ModelServer::start();
    script(&server, CHAT, vec![fine()]);
    let more = [
        ("OPENAI_ORG_ID", "org"),
        ("OPENAI_PROJECT_ID", "project"),
        ("GEMINI_CLI_CUSTOM_HEADERS", "X-Team: a"),
    ];
    let models = assemble(&openai_options(&server, &more)).unwrap();
    answer(&select(&models, "openai/gpt-x").await).await.unwrap();
    let sent = server.last_request();
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", CHAT));
    assert_eq!(sent.header("authorization"), Some("Bearer the-key"));
    assert_eq!(sent.header("openai-organization"), Some("org"));
    assert_eq!(sent.header("openai-project"), Some("project"));
    assert_eq!((sent.header("x-goog-api-key"), sent.header("x-team")), (None, None));
    let agent = concat!("Pollux-cli/", env!("CARGO_PKG_VERSION"), "/gpt-x (");
    assert!(sent.header("user-agent").unwrap().starts_with(agent));
    assert_eq!(
        sent.body,
        json!({"model": "gpt-x", "messages": [{"role": "user", "content": "hi"}], "stream": true,
            "stream_options": {"include_usage": true}})
    );
}

#[tokio::test]
async fn a_conversation_with_tools_uses_one_connection() {
    let server = ModelServer::start();
    script(&server, CHAT, vec![fine()]);
    let model = openai(&server, "gpt-4o").await;
    let mut history = History::new();
    for turn in 0..3 {
        let id = |word: &str| EntryId::new(format!("{word}{turn}"));
        history.push_user(id("u"), vec![Part::text("go on"), Part::inline("image/png", "AA==")]);
        history.push_model(id("m"), vec![Part::call("glob__1", "glob", json!({}))]);
        history.push_responses(id("r"), vec![Part::output("glob__1", "glob", "x".repeat(9000))]);
        let request = ModelRequest {
            entries: history.request().unwrap(),
            tools: tools(),
            ..ModelRequest::default()
        };
        assert_eq!(send(&model, request).await, [Part::text("ok")]);
        history.push_model(id("a"), vec![Part::text("ok")]);
    }
    assert_eq!(server.connections(), 1);
    let sent = server.last_request();
    let roles: Vec<&str> = sent.body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles[..4], ["user", "assistant", "tool", "assistant"]);
    assert_eq!(roles.len(), 4 * 2 + 3);
    assert_eq!(
        sent.body["messages"][0]["content"][1]["image_url"]["url"],
        "data:image/png;base64,AA=="
    );
    assert_eq!(sent.body["tools"][0]["function"]["name"], "glob");
}

#[tokio::test]
async fn a_server_without_tools_gets_emulated_ones() {
    let server = ModelServer::start();
    let refusal =
        json!({"error": {"message": "gemma does not support tools", "type": "api_error"}});
    let call = "I look.\n```tool_call\n{\"name\": \"glob\", \"arguments\": {\"p\": 1}}\n```";
    let calling = reply().status(200, events(&[delta(&json!({"content": call})), finish("stop")]));
    script(&server, CHAT, vec![reply().status(400, refusal), calling]);
    let model = openai(&server, "gpt-x").await;
    let request = || ModelRequest { tools: tools(), ..say("hi") };
    for requests in [2, 3] {
        let parts = send(&model, request()).await;
        assert_eq!(parts.last(), Some(&Part::call("", "glob", json!({"p": 1}))));
        assert_eq!(server.requests().len(), requests, "the refusal is remembered");
        assert_eq!(server.last_request().body.get("tools"), None);
    }
    let system = server.last_request().body["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(system.contains("\"name\":\"glob\""), "{system}");
}

#[tokio::test]
async fn an_argument_that_a_server_does_not_know_is_left_out() {
    let server = ModelServer::start();
    let message = "Unrecognized request argument supplied: stream_options";
    let refusal = json!({"error": {"message": message, "type": "invalid_request_error"}});
    script(&server, CHAT, vec![reply().status(400, refusal.clone()), fine()]);
    let models = assemble(&openai_options(&server, &[])).unwrap();
    for (name, requests) in [("openai/gpt-x", 2), ("openai/gpt-y", 3)] {
        let model = select(&models, name).await;
        assert_eq!(text(&answer(&model).await.unwrap()), "ok");
        assert_eq!(server.requests().len(), requests, "the refusal is remembered");
        assert_eq!(server.last_request().body.get("stream_options"), None);
    }
    // A server that refuses the request again is not asked forever.
    script(&server, CHAT, vec![reply().status(400, refusal)]);
    let model = openai(&server, "gpt-x").await;
    answer(&model).await.unwrap_err();
    assert_eq!(server.requests().len(), 5);
}

#[tokio::test]
async fn json_is_asked_again_until_it_is_json() {
    let server = ModelServer::start();
    let whole = |text: &str| {
        reply().json(json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 2}}))
    };
    script(&server, CHAT, vec![whole("no json"), whole("```json\n{\"a\": 7}\n```")]);
    let model = openai(&server, "gpt-x").await;
    let schema = json!({"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}});
    let request = JsonRequest { request: say("json"), schema, max_attempts: 3 };
    let (value, usage) = model.generate_json(request, CancellationToken::new()).await.unwrap();
    assert_eq!((value, usage.prompt), (json!({"a": 7}), 4));
    let sent = server.last_request().body;
    assert_eq!(
        sent["response_format"]["json_schema"]["schema"]["properties"]["a"]["type"],
        "integer"
    );
    assert_eq!(sent.get("stream"), None);
}

#[tokio::test]
async fn tokens_are_estimated() {
    let server = ModelServer::start();
    let model = openai(&server, "gpt-x").await;
    let total = model.count_tokens(say(&"x".repeat(400)), CancellationToken::new()).await.unwrap();
    assert_eq!((total, server.requests().len()), (100, 0));
}

#[tokio::test]
async fn an_alias_configures_a_vendors_model() {
    let server = ModelServer::start();
    script(&server, CHAT, vec![fine()]);
    let file = json!({"modelConfigs": {"customAliases": {"mine": {"modelConfig": {"model": "openai/gpt-x",
        "generateContentConfig": {"temperature": 0.2, "maxOutputTokens": 9}}}}}});
    let options = ModelsOptions { settings: settings(&file), ..openai_options(&server, &[]) };
    let chunks = answer(&select(&assemble(&options).unwrap(), "mine").await).await.unwrap();
    assert_eq!(text(&chunks), "ok");
    let sent = server.last_request().body;
    assert_eq!((&sent["model"], &sent["temperature"]), (&json!("gpt-x"), &json!(0.2)));
    assert_eq!((&sent["max_completion_tokens"], &sent["top_p"]), (&json!(9), &Value::Null));
}
