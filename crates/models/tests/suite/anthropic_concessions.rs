//! Requests that a service refuses because of something that can be left out.

use std::sync::{Arc, Mutex};

use pollux_protocol::{
    CancellationToken, Declaration, ModelErrorKind, ModelRequest, ToolChoice, ToolMode,
    ToolOmission,
};
use pollux_testkit::{CapturedRequest, ModelReply, ModelServer, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::harness::{MESSAGES, answer, anthropic, say, text};

/// Sets a service that refuses each request for which `objects` returns a message.
fn objecting(
    server: &ModelServer,
    objects: impl Fn(&CapturedRequest) -> Option<&'static str> + Send + Sync + 'static,
) {
    server.route(MESSAGES, move |request| match objects(request) {
        Some(message) => {
            let kind = "invalid_request_error";
            let error = json!({"type": "error", "error": {"type": kind, "message": message}});
            reply().status(400, error)
        }
        None => fine(),
    });
}

fn fine() -> ModelReply {
    reply().text("ok")
}

/// Answers twice. Returns the number of requests, and the last of them.
async fn asked_twice(server: &ModelServer) -> (usize, CapturedRequest) {
    let model = anthropic(server, "anthropic/claude-opus-4-8").await;
    for _ in 0..2 {
        assert_eq!(text(&answer(&model).await.unwrap()), "ok");
    }
    (server.requests().len(), server.last_request())
}

#[tokio::test]
async fn a_gateway_gets_the_version_that_it_knows() {
    let server = ModelServer::start();
    objecting(&server, |request| {
        let version = request.header("anthropic-version");
        (version != Some("2026-10-21")).then_some("anthropic-version: unknown version")
    });
    let (requests, last) = asked_twice(&server).await;
    assert_eq!((requests, last.header("x-api-key")), (3, Some("the-key")));
}

#[tokio::test]
async fn what_a_service_does_not_know_is_left_out() {
    type Rule = (&'static str, fn(&Value) -> bool);
    let rules: [Rule; 3] = [
        ("thinking: Extra inputs are not permitted", |body| body["thinking"].is_null()),
        ("cache_control: Extra inputs are not permitted", |body| {
            !body.to_string().contains("cache_control")
        }),
        ("max_tokens: 32000 > 4096, which is the maximum allowed", |body| {
            body["max_tokens"].as_u64().unwrap() <= 4096
        }),
    ];
    let server = ModelServer::start();
    objecting(&server, move |request| {
        let broken = rules.iter().find(|(_, is_kept)| !is_kept(&request.body));
        broken.map(|(message, _)| *message)
    });
    let (requests, last) = asked_twice(&server).await;
    assert_eq!((requests, &last.body["max_tokens"]), (5, &json!(4096)));
}

#[tokio::test]
async fn an_objection_that_remains_is_an_error() {
    let server = ModelServer::start();
    objecting(&server, |_| Some("thinking: I do not like it"));
    let (_, error) = answer(&anthropic(&server, "anthropic/claude-x").await).await.unwrap_err();
    assert_eq!((error.kind, server.requests().len()), (ModelErrorKind::Invalid, 2));
    assert!(error.message.contains("I do not like it"), "{error}");
}

#[tokio::test]
async fn a_tool_that_the_service_does_not_accept_is_left_out_alone() {
    let server = ModelServer::start();
    objecting(&server, |request| {
        let tools = request.body["tools"].as_array().unwrap();
        let bad = tools.iter().position(|tool| tool["name"] == "bad");
        match bad {
            Some(1) => Some("tools.1.custom.input_schema: JSON schema is invalid"),
            _ => None,
        }
    });
    let tool = |name: &str| Declaration {
        name: name.to_owned(),
        description: "Works.".to_owned(),
        parameters: json!({"type": "object"}),
    };
    let omissions: Arc<Mutex<Vec<ToolOmission>>> = Arc::default();
    let kept = Arc::clone(&omissions);
    let request = ModelRequest {
        tools: Arc::from([tool("good"), tool("bad"), tool("fair")]),
        on_omission: Some(Arc::new(move |omission: &ToolOmission| {
            kept.lock().unwrap().push(omission.clone());
        })),
        ..say("hi")
    };
    let model = anthropic(&server, "anthropic/claude-x").await;
    for requests in [2, 3] {
        let answer = model.generate(request.clone(), CancellationToken::new()).await.unwrap();
        assert_eq!((answer.text().as_str(), server.requests().len()), ("ok", requests));
    }
    let names: Vec<Value> = server.last_request().body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert_eq!(names, ["good", "fair"]);
    assert!(omissions.lock().unwrap().iter().all(|omission| omission.tool == "bad"));
    assert_eq!(omissions.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_required_call_excludes_thoughts() {
    let server = ModelServer::start();
    server.message(fine());
    let model = anthropic(&server, "anthropic/claude-opus-4-8").await;
    let tool = |name: &str| Declaration {
        name: name.to_owned(),
        description: String::new(),
        parameters: json!({"type": "object"}),
    };
    let mut request = ModelRequest { tools: Arc::from([tool("one"), tool("two")]), ..say("hi") };
    request.adjustments.tool_choice =
        Some(ToolChoice { mode: ToolMode::Any, allowed: vec!["two".to_owned()] });
    model.generate(request, CancellationToken::new()).await.unwrap();
    let sent = server.last_request().body;
    assert_eq!(sent["tool_choice"], json!({"type": "any"}));
    assert_eq!(sent["thinking"], json!({"type": "disabled"}));
    assert_eq!(sent["tools"].as_array().unwrap().len(), 1);
}
