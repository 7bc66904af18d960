use std::sync::Arc;

use futures::StreamExt;
use pollux_models::{ModelsOptions, assemble};
use pollux_protocol::{
    CancellationToken, Content, Declaration, EntryId, FinishReason, History, HistoryEntry,
    JsonRequest, Model, ModelErrorKind, ModelRequest, Part, ResponseChunk, SelectContext,
    ToolOmission,
};
use pollux_testkit::responses::{bytes, call, events, message, reasoning, turn};
use pollux_testkit::{ModelServer, ReplyContent, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::harness::{
    CHAT, answer, delta, events as chat_events, finish, openai_options, say, script, select,
    settings, text,
};

const RESPONSES: &str = "/v1/responses";

fn options(server: &ModelServer) -> ModelsOptions {
    openai_options(server, &[("OPENAI_WIRE_API", "responses")])
}

async fn model(server: &ModelServer, name: &str) -> Arc<dyn Model> {
    select(&assemble(&options(server)).unwrap(), &format!("openai/{name}")).await
}

async fn send(model: &Arc<dyn Model>, request: ModelRequest) -> Vec<Part> {
    let stream = model.stream(request, CancellationToken::new()).await.unwrap();
    let chunks: Vec<_> = stream.collect().await;
    chunks.into_iter().flat_map(|chunk| chunk.unwrap().parts).collect()
}

fn tools() -> Arc<[Declaration]> {
    let parameters = json!({"type": "object"});
    let (name, description) = ("glob".to_owned(), "Finds.".to_owned());
    Arc::from([Declaration { name, description, parameters }])
}

#[tokio::test]
async fn a_request_goes_where_it_should_with_its_headers() {
    let server = ModelServer::start();
    script(&server, RESPONSES, vec![turn(&[message("ok")])]);
    let more = [("OPENAI_WIRE_API", " responses "), ("OPENAI_ORG_ID", "org")];
    let models = assemble(&openai_options(&server, &more)).unwrap();
    let chunks = answer(&select(&models, "openai/gpt-5").await).await.unwrap();
    assert_eq!(text(&chunks), "ok");
    let sent = server.last_request();
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", RESPONSES));
    assert_eq!(sent.header("authorization"), Some("Bearer the-key"));
    assert_eq!(sent.header("openai-organization"), Some("org"));
    assert_eq!(
        sent.body,
        json!({"model": "gpt-5", "input": [{"role": "user", "content": "hi"}],
            "reasoning": {"summary": "auto"}, "include": ["reasoning.encrypted_content"],
            "store": false, "stream": true})
    );
}

#[tokio::test]
async fn a_model_that_does_not_reason_is_not_asked_for_reasoning() {
    let server = ModelServer::start();
    script(&server, RESPONSES, vec![turn(&[message("ok")])]);
    answer(&model(&server, "gpt-4o").await).await.unwrap();
    assert_eq!(
        server.last_request().body,
        json!({"model": "gpt-4o", "input": [{"role": "user", "content": "hi"}],
            "store": false, "stream": true})
    );
}

#[tokio::test]
async fn the_dialect_is_a_matter_of_address_and_variable() {
    let server = ModelServer::start();
    script(&server, RESPONSES, vec![turn(&[message("responses")])]);
    let chat = chat_events(&[delta(&json!({"content": "chat"})), finish("stop")]);
    script(&server, CHAT, vec![reply().status(200, chat)]);
    for (wire, name, expected) in [
        ("", "gpt-5", "chat"),
        ("chat", "gpt-5", "chat"),
        ("responses", "gpt-5", "responses"),
        // Tools of a model without native calls are emulated in Chat Completions only.
        ("responses", "o1-mini", "chat"),
    ] {
        let models = assemble(&openai_options(&server, &[("OPENAI_WIRE_API", wire)])).unwrap();
        let model = select(&models, &format!("openai/{name}")).await;
        assert_eq!(text(&answer(&model).await.unwrap()), expected, "{wire} {name}");
    }
    let wrong = openai_options(&server, &[("OPENAI_WIRE_API", "soap")]);
    let error = assemble(&wrong).err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Config);
    assert_eq!(error.message, "OPENAI_WIRE_API is \"soap\". Set it to chat or responses.");
}

