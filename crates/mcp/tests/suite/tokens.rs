//! Tokens of a connection: sent, renewed, replaced, removed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pollux_mcp::{Probed, ServerConfig};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::service::{Answer, Asked, NAME, Service};

/// Connects with the sign-ins of a process of its own.
async fn connect(service: &Service) -> Probed {
    let config = service.config(&json!({}));
    pollux_mcp::probe(&config, service.options(&service.authorization())).await
}

/// Answers requests for a token with a new pair each time. Each refresh token is valid once.
fn rotating() -> impl Fn(&Asked) -> Option<Answer> + Send + Sync {
    let count = Arc::new(AtomicUsize::new(0));
    move |asked: &Asked| {
        if asked.target != "/token" {
            return None;
        }
        let number = count.load(Ordering::SeqCst);
        if asked.form("refresh_token") != Some(format!("R{number}")) {
            return Some(Answer::json(400, &json!({"error": "invalid_grant"})));
        }
        let next = count.fetch_add(1, Ordering::SeqCst) + 1;
        let (access, refresh) = (format!("A{next}"), format!("R{next}"));
        Some(Answer::json(
            200,
            &json!({"access_token": access, "refresh_token": refresh, "expires_in": 3600}),
        ))
    }
}

#[tokio::test]
async fn a_stored_token_is_sent_with_every_request() {
    let service = Service::start(|_| None).await;
    service.keep("A1", 3_600_000);
    assert!(connect(&service).await.is_usable());
    let requests = service.requests();
    assert!(requests.len() >= 4);
    assert!(requests.iter().all(|asked| asked.authorization.as_deref() == Some("Bearer A1")));
}

#[tokio::test]
async fn a_token_goes_only_to_its_server() {
    let service = Service::start(|_| None).await;
    service.keep("A1", 3_600_000);
    // The same name, but another address.
    let entry = json!({"url": format!("{}/other", service.base), "type": "http"});
    let config = ServerConfig::read(NAME, &entry).unwrap().unwrap();
    pollux_mcp::probe(&config, service.options(&service.authorization())).await;
    assert!(!service.requests().is_empty());
    assert!(service.requests().iter().all(|asked| asked.authorization.is_none()));
}

#[tokio::test]
async fn a_token_that_expires_soon_is_renewed_first() {
    let service = Service::start(rotating()).await;
    service.keep("expired", 60_000);
    assert!(connect(&service).await.is_usable());
    let requests = service.requests();
    assert_eq!(requests[0].target, "/token");
    let resource = format!("{}/mcp", service.base);
    for (name, value) in [
        ("grant_type", "refresh_token"),
        ("refresh_token", "R0"),
        ("client_id", "cid"),
        ("resource", &resource),
    ] {
        assert_eq!(requests[0].form(name).as_deref(), Some(value), "{name}");
    }
    let kept = service.kept().unwrap();
    assert_eq!(kept.token.refresh_token.as_deref(), Some("R1"));
    // Not in the response, so it stays.
    assert_eq!(kept.token.scope.as_deref(), Some("a"));
}

#[tokio::test]
async fn a_rejected_token_is_renewed_and_the_request_repeated() {
    let service = Service::start(rotating()).await;
    service.keep("revoked", 3_600_000);
    assert!(connect(&service).await.is_usable());
    let lines = service.lines();
    assert_eq!(lines[..3], ["POST /mcp", "POST /token", "POST /mcp"]);
    assert_eq!(service.requests_to("/token").len(), 1);
}

#[tokio::test]
async fn a_refresh_token_is_used_once_by_any_number_of_processes() {
    let service = Service::start(rotating()).await;
    service.keep("expired", -1000);
    let probes = futures::future::join_all((0..6).map(|_| connect(&service))).await;
    assert!(probes.iter().all(Probed::is_usable), "{probes:?}");
    assert_eq!(service.requests_to("/token").len(), 1);
    assert_eq!(service.kept().unwrap().token.refresh_token.as_deref(), Some("R1"));
}

#[tokio::test]
async fn an_invalid_grant_removes_the_credentials() {
    let service = Service::start(|asked| {
        (asked.target == "/token").then(|| Answer::json(400, &json!({"error": "invalid_grant"})))
    })
    .await;
    service.keep("expired", -1000);
    let (authorization, config) = (service.authorization(), service.config(&json!({})));
    let probed = pollux_mcp::probe(&config, service.options(&authorization)).await;
    assert!(probed.needs_sign_in, "{probed:?}");
    assert_eq!(service.kept(), None);
    let remedy = "MCP server 's' requires authentication using: /mcp auth s";
    assert_eq!(authorization.remedy(NAME), remedy);
}

