use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use pollux_protocol::ModelErrorKind;
use serde_json::json;

use super::*;

fn read(status: u16, kind: &str, message: &str, headers: &[(&str, &str)]) -> Refusal {
    let body = json!({"type": "error", "error": {"type": kind, "message": message}});
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            (name, HeaderValue::from_str(value).unwrap())
        })
        .collect();
    let status = StatusCode::from_u16(status).unwrap();
    let refusal =
        StatusError { status, host: String::new(), headers, body: body.to_string().into() };
    Refusals::default().read(&refusal)
}

#[test]
fn each_type_has_its_meaning() {
    for (status, kind, message, expected) in [
        (400, "invalid_request_error", "messages: at least one", Kind::Invalid),
        (400, "invalid_request_error", "prompt is too long: 3 > 2", Kind::TooLong),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 1 + 2 > 2",
            Kind::TooLong,
        ),
        (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the API",
            Kind::Quota(QuotaReason::Credits),
        ),
        (400, "invalid_request_error", "Invalid model name x", Kind::NotFound),
        (400, "no_db_connection", "No connected db.", Kind::Auth),
        (401, "authentication_error", "invalid x-api-key", Kind::Auth),
        (402, "billing_error", "pay", Kind::Quota(QuotaReason::Credits)),
        (403, "permission_error", "no", Kind::Permission),
        (404, "not_found_error", "model: x", Kind::NotFound),
        (413, "request_too_large", "too large", Kind::TooLong),
        (429, "rate_limit_error", "slow down", Kind::RateLimited),
        (500, "api_error", "oh", Kind::Server),
        (504, "timeout_error", "late", Kind::Server),
        (529, "overloaded_error", "Overloaded", Kind::Busy),
        (503, "unknown_error", "x", Kind::Busy),
    ] {
        let read = read(status, kind, message, &[]);
        assert_eq!(read.kind, expected, "{kind}: {message}");
        assert_eq!(read.status, status);
    }
}

#[test]
fn an_error_in_a_stream_has_the_status_of_its_type() {
    for (kind, message, expected, retryable) in [
        ("overloaded_error", "Overloaded", ModelErrorKind::Overloaded, true),
        ("rate_limit_error", "slow", ModelErrorKind::RateLimited, true),
        ("api_error", "oh", ModelErrorKind::Overloaded, true),
        ("authentication_error", "no", ModelErrorKind::Auth, false),
        ("invalid_request_error", "no", ModelErrorKind::Invalid, false),
    ] {
        let body = json!({"type": "error", "error": {"type": kind, "message": message}});
        let error = Refusals::default().in_payload(body.to_string().as_bytes());
        assert_eq!((error.kind, error.retryable), (expected, retryable), "{kind}");
        assert!(error.message.contains(message), "{error}");
    }
    for odd in ["", "{}", "[]", "nonsense", r#"{"error": 7}"#] {
        let error = Refusals::default().in_payload(odd.as_bytes());
        assert_eq!(error.kind, ModelErrorKind::Overloaded, "{odd}");
    }
}

#[test]
fn the_wait_is_that_of_the_limit_that_is_used_up() {
    let date = ("date", "Fri, 27 Nov 2026 10:00:00 GMT");
    let limit = |remaining: &'static str| {
        [
            date,
            ("anthropic-ratelimit-requests-remaining", "5"),
            ("anthropic-ratelimit-requests-reset", "2026-11-27T10:04:00Z"),
            ("anthropic-ratelimit-input-tokens-remaining", remaining),
            ("anthropic-ratelimit-input-tokens-reset", "2026-11-27T10:00:07Z"),
        ]
    };
    let wait = |headers: &[(&str, &str)]| {
        let read = read(429, "rate_limit_error", "slow down", headers);
        (read.kind, read.retry_after.map(|wait| wait.as_secs()))
    };
    assert_eq!(wait(&limit("0")), (Kind::RateLimited, Some(7)));
    assert_eq!(wait(&limit("1")), (Kind::RateLimited, None));
    let asked = [&limit("0")[..], &[("retry-after", "3")]].concat();
    assert_eq!(wait(&asked), (Kind::RateLimited, Some(3)));
    let late = [
        date,
        ("anthropic-ratelimit-tokens-remaining", "0"),
        ("anthropic-ratelimit-tokens-reset", "2026-11-27T11:00:00Z"),
    ];
    assert_eq!(wait(&late).0, Kind::Quota(QuotaReason::LongDelay));
    assert_eq!(wait(&[("retry-after", "3600")]).0, Kind::Quota(QuotaReason::LongDelay));
    let past = [
        date,
        ("anthropic-ratelimit-tokens-remaining", "0"),
        ("anthropic-ratelimit-tokens-reset", "2026-11-27T09:00:00Z"),
    ];
    assert_eq!(wait(&past), (Kind::RateLimited, None));
    let odd =
        [("anthropic-ratelimit-tokens-remaining", "0"), ("anthropic-ratelimit-tokens-reset", "x")];
    assert_eq!(wait(&odd), (Kind::RateLimited, None));
}

#[test]
fn a_gateway_may_name_the_wait_in_its_message() {
    let message = "No deployments available for selected model, Try again in 5 seconds.";
    let wait = |headers| read(429, "rate_limit_error", message, headers).retry_after;
    assert_eq!(wait(&[]), Some(Duration::from_secs(5)));
    assert_eq!(wait(&[("retry-after", "9")]), Some(Duration::from_secs(5)));
    let long = read(429, "rate_limit_error", "Try again in 2 hours.", &[]);
    assert_eq!(long.kind, Kind::Quota(QuotaReason::LongDelay));
}
