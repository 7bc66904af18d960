use pollux_config::environment::names;

use super::*;

#[test]
fn every_file_is_listed_and_reads() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("catalog");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut listed: Vec<String> = ids().map(|id| format!("{id}.json")).collect();
    files.sort();
    listed.sort();
    assert_eq!(files, listed);
    for id in ids() {
        let vendor = vendor(id).unwrap();
        assert_eq!(vendor.id, id);
        let url = url::Url::parse(&vendor.base_url).unwrap();
        assert!(!vendor.base_url.ends_with('/'), "{id}");
        let has_key =
            !vendor.quirks.local && vendor.sign_in != SignIn::CodeAssist && id != VERTEX_ANTHROPIC;
        assert_eq!(has_key, vendor.key_variable.is_some(), "{id}");
        assert!(["gemini", "openai", "anthropic"].contains(&&*vendor.dialect), "{id}");
        assert_eq!(url.scheme(), if vendor.quirks.local { "http" } else { "https" }, "{id}");
    }
}

#[test]
fn every_secret_variable_is_in_the_reference() {
    for variable in all().iter().flat_map(Vendor::secret_variables) {
        assert!(names::all().any(|known| known.name == variable), "{variable}");
    }
}

#[test]
fn the_page_about_models_has_every_vendor() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models.md");
    let page = std::fs::read_to_string(path).unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).collect();
    for vendor in all().iter().filter(|vendor| vendor.key_variable.is_some()) {
        let Vendor { id, name, key_variable, key_page, .. } = vendor;
        let (variable, link) = (key_variable.as_deref().unwrap(), key_page.as_deref().unwrap());
        let texts = [format!("| {name}"), format!("`{id}/NAME`"), format!("`{variable}`")];
        let has_all = |row: &&&str| texts.iter().all(|text| row.contains(text));
        let row = rows.iter().find(has_all).unwrap_or_else(|| panic!("no row for {texts:?}"));
        assert!(row.contains(&format!("({link})")), "{row} has no link to {link}");
    }
}

#[test]
fn names_and_prices_of_the_gemini_api_have_no_vendor() {
    let gemini = vendor(GEMINI).unwrap();
    assert_eq!((gemini.full_name("m").as_str(), gemini.price_list()), ("m", ""));
    assert_eq!(gemini.family, Family::Gemini);
    let groq = vendor("groq").unwrap();
    assert_eq!((groq.full_name("m").as_str(), groq.price_list()), ("groq/m", "groq"));
    assert_eq!(groq.family, Family::Other);
}

#[test]
fn patterns() {
    for (pattern, name, expected) in [
        ("gpt-5*", "gpt-5", true),
        ("gpt-5*", "gpt-5-mini", true),
        ("gpt-5*-chat*", "gpt-5.1-chat-latest", true),
        ("gpt-5*-chat*", "gpt-5-mini", false),
        ("a*", "ba", false),
        ("a", "a", true),
        ("a", "ab", false),
        ("*b", "ab", true),
        ("a*a", "a", false),
        ("*", "", true),
    ] {
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
    }
}

#[test]
fn names_are_split_at_known_vendors_only() {
    assert_eq!(split("openai/gpt-5"), Some(("openai", "gpt-5")));
    let nested = split(" openrouter/anthropic/claude-x ");
    assert_eq!(nested, Some(("openrouter", "anthropic/claude-x")));
    for other in [
        "gpt-5",
        "models/gemini-2.5-pro",
        "gemini/pro",
        "tunedModels/x",
        "openai/",
        "local/x",
        "/x",
    ] {
        assert_eq!(split(other), None, "{other}");
    }
}

#[test]
fn the_first_pattern_counts() {
    let vendor = vendor(OPENAI).unwrap();
    assert_eq!(vendor.facts("gpt-4o-mini").context, Some(128_000));
    assert_eq!(vendor.facts("gpt-4").context, Some(8192));
    assert_eq!(vendor.facts("o3-mini").vision, Some(false));
    assert_eq!(vendor.facts("something"), ModelFacts::default());
    assert!(super::vendor("nobody").unwrap_err().message.contains("openrouter"));
}

#[test]
fn a_mistyped_name_is_corrected() {
    for (id, name, expected) in [
        (GEMINI, "gemini-2.5-por", "Did you mean gemini-2.5-pro? "),
        (GEMINI, "gemini-2.5-pro", ""),
        (GEMINI, "mine", ""),
        ("anthropic", "sonet", "Did you mean anthropic/sonnet? "),
        ("nobody", "x", ""),
    ] {
        assert_eq!(suggestion(id, name), expected, "{id} {name}");
    }
}

#[test]
fn anthropics_models_on_vertex_ai_have_the_properties_that_anthropic_names() {
    let vertex = vendor(VERTEX_ANTHROPIC).unwrap();
    let context = |name: &str| vertex.facts(name).context;
    for name in ["claude-opus-4-5", "claude-opus-4-5@20251101", "claude-haiku-4-5@20251001"] {
        assert_eq!(context(name), Some(200_000), "{name}");
    }
    assert_eq!(context("other"), None);
    assert_eq!(vertex.full_name("claude-opus-4-5"), "vertex/claude-opus-4-5");
}
