use proptest::prelude::*;

use super::*;

#[test]
fn dots_are_removed_by_letters() {
    for (base, path, expected) in [
        ("/w", "a/b", "/w/a/b"),
        ("/w", "./a/../b/.", "/w/b"),
        ("/w", "../../..", "/"),
        ("/w", "/x/./y", "/x/y"),
        ("/w", "", "/w"),
    ] {
        assert_eq!(absolute(Path::new(base), Path::new(path)), Path::new(expected), "{path}");
    }
}

#[test]
fn relative_paths() {
    for (base, path, expected) in [
        ("/w", "/w", "."),
        ("/w", "/w/a/b", "a/b"),
        ("/w/x", "/w/y", "../y"),
        ("/w", "/wide", "../wide"),
        ("/", "/a", "a"),
    ] {
        assert_eq!(relative_path(Path::new(base), Path::new(path)), Path::new(expected), "{path}");
    }
}

#[cfg(unix)]
#[test]
fn short_forms_keep_the_name() {
    assert_eq!(shorten("src/main.rs", 35), "src/main.rs");
    assert_eq!(
        shorten("packages/core/src/tools/very/deep/read-file.ts", 35),
        "packages/.../very/deep/read-file.ts"
    );
    assert_eq!(
        shorten("/home/someone/projects/app/src/index.ts", 35),
        "/home/.../projects/app/src/index.ts"
    );
    let long = format!("{}.txt", "x".repeat(60));
    assert_eq!(shorten(&long, 35).chars().count(), 35);
    assert!(shorten(&long, 35).contains("..."));
}

#[test]
fn percent_escapes() {
    assert_eq!(decode_percent("a%20b%C3%A9").as_deref(), Some("a b\u{e9}"));
    for text in ["plain", "100%", "%zz", "%f", "%ff"] {
        assert_eq!(decode_percent(text), None, "{text}");
    }
}

#[test]
fn a_megabyte_of_folders_takes_no_minutes() {
    let start = std::time::Instant::now();
    let path = Path::new("/").join("a/".repeat(1 << 19));
    assert!(matches!(real_path(&path), Err(Error::InvalidPath(_))));
    // A quadratic algorithm takes minutes.
    assert!(start.elapsed() < std::time::Duration::from_secs(5));
}

#[cfg(unix)]
#[test]
fn real_paths_follow_links_and_tolerate_missing_leaves() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let root = dunce::canonicalize(dir.path()).unwrap();
    fs::create_dir_all(root.join("real/inner")).unwrap();
    symlink("real", root.join("link")).unwrap();
    symlink(root.join("elsewhere/file"), root.join("dangling")).unwrap();
    symlink("../inner/new", root.join("real/inner/up")).unwrap();
    symlink("b", root.join("a")).unwrap();
    symlink("a", root.join("b")).unwrap();
    for (given, expected) in [
        ("link/inner", "real/inner"),
        ("link/missing/deep", "real/missing/deep"),
        ("dangling", "elsewhere/file"),
        ("link/inner/up", "real/inner/new"),
        ("missing", "missing"),
    ] {
        assert_eq!(real_path(&root.join(given)).unwrap(), root.join(expected), "{given}");
    }
    assert!(matches!(real_path(&root.join("a/x")), Err(Error::InvalidPath(_))));

    let mut paths = RealPaths::default();
    for given in [
        "link/inner",
        "link/inner/up",
        "link/inner/up/below",
        "link/missing/deep",
        "link/..",
        "link/../link",
        "dangling",
        "dangling/below",
        "real/inner/up",
        "real/./inner",
        "a",
        "a/x",
        "missing",
        "",
    ] {
        let path = root.join(given);
        // The errors may name different parts of the path.
        assert_eq!(paths.resolve(&path).ok(), real_path(&path).ok(), "{given}");
    }
    for path in ["/", "/..", "relative", ""] {
        let path = Path::new(path);
        assert_eq!(paths.resolve(path).ok(), real_path(path).ok(), "{path:?}");
    }
}

proptest! {
    #[test]
    fn short_forms_never_exceed_the_limit(path in "[a-z/\u{e9}. ]{0,80}", limit in 8_usize..60) {
        let length = shorten(&path, limit).chars().count();
        prop_assert!(length <= limit.max(path.chars().count().min(limit)));
    }

    #[test]
    fn relative_leads_back(path in "(/[a-c.]{1,3}){0,5}", base in "(/[a-c]{1,2}){1,4}") {
        let path = absolute(Path::new("/"), Path::new(&path));
        let relative = relative_path(Path::new(&base), &path);
        prop_assert_eq!(absolute(Path::new(&base), &relative), path);
    }

    #[test]
    fn percent_decoding_never_panics(text in "[%0-9a-g\u{e9}]{0,12}") {
        decode_percent(&text);
    }
}
