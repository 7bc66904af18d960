use super::*;

#[test]
fn overlay_never_replaces_what_the_person_set() {
    let base = Environment::from_pairs([("A", "person"), ("EMPTY", "")]);
    let merged = base.overlay([("A", "file"), ("EMPTY", "file"), ("B", "first"), ("B", "second")]);
    assert_eq!(merged.get("A"), Some("person"));
    assert_eq!(merged.get("EMPTY"), Some(""));
    assert_eq!(merged.get("B"), Some("first"));
    assert_eq!(base.get("B"), None, "the original snapshot is untouched");
}

#[test]
fn truth_is_exact() {
    let environment = Environment::from_pairs([("A", "true"), ("B", "1"), ("C", "TRUE")]);
    assert!(environment.is_true("A") && environment.is_enabled("A"));
    assert!(!environment.is_true("B") && environment.is_enabled("B"));
    assert!(!environment.is_true("C") && !environment.is_enabled("C"));
    assert!(!environment.is_true("D"));
}

#[test]
fn debug_output_holds_no_values() {
    let environment = Environment::from_pairs([("GEMINI_API_KEY", "secret-value")]);
    let shown = format!("{environment:?}");
    assert!(shown.contains("GEMINI_API_KEY") && !shown.contains("secret-value"));
}

#[cfg(unix)]
#[test]
fn temporary_directory_follows_node() {
    let cases: [(&[(&str, &str)], &str); 4] = [
        (&[], "/tmp"),
        (&[("TMPDIR", "/var/t/")], "/var/t"),
        (&[("TMP", "/a"), ("TEMP", "/b")], "/a"),
        (&[("TMPDIR", ""), ("TEMP", "/b")], "/b"),
    ];
    for (pairs, expected) in cases {
        let environment = Environment::from_pairs(pairs.iter().copied());
        assert_eq!(environment.temporary_dir(), Path::new(expected));
    }
}

#[test]
fn every_name_is_documented_once() {
    let mut seen = std::collections::BTreeSet::new();
    for variable in names::all() {
        assert!(seen.insert(variable.name), "{} is listed twice", variable.name);
        let effect = variable.effect.trim_end_matches('*');
        assert!(effect.ends_with('.'), "{}: a sentence ends", variable.name);
    }
}

#[cfg(unix)]
#[test]
fn values_that_are_not_unicode_reach_children_as_they_are() {
    use std::os::unix::ffi::OsStringExt as _;

    let raw = OsString::from_vec(b"a\xff".to_vec());
    let environment = Environment {
        raw: Arc::new(BTreeMap::from([("RAW".to_owned(), raw.clone())])),
        ..Environment::from_pairs([("RAW", "a\u{fffd}"), ("PLAIN", "b")])
    };
    let plain = ("PLAIN".into(), "b".into());
    assert_eq!(environment.for_children(), [plain, ("RAW".into(), raw)]);
    let replaced = environment.with("RAW", "c").for_children();
    assert!(replaced.contains(&("RAW".into(), "c".into())), "{replaced:?}");
}
