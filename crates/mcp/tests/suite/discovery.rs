//! Discovery of the authorization server of a server.

use pretty_assertions::assert_eq;
use serde_json::json;

use super::service::{Answer, Asked, Service, metadata};
use super::user::User;

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// Signs in to a service; returns the targets of the discovery's requests, and the error.
async fn discovered(service: &Service) -> (Vec<String>, Option<String>) {
    let config = service.config(&json!({}));
    let signed_in = service.authorization().sign_in(&config, &User::willing()).await;
    let targets = service.requests_to("/").into_iter().filter(|asked| asked.method == "GET");
    (targets.map(|asked| asked.target).collect(), signed_in.err().map(|error| error.to_string()))
}

/// Answers with 404 to the addresses of metadata, except for one.
fn only(asked: &Asked, target: &str, document: &serde_json::Value) -> Option<Answer> {
    if asked.target == target {
        return Some(Answer::json(200, document));
    }
    asked.target.contains("/.well-known/").then(|| Answer(404, Vec::new(), String::new()))
}

#[tokio::test]
async fn a_server_without_metadata_is_its_own_authorization_server() {
    let order = [
        format!("{RESOURCE}/mcp"),
        RESOURCE.to_owned(),
        format!("{OAUTH}/mcp"),
        format!("{OPENID}/mcp"),
        format!("/mcp{OPENID}"),
        OAUTH.to_owned(),
        OPENID.to_owned(),
    ];
    for (index, target) in order.iter().enumerate().skip(2) {
        let wanted = target.clone();
        let service =
            Service::start(move |asked| only(asked, &wanted, &metadata("https://any"))).await;
        // The endpoints of the document are on another host, so nothing is sent to them.
        let (targets, error) = discovered(&service).await;
        assert_eq!(targets, order[..=index], "{target}");
        assert!(error.is_some());
    }
}

#[tokio::test]
async fn a_server_without_any_metadata_has_the_default_endpoints() {
    let service = Service::start(|asked| only(asked, "none", &json!({}))).await;
    let user = User::willing();
    let config = service.config(&json!({}));
    service.authorization().sign_in(&config, &user).await.unwrap();
    let lines = service.lines();
    assert_eq!(lines[lines.len() - 2..], ["POST /register", "POST /token"]);
    let page = user.page.lock().unwrap().clone().unwrap();
    assert!(page.as_str().starts_with(&format!("{}/authorize?client_id=cid", service.base)));
    assert_eq!(user.parameter("code_challenge_method").as_deref(), Some("S256"));
}

#[tokio::test]
async fn a_server_without_sign_in_is_reported_as_one() {
    // Neither metadata nor a registration, and metadata that cannot be used.
    for (status, is_asked) in [(404, true), (500, false)] {
        let service = Service::start(move |asked| {
            let is_closed = asked.target.contains("/.well-known/") || asked.target == "/register";
            is_closed.then(|| Answer(status, Vec::new(), String::new()))
        })
        .await;
        let (_, error) = discovered(&service).await;
        let error = error.unwrap();
        assert!(error.starts_with("Failed to discover OAuth configuration"), "{error}");
        assert_eq!(!service.requests_to("/register").is_empty(), is_asked, "{status}");
    }
}

#[tokio::test]
async fn an_issuer_with_a_path_is_searched_in_order() {
    let order = [
        format!("{OAUTH}/tenant"),
        format!("{OPENID}/tenant"),
        format!("/tenant{OPENID}"),
        OAUTH.to_owned(),
        OPENID.to_owned(),
    ];
    for (index, target) in order.iter().enumerate() {
        let (wanted, is_root) = (target.clone(), index >= 3);
        let service = Service::start(move |asked| {
            let base = &asked.base;
            let issuer = format!("{base}/tenant");
            if asked.target.starts_with(RESOURCE) {
                let resource = format!("{base}/mcp");
                let servers = [&issuer];
                let document = json!({"resource": resource, "authorization_servers": servers});
                return Some(Answer::json(200, &document));
            }
            let mut document = metadata(base);
            if !is_root {
                document["issuer"] = json!(issuer);
            }
            only(asked, &wanted, &document)
        })
        .await;
        let (targets, error) = discovered(&service).await;
        assert_eq!(targets[1..], order[..=index], "{target}");
        assert_eq!(error, None);
    }
}