#[tokio::test]
async fn any_other_failure_keeps_the_credentials() {
    for (status, body, expires_in, is_usable) in [
        (503, "down", -1000, false),
        (500, "{\"error\":\"invalid_grant\"}", -1000, false),
        (400, "{\"error\":\"invalid_client\"}", -1000, false),
        (200, "not a token", -1000, false),
        // The token is still valid for a moment.
        (503, "down", 60_000, true),
    ] {
        let service = Service::start(move |asked| {
            (asked.target == "/token").then(|| Answer(status, Vec::new(), body.to_owned()))
        })
        .await;
        service.keep("A3", expires_in);
        let probed = connect(&service).await;
        assert_eq!(probed.is_usable(), is_usable, "{status} {body}: {probed:?}");
        let error = probed.steps[0].error.clone().unwrap_or_default();
        assert_eq!(error.contains("Failed to refresh auth token."), !is_usable, "{error}");
        assert_eq!(service.kept().unwrap().token.refresh_token.as_deref(), Some("R0"));
    }
}

#[tokio::test]
async fn a_rejected_token_that_cannot_be_renewed_is_named() {
    let service = Service::start(|_| None).await;
    service.keep("revoked", 3_600_000);
    let mut kept = service.kept().unwrap();
    kept.token.refresh_token = None;
    service.store().set(&kept).unwrap();
    let (authorization, config) = (service.authorization(), service.config(&json!({})));
    let probed = pollux_mcp::probe(&config, service.options(&authorization)).await;
    assert!(probed.needs_sign_in);
    let remedy =
        "MCP server 's' rejected stored OAuth token. Please re-authenticate using: /mcp auth s";
    assert_eq!(authorization.remedy(NAME), remedy);
    assert_eq!(service.kept(), Some(kept));
}

#[tokio::test]
async fn a_token_of_another_process_is_used() {
    let service = Service::start(|_| None).await;
    service.keep("revoked", 3_600_000);
    let (authorization, config) = (service.authorization(), service.config(&json!({})));
    let first = pollux_mcp::probe(&config, service.options(&authorization)).await;
    // Renewed with the usual answer.
    assert!(first.is_usable(), "{first:?}");
    service.keep("A3", 3_600_000);
    let second = pollux_mcp::probe(&config, service.options(&authorization)).await;
    assert!(second.is_usable());
    let last = service.requests().pop().unwrap();
    assert_eq!(last.authorization.as_deref(), Some("Bearer A3"));
}

#[tokio::test]
async fn a_broken_file_is_reported() {
    let service = Service::start(|_| None).await;
    std::fs::write(service.store().path(), "[").unwrap();
    let probed = connect(&service).await;
    let error = probed.steps[0].error.clone().unwrap();
    assert!(error.contains("The file of stored credentials is broken"), "{error}");
    assert_eq!(service.requests().len(), 0);
}

#[tokio::test]
async fn an_id_token_of_a_service_account_signs_every_request() {
    let count = Arc::new(AtomicUsize::new(0));
    let service = Service::start(move |asked: &Asked| match asked.target.as_str() {
        "/token" => Some(Answer::json(200, &json!({"access_token": "USER", "expires_in": 3600}))),
        "/v1/projects/-/serviceAccounts/sa@p:generateIdToken" => {
            assert_eq!(asked.authorization.as_deref(), Some("Bearer USER"));
            // The server does not accept the first one.
            let number = count.fetch_add(1, Ordering::SeqCst);
            Some(Answer::json(200, &json!({"token": format!("A{number}")})))
        }
        _ => None,
    })
    .await;
    let entry = json!({"url": format!("{}/mcp", service.base), "type": "http",
        "authProviderType": "service_account_impersonation", "targetAudience": "aud",
        "targetServiceAccount": "sa@p"});
    let config = ServerConfig::read(NAME, &entry).unwrap().unwrap();
    let probed = pollux_mcp::probe(&config, service.options(&service.authorization())).await;
    assert!(probed.is_usable());
    let requests = service.requests();
    let body: serde_json::Value = serde_json::from_str(&requests[1].body).unwrap();
    assert_eq!(body, json!({"audience": "aud", "includeEmail": true}));
    let tokens: Vec<_> = requests
        .iter()
        .filter(|asked| asked.target == "/mcp")
        .map(|asked| asked.authorization.clone().unwrap())
        .collect();
    assert!(tokens.len() > 2, "{tokens:?}");
    let (first, others) = tokens.split_first().unwrap();
    assert_eq!(first, "Bearer A0");
    assert!(others.iter().all(|token| token == "Bearer A1"), "{others:?}");
}
