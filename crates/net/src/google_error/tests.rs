use proptest::prelude::*;
use serde_json::{Value, json};

use super::GoogleErrorKind as Kind;
use super::*;

const CLOUD_CODE: &str = "cloudcode-pa.googleapis.com";

fn kind(status: u16, body: &Value) -> Kind {
    classify(status, body.to_string().as_bytes()).kind
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

fn terminal(reason: QuotaReason) -> Kind {
    Kind::TerminalQuota { reason }
}

fn retryable(seconds: u64) -> Kind {
    Kind::RetryableQuota { delay: Some(Duration::from_secs(seconds)) }
}

#[test]
fn structured_quota_bodies() {
    let long = QuotaReason::LongDelay(Duration::from_mins(15));
    let cases = [
        (vec![quota("RequestsPerDayPerProject")], terminal(QuotaReason::Daily)),
        (vec![quota("DailyTokens"), retry_info("1s")], terminal(QuotaReason::Daily)),
        (vec![retry_info("17s")], retryable(17)),
        (vec![retry_info("300s")], retryable(300)),
        (vec![retry_info("900s")], terminal(long)),
        (vec![info("RATE_LIMIT_EXCEEDED", CLOUD_CODE)], terminal(QuotaReason::RateLimit)),
        (vec![info("RATE_LIMIT_EXCEEDED", CLOUD_CODE), retry_info("2s")], retryable(2)),
        (vec![info("RATE_LIMIT_EXCEEDED", CLOUD_CODE), retry_info("900s")], terminal(long)),
        (vec![info("RATE_LIMIT_EXCEEDED", "googleapis.com")], Kind::RetryableQuota { delay: None }),
        (vec![info("QUOTA_EXHAUSTED", CLOUD_CODE)], terminal(QuotaReason::Exhausted)),
        (vec![info("MODEL_CAPACITY_EXHAUSTED", "x")], terminal(QuotaReason::Capacity)),
        (
            vec![info("INSUFFICIENT_G1_CREDITS_BALANCE", "x"), retry_info("1s")],
            terminal(QuotaReason::Credits),
        ),
        (vec![quota("RequestsPerMinute")], retryable(60)),
        (vec![quota("RequestsPerMinute"), retry_info("3s")], retryable(3)),
        (vec![quota("Other")], Kind::RetryableQuota { delay: None }),
    ];
    for (details, expected) in cases {
        assert_eq!(kind(429, &body(429, "m", &details)), expected, "{details:?}");
    }
    let by_limit = json!({
        "@type": "google.rpc.ErrorInfo", "reason": "R", "domain": "d",
        "metadata": {"quota_limit": "RequestsPerMinutePerUser"},
    });
    assert_eq!(kind(429, &body(429, "m", &[by_limit])), retryable(60));
}

#[test]
fn bodies_without_structure_go_by_their_words() {
    let none = Kind::RetryableQuota { delay: None };
    let cases = [
        (429, "Please retry in 12s.", retryable(12)),
        (503, "Please retry in 301s", terminal(QuotaReason::LongDelay(Duration::from_secs(301)))),
        (429, "You have exhausted your capacity on this model.", terminal(QuotaReason::Capacity)),
        (429, "MODEL_CAPACITY_EXHAUSTED", terminal(QuotaReason::Capacity)),
        (429, "Quota exceeded, limit: 0, model: m", terminal(QuotaReason::ZeroLimit)),
        (429, "Quota exceeded, limit: 0.5", none.clone()),
        (429, "Quota exceeded, limit: 05", none.clone()),
        (429, "slow down", none.clone()),
        (499, "cancelled", none.clone()),
        (503, "overloaded", none),
        (500, "oops", Kind::Server),
        (502, "", Kind::Server),
        (400, "limit: 0, Please retry in 1s", Kind::BadRequest),
        (401, "no", Kind::Auth),
        (403, "no", Kind::Forbidden),
        (404, "no", Kind::ModelNotFound),
        (418, "tea", Kind::Other),
    ];
    for (status, message, expected) in cases {
        let plain = classify(status, message.as_bytes());
        assert_eq!((plain.kind, plain.code), (expected.clone(), status), "plain {message}");
        assert_eq!(kind(status, &body(status, message, &[])), expected, "JSON {message}");
    }
    let error = classify(429, b"Please retry in 800ms.");
    assert_eq!(error.kind, Kind::RetryableQuota { delay: Some(Duration::from_millis(800)) });
}

#[test]
fn a_structured_error_outside_the_quota_codes_keeps_its_plain_kind() {
    assert_eq!(kind(500, &body(500, "m", &[retry_info("3s")])), Kind::Server);
    assert_eq!(kind(400, &body(400, "m", &[quota("PerDay")])), Kind::BadRequest);
    assert_eq!(kind(200, &body(429, "m", &[])), Kind::RetryableQuota { delay: None });
}

#[test]
fn a_refused_account_says_where_to_go() {
    let help = json!({"@type": "google.rpc.Help", "links": [
        {"description": "Verify", "url": "https://verify"},
        {"description": "Learn more", "url": "https://learn"},
    ]});
    let details = [info("VALIDATION_REQUIRED", CLOUD_CODE), help];
    let expected = Kind::ValidationRequired {
        link: Some("https://verify".into()),
        learn_more: Some("https://learn".into()),
    };
    assert_eq!(kind(403, &body(403, "m", &details)), expected);
    let mut by_metadata = info("VALIDATION_REQUIRED", " cloudcode-pa.googleapis.com\u{a0}");
    by_metadata["metadata"] = json!({"validation_link": "https://v"});
    let expected = Kind::ValidationRequired { link: Some("https://v".into()), learn_more: None };
    assert_eq!(kind(403, &body(403, "m", &[by_metadata])), expected);
    assert_eq!(
        kind(403, &body(403, "m", &[info("VALIDATION_REQUIRED", "evil.example")])),
        Kind::Forbidden
    );
    let mut suspended = info("TOS_VIOLATION", "x");
    suspended["metadata"] = json!({"appeal_url": "https://a"});
    let expected = Kind::AccountSuspended { appeal_url: Some("https://a".into()) };
    assert_eq!(kind(403, &body(403, "m", &[suspended])), expected);
}

#[test]
fn messages_gain_advice() {
    let error = classify(429, body(429, "Slow.", &[retry_info("34.07s")]).to_string().as_bytes());
    assert_eq!(error.message, "Slow.\nSuggested retry after 34.07s.");
    assert_eq!(error.retry_delay(), Some(Duration::from_millis(34_070)));
    assert_eq!(error.advice(), RetryAdvice::Retry { after: error.retry_delay() });
    assert_eq!(error.status.as_deref(), Some("S"));
    let daily = classify(429, body(429, "M.", &[quota("PerDay")]).to_string().as_bytes());
    assert_eq!(daily.message, "The daily quota of this model is exhausted. M.");
    assert_eq!(daily.advice(), RetryAdvice::Fail);
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
        let error = classify(400, text.as_bytes());
        assert_eq!((error.kind, error.code), (retryable(5), 429), "{text}");
        assert!(error.message.starts_with("deep\n"), "{text}");
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
        let error = classify(502, text.as_bytes());
        assert_eq!((error.kind, error.code), (Kind::Server, 502), "{text}");
        assert_eq!(error.message, message);
    }
    assert!(classify(502, "é".repeat(100_000).as_bytes()).message.len() < 5_000);
}

#[test]
fn durations() {
    let cases = [
        ("12.5s", Some(Duration::from_millis(12_500))),
        ("800ms", Some(Duration::from_millis(800))),
        ("0s", Some(Duration::ZERO)),
        (" 3s ", Some(Duration::from_secs(3))),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_duration(text), expected, "{text}");
    }
    for text in ["", "s", "ms", "12", "-1s", "1.2.3s", "infs", "1e400s", "999999999999999999999s"] {
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
        let _error = classify(status, text.as_bytes());
    }

    #[test]
    fn any_json_is_classified(status in 400..600_u16, value in json_value()) {
        let error = classify(status, value.to_string().as_bytes());
        prop_assert!((400..=599).contains(&error.code));
    }

    #[test]
    fn any_wording_is_classified(words in proptest::collection::vec(
        prop_oneof![
            Just("Please retry in ".to_owned()), Just("limit: 0".to_owned()), "[0-9.msé]{0,5}",
        ], 0..6,
    )) {
        let _error = classify(429, words.concat().as_bytes());
    }
}
