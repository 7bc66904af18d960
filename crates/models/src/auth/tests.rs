use super::*;

fn settings(selected: Option<&str>, enforced: Option<&str>) -> AuthSettings {
    AuthSettings {
        selected_type: selected.map(str::to_owned),
        enforced_type: enforced.map(str::to_owned),
    }
}

fn context(settings: AuthSettings, environment: Environment) -> SignInContext {
    let user_settings = "/home/u/.gemini/settings.json".into();
    SignInContext {
        settings,
        environment,
        google_client: None,
        user_settings,
        token_command: None,
        routing: Vec::new(),
    }
}

fn check(settings: &AuthSettings, variables: &[(&str, &str)]) -> Result<String, String> {
    let environment = Environment::from_pairs(variables.iter().copied());
    key(&context(settings.clone(), environment)).map_err(|error| error.to_string())
}

const KEY: (&str, &str) = ("GEMINI_API_KEY", "k");
const GCA: (&str, &str) = ("GOOGLE_GENAI_USE_GCA", "true");
const URL: (&str, &str) = ("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1");

#[test]
fn a_key_works_with_and_without_a_base_url() {
    let none = settings(None, None);
    for variables in [&[KEY][..], &[KEY, URL]] {
        assert_eq!(check(&none, variables).unwrap(), "k");
    }
    assert_eq!(check(&none, &[URL]).unwrap(), "");
    assert_eq!(check(&settings(Some("gemini-api-key"), None), &[KEY, URL]).unwrap(), "k");
    assert_eq!(check(&settings(Some("gateway"), None), &[URL]).unwrap(), "");
    let with_line_end = [("GEMINI_API_KEY", "k\n")];
    assert_eq!(check(&none, &with_line_end).unwrap(), "k");
}

#[test]
fn messages_that_programs_match_are_kept() {
    let none = settings(None, None);
    assert_eq!(
        check(&none, &[]).unwrap_err(),
        "No API key is set. Get one at https://aistudio.google.com/apikey, then run:\n  export GEMINI_API_KEY=KEY\nTo keep it, write the line GEMINI_API_KEY=KEY to /home/u/.gemini/.env\nWithout a key, use a model server on this machine with --model local/NAME. The subcommand demo shows the program at work. The key of another vendor, such as OPENAI_API_KEY, works as well."
    );
    assert_eq!(
        check(&settings(Some("what"), None), &[KEY]).unwrap_err(),
        "Invalid auth method selected."
    );
    assert_eq!(
        check(&settings(None, Some("vertex-ai")), &[]).unwrap_err(),
        "The auth type 'vertex-ai' is enforced, but no authentication is configured."
    );
    assert_eq!(
        check(&settings(None, Some("vertex-ai")), &[KEY]).unwrap_err(),
        "The enforced authentication type is 'vertex-ai', but the current type is 'gemini-api-key'. Please re-authenticate with the correct type."
    );
}

#[test]
fn models_of_the_gemini_api_need_a_key() {
    for selected in ["oauth-personal", "vertex-ai", "compute-default-credentials", "cloud-shell"] {
        let message = check(&settings(Some(selected), None), &[]).unwrap_err();
        assert!(message.contains("GEMINI_API_KEY") && message.contains(KEY_PAGE), "{message}");
        assert_eq!(check(&settings(Some(selected), None), &[KEY]).unwrap(), "k");
        let message = check(&settings(Some(selected), Some(selected)), &[KEY]).unwrap_err();
        assert!(message.contains("GEMINI_API_KEY"), "{message}");
    }
    for (selected, variable) in
        [("gemini-api-key", "GEMINI_API_KEY"), ("gateway", "GOOGLE_GEMINI_BASE_URL")]
    {
        let message = check(&settings(Some(selected), None), &[]).unwrap_err();
        assert!(message.contains(variable), "{message}");
    }
}

/// Returns the headers that sign a request to a vendor, as names and values.
async fn signed(id: &str, variables: &[(&str, &str)]) -> Result<Vec<(String, String)>, ModelError> {
    let environment = Environment::from_pairs(variables.iter().copied());
    let context = context(settings(None, None), environment);
    let authoriser = authoriser(crate::catalog::vendor(id).unwrap(), &context)?;
    assert!(!format!("{authoriser:?}").contains("secret"), "{authoriser:?}");
    let request = pollux_net::HttpRequest::get("http://h/".parse().unwrap());
    let headers = authoriser.authorise(&request).await.unwrap();
    let pair = |(name, value): (&HeaderName, &http::HeaderValue)| {
        (name.to_string(), value.to_str().unwrap().to_owned())
    };
    Ok(headers.iter().map(pair).collect())
}

#[tokio::test]
async fn keys_travel_in_the_right_headers() {
    let gemini = ("GEMINI_API_KEY", "secret");
    let custom = ("GEMINI_CLI_CUSTOM_HEADERS", "x-goog-api-key: other");
    let bearer = ("GEMINI_API_KEY_AUTH_MECHANISM", "bearer");
    let own = ("x-goog-api-key", "secret");
    let token = ("authorization", "Bearer secret");
    for (id, variables, expected) in [
        ("gemini", &[gemini][..], &[own][..]),
        ("gemini", &[gemini, bearer], &[own, token]),
        ("gemini", &[URL, bearer], &[("x-goog-api-key", "")]),
        ("gemini", &[gemini, custom], &[]),
        ("openai", &[("OPENAI_API_KEY", " secret ")], &[token]),
        ("openai", &[("OPENAI_BASE_URL", "http://h/v1")], &[]),
        ("groq", &[("OPENAI_API_KEY", "k"), ("GROQ_API_KEY", "secret")], &[token]),
        ("ollama", &[], &[]),
        ("vertex", &[("GOOGLE_API_KEY", "secret")], &[own]),
        ("code-assist", &[GCA, ("GOOGLE_CLOUD_ACCESS_TOKEN", "secret")], &[token]),
    ] {
        let found = signed(id, variables).await.unwrap();
        let found: Vec<_> = found.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(found, expected, "{id} {variables:?}");
    }
}

