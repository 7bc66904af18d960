use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn reply(status: u16, body: &str) -> Reply {
    Reply {
        status: StatusCode::from_u16(status).unwrap(),
        headers: HeaderMap::new(),
        body: body.to_owned().into(),
        host: "id.example".to_owned(),
    }
}

#[test]
fn lifetimes_are_limited() {
    for (life, expected) in
        [("3599", 3599), ("\"60\"", 60), ("1e300", 24 * 3600), ("-5", 3600), ("null", 3600)]
    {
        let body = format!(r#"{{"access_token":"t","expires_in":{life}}}"#);
        let left = reply(200, &body).token("me").unwrap().expires_at - now();
        assert!((expected - 2..=expected).contains(&left), "{life}: {left}");
    }
    let date = r#"{"accessToken":"t","expireTime":"2999-01-01T00:00:00Z"}"#;
    let left = reply(200, date).account_token("me").unwrap().expires_at - now();
    assert!(left <= 24 * 3600, "{left}");
    let claims = URL_SAFE_NO_PAD.encode(json!({"exp": now() + 100}).to_string());
    let body = json!({"token": format!("h.{claims}.s")}).to_string();
    let left = reply(200, &body).id_token("me").unwrap().expires_at - now();
    assert!((98..=100).contains(&left), "{left}");
}

#[test]
fn refusals_name_the_credentials_and_the_remedy() {
    let long = format!(r#"{{"access_token":"{}"}}"#, "x".repeat(LONGEST_TOKEN + 1));
    for (status, body, expected) in [
        (
            400,
            r#"{"error":"invalid_grant","error_description":"Token has been revoked."}"#,
            "id.example refused me: HTTP 400 invalid_grant - Token has been revoked. They have \
             expired or were revoked. Sign in again: `gcloud auth application-default login`.",
        ),
        (
            403,
            r#"{"error":{"code":403,"message":"No.","status":"PERMISSION_DENIED"}}"#,
            "id.example refused me: HTTP 403 PERMISSION_DENIED - No. They need the role \
             roles/iam.serviceAccountTokenCreator on the service account.",
        ),
        (500, "<html>", "id.example refused me: HTTP 500 ."),
        (200, "{}", "id.example sent no usable token for me."),
        (200, "[]", "id.example sent no usable token for me."),
        (200, r#"{"access_token":"a b"}"#, "id.example sent no usable token for me."),
        (200, r#"{"access_token":"a\nb"}"#, "id.example sent no usable token for me."),
        (200, &long, "id.example sent no usable token for me."),
    ] {
        assert_eq!(reply(status, body).token("me").unwrap_err().to_string(), expected);
    }
    let hostile = r#"{"error":"\u001b[2J","error_description":"a\nb\u202e"}"#;
    let text = reply(400, hostile).token("me").unwrap_err().to_string();
    assert!(!text.contains(|letter: char| letter.is_control() || letter == '\u{202e}'), "{text:?}");
}