#[tokio::test]
async fn a_conversation_with_tools_and_reasoning_uses_one_connection() {
    let server = ModelServer::start();
    let calling = [
        reasoning("**Plan** Look.", "gA=="),
        call("c1", "glob", &json!({"p": 1})),
        call("c2", "glob", &json!({"p": 2})),
    ];
    script(&server, RESPONSES, vec![turn(&calling), turn(&[message("Done.")])]);
    let model = model(&server, "gpt-5").await;
    let mut history = History::new();
    let user = vec![Part::text("go on"), Part::inline("image/png", "AA==")];
    history.push_user(EntryId::new("u"), user);
    let request = |history: &History| ModelRequest {
        entries: history.request().unwrap(),
        tools: tools(),
        ..ModelRequest::default()
    };
    let parts = send(&model, request(&history)).await;
    assert_eq!(parts[0], Part::thought("**Plan** Look."));
    let calls = history.push_model(EntryId::new("m"), parts);
    assert_eq!(calls.len(), 2);
    let results = calls.iter().map(|call| Part::output(&call.id, &call.name, "found")).collect();
    history.push_responses(EntryId::new("r"), results);
    assert_eq!(send(&model, request(&history)).await.last(), Some(&Part::text("ne.")));

    assert_eq!(server.connections(), 1);
    let sent = server.last_request();
    let input = &sent.body["input"];
    let kinds: Vec<&str> = input
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["type"].as_str().unwrap_or("message"))
        .collect();
    let pair = ["function_call", "function_call"];
    let outputs = ["function_call_output", "function_call_output"];
    assert_eq!(kinds, [&["message", "reasoning"][..], &pair, &outputs].concat());
    // Byte for byte, as the service sent it.
    let raw = String::from_utf8(sent.raw.to_vec()).unwrap();
    assert!(raw.contains(&calling[0].to_string()), "{raw}");
    assert_eq!(
        input[4],
        json!({"type": "function_call_output", "call_id": "c1", "output": "found"})
    );
    assert_eq!(sent.body["tools"][0]["strict"], false);
}

#[tokio::test]
async fn reasoning_goes_to_no_other_model() {
    let server = ModelServer::start();
    let calling = [reasoning("Hm.", "gA=="), call("c1", "glob", &json!({}))];
    script(&server, RESPONSES, vec![turn(&calling), turn(&[message("ok")])]);
    let chat = chat_events(&[delta(&json!({"content": "chat"})), finish("stop")]);
    script(&server, CHAT, vec![reply().status(200, chat)]);
    server.stream(reply().text("gemini"));
    let url = server.url();
    let google = [("GEMINI_API_KEY", "g"), ("GOOGLE_GEMINI_BASE_URL", url.as_str())];
    let with =
        |wire| openai_options(&server, &[&google[..], &[("OPENAI_WIRE_API", wire)]].concat());
    let (responses, chat) =
        (assemble(&with("responses")).unwrap(), assemble(&with("chat")).unwrap());
    let mut history = History::new();
    history.push_user(EntryId::new("u"), vec![Part::text("go")]);
    let request = |history: &History| {
        let entries = history.request().unwrap();
        ModelRequest { entries, ..ModelRequest::default() }
    };
    let first = select(&responses, "openai/gpt-5").await;
    history.push_model(EntryId::new("m"), send(&first, request(&history)).await);
    history.push_responses(EntryId::new("r"), vec![Part::output("c1", "glob", "found")]);
    for (models, name) in
        [(&responses, "openai/gpt-5-mini"), (&chat, "openai/gpt-5"), (&responses, "gemini-2.5-pro")]
    {
        send(&select(models, name).await, request(&history)).await;
        let body = server.last_request().body.to_string();
        assert!(!body.contains("gA==") && !body.contains("rs_1"), "{name}: {body}");
        assert!(body.contains("found"), "{name}: {body}");
    }
    send(&first, request(&history)).await;
    assert!(server.last_request().body.to_string().contains("gA=="));
    server.assert_all_valid();
}

