use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

#[test]
fn short_names() {
    let cases = [
        ("/x/My Project", "my-project"),
        ("/x/--a__b--", "a-b"),
        ("/x/Grüße", "gr-e"),
        ("/x/日本", "project"),
        ("/", "project"),
        ("/x/app-2", "app-2"),
    ];
    for (root, slug) in cases {
        assert_eq!(registry::slug_of(Path::new(root)), slug, "{root}");
    }
}

#[test]
fn the_hash_is_that_of_the_path() {
    // SHA-256 of the three characters "abc", from FIPS 180-2.
    assert_eq!(
        path_hash("abc"),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
}

#[test]
fn session_ids_cannot_leave_the_directory() {
    let project = ProjectIdentity {
        root: "/r".into(),
        hash: String::new(),
        slug: "r".into(),
        temporary_dir: "/t".into(),
        history_dir: "/h".into(),
        warning: None,
    };
    assert_eq!(project.tool_outputs_dir("../a"), Path::new("/t/tool-outputs/session-___a"));
}

proptest! {
    #[test]
    fn short_names_are_valid(name in "[^/\0]{1,300}") {
        let slug = registry::slug_of(&Path::new("/x").join(name));
        prop_assert!(!slug.is_empty() && slug.len() <= 100);
        prop_assert!(!slug.starts_with('-') && !slug.ends_with('-') && !slug.contains("--"));
        let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        prop_assert!(slug.chars().all(is_allowed));
    }
}
