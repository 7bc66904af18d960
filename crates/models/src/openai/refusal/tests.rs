use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};
use pollux_net::{Error, RetryAdvice};
use serde_json::json;

use super::*;

fn refusals() -> Refusals {
    Refusals {
        id: "openai".to_owned(),
        name: "OpenAI".to_owned(),
        key_variable: Some("OPENAI_API_KEY".to_owned()),
        key_page: Some("https://keys".to_owned()),
        address: "OPENAI_BASE_URL".to_owned(),
    }
}

fn refusal(status: u16, body: &str) -> StatusError {
    StatusError {
        host: "h:443".to_owned(),
        status: StatusCode::from_u16(status).unwrap(),
        headers: HeaderMap::new(),
        body: Bytes::from(body.to_owned()),
    }
}

fn failure(status: u16, body: &str) -> ModelError {
    let error = Error::Status(Box::new(refusal(status, body)));
    failure::before_answer(&refusals(), &error, "m-1")
}

#[test]
fn refusals_have_a_kind_and_a_remedy() {
    use ModelErrorKind::{
        Auth, Filtered, Invalid, NotFound, Overloaded, Permission, Quota, RateLimited, TooLong,
    };
    let error = |word: &str| json!({"error": {"message": "no", "code": word}}).to_string();
    for (status, body, kind, remedy) in [
        (401, error("invalid_api_key"), Auth, "https://keys"),
        (
            400,
            json!({"error": {"message": "No.", "type": "no_db_connection", "code": "400"}})
                .to_string(),
            Auth,
            "https://keys",
        ),
        (403, error("forbidden"), Permission, "permissions of the key"),
        (404, error("model_not_found"), NotFound, "\"m-1\" does not exist at OpenAI"),
        (
            400,
            json!({"error": {"message": "Invalid model name passed in model=m-1.", "code": "400"}})
                .to_string(),
            NotFound,
            "GET /models lists",
        ),
        (400, error("exceed_context_size_error"), TooLong, "longer than the context"),
        (
            400,
            json!({"error": {"message": "litellm.ContextWindowExceededError: too many tokens"}})
                .to_string(),
            TooLong,
            "longer than the context",
        ),
        (429, error("insufficient_quota"), Quota, "no credit"),
        (402, "Payment required".to_owned(), Quota, "no credit"),
        (429, error("rate_limit_exceeded"), RateLimited, "rate limit"),
        (400, error("context_length_exceeded"), TooLong, "longer than the context of the model"),
        (400, error("content_filter"), Filtered, "no"),
        (422, json!({"detail": "extra field"}).to_string(), Invalid, "extra field"),
        (
            400,
            json!({"object": "error", "message": "bad", "code": 400}).to_string(),
            Invalid,
            "bad",
        ),
        (500, json!({"error": "words alone"}).to_string(), Overloaded, "words alone"),
        (
            502,
            "<html><body>oh</body></html>".to_owned(),
            Overloaded,
            "HTTP 502: received a web page",
        ),
        (403, "<html>Blocked</html>".to_owned(), Permission, "OPENAI_BASE_URL may be wrong"),
        (503, String::new(), Overloaded, "overloaded"),
        (503, "{}".to_owned(), Overloaded, "[API Error: HTTP 503 without an error message]"),
    ] {
        let failure = failure(status, &body);
        assert_eq!(failure.kind, kind, "{body}: {failure}");
        assert!(failure.message.contains(remedy), "{body}: {failure}");
        assert!(failure.message.starts_with("[API Error: "), "{failure}");
    }
}

#[test]
fn waiting_is_bounded() {
    let advice = |seconds: &'static str| {
        let mut refusal = refusal(429, "{}");
        refusal.headers.insert("retry-after", HeaderValue::from_static(seconds));
        failure::advice(&refusals(), &Error::Status(Box::new(refusal)), true)
    };
    assert_eq!(advice("7"), RetryAdvice::Retry { after: Some(Duration::from_secs(7)) });
    assert_eq!(advice("300"), RetryAdvice::Retry { after: Some(Duration::from_mins(5)) });
    assert_eq!(advice("301"), RetryAdvice::Fail);
}

