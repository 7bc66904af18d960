use std::sync::Arc;

use pollux_models::{ModelsOptions, assemble};
use pollux_protocol::{
    CancellationToken, Declaration, EntryId, History, JsonRequest, ModelErrorKind, ModelRequest,
    ModelRole, Part, ToolOmission,
};
use pollux_testkit::{Endpoint, ModelServer, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::harness::{
    CHAT, answer, anthropic, model, models_with, openai_options, options_for, say, script, select,
    settings, text,
};

#[tokio::test]
async fn a_request_looks_as_gemini_clis_does() {
    let server = ModelServer::start();
    server.stream(reply().text("ok"));
    let declaration = Declaration {
        name: "read_file".to_owned(),
        description: "Reads.".to_owned(),
        parameters: json!({"type": "object"}),
    };
    let request = ModelRequest {
        system: Some(Arc::from("Be good.")),
        tools: Arc::from([declaration]),
        ..say("hi")
    };
    let custom = [("GEMINI_CLI_CUSTOM_HEADERS", "X-Team: a, b, X-Other: c")];
    let model = select(&models_with(&server, &custom), "gemini-2.5-pro").await;
    drop(model.stream(request, CancellationToken::new()).await.unwrap());

    let sent = server.last_request();
    assert_eq!(sent.method, "POST");
    assert_eq!(sent.path, "/v1beta/models/gemini-2.5-pro:streamGenerateContent");
    assert_eq!(sent.query, "alt=sse");
    assert_eq!(sent.header("x-goog-api-key"), Some("the-key"));
    assert_eq!(sent.header("content-type"), Some("application/json"));
    assert_eq!(sent.header("content-length"), Some(sent.raw.len().to_string().as_str()));
    assert_eq!((sent.header("x-team"), sent.header("x-other")), (Some("a, b"), Some("c")));
    assert_eq!(sent.header("authorization"), None);
    let agent = sent.header("user-agent").unwrap();
    assert!(agent.starts_with("Pollux-cli/") && agent.contains("/gemini-2.5-pro ("), "{agent}");
    let expected = concat!(
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"#,
        r#""systemInstruction":{"parts":[{"text":"Be good."}],"role":"user"},"#,
        r#""tools":[{"functionDeclarations":[{"name":"read_file","description":"Reads.","parametersJsonSchema":{"type":"object"}}]}],"#,
        r#""generationConfig":{"temperature":1,"topP":0.95,"topK":64,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}}}"#,
    );
    assert_eq!(String::from_utf8_lossy(&sent.raw), expected);
    server.assert_all_valid();
}

#[tokio::test]
async fn a_conversation_with_tools_stays_valid_and_uses_one_connection() {
    let server = ModelServer::start();
    let model = model(&server, "gemini-2.5-pro").await;
    let mut history = History::new();
    for turn in 0..5 {
        let id = |word: &str| EntryId::new(format!("{word}{turn}"));
        history.push_user(id("u"), vec![Part::text("go on")]);
        history.push_model(id("m"), vec![Part::call("glob__1", "glob", json!({}))]);
        history.push_responses(id("r"), vec![Part::output("glob__1", "glob", "x".repeat(9000))]);
        server.stream(reply().text("ok"));
        let request =
            ModelRequest { entries: history.request().unwrap(), ..ModelRequest::default() };
        let stream = model.stream(request, CancellationToken::new()).await.unwrap();
        futures::StreamExt::count(stream).await;
        history.push_model(id("a"), vec![Part::text("ok")]);
    }
    server.assert_all_valid();
    assert_eq!(server.connections(), 1);
    let sent = server.last_request();
    let signature =
        |content: usize| sent.contents()[content]["parts"][0]["thoughtSignature"].clone();
    assert_eq!(sent.contents().len(), 4 * 4 + 3);
    assert_eq!(signature(1), Value::Null, "an earlier turn is left alone");
    assert_eq!(signature(17), "skip_thought_signature_validator");
}

#[tokio::test]
async fn settings_change_how_and_whom_a_retry_asks() {
    let server = ModelServer::start();
    let file = json!({"modelConfigs": {
        "customAliases": {"careful": {"extends": "gemini-2.5-pro", "modelConfig":
            {"generateContentConfig": {"temperature": 0.2}}}},
        "customOverrides": [
            {"match": {"model": "careful", "isRetry": true}, "modelConfig": {"model": "flash"}},
            {"match": {"model": "careful", "overrideScope": "subagent"}, "modelConfig":
                {"generateContentConfig": {"seed": 7}}}
        ]
    }});
    let options = ModelsOptions { settings: settings(&file), ..options_for(&server, &[]) };
    let model = select(&assemble(&options).unwrap(), "careful").await;
    assert_eq!(model.name(), "gemini-2.5-pro");
    // The built-in override retries with temperature 1, whatever the alias says.
    for (is_retry, role, name, temperature, seed) in [
        (false, ModelRole::Main, "gemini-2.5-pro", json!(0.2), Value::Null),
        (true, ModelRole::Main, "gemini-3.8-flash", json!(1), Value::Null),
        (false, ModelRole::Subagent, "gemini-2.5-pro", json!(0.2), json!(7)),
        (false, ModelRole::UtilityTool, "gemini-2.5-pro", json!(0.2), Value::Null),
    ] {
        server.stream(reply().text("ok"));
        let request = ModelRequest { is_retry, role, ..say("hi") };
        drop(model.stream(request, CancellationToken::new()).await.unwrap());
        let sent = server.last_request();
        let config = &sent.body["generationConfig"];
        assert_eq!((sent.model(), &config["seed"]), (Some(name), &seed));
        assert_eq!(config["temperature"], temperature);
    }
}

fn json_request(max_attempts: u32) -> JsonRequest {
    let schema = json!({"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}});
    JsonRequest { request: say("json, please"), schema, max_attempts }
}

#[tokio::test]
async fn json_is_asked_again_until_it_is_json() {
    let server = ModelServer::start();
    server.generate(reply().text("no json").usage(1, 1));
    server.generate(reply().text("```json\n{\"a\": 7}\n```").usage(2, 3));
    let model = model(&server, "classifier").await;
    let cancel = CancellationToken::new();
    let (value, usage) = model.generate_json(json_request(5), cancel.clone()).await.unwrap();
    assert_eq!((value, usage.prompt, usage.candidates), (json!({"a": 7}), 3, 4));
    let sent = server.last_request();
    assert_eq!(sent.endpoint, Some(Endpoint::GenerateContent));
    let config = &sent.body["generationConfig"];
    assert_eq!(config["responseMimeType"], "application/json");
    assert_eq!(config["responseJsonSchema"], json_request(1).schema);

    server.generate(reply().text("[1]"));
    let error = model.generate_json(json_request(1), cancel).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Broken);
}

#[tokio::test]
async fn tokens_are_counted_by_the_service() {
    let server = ModelServer::start();
    server.enqueue(Endpoint::CountTokens, reply().tokens(42));
    let model = model(&server, "gemini-2.5-pro").await;
    let total = model.count_tokens(say("hi"), CancellationToken::new()).await.unwrap();
    assert_eq!(total, 42);
    let sent = server.last_request();
    assert_eq!(sent.path, "/v1beta/models/gemini-2.5-pro:countTokens");
    assert_eq!(sent.body, json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}));

    server.enqueue(Endpoint::CountTokens, reply().json(json!({"totalTokens": "many"})));
    let error = model.count_tokens(say("hi"), CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Broken);
}

