use super::*;

#[test]
fn names_resolve_as_for_a_key_in_gemini_cli_0_61() {
    for (requested, expected) in [
        ("auto", PRO),
        ("", PRO),
        ("pro", PRO),
        ("auto-gemini-3", PRO),
        ("gemini-3-pro-preview", PRO),
        ("models/gemini-3-pro-preview", PRO),
        ("auto-gemini-2.5", "gemini-2.5-pro"),
        ("flash", "gemini-3.8-flash"),
        ("flash-lite", "gemini-3.5-flash-lite"),
        ("gemini-2.5-flash", "gemini-2.5-flash"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("tunedModels/mine", "tunedModels/mine"),
        ("my-model", "my-model"),
    ] {
        assert_eq!(resolve(requested), expected, "{requested}");
        assert_eq!(resolve(expected), expected, "resolving again changes nothing");
    }
}

#[test]
fn the_page_about_models_has_every_abbreviation() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models.md");
    let page = std::fs::read_to_string(path).unwrap();
    for name in ABBREVIATIONS {
        let (name, model) = (format!("`{name}`"), format!("| `{}` |", resolve(name)));
        let is_row = |line: &str| line.starts_with("| `") && line.ends_with(&model);
        assert!(page.lines().any(|line| is_row(line) && line.contains(&name)), "{name} {model}");
    }
}

#[test]
fn only_the_auto_names_leave_the_choice() {
    for name in ["", "auto", "auto-gemini-3", "auto-gemini-2.5"] {
        assert!(is_auto(name), "{name}");
    }
    for name in ["pro", "flash", "gemini-3-pro-preview", "autopilot"] {
        assert!(!is_auto(name), "{name}");
    }
}

#[test]
fn a_name_tells_limits_family_and_signatures() {
    for (name, context, media, family_name, signatures) in [
        ("gemini-2.5-pro", 1_048_576, false, "legacy", true),
        ("gemini-3-flash-preview", 1_048_576, true, "modern", true),
        ("gemini-3.1-pro-preview", 1_048_576, false, "modern", true),
        ("gemma-4-31b-it", 256_000, false, "modern", true),
        ("my-model", 1_048_576, false, "modern", true),
        ("gemini-1.5-pro", 1_048_576, false, "legacy", false),
    ] {
        let expected = ModelLimits {
            context,
            media_in_responses: media,
            web_search: true,
            reads_urls: true,
            rejects_overflow: false,
            fails_when_cut_off: false,
        };
        assert_eq!(limits(name), expected, "{name}");
        assert_eq!(family(name).as_str(), family_name, "{name}");
        assert_eq!(wants_signatures(name), signatures, "{name}");
    }
}

#[test]
fn models_for_other_ends_are_no_first_choice() {
    for (name, expected) in [
        ("gpt-5", true),
        ("text-embedding-3-small", false),
        ("gpt-4o-realtime-preview", false),
        ("llama3.1:8b", true),
        ("nomic-embed-text", false),
    ] {
        assert_eq!(converses(name), expected, "{name}");
    }
}
