use std::time::Duration;

use pollux_net::RetryAdvice;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::RefusalKind as Kind;
use super::*;

const CLOUD_CODE: &str = "cloudcode-pa.googleapis.com";

/// Returns the kind, and the delay that the service asks for.
fn ruling(status: u16, body: &Value) -> (Kind, Option<Duration>) {
    let Refusal { kind, retry_after, .. } = understood(status, body.to_string().as_bytes());
    (kind, retry_after)
}

fn body(code: u16, message: &str, details: &[Value]) -> Value {
    json!({"error": {"code": code, "message": message, "status": "S", "details": details}})
}

fn quota(id: &str) -> Value {
    json!({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": id}]})
}

fn retry_info(delay: &str) -> Value {
    json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
}

fn info(reason: &str, domain: &str) -> Value {
    json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": domain})
}

fn terminal(reason: QuotaReason) -> (Kind, Option<Duration>) {
    (Kind::Quota(reason), None)
}

fn limited(seconds: u64) -> (Kind, Option<Duration>) {
    (Kind::RateLimited, Some(Duration::from_secs(seconds)))
}

#[test]
fn structured_quota_bodies() {
    let long = (Kind::Quota(QuotaReason::LongDelay), Some(Duration::from_mins(15)));
    let cases = [
        (vec![quota("RequestsPerDayPerProject")], terminal(QuotaReason::Daily)),
        (vec![quota("DailyTokens"), retry_info("1s")], terminal(QuotaReason::Daily)),
        (vec![retry_info("17s")], limited(17)),
        (vec![retry_info("300s")], limited(300)),
        (vec![retry_info("900s")], long.clone()),
        (vec![info("RATE_LIMIT_EXCEEDED", CLOUD_CODE)], terminal(QuotaReason::RateLimit)),
        (vec![info("RATE_LIMIT_EXCEEDED", CLOUD_CODE), retry_info("2s")], limited(2)),
        (vec![info("RATE_LIMIT_EXCEEDED", CLOUD_CODE), retry_info("900s")], long),
        (vec![info("RATE_LIMIT_EXCEEDED", "googleapis.com")], (Kind::RateLimited, None)),
        (vec![info("QUOTA_EXHAUSTED", CLOUD_CODE)], terminal(QuotaReason::Exhausted)),
        (vec![info("MODEL_CAPACITY_EXHAUSTED", "x")], (Kind::NoCapacity, None)),
        (
            vec![info("INSUFFICIENT_G1_CREDITS_BALANCE", "x"), retry_info("1s")],
            terminal(QuotaReason::Credits),
        ),
        (vec![quota("RequestsPerMinute")], limited(60)),
        (vec![quota("RequestsPerMinute"), retry_info("3s")], limited(3)),
        (vec![quota("Other")], (Kind::RateLimited, None)),
        (
            vec![info("RATE_LIMIT_EXCEEDED", "staging-cloudcode-pa")],
            terminal(QuotaReason::RateLimit),
        ),
        (
            vec![info("RATE_LIMIT_EXCEEDED", "autopush-cloudcode-pa.googleapis.com")],
            terminal(QuotaReason::RateLimit),
        ),
        (vec![info("QUOTA_EXHAUSTED", "googleapis.com")], (Kind::RateLimited, None)),
        (
            vec![info("MODEL_CAPACITY_EXCEEDED", "x"), retry_info("900s")],
            (Kind::NoCapacity, Some(Duration::from_mins(15))),
        ),
        (vec![retry_info("soon")], (Kind::RateLimited, None)),
        (vec![info("VALIDATION_REQUIRED", CLOUD_CODE)], (Kind::RateLimited, None)),
    ];
    for (details, expected) in cases {
        assert_eq!(ruling(429, &body(429, "m", &details)), expected, "{details:?}");
    }
    let by_limit = json!({
        "@type": "google.rpc.ErrorInfo", "reason": "R", "domain": "d",
        "metadata": {"quota_limit": "RequestsPerMinutePerUser"},
    });
    assert_eq!(ruling(429, &body(429, "m", &[by_limit])), limited(60));
    // A delay in the message counts only if no details describe the quota.
    let message = "Please retry in 5s.";
    let unknown = json!({"@type": "google.rpc.BadRequest"});
    assert_eq!(ruling(429, &body(429, message, &[unknown])), limited(5));
    let unlimited = (Kind::RateLimited, None);
    assert_eq!(ruling(429, &body(429, message, &[quota("Other")])), unlimited);
}

#[test]
fn bodies_without_structure_go_by_their_words() {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    let cases = [
        (429, "Please retry in 12s.", Kind::RateLimited, seconds(12)),
        (503, "Please retry in 12s.", Kind::Busy, seconds(12)),
        (500, "Please retry in 12s.", Kind::Busy, seconds(12)),
        (503, "Please retry in 301s", Kind::Quota(QuotaReason::LongDelay), seconds(301)),
        (429, "Please retry in 800ms.", Kind::RateLimited, Some(Duration::from_millis(800))),
        (429, "You have exhausted your capacity on this model.", Kind::NoCapacity, None),
        (429, "MODEL_CAPACITY_EXHAUSTED", Kind::NoCapacity, None),
        (503, "Capacity exceeded.", Kind::NoCapacity, None),
        (400, "API key expired. Renew it.", Kind::Auth, None),
        (400, "Reason: API_KEY_INVALID.", Kind::Auth, None),
        (429, "Quota exceeded, limit: 0, model: m", Kind::Quota(QuotaReason::ZeroLimit), None),
        (429, "Quota exceeded, limit: 0.5", Kind::RateLimited, None),
        (429, "Quota exceeded, limit: 05", Kind::RateLimited, None),
        (429, "slow down", Kind::RateLimited, None),
        (499, "cancelled", Kind::Busy, None),
        (503, "overloaded", Kind::Busy, None),
        (500, "oops", Kind::Server, None),
        (502, "", Kind::Server, None),
        (400, "limit: 0, Please retry in 1s", Kind::Invalid, None),
        (400, "API key not valid. Please pass a valid API key.", Kind::Auth, None),
        (401, "no", Kind::Auth, None),
        (403, "no", Kind::Permission, None),
        (404, "no", Kind::NotFound, None),
        (418, "tea", Kind::Other, None),
    ];
    for (status, message, kind, retry_after) in cases {
        let plain = understood(status, message.as_bytes());
        let expected = (kind, retry_after);
        assert_eq!(((plain.kind, plain.retry_after), plain.status), (expected.clone(), status));
        assert_eq!(ruling(status, &body(status, message, &[])), expected, "JSON {message}");
    }
}

#[test]
fn a_conversation_that_is_too_long_is_reported_from_other_bad_requests() {
    for (message, expected) in [
        (
            "The input token count (1148577) exceeds the maximum number of tokens allowed (1048576).",
            Kind::TooLong,
        ),
        ("This model's maximum context length is 8192 tokens.", Kind::TooLong),
        ("the request exceeds the available context size, try increasing it", Kind::TooLong),
        ("Error code: context_length_exceeded", Kind::TooLong),
        ("The context window is full.", Kind::TooLong),
        ("Prompt is too long: 9 tokens > 8 maximum", Kind::TooLong),
        ("Input is too long for the model.", Kind::TooLong),
        ("Prompt contains 9 tokens, too large for model with 8 maximum", Kind::TooLong),
        ("The context is unknown.", Kind::Invalid),
        ("Request contains an invalid argument.", Kind::Invalid),
    ] {
        assert_eq!(understood(400, message.as_bytes()).kind, expected, "{message}");
    }
}

#[test]
fn a_structured_error_outside_the_quota_codes_keeps_its_plain_kind() {
    let wait = Some(Duration::from_secs(3));
    assert_eq!(ruling(500, &body(500, "m", &[retry_info("3s")])), (Kind::Server, wait));
    assert_eq!(ruling(400, &body(400, "m", &[quota("PerDay")])), (Kind::Invalid, None));
    assert_eq!(ruling(200, &body(429, "m", &[])), (Kind::RateLimited, None));
    let bad_key = info("API_KEY_INVALID", "googleapis.com");
    assert_eq!(ruling(400, &body(400, "m", &[bad_key])), (Kind::Auth, None));
    let expired = info("API_KEY_EXPIRED", "googleapis.com");
    assert_eq!(ruling(400, &body(400, "m", &[expired])), (Kind::Auth, None));
    let suspended = info("TOS_VIOLATION", "x");
    assert_eq!(ruling(400, &body(400, "m", &[suspended])), (Kind::Invalid, None));
}

#[test]
fn a_refused_account_says_where_to_go() {
    let help = json!({"@type": "google.rpc.Help", "links": [
        {"description": "Verify", "url": "https://verify"},
        {"description": "Learn more", "url": "https://learn"},
    ]});
    let kind = |details: &[Value]| ruling(403, &body(403, "m", details)).0;
    let verify = |link: &str| Kind::Verification { link: Some(link.to_owned()) };
    assert_eq!(kind(&[info("VALIDATION_REQUIRED", CLOUD_CODE), help]), verify("https://verify"));
    let mut by_metadata = info("VALIDATION_REQUIRED", " cloudcode-pa.googleapis.com\u{a0}");
    by_metadata["metadata"] = json!({"validation_link": "https://v"});
    assert_eq!(kind(&[by_metadata]), verify("https://v"));
    assert_eq!(kind(&[info("VALIDATION_REQUIRED", "evil.example")]), Kind::Permission);
    let mut suspended = info("TOS_VIOLATION", "x");
    suspended["metadata"] = json!({"appeal_url": "https://a"});
    assert_eq!(kind(&[suspended]), Kind::Suspended { appeal: Some("https://a".into()) });
}

#[test]
fn messages_gain_advice_and_the_services_own_is_kept() {
    let read = |details: &[Value]| understood(429, body(429, "M.", details).to_string().as_bytes());
    let slow = read(&[retry_info("34.07s")]);
    assert_eq!(slow.shown, "M.\nSuggested retry after 34.07s.");
    let after = Some(Duration::from_millis(34_070));
    assert_eq!((slow.retry_after, slow.advice()), (after, RetryAdvice::Retry { after }));
    assert_eq!((slow.code.as_deref(), slow.message.as_str()), (Some("S"), "M."));
    let daily = read(&[quota("PerDay")]);
    assert_eq!(daily.shown, "The daily quota of this model is exhausted. M.");
    assert_eq!((daily.advice(), daily.message.as_str()), (RetryAdvice::Fail, "M."));
}

#[test]
fn the_error_is_found_however_it_is_wrapped() {
    let inner = body(429, "deep", &[retry_info("5s")]);
    let mut nested = inner.clone();
    for _ in 0..4 {
        nested = json!({"error": {"code": 500, "message": nested.to_string()}});
    }
    let spaced = r#"{"error": {"code": 429,, "message": "deep",
        "details": [{" @type ": " type.googleapis.com/google.rpc.RetryInfo ", "retryDelay": "5s"},
        ,]}}"#
        .replace(": ", ":\u{a0}")
        .replace(",]", "]")
        .replace(",\n        ]", "]");
    let texts = [
        inner.to_string(),
        json!([inner]).to_string(),
        nested.to_string(),
        format!("got status: 429 Too Many Requests. {inner}"),
        format!("[API Error: {inner}]"),
        json!({"response": {"data": inner}}).to_string(),
        json!({"cause": inner}).to_string(),
        json!({"message": format!("{inner}"), "code": 500}).to_string(),
        spaced,
    ];
    for text in texts {
        let Refusal { kind, retry_after, status, message, .. } = understood(400, text.as_bytes());
        assert_eq!(((kind, retry_after), status), (limited(5), 429), "{text}");
        assert_eq!(message, "deep", "{text}");
    }
}