#[tokio::test]
async fn a_gateway_without_a_key_gets_an_empty_one() {
    let server = ModelServer::start();
    server.stream(reply().text("ok"));
    let no_key = [("GEMINI_API_KEY", "")];
    let chunks = answer(&select(&models_with(&server, &no_key), "m").await).await.unwrap();
    assert_eq!(text(&chunks), "ok");
    assert_eq!(server.last_request().header("x-goog-api-key"), Some(""));
}

#[tokio::test]
async fn a_name_that_the_service_refuses_is_sent_in_another_form() {
    let server = ModelServer::start();
    let model = model(&server, "gemini-2.5-pro").await;
    let declaration = |name: &str, parameters: Value| Declaration {
        name: name.to_owned(),
        description: String::new(),
        parameters,
    };
    let mut history = History::new();
    let id = |word: &str| EntryId::new(word.to_owned());
    history.push_user(id("u"), vec![Part::text("go on")]);
    history.push_model(id("m"), vec![Part::call("a b__1", "a b", json!({}))]);
    history.push_responses(id("r"), vec![Part::output("a b__1", "a b", "done")]);
    let (told, omissions) = std::sync::mpsc::channel();
    let request = ModelRequest {
        entries: history.request().unwrap(),
        tools: Arc::from([
            declaration("a b", json!({})),
            declaration("a.b:c", json!({})),
            declaration("word", json!({"type": "string"})),
        ]),
        on_omission: Some(Arc::new(move |omission: &ToolOmission| {
            told.send(omission.tool.clone()).unwrap();
        })),
        ..ModelRequest::default()
    };
    let cancel = CancellationToken::new;
    server.stream(reply().text("ok"));
    let stream = model.stream(request.clone(), cancel()).await.unwrap();
    futures::StreamExt::count(stream).await;
    let sent = server.last_request();
    let [name, "a.b:c"] = sent.declared_tools()[..] else { panic!("{}", sent.body) };
    assert!(name.starts_with("a_b_"), "{name}");
    assert_eq!(sent.contents()[1]["parts"][0]["functionCall"]["name"], name);
    assert_eq!(sent.contents()[2]["parts"][0]["functionResponse"]["name"], name);

    server.stream(reply().call(name, json!({})));
    let stream = model.stream(request.clone(), cancel()).await.unwrap();
    let chunks: Vec<_> = futures::StreamExt::collect(stream).await;
    let called: Vec<_> = chunks.into_iter().flat_map(|chunk| chunk.unwrap().parts).collect();
    assert_eq!(called[0].as_call().unwrap().name, "a b");
    server.generate(reply().call(name, json!({})));
    let whole = model.generate(request, cancel()).await.unwrap();
    assert_eq!(whole.parts[0].as_call().unwrap().name, "a b");
    assert_eq!(omissions.try_iter().collect::<Vec<_>>(), ["word"; 3], "told for each request");
    server.assert_all_valid();
}

