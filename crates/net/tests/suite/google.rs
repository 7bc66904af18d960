//! Google credentials of each kind, against an identity provider on loopback.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use http::{HeaderMap, StatusCode};
use pollux_net::google::{GoogleAuthoriser, GoogleError, GoogleSetup, IdTokenAuthoriser, find};
use pollux_net::{Authoriser as _, ClientOptions, HttpRequest, Renewal, StatusError};
use pollux_testkit::{CapturedRequest, ModelServer, reply};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tempfile::TempDir;
use url::Url;
use url::form_urlencoded::parse;

const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
const KEY: &str = include_str!("../data/service_account.key");

/// An identity provider and a folder for files.
struct Provider {
    server: ModelServer,
    folder: TempDir,
}

impl Provider {
    fn start() -> Self {
        let server = ModelServer::start();
        server.route("/token", |_| reply().json(json!({"access_token": "T1", "expires_in": 3599})));
        server.route("/sts", |_| reply().json(json!({"access_token": "STS", "expires_in": 3599})));
        server.route("/v1/projects/-/serviceAccounts/a@b:generateAccessToken", |_| {
            let time = jiff::Timestamp::now() + Duration::from_hours(1);
            reply().json(json!({"accessToken": "SA", "expireTime": time.to_string()}))
        });
        server.route("/v1/projects/-/serviceAccounts/a@b:generateIdToken", |_| {
            reply().json(json!({"token": "h.e30.s"}))
        });
        Self { server, folder: tempfile::tempdir().unwrap() }
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    fn setup(&self, file: &Value) -> GoogleSetup {
        let path = self.write("credentials.json", &file.to_string());
        self.setup_with(&[("GOOGLE_APPLICATION_CREDENTIALS", path.to_str().unwrap())])
    }

    fn setup_with(&self, variables: &[(&str, &str)]) -> GoogleSetup {
        let lookup = |name: &str| {
            let given = variables.iter().find(|(known, _)| *known == name);
            let value = given.map(|(_, value)| (*value).to_owned());
            value.or_else(|| (name == "POLLUX_RETRY_BASE_MS").then(|| "1".to_owned()))
        };
        let home = Some(self.folder.path());
        let setup = GoogleSetup::from_environment(&lookup, home, ClientOptions::default());
        GoogleSetup { iam: self.server.url(), ..setup }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.server.url())
    }

    fn user_file(&self) -> Value {
        json!({"type": "authorized_user", "client_id": "id", "client_secret": "secret",
            "refresh_token": "refresh", "token_uri": self.url("/token"), "quota_project_id": "quota"})
    }

    fn external_file(&self, source: &Value) -> Value {
        json!({"type": "external_account", "audience": "//aud", "token_url": self.url("/sts"),
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "credential_source": source})
    }

    fn impersonation_url(&self) -> String {
        self.url("/v1/projects/-/serviceAccounts/a@b:generateAccessToken")
    }
}

fn authoriser(setup: GoogleSetup) -> GoogleAuthoriser {
    GoogleAuthoriser::new(setup, vec![SCOPE.to_owned()]).unwrap()
}

fn request() -> HttpRequest {
    HttpRequest::get(Url::parse("https://aiplatform.googleapis.com/").unwrap())
}

async fn bearer(authoriser: &GoogleAuthoriser) -> String {
    header(&authoriser.authorise(&request()).await.unwrap(), "authorization")
}

fn header(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}

fn form(request: &CapturedRequest) -> Vec<(String, String)> {
    parse(&request.raw).map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test]
async fn a_user_gets_a_token_once_for_many_requests() {
    let provider = Provider::start();
    let authoriser = authoriser(provider.setup(&provider.user_file()));
    let all = (0..20).map(|_| {
        let authoriser = authoriser.clone();
        tokio::spawn(async move { bearer(&authoriser).await })
    });
    for found in all.collect::<Vec<_>>() {
        assert_eq!(found.await.unwrap(), "Bearer T1");
    }
    let headers = authoriser.authorise(&request()).await.unwrap();
    assert_eq!(header(&headers, "x-goog-user-project"), "quota");
    assert!(headers["authorization"].is_sensitive());
    let requests = provider.server.requests();
    assert_eq!(requests.len(), 1, "one renewal");
    let expected = pairs(&[
        ("grant_type", "refresh_token"),
        ("client_id", "id"),
        ("client_secret", "secret"),
        ("refresh_token", "refresh"),
    ]);
    assert_eq!(form(&requests[0]), expected);
}

