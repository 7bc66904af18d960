use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};

use super::*;

#[test]
fn the_retry_table_goes_by_name_in_any_case() {
    for code in [
        "ECONNRESET",
        "ETIMEDOUT",
        "EPIPE",
        "ENOTFOUND",
        "EAI_AGAIN",
        "ECONNREFUSED",
        "ERR_SSL_WRONG_VERSION_NUMBER",
        "EPROTO",
        "UND_ERR_HEADERS_TIMEOUT",
        "UND_ERR_BODY_TIMEOUT",
        "UND_ERR_CONNECT_TIMEOUT",
        "ERR_STREAM_PREMATURE_CLOSE",
    ] {
        assert!(is_retryable_code(code), "{code}");
    }
    assert!(is_retryable_code("err_ssl_sslv3_alert_bad_record_mac"));
    assert!(is_retryable_code("ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC"));
    for code in ["CERT_HAS_EXPIRED", "ERR_SSL_NO_CIPHERS", "ABORT_ERR", "", "BAD_RECORD_MAC"] {
        assert!(!is_retryable_code(code), "{code}");
    }
}

#[test]
fn time_limits_have_the_codes_of_undici() {
    let code = |phase| {
        Error::Timeout { phase, host: "h:1".into(), limit: Duration::from_mins(1) }.node_code()
    };
    assert_eq!(code(TimeoutPhase::Connect), Some("UND_ERR_CONNECT_TIMEOUT"));
    assert_eq!(code(TimeoutPhase::Headers), Some("UND_ERR_HEADERS_TIMEOUT"));
    assert_eq!(code(TimeoutPhase::Idle), Some("UND_ERR_BODY_TIMEOUT"));
}

#[test]
fn an_untrusted_certificate_is_not_tried_again_but_a_protocol_error_is() {
    let tls =
        |code| Error::Tls { host: "h:443".into(), cause: "c".into(), hint: String::new(), code };
    assert!(!tls("UNABLE_TO_GET_ISSUER_CERT_LOCALLY").is_retryable_transport());
    assert!(tls("EPROTO").is_retryable_transport());
}

#[test]
fn advice_by_status() {
    let advice = |status: u16, retry_after: Option<&'static str>| {
        let mut headers = HeaderMap::new();
        if let Some(value) = retry_after {
            headers.insert("retry-after", HeaderValue::from_static(value));
        }
        Error::from(Box::new(StatusError {
            host: "h:1".into(),
            status: StatusCode::from_u16(status).unwrap(),
            headers,
            body: Bytes::new(),
        }))
        .advice()
    };
    for status in [429, 499, 500, 503, 599] {
        assert_eq!(advice(status, None), RetryAdvice::Retry { after: None }, "{status}");
    }
    assert_eq!(advice(503, Some("7")), RetryAdvice::Retry { after: Some(Duration::from_secs(7)) });
    for status in [300, 400, 401, 403, 404, 413, 600] {
        assert_eq!(advice(status, Some("7")), RetryAdvice::Fail, "{status}");
    }
}
