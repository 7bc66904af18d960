use std::fs;

use super::*;

struct Tree {
    _dir: tempfile::TempDir,
    root: PathBuf,
}

/// Creates files with content; a name that ends in `/` is a folder.
fn tree(files: &[(&str, &str)]) -> Tree {
    let dir = tempfile::tempdir().unwrap();
    let root = dunce::canonicalize(dir.path()).unwrap();
    for (path, content) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if content.is_empty() && path.to_string_lossy().ends_with('/') {
            fs::create_dir_all(&path).unwrap();
        } else {
            fs::write(&path, content).unwrap();
        }
    }
    Tree { _dir: dir, root }
}

fn options(git: bool, gemini: bool, custom: &[&str]) -> IgnoreOptions {
    IgnoreOptions { git, gemini, custom_files: custom.iter().map(PathBuf::from).collect() }
}

#[track_caller]
fn assert_ignored(rules: &IgnoreRules, root: &Path, cases: &[(&str, bool)]) {
    for (path, expected) in cases {
        let directory = path.ends_with('/');
        let path = path.trim_end_matches('/');
        assert_eq!(rules.is_ignored(&root.join(path), directory), *expected, "{path}");
    }
}

#[test]
fn git_files_count_from_the_repository_down() {
    let tree = tree(&[
        (".git/info/exclude", "private\n"),
        (".gitignore", "*.log\n/top\ntarget/\n# comment\n\n"),
        ("a/.gitignore", "!keep.log\n/only-here\n"),
        ("a/b/x", ""),
    ]);
    let rules = IgnoreRules::new(&tree.root, &IgnoreOptions::default());
    assert_ignored(
        &rules,
        &tree.root,
        &[
            ("x.log", true),
            ("a/b/x.log", true),
            ("a/keep.log", false),
            ("a/b/keep.log", false),
            ("b/keep.log", true),
            ("top", true),
            ("a/top", false),
            ("a/only-here", true),
            ("a/b/only-here", false),
            ("target/", true),
            ("target", false),
            ("target/deep/file", true),
            ("private", true),
            ("a/private", true),
            (".git/", true),
            (".git/config", true),
            ("", false),
            ("src/main.rs", false),
        ],
    );
    assert!(!rules.is_ignored(Path::new("/elsewhere/x.log"), false));
}

#[test]
fn without_a_repository_only_geminis_file_counts() {
    let tree =
        tree(&[(".gitignore", "a\n"), (".geminiignore", "  b  \n"), ("sub/.geminiignore", "c\n")]);
    let rules = IgnoreRules::new(&tree.root, &IgnoreOptions::default());
    assert_ignored(
        &rules,
        &tree.root,
        &[("a", false), ("b", true), ("sub/b", true), ("sub/c", false)],
    );
}

#[test]
fn a_root_inside_a_repository_obeys_the_files_above() {
    let tree = tree(&[
        (".git/info/exclude", "/crates/x/secret\n"),
        (".gitignore", "*.log\n/crates/x/gen\n"),
        ("crates/.gitignore", "!x/a.log\n"),
        ("crates/x/src/", ""),
    ]);
    let root = tree.root.join("crates/x");
    let rules = IgnoreRules::new(&root, &IgnoreOptions::default());
    assert_ignored(
        &rules,
        &root,
        &[("b.log", true), ("a.log", false), ("gen", true), ("secret", true), ("src/", false)],
    );
}

#[test]
fn later_files_win_and_ignored_folders_stay_closed() {
    let tree = tree(&[
        (".git/HEAD", ""),
        (".gitignore", "*.env\nclosed/\n*.tmp\n"),
        (".geminiignore", "!*.env\n!closed/inside\nsecret\n"),
        ("first", "!secret\nboth\n"),
        ("second", "!both\n*.tmp\n"),
    ]);
    let rules = IgnoreRules::new(&tree.root, &options(true, true, &["first", "second"]));
    assert_ignored(
        &rules,
        &tree.root,
        &[
            ("x.env", false),
            ("closed/inside", true),
            ("secret", false),
            ("both", true),
            ("a.tmp", true),
        ],
    );
}

#[test]
fn separate_filters_add_up() {
    let tree = tree(&[
        (".git/HEAD", ""),
        (".gitignore", "a\n"),
        (".geminiignore", "!a\nb\n"),
        ("custom", "!a\nc\n"),
    ]);
    let check = |git, gemini, cases: &[(&str, bool)]| {
        let rules = IgnoreRules::new(&tree.root, &options(git, gemini, &["custom"]));
        assert_ignored(&rules, &tree.root, cases);
    };
    check(true, true, &[("a", false), ("b", true), ("c", true)]);
    check(true, false, &[("a", true), ("b", false), ("c", true)]);
    check(false, true, &[("a", false), ("b", true), ("c", true)]);
    check(false, false, &[("a", false), ("b", false), ("c", true), (".git/", true)]);
}

#[test]
fn work_trees_use_the_exclude_file_of_the_main_one() {
    let tree = tree(&[
        ("main/.git/info/exclude", "private\n"),
        ("main/.git/worktrees/w/commondir", "../..\n"),
        ("w/.git", "gitdir: ../main/.git/worktrees/w\n"),
        ("w/.gitignore", "*.log\n"),
    ]);
    let root = tree.root.join("w");
    let rules = IgnoreRules::new(&root, &IgnoreOptions::default());
    assert_ignored(&rules, &root, &[("private", true), ("x.log", true), ("x", false)]);
}

#[test]
fn several_roots_each_have_their_files() {
    let tree = tree(&[("one/.geminiignore", "x\n"), ("two/.geminiignore", "y\n")]);
    let (one, two) = (tree.root.join("one"), tree.root.join("two"));
    let rules = IgnoreRules::for_roots([one.as_path(), two.as_path()], &IgnoreOptions::default());
    assert!(rules.is_ignored(&one.join("x"), false) && !rules.is_ignored(&one.join("y"), false));
    assert!(rules.is_ignored(&two.join("y"), false) && !rules.is_ignored(&two.join("x"), false));
}

#[cfg(unix)]
#[test]
fn a_link_is_ignored_with_its_target() {
    use std::os::unix::fs::symlink;
    let tree = tree(&[(".geminiignore", "secret\nbad-link\n"), ("secret", "s"), ("open", "o")]);
    symlink("secret", tree.root.join("innocent")).unwrap();
    symlink("open", tree.root.join("bad-link")).unwrap();
    symlink("open", tree.root.join("good-link")).unwrap();
    let rules = IgnoreRules::new(&tree.root, &IgnoreOptions::default());
    assert_ignored(
        &rules,
        &tree.root,
        &[("innocent", true), ("bad-link", true), ("good-link", false)],
    );
}

#[test]
fn bad_patterns_cost_only_themselves() {
    let tree = tree(&[(".geminiignore", "a[\n{{{\nb\n\u{0}\n[z-a]\nc\n")]);
    let rules = IgnoreRules::new(&tree.root, &IgnoreOptions::default());
    assert_ignored(&rules, &tree.root, &[("b", true), ("c", true), ("d", false)]);
}