#[tokio::test]
async fn a_token_is_renewed_before_it_expires_and_after_a_refusal() {
    let provider = Provider::start();
    let count = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&count);
    // Expires within the time in which tokens are renewed.
    provider.server.route("/token", move |_| {
        let number = counted.fetch_add(1, Ordering::Relaxed) + 1;
        match number {
            3.. => reply().status(503, json!({})),
            _ => reply().json(json!({"access_token": format!("T{number}"), "expires_in": 200})),
        }
    });
    let authoriser = authoriser(provider.setup(&provider.user_file()));
    assert_eq!(bearer(&authoriser).await, "Bearer T1");
    let signed = authoriser.authorise(&request()).await.unwrap();
    assert_eq!(header(&signed, "authorization"), "Bearer T2");
    // The service is down, and the token is still valid.
    assert_eq!(bearer(&authoriser).await, "Bearer T2");
    assert_eq!(count.load(Ordering::Relaxed), 5, "three attempts");
    let refusal = |status| StatusError {
        host: String::new(),
        status,
        headers: HeaderMap::new(),
        body: bytes::Bytes::new(),
    };
    let outcome = authoriser.refused(&signed, &refusal(StatusCode::FORBIDDEN)).await.unwrap();
    assert_eq!(outcome, Renewal::Unchanged);
    let outcome = authoriser.refused(&signed, &refusal(StatusCode::UNAUTHORIZED)).await.unwrap();
    assert_eq!(outcome, Renewal::Renewed);
    let error = authoriser.token().await.unwrap_err().to_string();
    assert!(error.contains("HTTP 503"), "{error}");
}

#[tokio::test]
async fn a_service_account_signs_an_assertion() {
    let provider = Provider::start();
    let file = json!({"type": "service_account", "project_id": "p", "client_email": "a@b",
        "private_key": KEY, "private_key_id": "k1", "token_uri": provider.url("/token")});
    assert_eq!(bearer(&authoriser(provider.setup(&file))).await, "Bearer T1");
    let sent = form(&provider.server.last_request());
    assert_eq!(
        sent[1],
        ("grant_type".into(), "urn:ietf:params:oauth:grant-type:jwt-bearer".into())
    );
    assert_eq!((sent[0].0.as_str(), sent[0].1.split('.').count()), ("assertion", 3));
}

#[tokio::test]
async fn the_metadata_server_is_asked_directly() {
    let provider = Provider::start();
    let path = "/computeMetadata/v1/instance/service-accounts/default/token";
    provider.server.route(path, |_| {
        let reply = reply().json(json!({"access_token": "M", "expires_in": 300}));
        reply.header("Metadata-Flavor", "Google")
    });
    let host = provider.server.address().to_string();
    let mut setup = provider.setup_with(&[("GCE_METADATA_HOST", &host)]);
    // A proxy that does not exist.
    setup.client.proxy = Some(pollux_net::client::ProxySetting {
        url: "http://127.0.0.1:1".to_owned(),
        source: String::new(),
        exceptions: String::new(),
    });
    assert_eq!(bearer(&authoriser(setup)).await, "Bearer M");
    let request = provider.server.last_request();
    assert!(request.headers.contains(&("metadata-flavor".to_owned(), "Google".to_owned())));
    assert_eq!(request.query, "scopes=https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fcloud-platform");
    // Any other server does not send the header back.
    provider.server.route(path, |_| reply().json(json!({"access_token": "M"})));
    let setup = provider.setup_with(&[("GCE_METADATA_HOST", &host)]);
    let error = authoriser(setup).token().await.unwrap_err().to_string();
    assert!(error.contains("is not one of Google Cloud"), "{error}");
    for host in ["evil.example", "10.0.0.1", "127.0.0.1/path", "a@127.0.0.1", ""] {
        let variables = [("GCE_METADATA_HOST", host)];
        let setup = GoogleSetup {
            metadata_host: host.to_owned(),
            is_metadata_named: true,
            ..provider.setup_with(&variables)
        };
        assert!(authoriser(setup).token().await.is_err(), "{host}");
    }
}

#[tokio::test]
async fn a_service_account_is_impersonated() {
    let provider = Provider::start();
    let file = json!({"type": "impersonated_service_account", "delegates": ["d1"],
        "service_account_impersonation_url": provider.impersonation_url(),
        "source_credentials": provider.user_file()});
    assert_eq!(bearer(&authoriser(provider.setup(&file))).await, "Bearer SA");
    let request = provider.server.last_request();
    assert!(request.headers.contains(&("authorization".to_owned(), "Bearer T1".to_owned())));
    let expected = json!({"delegates": ["d1"], "scope": [SCOPE], "lifetime": "3600s"});
    assert_eq!(request.body, expected);
}