#[test]
fn a_message_may_name_the_delay() {
    let milliseconds = |number| Some(Duration::from_millis(number));
    for (status, message, after) in [
        (
            429,
            "Rate limit reached for m. Please try again in 1s. Visit the page.",
            milliseconds(1_000),
        ),
        (429, "Please try again in 1.5s.", milliseconds(1_500)),
        (429, "Try again in 800ms", milliseconds(800)),
        (503, "Try again in 1m2s.", milliseconds(62_000)),
        (500, "Try again in 5m0s.", milliseconds(300_000)),
        (429, "No deployments, Try again in 5 seconds. All cool down.", milliseconds(5_000)),
        (503, "Try again in 1 minute", milliseconds(60_000)),
        (429, "Try again in 1.5 seconds", milliseconds(1_500)),
        (429, "Try again in seconds.", None),
        (429, "Try again in a moment.", None),
        (429, "Try again in 99999999999999999999s.", None),
        (429, "Slow down.", None),
    ] {
        for code in ["rate_limit_exceeded", "other"] {
            let body = json!({"error": {"message": message, "code": code}}).to_string();
            let advice = refusals().read(&refusal(status, &body)).advice();
            assert_eq!(advice, RetryAdvice::Retry { after }, "{message}");
        }
    }
    for message in ["Try again in 5m1s.", "Try again in 2h0m0s.", "Try again in 2 hours."] {
        let body = json!({"error": {"message": message}}).to_string();
        assert_eq!(refusals().read(&refusal(429, &body)).advice(), RetryAdvice::Fail, "{message}");
    }
    let body = json!({"error": {"message": "No. Try again in 1s."}}).to_string();
    assert_eq!(refusals().read(&refusal(400, &body)).advice(), RetryAdvice::Fail);
}

#[test]
fn servers_without_tools_are_understood() {
    for message in [
        "registry.ollama.ai/library/gemma:2b does not support tools",
        "tools param requires --jinja flag",
        "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        "No endpoints found that support tool use.",
        "`tool calling` is not supported with this model",
        "This model does not support function calling",
    ] {
        assert!(says_no_tools(message), "{message}");
        let body = json!({"error": {"message": message}}).to_string();
        let error = Error::Status(Box::new(refusal(500, &body)));
        assert_eq!(failure::advice(&refusals(), &error, true), RetryAdvice::Fail, "{message}");
    }
    for message in ["images are not supported", "invalid tool name", "no"] {
        assert!(!says_no_tools(message), "{message}");
    }
}

#[test]
fn errors_inside_answers() {
    let error = refusals().in_payload(br#"{"error": {"message": "busy", "code": 503}}"#);
    assert_eq!((error.kind, error.retryable), (ModelErrorKind::Overloaded, true));
    // Without a status, an error gets the one of its kind.
    for (code, status) in [
        ("server_error", 500),
        ("rate_limit_exceeded", 429),
        ("insufficient_quota", 429),
        ("invalid_api_key", 401),
        ("invalid_prompt", 400),
        ("invalid_image_format", 400),
        ("context_length_exceeded", 400),
    ] {
        let body = json!({"error": {"message": "x", "code": code}}).to_string();
        let error = refusals().in_payload(body.as_bytes());
        assert_eq!(
            (error.status(), error.retryable),
            (Some(status), matches!(code, "server_error" | "rate_limit_exceeded")),
            "{code}"
        );
    }
    let error = refusals().in_payload(br#"{"error": {"message": "x", "code": "tool_use_failed"}}"#);
    assert_eq!(error.kind, ModelErrorKind::Unusable(InvalidStream::MalformedFunctionCall));
    assert!(
        refusals().no_answer(b"\n<!DOCTYPE html>").unwrap().message.contains("OPENAI_BASE_URL")
    );
    assert!(refusals().no_answer(b"").is_some());
    assert!(refusals().no_answer(b" {}").is_none());
}

#[test]
fn a_local_server_with_a_small_context_is_named() {
    let local = Refusals { id: "local".to_owned(), name: "llama.cpp".to_owned(), ..refusals() };
    let body = json!({"error": {"message": "no", "type": "exceed_context_size_error"}}).to_string();
    let remedy = local.remedy(&local.read(&refusal(400, &body)), "m");
    assert!(remedy.contains("that llama.cpp gives the model. Start it with a larger"), "{remedy}");
}
