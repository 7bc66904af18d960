//! Signing in, step by step.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::service::{Answer, Asked, NAME, Service, metadata};
use super::user::{Act, User};

/// Signs in, and returns the error.
async fn error(service: &Service, oauth: &Value, user: &User) -> String {
    let signed_in = service.authorization().sign_in(&service.config(oauth), user).await;
    signed_in.unwrap_err().to_string()
}

/// Checks the request that exchanges the code, against the page that the user has seen.
fn assert_exchange(exchange: &Asked, user: &User, resource: &str) {
    let verifier = exchange.form("code_verifier").unwrap();
    assert_eq!(verifier.len(), 86);
    let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    assert_eq!(user.parameter("code_challenge"), Some(hash));
    let redirect = user.parameter("redirect_uri").unwrap();
    for (name, value) in [
        ("grant_type", Some("authorization_code")),
        ("code", Some("C")),
        ("redirect_uri", Some(redirect.as_str())),
        ("client_id", Some("cid")),
        ("audience", Some("x y")),
        ("resource", Some(resource)),
        ("client_secret", None),
    ] {
        assert_eq!(exchange.form(name).as_deref(), value, "{name}");
    }
}

#[tokio::test]
async fn a_user_signs_in_to_a_server_that_nobody_knows() {
    let service = Service::start(|_| None).await;
    let (authorization, user) = (service.authorization(), User::willing());
    let config = service.config(&json!({"audiences": ["x", "y"]}));
    authorization.sign_in(&config, &user).await.unwrap();
    assert_eq!(
        service.lines(),
        [
            "POST /mcp",
            "GET /.well-known/oauth-protected-resource/mcp",
            "GET /.well-known/oauth-authorization-server",
            "POST /register",
            "POST /token",
        ]
    );
    let redirect = user.parameter("redirect_uri").unwrap();
    assert!(redirect.starts_with("http://localhost:") && redirect.ends_with("/oauth/callback"));
    let requests = service.requests();
    let registration: Value = serde_json::from_str(&requests[3].body).unwrap();
    let expected = json!({
        "client_name": "Gemini CLI MCP Client", "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
        "token_endpoint_auth_method": "none", "scope": "a b",
    });
    assert_eq!(registration, expected);
    let page = user.page.lock().unwrap().clone().unwrap();
    assert!(
        page.as_str().starts_with(&format!("{}/authorize?tenant=1&client_id=cid", service.base))
    );
    let resource = format!("{}/mcp", service.base);
    for (name, value) in [
        ("response_type", "code"),
        ("code_challenge_method", "S256"),
        ("scope", "a b"),
        ("audience", "x y"),
        ("resource", &resource),
    ] {
        assert_eq!(user.parameter(name).as_deref(), Some(value), "{name}");
    }
    assert_exchange(&requests[4], &user, &resource);
    let kept = service.kept().unwrap();
    assert_eq!((kept.server_name.as_str(), kept.client_id.as_deref()), (NAME, Some("cid")));
    assert_eq!(kept.token.access_token, "A1");
    assert_eq!(kept.token_url, Some(format!("{}/token", service.base)));
    assert_eq!(kept.mcp_server_url, Some(resource));
    assert!(kept.rest.is_empty(), "{:?}", kept.rest);
    // The token is used.
    let probed = pollux_mcp::probe(&config, service.options(&authorization)).await;
    assert!(probed.is_usable(), "{probed:?}");
    assert!(authorization.sign_out(NAME).await.unwrap());
    assert!(!service.store().path().exists());
    assert!(!authorization.sign_out(NAME).await.unwrap());
}

#[tokio::test]
async fn settings_replace_what_is_discovered() {
    let service = Service::start(|_| None).await;
    let base = service.base.clone();
    let oauth = json!({
        "clientId": "mine", "clientSecret": "secret", "scopes": ["z"],
        "authorizationUrl": format!("{base}/authorize"), "tokenUrl": format!("{base}/token"),
        "redirectUri": "http://127.0.0.1/other/path",
    });
    let user = User::willing();
    service.authorization().sign_in(&service.config(&oauth), &user).await.unwrap();
    assert_eq!(service.lines(), ["POST /mcp", "POST /token"]);
    assert_eq!(user.parameter("scope").as_deref(), Some("z"));
    let redirect = user.parameter("redirect_uri").unwrap();
    assert!(redirect.starts_with("http://127.0.0.1:") && redirect.ends_with("/other/path"));
    let exchange = &service.requests()[1];
    assert_eq!(exchange.form("client_secret").as_deref(), Some("secret"));
    let kept = service.kept().unwrap();
    assert_eq!(kept.client_id.as_deref(), Some("mine"));
    // The secret stays in the settings only.
    assert!(kept.rest.is_empty());
}

