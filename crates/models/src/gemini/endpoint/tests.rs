use super::*;

fn endpoint(variables: &[(&str, &str)], key: &str) -> Result<Endpoint, ModelError> {
    let environment = Environment::from_pairs(variables.iter().copied());
    let credentials = Credentials { key: key.to_owned() };
    Endpoint::new(&environment, &credentials, "Pollux-cli/0/m (linux; x64; terminal)")
}

fn url(base: &str, model: &str, method: Method) -> String {
    let endpoint = endpoint(&[(names::GOOGLE_GEMINI_BASE_URL, base)], "k").unwrap();
    endpoint.url(model, method).to_string()
}

#[test]
fn addresses() {
    let method = Method::GenerateContent;
    for (base, model, expected) in [
        ("http://h", "m", "http://h/v1beta/models/m:generateContent"),
        ("http://h/", "m", "http://h/v1beta/models/m:generateContent"),
        ("https://h/a/b/", "m", "https://h/a/b/v1beta/models/m:generateContent"),
        ("http://h", "tunedModels/m", "http://h/v1beta/tunedModels/m:generateContent"),
        ("http://h", "vendor/m", "http://h/v1beta/models/vendor/m:generateContent"),
        ("http://h", "a?b#c", "http://h/v1beta/models/a%3Fb%23c:generateContent"),
        ("http://h", "../../x", "http://h/v1beta/models/x:generateContent"),
        ("http://h?tenant=1", "m", "http://h/v1beta/models/m:generateContent?tenant=1"),
    ] {
        assert_eq!(url(base, model, method), expected);
    }
    assert_eq!(
        url("http://h", "m", Method::StreamGenerateContent),
        "http://h/v1beta/models/m:streamGenerateContent?alt=sse"
    );
    let standard = endpoint(&[(names::GOOGLE_GENAI_API_VERSION, "v1alpha")], "k").unwrap();
    assert_eq!(
        standard.url("m", Method::CountTokens).as_str(),
        "https://generativelanguage.googleapis.com/v1alpha/models/m:countTokens"
    );
}

#[test]
fn an_address_that_is_none_is_named() {
    for base in ["nonsense", "ftp://h", "http://", "mailto:a@b"] {
        let error = endpoint(&[(names::GOOGLE_GEMINI_BASE_URL, base)], "k").unwrap_err();
        assert_eq!(error.to_string(), format!("Invalid custom base URL: {base}"));
        assert_eq!(error.kind, ModelErrorKind::Config);
    }
}

#[test]
fn custom_headers_split_before_names_only() {
    let headers = custom_headers(
        "X-One: 1, 2 ,X-Two:https://a/?b,c, X-One: 3, bad name: x, Content-Length: 9, :y, junk",
    );
    let mut pairs: Vec<_> =
        headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, [("x-one", "3"), ("x-two", "https://a/?b,c")]);
    assert!(custom_headers("").is_empty());
}

#[test]
fn keys_travel_in_the_right_headers() {
    let plain = endpoint(&[], "k").unwrap();
    assert_eq!(plain.headers()["x-goog-api-key"], "k");
    assert!(plain.headers()["x-goog-api-key"].is_sensitive());
    assert!(!plain.headers().contains_key("authorization"));

    let bearer = endpoint(&[(names::GEMINI_API_KEY_AUTH_MECHANISM, "bearer")], "k").unwrap();
    assert_eq!(bearer.headers()["authorization"], "Bearer k");
    assert_eq!(bearer.headers()["x-goog-api-key"], "k");

    let gateway = endpoint(&[], "").unwrap();
    assert_eq!(gateway.headers()["x-goog-api-key"], "");

    let custom = [(names::GEMINI_CLI_CUSTOM_HEADERS, "x-goog-api-key: other, User-Agent: me")];
    let custom = endpoint(&custom, "k").unwrap();
    assert_eq!(custom.headers()["x-goog-api-key"], "other");
    assert_eq!(custom.headers()["user-agent"], "me");

    assert_eq!(endpoint(&[], "a\nb").unwrap_err().kind, ModelErrorKind::Auth);
}

#[test]
fn the_user_agent_follows_the_pattern() {
    let text = user_agent("cli", "gemini-2.5-pro", "terminal");
    assert!(text.starts_with("Pollux-cli/"), "{text}");
    assert!(text.contains("/gemini-2.5-pro (") && text.ends_with("; terminal)"), "{text}");
    assert!(HeaderValue::from_str(&user_agent("cli", "mödel\n", "t")).is_ok());
}
