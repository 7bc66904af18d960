use pollux_models::{ModelsOptions, assemble};
use pollux_protocol::{
    CancellationToken, EntryId, FinishReason, History, JsonRequest, ModelErrorKind, ModelRequest,
    Part, SelectContext,
};
use pollux_testkit::{Endpoint, ModelServer, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::harness::{
    MESSAGES, answer, anthropic, anthropic_options, options, say, select, settings, text,
};

#[tokio::test]
async fn a_request_goes_where_it_should_with_its_headers() {
    for path in ["", "/", "/v1", "/v1/"] {
        let server = ModelServer::start();
        server.message(reply().text("ok"));
        let url = format!("{}{path}", server.url());
        let more = [("ANTHROPIC_CUSTOM_HEADERS", "X-Team: a\nX-Other: b, c")];
        let variables = [&more[..], &[("ANTHROPIC_BASE_URL", url.as_str())]].concat();
        let models = assemble(&anthropic_options(&server, &variables)).unwrap();
        let chunks = answer(&select(&models, "anthropic/claude-x").await).await.unwrap();
        assert_eq!(text(&chunks), "ok");
        let sent = server.last_request();
        assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", MESSAGES), "{url}");
        // A gateway may know only one of the headers.
        assert_eq!(sent.header("x-api-key"), Some("the-key"));
        assert_eq!(sent.header("authorization"), Some("Bearer the-key"));
        assert_eq!(sent.header("anthropic-version"), Some("2023-06-01"));
        assert_eq!((sent.header("x-team"), sent.header("x-other")), (Some("a"), Some("b, c")));
        let agent = concat!("Pollux-cli/", env!("CARGO_PKG_VERSION"), "/claude-x (");
        assert!(sent.header("user-agent").unwrap().starts_with(agent));
        assert_eq!(
            sent.body,
            json!({"model": "claude-x", "max_tokens": 32_000, "stream": true, "messages": [
                {"role": "user", "content": [
                    {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}]})
        );
        server.assert_all_valid();
    }
}

#[tokio::test]
async fn a_token_is_used_without_a_key() {
    let server = ModelServer::start();
    server.message(reply().text("ok"));
    server.message(reply().text("ok"));
    for (variables, key, token) in [
        ([("ANTHROPIC_API_KEY", ""), ("ANTHROPIC_AUTH_TOKEN", "t")], None, Some("Bearer t")),
        ([("ANTHROPIC_API_KEY", ""), ("ANTHROPIC_AUTH_TOKEN", "")], None, None),
    ] {
        let models = assemble(&anthropic_options(&server, &variables)).unwrap();
        answer(&select(&models, "anthropic/claude-x").await).await.unwrap();
        let sent = server.last_request();
        assert_eq!((sent.header("x-api-key"), sent.header("authorization")), (key, token));
    }
    let missing = ModelsOptions { startup_model: "anthropic/opus".to_owned(), ..options(&[]) };
    let error = assemble(&missing).err().unwrap();
    let refused =
        json!({"type": "error", "error": {"type": "authentication_error", "message": "x"}});
    server.message(reply().status(401, refused));
    let variables = [("ANTHROPIC_API_KEY", ""), ("ANTHROPIC_AUTH_TOKEN", "t")];
    let models = assemble(&anthropic_options(&server, &variables)).unwrap();
    let (_, answered) = answer(&select(&models, "anthropic/claude-x").await).await.unwrap_err();
    assert!(answered.message.contains("Check ANTHROPIC_AUTH_TOKEN."), "{answered}");
    assert_eq!(error.kind, ModelErrorKind::Auth);
    assert!(error.message.contains("ANTHROPIC_API_KEY is not set. Get a key at"), "{error}");
}

#[tokio::test]
async fn names_find_the_models() {
    let server = ModelServer::start();
    let list = json!({"data": [{"id": "claude-embed"}, {"id": "claude-first"}], "has_more": false});
    server.route("/v1/models", move |_| reply().json(list.clone()));
    server.answer_with(Endpoint::Messages, |_| reply().text("ok"));
    let gemini = [("GEMINI_API_KEY", "k")];
    for (requested, more, expected) in [
        ("auto", &[][..], "claude-first"),
        ("auto", &[("ANTHROPIC_MODEL", "sonnet")], "claude-sonnet-5-5"),
        ("opus", &[], "claude-opus-5-5"),
        ("anthropic/haiku", &gemini, "claude-haiku-5-5"),
        ("claude-opus-4-5-20251101", &gemini, "claude-opus-4-5-20251101"),
        ("sonnet", &gemini, "claude-sonnet-5-5"),
    ] {
        let models = assemble(&anthropic_options(&server, more)).unwrap();
        let model = select(&models, requested).await;
        assert_eq!((model.name(), model.vendor()), (expected, "anthropic"), "{requested}");
        answer(&model).await.unwrap();
        assert_eq!(server.last_request().body["model"], expected);
    }
}

#[tokio::test]
async fn limits_and_prices_are_known() {
    let server = ModelServer::start();
    let models = assemble(&anthropic_options(&server, &[])).unwrap();
    let listed = models.list().await;
    let model = listed.iter().find(|one| one.name == "anthropic/claude-opus-4-5").unwrap();
    assert_eq!((model.limits.context, model.abilities.max_output), (200_000, Some(64_000)));
    let rates = model.price.unwrap().rates;
    assert!(rates.cached < rates.input && rates.input < rates.cache_write, "{rates:?}");
    let requested = "anthropic/claude-sonnet-4-6".to_owned();
    let context = SelectContext { requested, ..SelectContext::default() };
    let limits = models.select(&context).await.unwrap().limits;
    assert!(limits.context == 1_000_000 && limits.media_in_responses && limits.rejects_overflow);
}

#[tokio::test]
async fn a_conversation_with_thoughts_and_calls_goes_back_and_forth() {
    let server = ModelServer::start();
    let model = anthropic(&server, "anthropic/claude-opus-4-8").await;
    let mut history = History::new();
    for turn in 0..3 {
        let id = |word: &str| EntryId::new(format!("{word}{turn}"));
        history.push_user(id("u"), vec![Part::text("go on"), Part::inline("image/png", "AA==")]);
        server.message(reply().thought("hm").call("glob", json!({"p": turn})));
        let chunks = parts(&model, history.request().unwrap()).await;
        let call = &history.push_model(id("m"), chunks)[0];
        assert_eq!(call.args, json!({ "p": turn }));
        history.push_responses(id("r"), vec![Part::output(&call.id, "glob", "x".repeat(9000))]);
        server.message(reply().text("ok"));
        let chunks = parts(&model, history.request().unwrap()).await;
        assert_eq!(pollux_protocol::text_of(&chunks), "ok");
        history.push_model(id("a"), chunks);
    }
    assert_eq!(server.connections(), 1);
    server.assert_all_valid();
    let sent = server.last_request().body;
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"});
    assert_eq!(sent["messages"][1]["content"][0], thinking);
    assert_eq!(sent["thinking"]["type"], "adaptive");
    let breakpoints = sent.to_string().matches("cache_control").count();
    assert_eq!(breakpoints, 2, "no tools and no instruction");
}

async fn parts(
    model: &std::sync::Arc<dyn pollux_protocol::Model>,
    entries: Vec<std::sync::Arc<pollux_protocol::HistoryEntry>>,
) -> Vec<Part> {
    let request = ModelRequest { entries, ..ModelRequest::default() };
    let chunk = model.generate(request, CancellationToken::new()).await.unwrap();
    chunk.parts
}

#[tokio::test]
async fn an_overloaded_service_is_asked_again_until_the_response_begins() {
    let server = ModelServer::start();
    let overloaded = json!({"type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"}});
    server.message(reply().status(529, overloaded.clone()));
    server.message(reply().text("half").chunks(vec![overloaded]));
    let model = anthropic(&server, "anthropic/claude-x").await;
    let (chunks, error) = answer(&model).await.unwrap_err();
    assert_eq!((text(&chunks).as_str(), server.requests().len()), ("half", 2));
    assert_eq!((error.kind, error.retryable), (ModelErrorKind::Overloaded, true), "{error}");
}

#[tokio::test]
async fn a_paused_response_is_continued() {
    let server = ModelServer::start();
    let search = json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search",
        "input": {"query": "x"}});
    server.message(reply().text("Looking.").part(search.clone()).finish("pause_turn"));
    server.message(reply().text("Still.").finish("pause_turn"));
    server.message(reply().text("Found."));
    let chunks = answer(&anthropic(&server, "anthropic/claude-x").await).await.unwrap();
    assert_eq!(text(&chunks), "Looking.Still.Found.");
    let finished: Vec<_> = chunks.iter().filter_map(|chunk| chunk.finish.clone()).collect();
    assert_eq!(finished, [FinishReason::Stop]);
    let usage = chunks.iter().filter_map(|chunk| chunk.usage).next_back().unwrap();
    assert_eq!((usage.prompt, usage.candidates), (30, 15), "of three requests");
    let sent = server.last_request().body;
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(
        sent["messages"][1],
        json!({"role": "assistant", "content": [text("Looking."), search, text("Still.")]})
    );
}

