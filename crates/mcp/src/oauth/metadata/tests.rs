//! Tables of documents and addresses.

use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn resource(document: &Value, server: &str) -> Result<ProtectedResource, String> {
    ProtectedResource::parse(document.to_string().as_bytes(), &url(server))
}

fn server(changes: &Value) -> Result<AuthorizationServer, String> {
    let mut document = json!({
        "issuer": "https://a", "authorization_endpoint": "https://a/authorize?x=1",
        "token_endpoint": "https://a/token",
    });
    document.as_object_mut().unwrap().append(&mut changes.as_object().unwrap().clone());
    AuthorizationServer::parse(document.to_string().as_bytes())
}

#[test]
fn a_resource_must_be_the_server() {
    let server = "https://h/mcp/one?key=1";
    for (named, is_same) in [
        ("https://h/mcp/one", true),
        ("https://h/mcp/one/", true),
        ("HTTPS://H:443/mcp/one", true),
        ("https://h/mcp", true),
        ("https://h", true),
        ("https://h/mcp/on", false),
        ("https://h/mcp/one/two", false),
        ("https://h/other", false),
        ("http://h/mcp/one", false),
        ("https://h:8443/mcp/one", false),
        ("https://other/mcp/one", false),
        ("https://h/mcp/one#x", false),
        ("mcp", false),
    ] {
        let read = resource(&json!({"resource": named}), server);
        assert_eq!(read.is_ok(), is_same, "{named}");
    }
    let error = resource(&json!({"resource": "https://other/\u{202e}"}), server).unwrap_err();
    let expected =
        "Protected resource https://other/\\u{202e} does not match expected https://h/mcp/one";
    assert_eq!(error, expected);
    assert_eq!(resource(&json!({}), server).unwrap_err(), "`resource` is missing");
}

#[test]
fn only_usable_authorization_servers_are_kept() {
    let document = json!({
        "resource": "https://h", "scopes_supported": ["a", 1, "b c", "\u{7}"],
        "authorization_servers": [
            "http://plain", 1, "https://one", "https://me:pw@two", "http://127.0.0.1:1/x",
            "https://three", "https://four",
        ],
    });
    let read = resource(&document, "https://h/mcp").unwrap();
    let servers: Vec<String> = read.servers.into_iter().map(String::from).collect();
    assert_eq!(servers, ["https://one/", "http://127.0.0.1:1/x", "https://three/"]);
    assert_eq!(read.scopes, ["a", "b", "c"]);
}

#[test]
fn endpoints_are_checked() {
    let read = server(&json!({"registration_endpoint": "https://a/register"})).unwrap();
    assert_eq!(read.registration_endpoint, Some(url("https://a/register")));
    assert_eq!((read.client_method, read.names_itself), (NO_SECRET, false));
    for (changes, message) in [
        (json!({"token_endpoint": null}), "`token_endpoint` is missing"),
        (json!({"token_endpoint": "http://a/t"}), "`token_endpoint` is not an https address"),
        (
            json!({"authorization_endpoint": "javascript:alert(1)"}),
            "`authorization_endpoint` is not an https address",
        ),
        (
            json!({"registration_endpoint": "ftp://a"}),
            "`registration_endpoint` is not an https address",
        ),
        (
            json!({"code_challenge_methods_supported": ["plain"]}),
            "the authorization server does not support PKCE with S256",
        ),
    ] {
        assert_eq!(server(&changes).unwrap_err(), message);
    }
    assert!(server(&json!({"code_challenge_methods_supported": ["plain", "S256"]})).is_ok());
    let long = server(&json!({"token_endpoint_auth_methods_supported": "x".repeat(10_000)}));
    assert!(long.unwrap_err().len() < 400, "a text of the server in an error is limited");
    for (methods, expected) in [
        (json!(["none", "client_secret_basic"]), NO_SECRET),
        (json!(["client_secret_basic"]), BASIC_SECRET),
        (json!(["client_secret_basic", "client_secret_post"]), SECRET_IN_FORM),
        (json!(["private_key_jwt"]), NO_SECRET),
    ] {
        let read = server(&json!({"token_endpoint_auth_methods_supported": methods})).unwrap();
        assert_eq!(read.client_method, expected);
    }
}

#[test]
fn addresses_are_tried_in_order() {
    let texts = |urls: Vec<Url>| urls.into_iter().map(String::from).collect::<Vec<_>>();
    assert_eq!(
        texts(resource_addresses(&url("https://h/a/mcp?x#y"))),
        [
            "https://h/.well-known/oauth-protected-resource/a/mcp",
            "https://h/.well-known/oauth-protected-resource",
        ]
    );
    let root = texts(resource_addresses(&url("https://h:8443")));
    assert_eq!(root, ["https://h:8443/.well-known/oauth-protected-resource"]);
    let addresses = |issuer: &str| {
        let pairs = server_addresses(&url(issuer)).into_iter();
        pairs.map(|(address, issuer)| format!("{address} {issuer}")).collect::<Vec<_>>()
    };
    assert_eq!(
        addresses("https://a/t/"),
        [
            "https://a/.well-known/oauth-authorization-server/t https://a/t/",
            "https://a/.well-known/openid-configuration/t https://a/t/",
            "https://a/t/.well-known/openid-configuration https://a/t/",
            "https://a/.well-known/oauth-authorization-server https://a/",
            "https://a/.well-known/openid-configuration https://a/",
        ]
    );
    assert_eq!(addresses("https://a").len(), 2);
    assert!(is_same_issuer("https://a/t", &url("https://a/t/")));
    assert!(is_same_issuer("https://a", &url("https://a")));
    assert!(!is_same_issuer("https://a/t/x", &url("https://a/t")));
    assert!(!is_same_issuer("", &url("https://a")));
}

#[test]
fn the_identifier_of_a_server_has_no_query() {
    for (server, expected) in [
        ("https://h/mcp?x=1#y", "https://h/mcp"),
        ("https://h/mcp/", "https://h/mcp/"),
        ("https://H:443", "https://h"),
        ("https://h/?x", "https://h"),
    ] {
        assert_eq!(identifier(&url(server)), expected);
    }
}
