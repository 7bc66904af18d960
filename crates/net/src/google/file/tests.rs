use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;

fn read_value(value: &Value) -> Result<GoogleFile, String> {
    read_google_file(value.to_string().as_bytes())
}

fn with(base: &Value, name: &str, value: Value) -> Value {
    let mut changed = base.clone();
    changed[name] = value;
    changed
}

fn user_file() -> Value {
    json!({"type": "authorized_user", "client_id": "i", "client_secret": "s", "refresh_token": "r",
        "quota_project_id": "q", "account": "", "universe_domain": "googleapis.com"})
}

fn external_file() -> Value {
    json!({
        "type": "external_account", "audience": "//iam.googleapis.com/projects/1/x",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": "https://sts.googleapis.com/v1/token",
        "credential_source": {"file": "/var/run/token"},
    })
}

#[test]
fn each_kind_is_read() {
    let account = json!({"type": "service_account", "project_id": "p", "client_email": "e",
        "private_key": "k", "private_key_id": "1", "token_uri": "https://oauth2.googleapis.com/token"});
    let iam = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts";
    let url = format!("{iam}/a@p.iam.gserviceaccount.com:generateAccessToken");
    let impersonated = json!({"type": "impersonated_service_account", "delegates": ["d"],
        "service_account_impersonation_url": url, "source_credentials": user_file()});
    let external_user = json!({"type": "external_account_authorized_user", "client_id": "i",
        "client_secret": "s", "refresh_token": "r",
        "token_url": "https://sts.googleapis.com/v1/oauthtoken"});
    for (file, kind, account, project, quota) in [
        (user_file(), "authorized user", None, None, Some("q")),
        (account, "service account", Some("e"), Some("p"), None),
        (
            impersonated,
            "impersonated service account",
            Some("a@p.iam.gserviceaccount.com"),
            None,
            None,
        ),
        (external_file(), "workload identity federation", None, None, None),
        (external_user, "user of another identity provider", None, None, None),
    ] {
        let read = read_value(&file).unwrap();
        assert_eq!((read.kind(), read.account(), read.project()), (kind, account, project));
        assert_eq!(read.quota_project.as_deref(), quota);
        let debug = format!("{read:?}");
        assert!(!debug.contains("refresh"), "{debug}");
    }
}

#[test]
fn sources_and_formats_of_other_providers() {
    let source = |source: Value| -> Result<Box<External>, String> {
        let file = read_value(&with(&external_file(), "credential_source", source))?;
        match file.credential {
            Credential::External(external) => Ok(external),
            _ => panic!("another kind"),
        }
    };
    let json_format = json!({"type": "json", "subject_token_field_name": "access_token"});
    let azure = source(json!({"url": "http://169.254.169.254/metadata/identity/oauth2/token",
        "headers": {"Metadata": "True"}, "format": json_format}));
    assert_eq!(azure.unwrap().format, SubjectFormat::Json("access_token".to_owned()));
    let text = source(json!({"file": "f", "format": {"type": "text"}})).unwrap();
    assert_eq!(text.format, SubjectFormat::Text);
    for (refused, reason) in [
        (json!({"executable": {"command": "/bin/sh"}}), "a program"),
        (json!({"environment_id": "aws1"}), "environment_id"),
        (json!({"certificate": {}}), "a certificate"),
        (json!({}), "either a file or a url"),
        (json!({"file": "f", "url": "https://x.example"}), "either a file or a url"),
        (json!({"url": "http://x.example"}), "not an https address"),
        (
            json!({"url": "http://169.254.169.254/x", "headers": {"Authorization": "Bearer x"}}),
            "not an https address",
        ),
        (json!({"file": "f", "format": {"type": "xml"}}), "the format \"xml\""),
        (json!({"file": "f", "format": {"type": "json"}}), "no subject_token_field_name"),
    ] {
        let error: String = source(refused.clone()).err().unwrap();
        assert!(error.contains(reason), "{refused}: {error}");
    }
}

#[test]
fn what_is_not_understood_is_refused_with_the_reason() {
    let secret = "SECRETVALUE";
    for (file, reason) in [
        (json!([]), "not an object"),
        (json!({"installed": {"client_secret": secret}}), "no type"),
        (json!({"type": "gdch_service_account"}), "\"gdch_service_account\" is not supported"),
        (json!({"type": {"a": secret}}), "not an object with the fields"),
        (with(&user_file(), "refresh_token", json!("")), "no refresh_token"),
        (
            with(&user_file(), "token_uri", json!("https://evil.example/t")),
            "not an address of Google",
        ),
        (with(&user_file(), "universe_domain", json!("other.example")), "cloud other.example"),
        (with(&external_file(), "token_url", json!("http://sts.googleapis.com/")), "not an https"),
        (
            with(
                &external_file(),
                "service_account_impersonation_url",
                json!("https://iamcredentials.googleapis.com/v1/x:signBlob"),
            ),
            "not the address of a service account",
        ),
        (json!({"type": "impersonated_service_account"}), "no service_account_impersonation_url"),
    ] {
        let error = read_value(&file).unwrap_err();
        assert!(error.contains(reason) && !error.contains(secret), "{file}: {error}");
    }
    // An impersonated account in an impersonated account.
    let url = "https://iamcredentials.googleapis.com/v1/a:generateAccessToken";
    let inner = json!({"type": "impersonated_service_account",
        "service_account_impersonation_url": url, "source_credentials": user_file()});
    let outer = with(&inner, "source_credentials", inner.clone());
    assert!(read_value(&outer).unwrap_err().contains("in source_credentials, the type"));
    assert!(read_google_file(b"{\n\n  nonsense").unwrap_err().contains("line 3"));
}

#[test]
fn texts_of_a_file_do_not_act_on_the_terminal() {
    let file = json!({"type": "\u{1b}[2Jx\u{202e}"});
    let error = read_value(&file).unwrap_err();
    assert!(!error.contains(['\u{1b}', '\u{202e}']), "{error:?}");
}
