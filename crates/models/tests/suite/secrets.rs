//! Secrets of requests in the error responses of services.

use std::sync::{Arc, Mutex};

use futures::StreamExt;
use pollux_models::{ModelsOptions, assemble};
use pollux_protocol::{CancellationToken, JsonRequest, ModelError, RetryNotice};
use pollux_testkit::{ModelServer, reply};
use serde_json::{Value, json};

use super::harness::{
    CHAT, MESSAGES, anthropic_options, events, openai_options, options_for, say, select,
};

const KEY: &str = "sk-own/key+1";

const HEADER: &str = "header-secret";

const GEMINI: &str = "/v1beta/models/m:streamGenerateContent";

/// Returns an error object that repeats the secrets.
fn refusal(code: &str) -> Value {
    let message = format!("bad key {KEY} (Bearer {KEY}, {HEADER})");
    json!({"type": "error", "error": {"message": message, "code": code, "type": code}})
}

fn assert_has_none(error: &ModelError) {
    let shown = format!("{error:?}");
    assert!(shown.contains("bad key ***"), "{shown}");
    assert!(!shown.contains("sk-own") && !shown.contains(HEADER), "{shown}");
}

/// Returns the options, the name of the model and the path of each dialect.
fn dialects(server: &ModelServer) -> [(ModelsOptions, &'static str, &'static str); 4] {
    let header = format!("x-own-key: {HEADER}");
    let openai = [("OPENAI_API_KEY", KEY), ("OPENAI_CUSTOM_HEADERS", header.as_str())];
    let responses = [&openai[..], &[("OPENAI_WIRE_API", "responses")]].concat();
    let anthropic = [("ANTHROPIC_API_KEY", KEY), ("ANTHROPIC_CUSTOM_HEADERS", header.as_str())];
    let gemini = [("GEMINI_API_KEY", KEY), ("GEMINI_CLI_CUSTOM_HEADERS", header.as_str())];
    [
        (options_for(server, &gemini), "gemini/m", GEMINI),
        (openai_options(server, &openai), "openai/m", CHAT),
        (openai_options(server, &responses), "openai/m", "/v1/responses"),
        (anthropic_options(server, &anthropic), "anthropic/m", MESSAGES),
    ]
}

#[tokio::test]
async fn error_responses_and_retry_notices_have_none() {
    for (status, escaped) in [(401, false), (401, true), (503, false)] {
        let server = ModelServer::start();
        for (options, name, path) in dialects(&server) {
            let body = refusal("x").to_string();
            let body = if escaped { body.replace('/', "\\/") } else { body };
            server.route(path, move |_| reply().status(status, body.as_str()));
            let model = select(&assemble(&options).unwrap(), name).await;
            let notices = Arc::new(Mutex::new(Vec::new()));
            let seen = Arc::clone(&notices);
            let mut request = say("hi");
            request.on_retry = Some(Arc::new(move |notice: RetryNotice| {
                seen.lock().unwrap().push(notice.reason);
            }));
            request.max_attempts = Some(2);
            let error = model.stream(request, CancellationToken::new()).await.err().unwrap();
            assert_has_none(&error);
            let notices = notices.lock().unwrap();
            assert_eq!(notices.len(), usize::from(status == 503), "{notices:?}");
            assert!(!notices.concat().contains("sk-own"), "{notices:?}");
        }
    }
}

#[tokio::test]
async fn errors_inside_of_responses_have_none() {
    let server = ModelServer::start();
    for (options, name, path) in dialects(&server) {
        let model = select(&assemble(&options).unwrap(), name).await;
        server.route(path, |_| reply().status(200, events(&[refusal("invalid_request_error")])));
        let stream = model.stream(say("hi"), CancellationToken::new()).await;
        let error = stream.unwrap().next().await.unwrap().unwrap_err();
        assert_has_none(&error);
        let path = path.replace("streamGenerateContent", "generateContent");
        let body = refusal("invalid_request_error").to_string();
        server.route(&path, move |_| reply().status(200, body.as_str()));
        let schema = json!({"type": "object"});
        let request = JsonRequest { request: say("hi"), schema, max_attempts: 1 };
        let error = model.generate_json(request, CancellationToken::new()).await.unwrap_err();
        assert_has_none(&error);
    }
}
