use std::sync::{Arc, Mutex};

use pollux_models::{ModelsOptions, assemble};
use pollux_protocol::{
    CancellationToken, Declaration, JsonRequest, ModelError, ModelErrorKind, ModelRequest,
    RetryNotice, ToolOmission, VendorRefusal,
};
use pollux_testkit::{CapturedRequest, Endpoint, ModelReply, ModelServer, errors, reply};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::harness::{answer, model, models_with, options_for, say, select, settings, text};

/// Returns the failure of a request that always gets this response, and the number of attempts.
async fn failure(make: impl Fn() -> ModelReply + Send + Sync + 'static) -> (ModelError, usize) {
    let server = ModelServer::start();
    server.answer_with(Endpoint::StreamGenerateContent, move |_| make());
    let (_, error) = answer(&model(&server, "gemini-2.5-pro").await).await.unwrap_err();
    (error, server.requests().len())
}

#[tokio::test]
async fn every_refusal_is_understood() {
    use ModelErrorKind::{Auth, Invalid, NotFound, Overloaded, Permission, Quota};
    type Row = (fn() -> ModelReply, ModelErrorKind, &'static str, usize);
    let no_capacity = || {
        let details = [
            json!({"@type": "google.rpc.ErrorInfo", "reason": "MODEL_CAPACITY_EXHAUSTED"}),
            json!({"@type": "google.rpc.RetryInfo", "retryDelay": "3600s"}),
        ];
        errors::api_error(429, "RESOURCE_EXHAUSTED", "No capacity.", &details)
    };
    let rows: [Row; 11] = [
        (no_capacity, Overloaded, "TerminalQuotaError", 1),
        (errors::per_day_quota, Quota, "TerminalQuotaError", 1),
        (|| errors::retry_info("900s"), Quota, "TerminalQuotaError", 1),
        (errors::rate_limit_exceeded, Quota, "TerminalQuotaError", 1),
        (errors::invalid_key, Auth, "ApiError", 1),
        (errors::unauthenticated, Auth, "ApiError", 1),
        (
            || errors::validation_required("https://verify"),
            Permission,
            "ValidationRequiredError",
            1,
        ),
        (|| errors::not_found("gemini-2.5-pro"), NotFound, "ModelNotFoundError", 1),
        (|| errors::bad_request("no"), Invalid, "ApiError", 1),
        (errors::internal, Overloaded, "ApiError", 10),
        (errors::html, Overloaded, "ApiError", 10),
    ];
    for (make, kind, class, requests) in rows {
        let (error, count) = failure(make).await;
        assert_eq!((error.kind, error.type_name, count), (kind, class, requests), "{error}");
        assert!(error.message.starts_with("[API Error: "), "{error}");
        assert!(!error.message.contains('<'), "a page is no message: {error}");
    }
}

#[tokio::test]
async fn what_passes_is_tried_again_and_reported() {
    let server = ModelServer::start();
    server.stream(reply().hang_up()).stream(errors::plain(503)).stream(reply().text("at last"));
    let notices: Arc<Mutex<Vec<RetryNotice>>> = Arc::default();
    let on_retry = Arc::clone(&notices);
    let request = ModelRequest {
        on_retry: Some(Arc::new(move |notice| on_retry.lock().unwrap().push(notice))),
        ..say("hi")
    };
    let model = model(&server, "m").await;
    let stream = model.stream(request, CancellationToken::new()).await.unwrap();
    let chunks: Vec<_> = futures::StreamExt::collect(stream).await;
    let chunks: Vec<_> = chunks.into_iter().map(Result::unwrap).collect();
    assert_eq!(text(&chunks), "at last");
    let notices = notices.lock().unwrap();
    assert_eq!(notices.len(), 2);
    assert_eq!((notices[0].attempt, notices[0].max_attempts), (1, 10));
    assert_eq!(notices[0].error_type, "ECONNRESET");
    assert_eq!(notices[1].reason, "503 upstream said 503.");
    assert_eq!(notices[1].error_type, "ApiError");
}

#[tokio::test]
async fn settings_bound_the_attempts() {
    let server = ModelServer::start();
    server.answer_with(Endpoint::StreamGenerateContent, |_| errors::internal());
    server.answer_with(Endpoint::GenerateContent, |_| errors::internal());
    let file = serde_json::json!({"general": {"maxAttempts": 3}});
    let options = ModelsOptions { settings: settings(&file), ..options_for(&server, &[]) };
    let bounded = select(&assemble(&options).unwrap(), "m").await;
    answer(&bounded).await.unwrap_err();
    assert_eq!(server.requests_to(Endpoint::StreamGenerateContent).len(), 3);

    // A side call gives up earlier than the conversation.
    let request =
        JsonRequest { request: say("hi"), schema: serde_json::json!({}), max_attempts: 9 };
    let model = model(&server, "m").await;
    let error = model.generate_json(request, CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Overloaded);
    assert_eq!(server.requests_to(Endpoint::GenerateContent).len(), 5);
}

#[tokio::test]
async fn an_error_inside_the_stream_is_understood() {
    let (error, count) = failure(|| errors::in_stream(503, "UNAVAILABLE", "Overloaded.")).await;
    assert_eq!((error.kind, error.retryable, count), (ModelErrorKind::Overloaded, true, 1));
    let code = Some("UNAVAILABLE".to_owned());
    let refusal = VendorRefusal { status: 503, code, message: "Overloaded.".to_owned() };
    assert_eq!(error.refusal, Some(refusal));
    assert!(error.message.starts_with("[API Error: Overloaded. (Status: UNAVAILABLE)]"), "{error}");
}

#[tokio::test]
async fn a_redirect_loop_is_named() {
    let (error, _) = failure(|| reply().redirect_loop()).await;
    assert!(error.message.contains("redirect"), "{error}");
    assert!(error.message.contains("GOOGLE_GEMINI_BASE_URL"), "{error}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let server = ModelServer::start();
    let address = server.address().to_string();
    let models = models_with(&server, &[]);
    drop(server);
    let (_, error) = answer(&select(&models, "m").await).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Network);
    let remedy = format!(
        "Check that a server runs at {address}, and check GOOGLE_GEMINI_BASE_URL; behind a proxy, set HTTPS_PROXY."
    );
    assert!(error.message.ends_with(&remedy), "{error}");
}

#[tokio::test]
async fn waiting_for_the_next_attempt_can_be_cancelled() {
    let server = ModelServer::start();
    server.stream(errors::retry_info("200s"));
    let model = model(&server, "m").await;
    let cancel = CancellationToken::new();
    let reported = cancel.clone();
    let on_retry: pollux_protocol::RetryListener = Arc::new(move |_| reported.cancel());
    let request = ModelRequest { on_retry: Some(on_retry), ..say("hi") };
    let error = model.stream(request, cancel).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Cancelled);
}

