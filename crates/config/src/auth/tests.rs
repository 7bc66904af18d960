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
        (None, &[key, vertex], Some("vertex-ai")),
        (None, &[key, ("GOOGLE_GENAI_USE_VERTEXAI", "1")], Some("gemini-api-key")),
        (None, &[vertex, ("GOOGLE_GENAI_USE_GCA", "true")], Some("oauth-personal")),
        (None, &[("CLOUD_SHELL", "true")], Some("compute-default-credentials")),
        (Some("oauth-personal"), &[key], Some("oauth-personal")),
        (Some("cloud-shell"), &[], Some("compute-default-credentials")),
        (Some("new-thing"), &[], Some("new-thing")),
    ];
    for (selected, pairs, expected) in cases {
        assert_eq!(select(*selected, pairs).as_deref(), *expected, "{selected:?} {pairs:?}");
    }
}
