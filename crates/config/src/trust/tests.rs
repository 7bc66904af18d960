use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn store(rules: &serde_json::Value) -> TrustStore {
    TrustStore::parse(Path::new("/t.json"), &rules.to_string()).unwrap()
}

#[test]
fn the_longest_rule_decides() {
    let store = store(&json!({
        "/no-such/a": "TRUST_FOLDER",
        "/no-such/a/b": "DO_NOT_TRUST",
        "/no-such/a/b/c": "TRUST_FOLDER",
        "/no-such/p/child": "TRUST_PARENT",
    }));
    let cases = [
        ("/no-such/a", Some(true)),
        ("/no-such/a/x/y", Some(true)),
        ("/no-such/ab", None),
        ("/no-such/a/b", Some(false)),
        ("/no-such/a/b/x", Some(false)),
        ("/no-such/a/b/c/d", Some(true)),
        ("/no-such/p/other", Some(true)),
        ("/no-such/p", Some(true)),
        ("/no-such", None),
        ("/", None),
    ];
    for (location, expected) in cases {
        assert_eq!(store.decide(Path::new(location)), expected, "{location}");
    }
}

#[test]
fn a_no_holds_beside_a_longer_path_whose_parent_is_trusted() {
    let store = store(&json!({
        "/no-such/p/a-much-longer-name": "TRUST_PARENT",
        "/no-such/p/a": "DO_NOT_TRUST",
    }));
    assert_eq!(store.decide(Path::new("/no-such/p/a")), Some(false));
    assert_eq!(store.decide(Path::new("/no-such/p/b")), Some(true));
}

#[test]
fn a_new_answer_replaces_every_spelling_of_the_folder() {
    let text = r#"{"/no-such/a/": "DO_NOT_TRUST", "/no-such/b": "DO_NOT_TRUST"}"#;
    let (path, folder) = (Path::new("/t.json"), Path::new("/no-such/a"));
    let text = TrustStore::with_rule(path, text, folder, TrustLevel::TrustFolder).unwrap();
    assert_eq!(TrustStore::parse(path, &text).unwrap().decide(folder), Some(true), "{text}");
    assert!(text.contains(r#""/no-such/b": "DO_NOT_TRUST""#), "{text}");
}

#[test]
fn a_rule_for_the_root_covers_everything() {
    assert_eq!(store(&json!({"/": "TRUST_FOLDER"})).decide(Path::new("/x/y")), Some(true));
}

#[test]
fn rules_that_are_no_absolute_path_cover_nothing() {
    let store = store(&json!({"": "TRUST_FOLDER", "x": "TRUST_PARENT", ".": "TRUST_FOLDER"}));
    assert_eq!(store.decide(Path::new("/no-such/x")), None);
}

#[test]
fn a_folder_that_has_two_rules_gets_the_same_in_both() {
    let text = r#"{"/no-such/a": "DO_NOT_TRUST", /* again */ "/no-such\u002fa": "DO_NOT_TRUST"}"#;
    let (path, folder) = (Path::new("/t.json"), Path::new("/no-such/a"));
    let text = TrustStore::with_rule(path, text, folder, TrustLevel::TrustFolder).unwrap();
    assert_eq!(TrustStore::parse(path, &text).unwrap().decide(folder), Some(true), "{text}");
    assert!(text.contains("/* again */"), "{text}");
}

#[test]
fn every_wrong_level_is_named() {
    let text = r#"{ // comment
        "/a": "TRUST", "/b": 3, "/c": "TRUST_FOLDER" }"#;
    let errors = TrustStore::parse(Path::new("/t.json"), text).unwrap_err();
    let messages: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "Invalid trust level \"TRUST\" for path \"/a\". Possible values are: TRUST_FOLDER, TRUST_PARENT, DO_NOT_TRUST.",
            "Invalid trust level \"3\" for path \"/b\". Possible values are: TRUST_FOLDER, TRUST_PARENT, DO_NOT_TRUST.",
        ]
    );
}

fn resolve(pairs: &[(&str, &str)], skip_trust: bool, enabled: bool, ide: Option<bool>) -> Trust {
    let environment = Environment::from_pairs(pairs.iter().copied());
    let places = Places::new(&environment.with("HOME", "/no-such-home"));
    let cwd = Path::new("/no-such");
    let environment = &environment;
    Trust::resolve(&TrustQuestion { skip_trust, environment, enabled, ide, places: &places, cwd })
        .unwrap()
}

#[test]
fn the_order_of_the_sources() {
    const VARIABLE: &str = "GEMINI_CLI_TRUST_WORKSPACE";
    let cases = [
        (resolve(&[], false, true, None), TrustState::Unknown, TrustSource::Nobody),
        (resolve(&[], false, true, Some(true)), TrustState::Trusted, TrustSource::Ide),
        (resolve(&[], false, true, Some(false)), TrustState::Untrusted, TrustSource::Ide),
        (resolve(&[], false, false, Some(false)), TrustState::Trusted, TrustSource::Disabled),
        (
            resolve(&[(VARIABLE, "false")], false, false, None),
            TrustState::Untrusted,
            TrustSource::Environment,
        ),
        (
            resolve(&[(VARIABLE, "true")], false, true, Some(false)),
            TrustState::Trusted,
            TrustSource::Environment,
        ),
        (resolve(&[(VARIABLE, "1")], false, true, None), TrustState::Unknown, TrustSource::Nobody),
        (resolve(&[(VARIABLE, "false")], true, true, None), TrustState::Trusted, TrustSource::Flag),
    ];
    for (index, (trust, state, source)) in cases.into_iter().enumerate() {
        assert_eq!(trust, Trust { state, source }, "case {index}");
        assert_eq!(trust.is_trusted(), state == TrustState::Trusted);
    }
}

proptest! {
    #[test]
    fn a_name_that_only_starts_alike_is_not_covered(suffix in "[a-z0-9._ -]{1,8}") {
        let store = store(&json!({"/no-such/a": "TRUST_FOLDER"}));
        prop_assert_eq!(store.decide(Path::new(&format!("/no-such/a{suffix}"))), None);
    }

    #[test]
    fn parsing_never_panics(text in ".{0,100}") {
        let _ignored = TrustStore::parse(Path::new("/t"), &text);
    }
}
