use http::Method;

use super::*;
use crate::catalog;

fn endpoint(id: &str, variables: &[(&str, &str)]) -> Result<Endpoint, ModelError> {
    let environment = Environment::from_pairs(variables.iter().copied());
    let agent = Some(HeaderValue::from_static("Pollux-cli/0"));
    Endpoint::new(catalog::vendor(id).unwrap(), &environment, agent)
}

fn url(endpoint: &Endpoint, path: &str) -> String {
    endpoint.request(Method::POST, path, Vec::new()).url.to_string()
}

#[test]
fn addresses() {
    for (base, model, expected) in [
        ("http://h", "m", "http://h/v1beta/models/m:x"),
        ("http://h/", "m", "http://h/v1beta/models/m:x"),
        ("https://h/a/b/", "m", "https://h/a/b/v1beta/models/m:x"),
        ("http://h", "vendor/m", "http://h/v1beta/models/vendor/m:x"),
        ("http://h", "a?b#c", "http://h/v1beta/models/a%3Fb%23c:x"),
        ("http://h", "../../x", "http://h/v1beta/models/x:x"),
        ("http://h?tenant=1", "m", "http://h/v1beta/models/m:x?tenant=1"),
    ] {
        let endpoint = endpoint("gemini", &[("GOOGLE_GEMINI_BASE_URL", base)]).unwrap();
        assert_eq!(url(&endpoint, &format!("models/{model}:x")), expected);
    }
    let standard = endpoint("gemini", &[("GOOGLE_GENAI_API_VERSION", "v1alpha")]).unwrap();
    let expected = "https://generativelanguage.googleapis.com/v1alpha/models/m:countTokens";
    assert_eq!(url(&standard, "models/m:countTokens"), expected);
}

#[test]
fn a_vendors_variables_are_its_own() {
    let variables = [
        ("OPENAI_BASE_URL", "http://localhost:1/v1/?api-version=2"),
        ("OPENAI_ORG_ID", " org "),
        ("OPENAI_PROJECT_ID", ""),
    ];
    let openai = endpoint("openai", &variables).unwrap();
    assert!(openai.is_loopback());
    let request = openai.request(Method::POST, "chat/completions", Vec::new());
    assert_eq!(request.url.as_str(), "http://localhost:1/v1/chat/completions?api-version=2");
    let names: Vec<&str> = request.headers.keys().map(HeaderName::as_str).collect();
    assert_eq!(names, ["content-type", "user-agent", "openai-organization"]);
    assert_eq!(request.headers["openai-organization"], "org");

    let groq = endpoint("groq", &variables).unwrap();
    assert_eq!(groq.base().as_str(), "https://api.groq.com/openai/v1");
    let request = groq.request(Method::GET, "models", Vec::new());
    assert_eq!(request.headers.get("openai-organization"), None);
    assert!(!groq.is_loopback());
}

#[test]
fn an_address_may_contain_the_version() {
    for (base, expected) in [
        ("http://h", "http://h/v1/messages"),
        ("http://h/", "http://h/v1/messages"),
        ("http://h/v1", "http://h/v1/messages"),
        ("http://h/v1/", "http://h/v1/messages"),
        ("http://h/a/v1?key=1", "http://h/a/v1/messages?key=1"),
        ("http://h/v11", "http://h/v11/v1/messages"),
        ("http://h/av1", "http://h/av1/v1/messages"),
    ] {
        let anthropic = endpoint("anthropic", &[("ANTHROPIC_BASE_URL", base)]).unwrap();
        let request = anthropic.request(Method::POST, "messages", Vec::new());
        assert_eq!(request.url.as_str(), expected);
    }
}

#[test]
fn what_the_person_has_set_wins() {
    let custom = [("GEMINI_CLI_CUSTOM_HEADERS", "X-One: 1, User-Agent: me")];
    let gemini = endpoint("gemini", &custom).unwrap();
    let headers = gemini.request(Method::POST, "x", Vec::new()).headers;
    assert_eq!(
        (&headers["x-one"], &headers["user-agent"]),
        (&"1".parse().unwrap(), &"me".parse().unwrap())
    );
    assert!(headers["x-one"].is_sensitive() && !headers["content-type"].is_sensitive());
}

#[test]
fn an_address_that_is_none_is_named() {
    for (id, variable) in [("gemini", "GOOGLE_GEMINI_BASE_URL"), ("openai", "OPENAI_BASE_URL")] {
        for base in ["nonsense", "ftp://h", "http://", "mailto:a@b"] {
            let error = endpoint(id, &[(variable, base)]).unwrap_err();
            assert_eq!(error.to_string(), format!("Invalid custom base URL: {base}"));
            assert_eq!(error.kind, ModelErrorKind::Config);
        }
    }
}

#[test]
fn custom_headers_split_before_names_only() {
    let headers = parse_headers(
        "X-One: 1, 2 ,X-Two:https://a/?b,c, X-One: 3, bad name: x, Content-Length: 9, :y, junk",
    );
    let mut pairs: Vec<_> =
        headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, [("x-one", "3"), ("x-two", "https://a/?b,c")]);
    assert!(parse_headers("").is_empty());
}