#[tokio::test]
async fn what_is_missing_or_wrong_is_named() {
    for (id, variables, variable) in [
        ("groq", &[][..], "GROQ_API_KEY"),
        ("xai", &[("XAI_API_KEY", "a\nb")], "XAI_API_KEY"),
        ("gemini", &[("GEMINI_API_KEY", "a\nb")], "GEMINI_API_KEY"),
        ("vertex", &[], "GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION"),
        ("vertex", &[("GOOGLE_API_KEY", "a\nb")], "GOOGLE_API_KEY"),
        ("code-assist", &[KEY], "GOOGLE_GENAI_USE_GCA"),
    ] {
        let error = signed(id, variables).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Auth);
        assert!(error.message.contains(variable), "{error}");
    }
}

#[test]
fn credentials_are_not_sent_over_the_internet_without_encryption() {
    let key = ("OPENAI_API_KEY", "k");
    let header = ("OPENAI_CUSTOM_HEADERS", "api-key: k");
    let anthropic = ("ANTHROPIC_CUSTOM_HEADERS", "api-key: k");
    for (id, variables, is_allowed) in [
        ("openai", &[key, ("OPENAI_BASE_URL", "http://gateway.example/v1")][..], false),
        ("openai", &[key, ("OPENAI_BASE_URL", "http://8.8.8.8/v1")], false),
        ("openai", &[("OPENAI_BASE_URL", "http://gateway.example/v1")], true),
        ("openai", &[header, ("OPENAI_BASE_URL", "http://gateway.example/v1")], false),
        ("openai", &[header, ("OPENAI_BASE_URL", "https://gateway.example/v1")], true),
        ("openai", &[header, ("OPENAI_BASE_URL", "http://litellm:4000")], true),
        ("anthropic", &[anthropic, ("ANTHROPIC_BASE_URL", "http://gateway.example")], false),
        ("openai", &[key, ("OPENAI_BASE_URL", "http://192.168.1.5:8080/v1")], true),
        ("openai", &[key, ("OPENAI_BASE_URL", "http://litellm:4000")], true),
        ("gemini", &[KEY, ("GOOGLE_GEMINI_BASE_URL", "http://gateway.example")], false),
        ("gemini", &[KEY, ("GOOGLE_GEMINI_BASE_URL", "https://gateway.example")], true),
        ("vertex", &[("GOOGLE_VERTEX_BASE_URL", "http://192.168.1.5")], false),
        ("vertex", &[("GOOGLE_VERTEX_BASE_URL", "http://localhost:1")], true),
        ("code-assist", &[("CODE_ASSIST_ENDPOINT", "http://litellm")], false),
    ] {
        let environment = Environment::from_pairs(variables.iter().copied());
        let vendor = crate::catalog::vendor(id).unwrap();
        let endpoint = Endpoint::new(vendor, &environment, None).unwrap();
        let mut context = context(settings(None, None), environment);
        let checked = check_address(vendor, &endpoint, &context);
        assert_eq!(checked.is_ok(), is_allowed, "{id} {variables:?}");
        // A token is like a key.
        context.token_command = Some("true".to_owned());
        let is_internet =
            endpoint.base().scheme() == "http" && !endpoint.is_private() && !endpoint.is_loopback();
        let checked = check_address(vendor, &endpoint, &context);
        assert!(checked.is_err() || !is_internet, "{id} {variables:?}");
    }
}

#[test]
fn a_service_that_nothing_selects_is_explained() {
    let environment =
        |pairs: &[(&'static str, &'static str)]| Environment::from_pairs(pairs.iter().copied());
    let (gemini, openai) = (("GEMINI_API_KEY", "k"), ("OPENAI_API_KEY", "k"));
    for (pairs, default, expected) in [
        (vec![gemini], "gemini", Some(("gemini-api-key", "GEMINI_API_KEY is set and", true))),
        (
            vec![gemini, openai],
            "gemini",
            Some(("gemini-api-key", "service (also set: OPENAI_API_KEY).", false)),
        ),
        (vec![openai], "openai", Some(("openai", "OpenAI, because OPENAI_API_KEY is set", false))),
        (vec![("GOOGLE_GENAI_USE_VERTEXAI", "true")], "vertex", None),
        (vec![gemini, ("GOOGLE_GENAI_USE_GCA", "true")], "gemini", None),
        (vec![], "gemini", None),
    ] {
        let found =
            report::found_service(&context(settings(None, None), environment(&pairs)), default);
        let shown = found.as_ref().map(|found| (found.id.as_str(), found.is_expected));
        assert_eq!(shown, expected.map(|(id, _, is_expected)| (id, is_expected)), "{pairs:?}");
        let message = found.map(|found| found.message).unwrap_or_default();
        assert!(message.contains(expected.map_or("", |(_, text, _)| text)), "{message}");
    }
    let chosen = settings(Some("gemini-api-key"), None);
    let chosen = context(chosen, environment(&[gemini, openai]));
    assert_eq!(report::found_service(&chosen, "gemini"), None);
}
