//! Tests of the sample projects and of the snapshots of folders.

use std::fs;

use pollux_testkit::{TestHome, Tree, samples, tree_hash};

#[test]
fn a_git_repository_has_its_ignored_files() {
    let home = TestHome::new();
    samples::git_repo(home.project());
    let tracked = samples::git(home.project(), &["ls-files"]);
    assert_eq!(
        tracked.lines().collect::<Vec<_>>(),
        [
            ".gitignore",
            "README.md",
            "docs/.gitignore",
            "docs/guide.md",
            "docs/keep.log",
            "src/lib.rs"
        ]
    );
    assert_eq!(samples::git(home.project(), &["status", "--porcelain"]), "");
    let ignored = samples::git(home.project(), &["status", "--porcelain", "--ignored"]);
    assert_eq!(
        ignored.lines().collect::<Vec<_>>(),
        ["!! debug.log", "!! docs/drafts/", "!! target/"]
    );
    let again = TestHome::new();
    samples::git_repo(again.project());
    let head = |home: &TestHome| samples::git(home.project(), &["rev-parse", "HEAD"]);
    assert_eq!(head(&home), head(&again), "the same files give the same commit");
}

#[test]
fn a_tree_tells_what_changed() {
    let home = TestHome::new();
    samples::rust_like_project(home.project());
    let (before, hash) = (Tree::of(home.project()), tree_hash(home.project()));
    assert_eq!(tree_hash(home.project()), hash);
    home.project_file("src/lib.rs", "changed").project_file("new/file", "");
    fs::remove_file(home.project().join("README.md")).unwrap();
    let after = Tree::of(home.project());
    assert_eq!(
        after.changes_since(&before),
        ["- README.md", "+ new", "+ new/file", "~ src/lib.rs"]
    );
    assert_ne!(tree_hash(home.project()), hash);
}

#[cfg(unix)]
#[test]
fn the_check_of_the_sample_project_fails_until_it_is_mended() {
    let home = TestHome::new();
    samples::rust_like_project(home.project());
    let check = || pollux_testkit::Pollux::new("/bin/sh").home(&home).args(["check.sh"]).run();
    assert!(check().assert_code(1).stderr_text().contains("FAILED"));
    let mended = home.read_project_file("src/lib.rs").replace("left - right", "left + right");
    home.project_file("src/lib.rs", mended);
    assert_eq!(check().assert_code(0).stdout_text(), "ok\n");
}
