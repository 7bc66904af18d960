use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};
use pollux_net::{Error, RetryAdvice};
use pollux_protocol::{ModelErrorKind, VendorRefusal};
use serde_json::{Value, json};

use super::*;
use crate::failure::{advice, before_answer, class, in_stream, reason};

fn status(status: u16, body: &Value) -> Error {
    Error::Status(Box::new(StatusError {
        host: "h:443".to_owned(),
        status: StatusCode::from_u16(status).unwrap(),
        headers: HeaderMap::new(),
        body: Bytes::from(body.to_string()),
    }))
}

fn refusal(code: u16, word: &str, message: &str, details: &Value) -> Error {
    let error = json!({"code": code, "message": message, "status": word, "details": details});
    status(code, &json!({ "error": error }))
}

const NONE: Value = Value::Null;

fn quota(id: &str) -> Value {
    json!([{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": id}]}])
}

#[test]
fn pages_and_empty_bodies_are_named() {
    for (code, body, expected) in [
        (
            403,
            "<!DOCTYPE html><title>Blocked</title>",
            "[API Error: HTTP 403: received a web page instead of a response of the API]\nA proxy may intercept the request, or GOOGLE_GEMINI_BASE_URL may be wrong.",
        ),
        (400, "", "[API Error: HTTP 400 without an error message]"),
        (400, " {} ", "[API Error: HTTP 400 without an error message]"),
        (400, "[]", "[API Error: HTTP 400 without an error message]"),
        (400, "null", "[API Error: HTTP 400 without an error message]"),
        (400, r#"{"error":{}}"#, "[API Error: HTTP 400 without an error message]"),
        (
            400,
            r#"{"error":{"status":"S"}}"#,
            "[API Error: HTTP 400 without an error message (Status: S)]",
        ),
        (400, r#"{"reason":"x"}"#, r#"[API Error: {"reason":"x"}]"#),
        (400, "7", "[API Error: 7]"),
    ] {
        let Error::Status(mut refusal) = status(code, &NONE) else { unreachable!() };
        refusal.body = Bytes::from(body);
        let failure = before_answer(&GoogleRefusals::default(), &Error::Status(refusal), "m-1");
        assert_eq!(failure.message, expected, "{body}");
    }
}

#[test]
fn refusals_have_a_kind_a_class_and_a_remedy() {
    use ModelErrorKind::{Auth, Invalid, NotFound, Overloaded, Permission, Quota, RateLimited};
    let bad_key = json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID",
        "domain": "googleapis.com"}]);
    for (error, kind, class, remedy) in [
        (
            refusal(400, "INVALID_ARGUMENT", "API key not valid.", &bad_key),
            Auth,
            "ApiError",
            "GEMINI_API_KEY",
        ),
        (refusal(401, "UNAUTHENTICATED", "no", &NONE), Auth, "ApiError", KEY_PAGE),
        (refusal(403, "PERMISSION_DENIED", "no", &NONE), Permission, "ApiError", "restrictions"),
        (
            refusal(404, "NOT_FOUND", "no", &NONE),
            NotFound,
            "ModelNotFoundError",
            "\"m-1\" does not exist",
        ),
        (
            refusal(429, "RESOURCE_EXHAUSTED", "no", &quota("RequestsPerDay")),
            Quota,
            "TerminalQuotaError",
            "daily quota",
        ),
        (
            refusal(429, "RESOURCE_EXHAUSTED", "Quota exceeded, limit: 0", &NONE),
            Quota,
            "TerminalQuotaError",
            "no quota for the model",
        ),
        (
            refusal(429, "RESOURCE_EXHAUSTED", "no", &quota("RequestsPerMinute")),
            RateLimited,
            "RetryableQuotaError",
            "rate limit",
        ),
        (refusal(503, "UNAVAILABLE", "no", &NONE), Overloaded, "RetryableQuotaError", "overloaded"),
        (refusal(500, "INTERNAL", "no", &NONE), Overloaded, "ApiError", "overloaded"),
        (refusal(400, "INVALID_ARGUMENT", "no", &NONE), Invalid, "ApiError", ""),
    ] {
        let failure = before_answer(&GoogleRefusals::default(), &error, "m-1");
        assert_eq!((failure.kind, failure.type_name), (kind, class), "{failure}");
        assert!(failure.message.starts_with("[API Error: "), "{failure}");
        assert!(failure.message.contains(remedy), "{failure}");
        assert!(!failure.retryable);
    }
}

#[test]
fn a_refusal_without_json_is_shown_as_it_came() {
    let error = Error::Status(Box::new(StatusError {
        host: "h:443".to_owned(),
        status: StatusCode::BAD_GATEWAY,
        headers: HeaderMap::new(),
        body: Bytes::from_static(b"bad gateway"),
    }));
    let failure = before_answer(&GoogleRefusals::default(), &error, "m");
    assert!(failure.message.starts_with("[API Error: bad gateway]\n"), "{failure}");
    assert_eq!(
        failure.refusal,
        Some(VendorRefusal { status: 502, code: None, message: "bad gateway".into() })
    );
    let silent = refusal(500, "", "", &NONE);
    let message = before_answer(&GoogleRefusals::default(), &silent, "m").message;
    assert!(message.starts_with("[API Error: "), "{message}");
}

#[test]
fn a_refusal_cannot_write_to_the_terminal() {
    let error = refusal(400, "A\u{1b}[2J", "\u{1b}]0;title\u{7}two\nlines", &NONE);
    let message = before_answer(&GoogleRefusals::default(), &error, "m").message;
    assert_eq!(message, "[API Error: two\nlines]");
}

fn refused_connection() -> Error {
    Error::Connect {
        host: "h:443".to_owned(),
        is_loopback: false,
        cause: "refused".to_owned(),
        code: "ECONNREFUSED",
    }
}

#[test]
fn an_unreachable_service_is_named_with_the_proxy_hint() {
    let failure = before_answer(&GoogleRefusals::default(), &refused_connection(), "m");
    assert_eq!(failure.kind, ModelErrorKind::Network);
    assert!(
        failure.message.contains("h:443") && failure.message.contains("HTTPS_PROXY"),
        "{failure}"
    );
    assert_eq!(
        before_answer(&GoogleRefusals::default(), &Error::Cancelled, "m").kind,
        ModelErrorKind::Cancelled
    );
    let broken =
        Error::BodyBroken { host: "h".to_owned(), cause: "x".to_owned(), code: "ECONNRESET" };
    let failure = in_stream(&broken, true);
    assert_eq!((failure.kind, failure.retryable), (ModelErrorKind::Broken, true));
    assert!(in_stream(&broken, false).retryable, "Gemini CLI retries after this code");
    let odd = Error::BodyBroken { host: "h".to_owned(), cause: "x".to_owned(), code: "EOTHER" };
    assert_eq!([true, false].map(|retry| in_stream(&odd, retry).retryable), [true, false]);
    assert_eq!(in_stream(&Error::Cancelled, true).kind, ModelErrorKind::Cancelled);
}

#[test]
fn a_proxy_that_cannot_be_reached_is_the_culprit() {
    let host = "h:443 (through the proxy http://p:8080)".to_owned();
    let cause = "x".to_owned();
    for error in [
        Error::Connect { host: host.clone(), is_loopback: true, cause, code: "ECONNREFUSED" },
        Error::Dns { host, cause: "x".to_owned(), temporary: false },
    ] {
        let message = before_answer(&GoogleRefusals::default(), &error, "m").message;
        assert!(message.contains("check HTTPS_PROXY"), "{message}");
        assert!(!message.contains("GOOGLE_GEMINI_BASE_URL"), "{message}");
    }
}

#[test]
fn only_what_can_pass_is_tried_again() {
    let again = |error: &Error| {
        matches!(advice(&GoogleRefusals::default(), error, true), RetryAdvice::Retry { .. })
    };
    assert!(again(&refused_connection()));
    assert!(again(&refusal(500, "INTERNAL", "no", &NONE)));
    assert!(again(&refusal(429, "RESOURCE_EXHAUSTED", "no", &quota("PerMinute"))));
    assert!(!again(&refusal(429, "RESOURCE_EXHAUSTED", "no", &quota("PerDay"))));
    assert!(!again(&refusal(400, "INVALID_ARGUMENT", "no", &NONE)));
    assert!(!again(&refusal(404, "NOT_FOUND", "no", &NONE)));
    assert!(!again(&Error::Cancelled));
    // An unlisted code is retried only if the user enabled retries of network errors.
    let odd = Error::Connect {
        host: "h".to_owned(),
        is_loopback: false,
        cause: "x".to_owned(),
        code: "ENETUNREACH",
    };
    assert!(again(&odd));
    assert_eq!(advice(&GoogleRefusals::default(), &odd, false), RetryAdvice::Fail);
    assert!(matches!(
        advice(&GoogleRefusals::default(), &refused_connection(), false),
        RetryAdvice::Retry { .. }
    ));
}

#[test]
fn a_retry_after_header_is_heard() {
    let delay = json!([{"@type": "google.rpc.RetryInfo", "retryDelay": "9s"}]);
    for (header, details, seconds) in [
        ("7", NONE, Some(7)),
        ("300", NONE, Some(300)),
        ("3723", NONE, None),
        // The delay in the body has more weight.
        ("7", delay, Some(9)),
    ] {
        let Error::Status(mut refusal) = refusal(500, "INTERNAL", "no", &details) else {
            unreachable!()
        };
        refusal.headers.insert("retry-after", HeaderValue::from_static(header));
        let (reader, error) = (GoogleRefusals::default(), Error::Status(refusal));
        let after = seconds.map(std::time::Duration::from_secs);
        let expected = after.map_or(RetryAdvice::Fail, |_| RetryAdvice::Retry { after });
        assert_eq!(advice(&reader, &error, true), expected, "{header} {details}");
        if seconds.is_none() {
            let failure = before_answer(&reader, &error, "m");
            assert_eq!(failure.kind, ModelErrorKind::Quota);
            assert!(failure.message.contains("asks for a wait of 1h 2m 3s."), "{failure}");
        }
    }
}

#[test]
fn notices_are_short() {
    let error = refusal(503, "UNAVAILABLE", "The model is overloaded.\nmore", &NONE);
    assert_eq!(reason(&GoogleRefusals::default(), &error), "503 The model is overloaded.");
    assert_eq!(class(&error), "ApiError");
    assert_eq!(class(&refused_connection()), "ECONNREFUSED");
}

#[test]
fn bodies_of_other_apis_from_a_gateway_are_understood() {
    let gateway = GoogleRefusals { gateway: Some("h:4000".to_owned()), ..Default::default() };
    for (kind, message, expected, remedy) in [
        ("None", "Invalid model name passed in model=m-1.", ModelErrorKind::NotFound, "at h:4000"),
        ("no_db_connection", "No connected db.", ModelErrorKind::Auth, "Check GEMINI_API_KEY"),
        ("None", "prompt is too long: 3 > 2", ModelErrorKind::TooLong, "a larger context"),
        ("None", "Unknown name \"x\"", ModelErrorKind::Invalid, ""),
    ] {
        let body = json!({"error": {"message": message, "type": kind, "code": "400"}});
        let failure = before_answer(&gateway, &status(400, &body), "m-1");
        assert_eq!(failure.kind, expected, "{message}");
        assert!(failure.message.contains(remedy), "{failure}");
    }
}