#[tokio::test]
async fn what_the_service_refuses_is_left_out_and_the_request_repeated() {
    let server = ModelServer::start();
    let refused = |message: &str, code: &str| {
        let error = json!({"message": message, "type": "invalid_request_error", "code": code});
        reply().status(400, json!({ "error": error }))
    };
    let replies = vec![
        refused(
            "Your organization must be verified to generate reasoning summaries.",
            "unsupported_value",
        ),
        refused("Encrypted content is not supported with this model.", "x"),
        turn(&[message("ok")]),
    ];
    script(&server, RESPONSES, replies);
    let model = model(&server, "gpt-new").await;
    for requests in [3, 4] {
        assert_eq!(text(&answer(&model).await.unwrap()), "ok");
        assert_eq!(server.requests().len(), requests, "what was refused is remembered");
    }
    let keys = |body: &Value| ["reasoning", "include"].map(|key| body.get(key).is_some());
    let seen: Vec<_> = server.requests().iter().map(|sent| keys(&sent.body)).collect();
    assert_eq!(seen, [[true, true], [false, true], [false, false], [false, false]]);

    // Any other error is one.
    script(&server, RESPONSES, vec![refused("Invalid schema for function 'x'.", "x")]);
    let error = answer(&model).await.unwrap_err().1;
    assert_eq!((error.kind, server.requests().len()), (ModelErrorKind::Invalid, 5));
}

#[tokio::test]
async fn a_tool_that_the_service_does_not_accept_is_left_out_alone() {
    let server = ModelServer::start();
    let bad = json!({"error": {"message": "Invalid schema for function 'bad': In context=(), x"}});
    let fine = chat_events(&[delta(&json!({"content": "ok"})), finish("stop")]);
    script(&server, RESPONSES, vec![reply().status(400, bad.clone()), turn(&[message("ok")])]);
    script(&server, CHAT, vec![reply().status(400, bad), reply().status(200, fine)]);
    let tool = |name: &str| Declaration { name: name.to_owned(), ..tools()[0].clone() };
    let (told, omissions) = std::sync::mpsc::channel();
    let request = ModelRequest {
        tools: Arc::from([tool("good"), tool("bad"), tool("fair")]),
        on_omission: Some(Arc::new(move |omission: &ToolOmission| {
            told.send(omission.tool.clone()).unwrap();
        })),
        ..say("hi")
    };
    for (wire, sent) in [("responses", 3), ("chat", 6)] {
        let models = assemble(&openai_options(&server, &[("OPENAI_WIRE_API", wire)])).unwrap();
        let model = select(&models, "openai/gpt-5").await;
        for _ in 0..2 {
            let answer = model.generate(request.clone(), CancellationToken::new()).await.unwrap();
            assert_eq!(answer.text(), "ok");
        }
        assert_eq!(server.requests().len(), sent, "what was refused is remembered");
        assert_eq!(server.last_request().body["tools"].as_array().unwrap().len(), 2);
        assert_eq!(omissions.try_iter().collect::<Vec<_>>(), ["bad"; 2], "{wire}");
    }
}