#[tokio::test]
async fn tokens_of_other_providers_are_exchanged() {
    let provider = Provider::start();
    provider.server.route("/oidc", |request| {
        let is_signed = request.headers.contains(&("authorization".to_owned(), "x".to_owned()));
        assert!(is_signed, "{request:?}");
        reply().json(json!({"value": "FROM_URL"}))
    });
    let file = provider.write("subject", "FROM_FILE\n");
    let json_format = json!({"type": "json", "subject_token_field_name": "value"});
    let json_file = provider.write("subject.json", r#"{"value": "FROM_JSON"}"#);
    for (source, subject) in [
        (json!({"file": file}), "FROM_FILE"),
        (json!({"file": json_file, "format": json_format}), "FROM_JSON"),
        (
            json!({"url": provider.url("/oidc"), "headers": {"Authorization": "x"},
                "format": json_format}),
            "FROM_URL",
        ),
    ] {
        let file = provider.external_file(&source);
        assert_eq!(bearer(&authoriser(provider.setup(&file))).await, "Bearer STS");
        let expected = pairs(&[
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("audience", "//aud"),
            ("scope", SCOPE),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
            ("subject_token", subject),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
        ]);
        assert_eq!(form(&provider.server.last_request()), expected);
    }
    let mut file = provider.external_file(&json!({"file": file}));
    file["service_account_impersonation_url"] = provider.impersonation_url().into();
    file["service_account_impersonation"] = json!({"token_lifetime_seconds": 2800});
    file["client_id"] = "ci".into();
    file["client_secret"] = "cs".into();
    assert_eq!(bearer(&authoriser(provider.setup(&file))).await, "Bearer SA");
    let requests = provider.server.requests();
    let [.., exchange, impersonation] = &requests[..] else { panic!("two requests") };
    let basic = ("authorization".to_owned(), "Basic Y2k6Y3M=".to_owned());
    assert!(exchange.headers.contains(&basic), "{:?}", exchange.headers);
    assert_eq!(impersonation.body["lifetime"], "2800s");
    let missing = provider.external_file(&json!({"file": "/nowhere/token"}));
    let error = authoriser(provider.setup(&missing)).token().await.unwrap_err().to_string();
    assert!(error.contains("/nowhere/token cannot be read"), "{error}");
}

#[tokio::test]
async fn an_id_token_is_created_and_kept() {
    let provider = Provider::start();
    let setup = provider.setup(&provider.user_file());
    let authoriser = IdTokenAuthoriser::new(setup, "a@b".to_owned(), "aud".to_owned()).unwrap();
    for _ in 0..3 {
        let headers = authoriser.authorise(&request()).await.unwrap();
        assert_eq!(header(&headers, "authorization"), "Bearer h.e30.s");
    }
    let request = provider.server.last_request();
    assert_eq!(request.body, json!({"audience": "aud", "includeEmail": true}));
    assert_eq!(provider.server.requests().len(), 2);
}

#[tokio::test]
async fn the_first_place_with_credentials_decides() {
    let provider = Provider::start();
    let none = provider.setup_with(&[("NO_GCE_CHECK", "true")]);
    let error = find(&none).await.unwrap_err();
    assert!(matches!(error, GoogleError::Missing { .. }), "{error}");
    let text = error.to_string();
    for part in ["GOOGLE_APPLICATION_CREDENTIALS is not set", "application_default", "gcloud auth"]
    {
        assert!(text.contains(part), "{text}");
    }
    let folder = provider.folder.path().join(".config/gcloud");
    std::fs::create_dir_all(&folder).unwrap();
    let known = folder.join("application_default_credentials.json");
    std::fs::write(&known, provider.user_file().to_string()).unwrap();
    let found = find(&none).await.unwrap().description();
    assert!(
        found.contains(known.to_str().unwrap()) && found.contains("authorized user"),
        "{found}"
    );
    let broken = provider.write("broken.json", "{");
    let named = |path: &Path| {
        provider.setup_with(&[("GOOGLE_APPLICATION_CREDENTIALS", path.to_str().unwrap())])
    };
    let text = find(&named(&broken)).await.unwrap_err().to_string();
    assert!(text.contains("broken.json") && text.contains("not JSON"), "{text}");
    let text = find(&named(Path::new("/nowhere.json"))).await.unwrap_err().to_string();
    assert!(text.contains("/nowhere.json") && text.contains("does not exist"), "{text}");
}