#[tokio::test]
async fn a_response_is_no_longer_than_the_budget_permits() {
    let server = ModelServer::start();
    for endpoint in [Endpoint::StreamGenerateContent, Endpoint::Messages] {
        server.answer_with(endpoint, |_| reply().text("ok"));
    }
    for path in [CHAT, "/v1/responses"] {
        script(&server, path, vec![reply().status(400, json!({}))]);
    }
    let openai = |wire, name| {
        let models = assemble(&openai_options(&server, &[("OPENAI_WIRE_API", wire)])).unwrap();
        async move { select(&models, name).await }
    };
    let limited = |path: &str| {
        let path = path.to_owned();
        server.requests().last().unwrap().body.pointer(&path).cloned()
    };
    for (model, path) in [
        (model(&server, "gemini-2.5-pro").await, "/generationConfig/maxOutputTokens"),
        (anthropic(&server, "anthropic/claude-opus-4-8").await, "/max_tokens"),
        (openai("chat", "gpt-5").await, "/max_completion_tokens"),
        (openai("responses", "gpt-5").await, "/max_output_tokens"),
    ] {
        let mut request = say("hi");
        for (own, limit, expected) in
            [(None, 2000, 2000), (Some(300), 2000, 300), (Some(3000), 2000, 2000)]
        {
            request.adjustments.tuning.max_output_tokens = own.map(serde_json::Number::from);
            request.adjustments.output_limit = Some(limit);
            // Only the request matters.
            drop(model.stream(request.clone(), CancellationToken::new()).await);
            assert_eq!(limited(path), Some(json!(expected)), "{path}");
        }
    }
}