#[tokio::test]
async fn reasoning_that_cannot_be_decrypted_is_left_out() {
    let server = ModelServer::start();
    let error = json!({"message": "The encrypted content gA could not be verified.",
        "type": "invalid_request_error", "code": "invalid_encrypted_content"});
    let calling = [reasoning("Hm.", "gA=="), call("c1", "glob", &json!({}))];
    let refused = reply().status(400, json!({ "error": error }));
    script(&server, RESPONSES, vec![turn(&calling), refused, turn(&[message("ok")])]);
    let model = model(&server, "gpt-5").await;
    let mut entries = say("go").entries;
    let parts = send(&model, say("go")).await;
    let kept = parts.into_iter().filter(|part| !part.thought || part.opaque.is_some());
    entries.push(HistoryEntry::detached(Content::model(kept.collect())));
    let results = vec![Part::output("c1", "glob", "found")];
    entries.push(HistoryEntry::detached(Content::user(results)));
    for requests in [3, 4] {
        let request = ModelRequest { entries: entries.clone(), ..ModelRequest::default() };
        assert_eq!(send(&model, request).await, [Part::text("o"), Part::text("k")]);
        assert_eq!(server.requests().len(), requests);
    }
    let has = |sent: &pollux_testkit::CapturedRequest| sent.body.to_string().contains("gA==");
    let seen: Vec<bool> = server.requests().iter().map(has).collect();
    assert_eq!(seen, [false, true, false, false]);
}

#[tokio::test]
async fn every_end_of_a_stream() {
    let server = ModelServer::start();
    let model = model(&server, "gpt-5").await;
    let all = events(&[message("grüße"), call("c", "glob", &json!({"a": "b"}))]);
    let whole = bytes(&all);
    for fine in [
        whole.clone(),
        [&whole[..], b"data: [DONE]\n\n"].concat(),
        [&whole[..], b"data: {\"cut"].concat(),
    ] {
        script(&server, RESPONSES, vec![reply().status(200, fine)]);
        let chunks = answer(&model).await.unwrap();
        assert_eq!(text(&chunks), "grüße");
        let reasons: Vec<_> = chunks.iter().filter_map(|chunk| chunk.finish.clone()).collect();
        assert_eq!(reasons, [FinishReason::Stop]);
    }
    for length in 1..all.len() {
        let cut = bytes(&all[..length]);
        for cut in [cut.clone(), [&cut[..], b"data: [DONE]\n\n"].concat()] {
            script(&server, RESPONSES, vec![reply().status(200, cut)]);
            let (_, error) = answer(&model).await.unwrap_err();
            assert_eq!((error.kind, error.retryable), (ModelErrorKind::Broken, true), "{length}");
        }
    }
}

