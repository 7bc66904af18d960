use pretty_assertions::assert_eq;

use super::*;

fn select(selected: Option<&str>, pairs: &[(&str, &str)]) -> Option<String> {
    let settings = AuthSettings { selected_type: selected.map(str::to_owned), enforced_type: None };
    let environment = Environment::from_pairs(pairs.iter().copied());
    select_auth_type(&settings, &environment).map(|found| found.as_str().to_owned())
}

/// The setting, the variables, and the expected choice.
type Case<'a> = (Option<&'a str>, &'a [(&'a str, &'a str)], Option<&'a str>);

#[test]
fn order() {
    let key = ("GEMINI_API_KEY", "k");
    let url = ("GOOGLE_GEMINI_BASE_URL", "http://localhost");
    let vertex = ("GOOGLE_GENAI_USE_VERTEXAI", "true");
    let cases: &[Case] = &[
        (None, &[], None),
        (None, &[("GEMINI_API_KEY", "")], None),
        (None, &[key], Some("gemini-api-key")),
        (None, &[key, url], Some("gemini-api-key")),
        (None, &[url], Some("gateway")),
        (None, &[vertex], Some("vertex-ai")),
        (None, &[key, ("GOOGLE_GENAI_USE_VERTEXAI", "1")], Some("gemini-api-key")),
        (None, &[vertex, ("GOOGLE_GENAI_USE_GCA", "true")], Some("oauth-personal")),
        (None, &[("CLOUD_SHELL", "true")], Some("compute-default-credentials")),
        (Some("oauth-personal"), &[], Some("oauth-personal")),
        (Some("cloud-shell"), &[], Some("compute-default-credentials")),
        (Some("new-thing"), &[], Some("new-thing")),
    ];
    for (selected, pairs, expected) in cases {
        assert_eq!(select(*selected, pairs).as_deref(), *expected, "{selected:?} {pairs:?}");
    }
}

#[test]
fn a_key_replaces_a_method_that_lacks_what_it_needs() {
    let key = ("GEMINI_API_KEY", "k");
    let gca = ("GOOGLE_GENAI_USE_GCA", "true");
    let vertex = ("GOOGLE_GENAI_USE_VERTEXAI", "true");
    let (express, token) = (("GOOGLE_API_KEY", "e"), ("GOOGLE_CLOUD_ACCESS_TOKEN", "t"));
    let (project, place) = (("GOOGLE_CLOUD_PROJECT", "p"), ("GOOGLE_CLOUD_LOCATION", "l"));
    let shell = ("CLOUD_SHELL", "true");
    let table: &[(Case, Option<&str>)] = &[
        ((Some("oauth-personal"), &[key], Some("gemini-api-key")), None),
        ((Some("vertex-ai"), &[key], Some("gemini-api-key")), None),
        ((Some("cloud-shell"), &[key], Some("gemini-api-key")), None),
        ((Some("vertex-ai"), &[key, express], Some("vertex-ai")), None),
        ((Some("vertex-ai"), &[key, project], Some("gemini-api-key")), None),
        ((Some("vertex-ai"), &[key, project, place], Some("vertex-ai")), None),
        ((Some("oauth-personal"), &[key, project], Some("oauth-personal")), None),
        ((None, &[key, gca, token], Some("oauth-personal")), None),
        ((Some("cloud-shell"), &[key, shell], Some("compute-default-credentials")), None),
        ((None, &[key, gca], Some("gemini-api-key")), None),
        ((None, &[key, vertex], Some("gemini-api-key")), None),
        ((Some("oauth-personal"), &[("GEMINI_API_KEY", " ")], Some("oauth-personal")), None),
        ((Some("new-thing"), &[key], Some("new-thing")), None),
        ((Some("gateway"), &[key], Some("gateway")), None),
        ((Some("oauth-personal"), &[key], Some("oauth-personal")), Some("oauth-personal")),
        ((Some("oauth-personal"), &[key], Some("oauth-personal")), Some("gemini-api-key")),
    ];
    for ((selected, pairs, expected), enforced) in table {
        let settings = AuthSettings {
            selected_type: selected.map(str::to_owned),
            enforced_type: enforced.map(str::to_owned),
        };
        let environment = Environment::from_pairs(pairs.iter().copied());
        let used = select_auth_type(&settings, &environment);
        let used = used.as_ref().map(AuthType::as_str);
        assert_eq!(used, *expected, "{selected:?} {pairs:?} {enforced:?}");
    }
}