#[tokio::test]
async fn metadata_of_another_server_are_refused() {
    let script = |asked: &Asked| {
        let document = json!({"resource": "https://other/mcp", "authorization_servers": []});
        only(asked, &format!("{RESOURCE}/mcp"), &document)
    };
    let service = Service::start(script).await;
    let (targets, error) = discovered(&service).await;
    assert_eq!(targets.len(), 1);
    let expected = format!(
        "Protected resource https://other/mcp does not match expected {}/mcp",
        service.base
    );
    assert_eq!(error.unwrap(), expected);
}

#[tokio::test]
async fn an_authorization_server_must_be_the_one_that_was_named() {
    let script = |asked: &Asked| {
        (asked.target == OAUTH).then(|| {
            let mut document = metadata(&asked.base);
            document["issuer"] = json!("https://other");
            Answer::json(200, &document)
        })
    };
    let service = Service::start(script).await;
    let (_, error) = discovered(&service).await;
    let error = error.unwrap();
    assert!(error.contains("the issuer https://other is not http://127.0.0.1"), "{error}");
    assert_eq!(service.requests_to("/register").len(), 0);
}

#[tokio::test]
async fn large_documents_are_refused() {
    let script = |asked: &Asked| {
        let large = format!("{{\"x\":\"{}\"}}", "y".repeat(10 << 20));
        (asked.target == OAUTH).then(|| Answer(200, Vec::new(), large))
    };
    let service = Service::start(script).await;
    let (_, error) = discovered(&service).await;
    let error = error.unwrap();
    assert!(error.contains("larger than 1048576 bytes"), "{error}");
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_not_followed() {
    let other = Service::start(|_| None).await;
    let target = format!("{}/stolen", other.base);
    let script = move |asked: &Asked| {
        let to_other = || Answer(302, vec![("location", target.clone())], String::new());
        let within = || Answer(302, vec![("location", "/moved".to_owned())], String::new());
        match asked.target.as_str() {
            "/.well-known/oauth-protected-resource/mcp" => Some(within()),
            "/moved" => {
                let base = &asked.base;
                let resource = format!("{base}/mcp");
                let document = json!({"resource": resource, "authorization_servers": [base]});
                Some(Answer::json(200, &document))
            }
            OAUTH => Some(to_other()),
            _ => None,
        }
    };
    let service = Service::start(script).await;
    let (targets, error) = discovered(&service).await;
    assert_eq!(targets[..3], [format!("{RESOURCE}/mcp"), "/moved".to_owned(), OAUTH.to_owned()]);
    assert!(error.unwrap().contains("redirect"), "the reason is named");
    assert_eq!(other.requests().len(), 0);
}

#[tokio::test]
async fn the_header_of_the_refusal_names_the_metadata_and_the_permissions() {
    let script = |asked: &Asked| match asked.target.as_str() {
        "/mcp" => {
            let challenge =
                format!("Bearer resource_metadata=\"{}/own?x=1\", scope=\"p q\"", asked.base);
            Some(Answer(401, vec![("www-authenticate", challenge)], String::new()))
        }
        "/own?x=1" => {
            let base = &asked.base;
            let resource = base.clone();
            let document = json!({
                "resource": resource, "authorization_servers": [base], "scopes_supported": ["a"],
            });
            Some(Answer::json(200, &document))
        }
        _ => None,
    };
    let service = Service::start(script).await;
    let user = User::willing();
    let config = service.config(&json!({}));
    service.authorization().sign_in(&config, &user).await.unwrap();
    let lines = service.lines();
    assert_eq!(lines[1..3], ["GET /own?x=1".to_owned(), format!("GET {OAUTH}")]);
    assert_eq!(user.parameter("scope").as_deref(), Some("p q"));
    // The identifier of the metadata is used, also later.
    assert_eq!(user.parameter("resource").as_deref(), Some(service.base.as_str()));
    assert_eq!(service.kept().unwrap().rest["resource"], json!(service.base));
}