#[tokio::test]
async fn an_error_in_the_middle_keeps_what_came() {
    let server = ModelServer::start();
    let model = model(&server, "gpt-5").await;
    let mut begun = events(&[message("half")]);
    begun.truncate(5);
    let failed = json!({"type": "response.failed", "response": {"status": "failed",
        "error": {"code": "server_error", "message": "Sorry."}}});
    let error = json!({"type": "error", "code": "server_error", "message": "Sorry."});
    for last in [failed, error] {
        let all = [&begun[..], &[last]].concat();
        script(&server, RESPONSES, vec![reply().status(200, bytes(&all))]);
        let (chunks, error) = answer(&model).await.unwrap_err();
        assert_eq!(text(&chunks), "half");
        assert!(error.retryable && error.message.contains("Sorry."), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_read_too() {
    let server = ModelServer::start();
    let model = model(&server, "gpt-5").await;
    let whole = events(&[message("whole")]).pop().unwrap()["response"].clone();
    script(&server, RESPONSES, vec![reply().json(whole)]);
    let chunks = answer(&model).await.unwrap();
    assert_eq!((text(&chunks).as_str(), chunks[0].usage.unwrap().prompt), ("whole", 10));
    let page = ReplyContent::html("<html><body>Sign in to the proxy</body></html>");
    script(&server, RESPONSES, vec![reply().status(200, page)]);
    let (_, error) = answer(&model).await.unwrap_err();
    assert!(error.message.contains("OPENAI_BASE_URL"), "{error}");
}

#[tokio::test]
async fn json_has_its_schema_and_is_asked_again_until_it_is_json() {
    let server = ModelServer::start();
    let whole =
        |text: &str| reply().json(events(&[message(text)]).pop().unwrap()["response"].clone());
    script(&server, RESPONSES, vec![whole("no json"), whole("{\"a\": 7}")]);
    let model = model(&server, "gpt-5").await;
    let schema = json!({"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}});
    let request = JsonRequest { request: say("json"), schema, max_attempts: 3 };
    let (value, usage) = model.generate_json(request, CancellationToken::new()).await.unwrap();
    assert_eq!((value, usage.prompt), (json!({"a": 7}), 20));
    let sent = server.last_request().body;
    assert_eq!(sent["text"]["format"]["schema"]["properties"]["a"]["type"], "integer");
    assert_eq!(sent.get("stream"), None);
}

#[tokio::test]
async fn refusals_are_understood_and_passing_ones_tried_again() {
    let server = ModelServer::start();
    let model = model(&server, "gpt-5").await;
    let error = |status: u16, code: &str| {
        reply().status(status, json!({"error": {"message": "no", "code": code}}))
    };
    for (refusal, kind, requests) in [
        (error(401, "invalid_api_key"), ModelErrorKind::Auth, 1),
        (error(404, "model_not_found"), ModelErrorKind::NotFound, 1),
        (error(429, "insufficient_quota"), ModelErrorKind::Quota, 1),
        (error(400, "context_length_exceeded"), ModelErrorKind::TooLong, 1),
        (error(503, "server_is_overloaded"), ModelErrorKind::Overloaded, 10),
    ] {
        let before = server.requests().len();
        script(&server, RESPONSES, vec![refusal]);
        let (_, error) = answer(&model).await.unwrap_err();
        assert_eq!((error.kind, server.requests().len() - before), (kind, requests), "{error}");
    }
}

#[tokio::test]
async fn an_alias_sets_the_effort() {
    let server = ModelServer::start();
    script(&server, RESPONSES, vec![turn(&[message("ok")])]);
    let config = json!({"model": "openai/gpt-5", "generateContentConfig":
        {"thinkingConfig": {"thinkingLevel": "LOW"}, "maxOutputTokens": 9}});
    let file = json!({"modelConfigs": {"customAliases": {"mine": {"modelConfig": config}}}});
    let options = ModelsOptions { settings: settings(&file), ..options(&server) };
    answer(&select(&assemble(&options).unwrap(), "mine").await).await.unwrap();
    let sent = server.last_request().body;
    assert_eq!(sent["reasoning"], json!({"effort": "low", "summary": "auto"}));
    assert_eq!(sent["max_output_tokens"], 9);
}

#[tokio::test]
async fn media_may_be_inside_of_results() {
    let server = ModelServer::start();
    let models = assemble(&options(&server)).unwrap();
    let requested = "openai/gpt-5".to_owned();
    let choice = models.select(&SelectContext { requested, ..SelectContext::default() }).await;
    let limits = choice.unwrap().limits;
    assert!(limits.media_in_responses && limits.rejects_overflow && limits.fails_when_cut_off);
    assert_eq!(limits.context, 400_000);
}

#[tokio::test]
async fn twenty_thousand_pieces_all_arrive() {
    let server = ModelServer::start();
    let mut all = events(&[message("")]);
    let position = all.len() - 2;
    let delta = |number: usize| {
        json!({"type": "response.output_text.delta", "output_index": 0,
        "content_index": 0, "item_id": "msg_1", "delta": format!("{number} ")})
    };
    all.splice(position..position, (0..20_000).map(delta));
    script(&server, RESPONSES, vec![reply().status(200, bytes(&all))]);
    let chunks: Vec<ResponseChunk> = answer(&model(&server, "gpt-5").await).await.unwrap();
    assert!(text(&chunks).ends_with(" 19998 19999 "));
}