#[test]
fn the_status_of_the_body_counts_if_it_is_an_error() {
    for (code, status) in [
        (json!(429), 429),
        (json!(" 429 "), 429),
        (json!(400), 400),
        (json!(599), 599),
        (json!(399), 502),
        (json!(600), 502),
        (json!(65_965), 502),
        (json!(-429), 502),
        (json!("4x"), 502),
    ] {
        let body = json!({"error": {"message": "m", "code": code}}).to_string();
        assert_eq!(understood(502, body.as_bytes()).status, status, "{body}");
    }
    // An inner error without a status has that of the outer one.
    let outer = json!({"error": {"message": r#"{"message": "deep"}"#, "code": 429}}).to_string();
    let Refusal { status, message, .. } = understood(502, outer.as_bytes());
    assert_eq!((status, message.as_str()), (429, "deep"));
}

#[test]
fn errors_are_unwrapped_to_a_limited_depth() {
    let wrapped = |depth| {
        let mut error = json!({"message": "deep"});
        for _ in 0..depth {
            error = json!({ "error": error });
        }
        understood(502, error.to_string().as_bytes()).message
    };
    assert_eq!(wrapped(10), "deep");
    assert!(wrapped(11).starts_with('{'), "{}", wrapped(11));
    let quoted = |depth| {
        let mut message = "deep".to_owned();
        for _ in 0..=depth {
            message = json!({ "message": message }).to_string();
        }
        understood(502, message.as_bytes()).message
    };
    assert_eq!(quoted(10), "deep");
    assert!(quoted(11).starts_with('{'), "{}", quoted(11));
}

#[test]
fn the_repair_of_json_leaves_its_strings_alone() {
    for message in ["a,,b", "a\u{a0}b", "\"a,,b\"", "\\", "a\\\",,\u{a0}"] {
        let quoted = json!(message).to_string();
        let body = format!(r#"{{"error":{{"code": 429 ,, "message":{quoted} ,, "status":"S"}}}}"#);
        let Refusal { message: read, code, .. } = understood(502, body.as_bytes());
        assert_eq!((read.as_str(), code.as_deref()), (message, Some("S")), "{body}");
    }
}

#[test]
fn kinds_determine_the_retry_and_the_class() {
    use pollux_protocol::ModelErrorKind as Error;
    for (kind, is_retried, error, class) in [
        (Kind::RateLimited, true, Error::RateLimited, "RetryableQuotaError"),
        (Kind::Busy, true, Error::Overloaded, "RetryableQuotaError"),
        (Kind::NoCapacity, true, Error::Overloaded, "TerminalQuotaError"),
        (Kind::Server, true, Error::Overloaded, "ApiError"),
        (Kind::Quota(QuotaReason::Daily), false, Error::Quota, "TerminalQuotaError"),
        (Kind::Verification { link: None }, false, Error::Permission, "ValidationRequiredError"),
        (Kind::Suspended { appeal: None }, false, Error::Permission, "AccountSuspendedError"),
        (Kind::TooLong, false, Error::TooLong, "ApiError"),
        (Kind::Filtered, false, Error::Filtered, "ApiError"),
        (Kind::Other, false, Error::Other, "ApiError"),
    ] {
        assert_eq!((kind.error_kind(), kind.type_name()), (error, class), "{kind:?}");
        let refusal = Refusal { kind, ..understood(418, b"tea") };
        let is_advised = matches!(refusal.advice(), RetryAdvice::Retry { .. });
        assert_eq!(is_advised, is_retried, "{:?}", refusal.kind);
    }
}

#[test]
fn other_shapes_fall_back_to_the_status() {
    let cases = [
        (r#"{"error": "plain words"}"#, "plain words"),
        (r#"{"error": {"message": 7}}"#, "7"),
        (r#"{"error": {"message": "m", "code": "rate_limit", "details": {"a": 1}}}"#, "m"),
        (r#"{"error": {"message": "m", "code": 99999999999, "details": [1, "x", {}]}}"#, "m"),
        ("<html>Bad gateway</html>", "<html>Bad gateway</html>"),
        ("", ""),
    ];
    for (text, message) in cases {
        let error = understood(502, text.as_bytes());
        assert_eq!((error.kind, error.status), (Kind::Server, 502), "{text}");
        assert_eq!(error.message, message);
    }
    assert!(understood(502, "é".repeat(100_000).as_bytes()).message.len() < 5_000);
}

#[test]
fn durations() {
    let cases = [
        ("12.5s", Some(Duration::from_millis(12_500))),
        ("800ms", Some(Duration::from_millis(800))),
        ("0s", Some(Duration::ZERO)),
        (" 3s ", Some(Duration::from_secs(3))),
        ("7m12s", Some(Duration::from_secs(432))),
        ("1h0m3.5s", Some(Duration::from_millis(3_603_500))),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_duration(text), expected, "{text}");
    }
    for text in [
        "",
        " ",
        "s",
        "ms",
        "1s2",
        "1d",
        "12",
        "-1s",
        "1.2.3s",
        "infs",
        "1e400s",
        "999999999999999999999s",
    ] {
        assert_eq!(parse_duration(text), None, "{text}");
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        "[ -~]{0,12}".prop_map(Value::from),
        Just(Value::from("{\"error\":{\"code\":429,\"message\":\"Please retry in 5\u{e9}s\"}}")),
    ];
    let key = prop_oneof![
        Just("error"),
        Just("code"),
        Just("message"),
        Just("details"),
        Just("cause"),
        Just("response"),
        Just("data"),
        Just("@type"),
        Just("violations"),
        Just("quotaId"),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((key.clone(), inner), 0..4).prop_map(|entries| {
                entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_text_is_classified(status in any::<u16>(), text in "\\PC{0,200}") {
        let _error = understood(status, text.as_bytes());
    }

    #[test]
    fn any_json_is_classified(status in 400..600_u16, value in json_value()) {
        let error = understood(status, value.to_string().as_bytes());
        prop_assert!((400..=599).contains(&error.status));
    }

    #[test]
    fn any_wording_is_classified(words in proptest::collection::vec(
        prop_oneof![
            Just("Please retry in ".to_owned()), Just("limit: 0".to_owned()), "[0-9.msé]{0,5}",
        ], 0..6,
    )) {
        let _error = understood(429, words.concat().as_bytes());
    }
}