/// A server that refuses each request with a tool whose name begins with `bad`.
fn server_that_refuses(by_name: bool) -> ModelServer {
    let server = ModelServer::start();
    let respond = move |request: &CapturedRequest| {
        let tools = sent_tools(request);
        let bad = tools.iter().enumerate().filter(|(_, name)| name.starts_with("bad"));
        let objection = |(place, name): (usize, &String)| {
            let field = format!("tools[0].function_declarations[{place}].parameters");
            if by_name {
                format!(
                    "Unable to submit request because `{name}` functionDeclaration `parameters.x` schema is wrong."
                )
            } else {
                format!(
                    "Invalid JSON payload received. Unknown name \"x\" at '{field}': Cannot find field."
                )
            }
        };
        let objections: Vec<String> = bad.map(objection).collect();
        if objections.is_empty() {
            reply().text("ok")
        } else {
            errors::bad_request(&objections.join("\n"))
        }
    };
    server.answer_with(Endpoint::StreamGenerateContent, respond);
    server.answer_with(Endpoint::GenerateContent, respond);
    server
}

fn sent_tools(request: &CapturedRequest) -> Vec<String> {
    let tools = request.body["tools"][0]["functionDeclarations"].as_array();
    let name = |tool: &serde_json::Value| tool["name"].as_str().unwrap().to_owned();
    tools.into_iter().flatten().map(name).collect()
}

#[tokio::test]
async fn tools_that_the_service_does_not_accept_are_left_out_alone() {
    for by_name in [true, false] {
        let server = server_that_refuses(by_name);
        let model = model(&server, "gemini-2.5-pro").await;
        let omitted: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&omitted);
        let tool = |name: &str| Declaration {
            name: name.to_owned(),
            description: "Works.".to_owned(),
            parameters: json!({"type": "object"}),
        };
        let request = ModelRequest {
            tools: Arc::from(["good", "bad_one", "fair", "bad_two"].map(tool)),
            on_omission: Some(Arc::new(move |omission: &ToolOmission| {
                kept.lock().unwrap().push(omission.tool.clone());
            })),
            ..say("hi")
        };
        drop(model.stream(request.clone(), CancellationToken::new()).await.unwrap());
        let whole = model.generate(request, CancellationToken::new()).await.unwrap();
        assert_eq!((whole.text().as_str(), server.requests().len()), ("ok", 3), "{by_name}");
        assert_eq!(sent_tools(&server.last_request()), ["good", "fair"]);
        assert_eq!(*omitted.lock().unwrap(), ["bad_one", "bad_two"].repeat(2));
    }
}