#[tokio::test]
async fn a_secret_from_the_registration_is_kept_and_used() {
    let script = |asked: &Asked| match asked.target.as_str() {
        "/.well-known/oauth-authorization-server" => {
            let mut document = metadata(&asked.base);
            document["token_endpoint_auth_methods_supported"] = json!(["client_secret_basic"]);
            Some(Answer::json(200, &document))
        }
        "/register" => Some(Answer::json(201, &json!({"client_id": "cid", "client_secret": "s3"}))),
        _ => None,
    };
    let service = Service::start(script).await;
    service.authorization().sign_in(&service.config(&json!({})), &User::willing()).await.unwrap();
    let exchange = &service.requests_to("/token")[0];
    assert_eq!(exchange.authorization.as_deref(), Some("Basic Y2lkOnMz"));
    let registration: Value =
        serde_json::from_str(&service.requests_to("/register")[0].body).unwrap();
    assert_eq!(registration["token_endpoint_auth_method"], "client_secret_basic");
    assert_eq!(exchange.form("client_secret"), None);
    let kept = service.kept().unwrap();
    assert_eq!(kept.rest["clientSecret"], "s3");
    assert_eq!(kept.rest["clientSecretBasic"], true);
}

#[tokio::test]
async fn the_address_of_the_redirect_can_be_pasted() {
    for text in ["REDIRECT?code=C&state=STATE", " C\n"] {
        let service = Service::start(|_| None).await;
        let user = User::new(Act::Pastes(text));
        service.authorization().sign_in(&service.config(&json!({})), &user).await.unwrap();
        assert_eq!(service.requests_to("/token")[0].form("code").as_deref(), Some("C"));
    }
}

#[tokio::test]
async fn a_redirect_that_does_not_belong_to_the_request_ends_the_sign_in() {
    for (query, status, message) in [
        ("code=C&state=other", 400, "State mismatch - possible CSRF attack"),
        ("error=access_denied&state=STATE", 200, "OAuth error: access_denied"),
        ("error=x&error_description=%1B[2Jno&state=STATE", 200, "OAuth error: x - [2Jno"),
        (
            "code=C&state=STATE&iss=https%3A%2F%2Fevil",
            400,
            "Issuer mismatch - the redirect is from https://evil",
        ),
    ] {
        let service = Service::start(|_| None).await;
        let user = User::new(Act::Redirected(query));
        assert_eq!(error(&service, &json!({}), &user).await, message);
        assert_eq!(user.statuses().await, [status], "{query}");
        assert_eq!(service.requests_to("/token").len(), 0);
        assert_eq!(service.kept(), None);
    }
}

#[tokio::test]
async fn requests_that_belong_to_nothing_do_not_end_the_sign_in() {
    for (target, status) in
        [("/favicon.ico", 404), ("/oauth/callback", 400), ("/oauth/callback?code=C", 400)]
    {
        let service = Service::start(|_| None).await;
        let user = User::new(Act::Disturbed(target));
        service.authorization().sign_in(&service.config(&json!({})), &user).await.unwrap();
        assert_eq!(user.statuses().await, [status, 200], "{target}");
    }
}

#[tokio::test]
async fn an_issuer_that_must_be_named_is_required() {
    let script = |asked: &Asked| {
        (asked.target == "/.well-known/oauth-authorization-server").then(|| {
            let mut document = metadata(&asked.base);
            document["authorization_response_iss_parameter_supported"] = json!(true);
            Answer::json(200, &document)
        })
    };
    let service = Service::start(script).await;
    let message = error(&service, &json!({}), &User::willing()).await;
    assert_eq!(message, "Issuer mismatch - the redirect is from no issuer");
}

#[tokio::test]
async fn a_user_who_refuses_is_not_signed_in() {
    let service = Service::start(|_| None).await;
    let message = error(&service, &json!({}), &User::new(Act::Refuses)).await;
    assert_eq!(message, "Authentication cancelled by user.");
    assert_eq!(service.requests_to("/token").len(), 0);
}

#[tokio::test]
async fn a_refused_registration_and_exchange_are_described() {
    for (target, answer, message) in [
        (
            "/register",
            Answer::json(400, &json!({"error": "invalid_redirect_uri\u{202e}"})),
            "Client registration failed: 400 Bad Request - {\"error\":\"invalid_redirect_uri\\u{202e}\"}",
        ),
        (
            "/register",
            Answer(201, Vec::new(), "{}".to_owned()),
            "Client registration failed: the answer is not valid: missing field `client_id` at line 1 column 2",
        ),
        (
            "/token",
            Answer::json(400, &json!({"error": "invalid_grant", "error_description": "used"})),
            "Token exchange failed: invalid_grant - used",
        ),
        (
            "/token",
            Answer(502, Vec::new(), "<h1>Bad gateway</h1>".to_owned()),
            "Token exchange failed: 502 - <h1>Bad gateway</h1>",
        ),
        (
            "/token",
            Answer(200, Vec::new(), "{}".to_owned()),
            "No access token received from token endpoint",
        ),
    ] {
        let service =
            Service::start(move |asked| (asked.target == target).then(|| answer.clone())).await;
        assert_eq!(error(&service, &json!({}), &User::willing()).await, message);
        assert_eq!(service.kept(), None);
    }
}