#[tokio::test]
async fn endless_pauses_end() {
    let server = ModelServer::start();
    server.answer_with(Endpoint::Messages, |_| reply().text("x").finish("pause_turn"));
    let chunks = answer(&anthropic(&server, "anthropic/claude-x").await).await.unwrap();
    let finished: Vec<_> = chunks.iter().filter_map(|chunk| chunk.finish.clone()).collect();
    assert_eq!(finished, [FinishReason::MaxTokens]);
    assert_eq!(server.requests().len(), 17);
}

#[tokio::test]
async fn json_is_asked_again_until_it_is_json() {
    let server = ModelServer::start();
    server.message(reply().text("no json"));
    server.message(reply().text("```json\n{\"a\": 7}\n```"));
    let model = anthropic(&server, "anthropic/claude-x").await;
    let schema = json!({"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}});
    let request = JsonRequest { request: say("json"), schema, max_attempts: 3 };
    let (value, usage) = model.generate_json(request, CancellationToken::new()).await.unwrap();
    assert_eq!((value, usage.prompt), (json!({"a": 7}), 20));
    let sent = server.last_request().body;
    assert!(sent["system"][0]["text"].as_str().unwrap().contains("\"integer\""), "{sent}");
    assert_eq!(sent.get("stream"), None);
}

#[tokio::test]
async fn an_alias_configures_a_model() {
    let server = ModelServer::start();
    server.message(reply().text("ok"));
    let file = json!({"modelConfigs": {"customAliases": {"mine": {"modelConfig": {
        "model": "anthropic/opus",
        "generateContentConfig": {"maxOutputTokens": 9, "stopSequences": ["END"],
            "thinkingConfig": {"thinkingBudget": 0}}}}}}});
    let options = ModelsOptions { settings: settings(&file), ..anthropic_options(&server, &[]) };
    answer(&select(&assemble(&options).unwrap(), "mine").await).await.unwrap();
    let sent = server.last_request().body;
    assert_eq!((&sent["model"], &sent["max_tokens"]), (&json!("claude-opus-5-5"), &json!(9)));
    assert_eq!(sent["stop_sequences"], json!(["END"]));
    assert_eq!(sent["thinking"], json!({"type": "disabled"}));
}

#[tokio::test]
async fn tokens_are_estimated_and_embeddings_refused() {
    let server = ModelServer::start();
    let model = anthropic(&server, "anthropic/claude-x").await;
    let total = model.count_tokens(say(&"x".repeat(400)), CancellationToken::new()).await.unwrap();
    assert_eq!((total, server.requests().len()), (100, 0));
    let refused = model.embed(vec!["x".to_owned()], CancellationToken::new()).await;
    assert_eq!(refused.unwrap_err().kind, ModelErrorKind::Config);
}

#[tokio::test]
async fn a_gateway_that_cannot_stream_is_read() {
    let server = ModelServer::start();
    let whole = json!({"type": "message", "content": [{"type": "text", "text": "ok"}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}});
    server.message(reply().json(whole));
    let page = "<!DOCTYPE html><p>Log in</p>";
    server.message(reply().status(200, page));
    let model = anthropic(&server, "anthropic/claude-x").await;
    assert_eq!(text(&answer(&model).await.unwrap()), "ok");
    let (_, error) = answer(&model).await.unwrap_err();
    assert!(error.message.contains("ANTHROPIC_BASE_URL"), "{error}");
    let refused = |status: u16, kind: &str| {
        let error: Value = json!({"type": "error", "error": {"type": kind, "message": "No."}});
        reply().status(status, error)
    };
    server.message(refused(401, "authentication_error"));
    let (_, error) = answer(&model).await.unwrap_err();
    assert!(error.message.contains("Check ANTHROPIC_API_KEY."), "{error}");
    assert_eq!(server.requests().len(), 3, "a refused key is not sent again");
}