#[tokio::test]
async fn without_registration_a_client_id_is_needed() {
    let script = |asked: &Asked| {
        (asked.target == "/.well-known/oauth-authorization-server").then(|| {
            let mut document = metadata(&asked.base);
            document.as_object_mut().unwrap().remove("registration_endpoint");
            Answer::json(200, &document)
        })
    };
    let service = Service::start(script).await;
    let message = error(&service, &json!({}), &User::willing()).await;
    assert_eq!(message, "No client ID provided and dynamic registration not supported");
    let id = json!({"clientId": "https://client.example/metadata.json"});
    let user = User::willing();
    service.authorization().sign_in(&service.config(&id), &user).await.unwrap();
    assert_eq!(
        user.parameter("client_id").as_deref(),
        Some("https://client.example/metadata.json")
    );
}

#[tokio::test]
async fn a_document_is_the_id_of_the_client_if_the_server_reads_documents() {
    const DOCUMENT: &str = "https://client.example/pollux.json";
    let with_documents = |asked: &Asked| {
        (asked.target == "/.well-known/oauth-authorization-server").then(|| {
            let mut document = metadata(&asked.base);
            document["client_id_metadata_document_supported"] = json!(true);
            // The client has no secret, whatever else the server supports.
            document["token_endpoint_auth_methods_supported"] = json!(["client_secret_basic"]);
            Answer::json(200, &document)
        })
    };
    let registrations =
        |service: &Service| service.lines().iter().filter(|line| *line == "POST /register").count();
    let service = Service::start(with_documents).await;
    let sign_in = async |oauth: Value, document: &str| {
        let user = User::willing();
        let signed_in =
            service.with_document(document).sign_in(&service.config(&oauth), &user).await;
        signed_in.map(|()| user.parameter("client_id").unwrap()).map_err(|it| it.to_string())
    };
    assert_eq!(sign_in(json!({}), DOCUMENT).await.as_deref(), Ok(DOCUMENT));
    let exchange = service.requests().pop().unwrap();
    assert_eq!(exchange.form("client_id").as_deref(), Some(DOCUMENT));
    assert_eq!((exchange.form("client_secret"), exchange.authorization), (None, None));
    assert_eq!(service.kept().unwrap().client_id.as_deref(), Some(DOCUMENT));
    assert_eq!(registrations(&service), 0);
    // Settings of the server itself come first.
    assert_eq!(sign_in(json!({"clientId": "own"}), DOCUMENT).await.as_deref(), Ok("own"));
    let registrar = json!({"registrationUrl": format!("{}/register", service.base)});
    assert_eq!(sign_in(registrar, DOCUMENT).await.as_deref(), Ok("cid"));
    for wrong in ["http://client.example/a", "https://client.example", "https://u:p@h/a", "a"] {
        assert_eq!(
            sign_in(json!({}), wrong).await.unwrap_err(),
            "`pollux.mcp.clientMetadataUrl` must begin with https:// and have a path"
        );
    }
    let other = Service::start(|_| None).await;
    let user = User::willing();
    other.with_document(DOCUMENT).sign_in(&other.config(&json!({})), &user).await.unwrap();
    assert_eq!(user.parameter("client_id").as_deref(), Some("cid"));
    assert_eq!(registrations(&other), 1);
}

#[tokio::test]
async fn a_missing_permission_is_asked_for_in_addition() {
    let script = |asked: &Asked| {
        let lacks = asked.body.contains("tools/list")
            && asked.authorization.as_deref() != Some("Bearer A2");
        if lacks {
            let challenge = "Bearer error=\"insufficient_scope\", scope=\"c\"".to_owned();
            return Some(Answer(403, vec![("www-authenticate", challenge)], String::new()));
        }
        let is_second = asked.target == "/token";
        is_second.then(|| Answer::json(200, &json!({"access_token": "A2"})))
    };
    let service = Service::start(script).await;
    service.keep("A1", 3_600_000);
    let (authorization, config) = (service.authorization(), service.config(&json!({})));
    let probed = pollux_mcp::probe(&config, service.options(&authorization)).await;
    let problem = probed.steps[1].error.clone().unwrap();
    assert!(problem.contains("more permissions") && problem.contains("/mcp auth s"), "{problem}");
    // Another process knows it, too.
    let other = User::new(Act::Refuses);
    assert!(service.authorization().sign_in(&config, &other).await.is_err());
    assert_eq!(other.parameter("scope").as_deref(), Some("a b c"));
    let user = User::willing();
    authorization.sign_in(&config, &user).await.unwrap();
    assert_eq!(user.parameter("scope").as_deref(), Some("a c"));
    assert_eq!(service.kept().unwrap().token.scope.as_deref(), Some("a c"));
    let probed = pollux_mcp::probe(&config, service.options(&authorization)).await;
    assert!(probed.is_usable(), "{probed:?}");
}

#[tokio::test]
async fn programs_have_nothing_to_sign_in_to() {
    let service = Service::start(|_| None).await;
    let config = pollux_mcp::ServerConfig::read(NAME, &json!({"command": "x"})).unwrap().unwrap();
    let signed_in = service.authorization().sign_in(&config, &User::willing()).await;
    let message = signed_in.unwrap_err().to_string();
    assert_eq!(message, "only servers with an address can require authentication");
}
