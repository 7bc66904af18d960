use std::fs;
use std::sync::atomic::AtomicUsize;

use super::*;
use crate::rules::IgnoreOptions;

fn sample() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dunce::canonicalize(dir.path()).unwrap();
    for file in [
        "b.txt",
        "a/x.rs",
        "a/deep/y.rs",
        "a-b/z",
        ".hidden/h",
        "target/out",
        "node_modules/m/i.js",
        ".git/HEAD",
    ] {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    fs::write(root.join(".gitignore"), "target/\n").unwrap();
    (dir, root)
}

fn names(root: &Path, options: &WalkOptions<'_>) -> Vec<String> {
    let walk = walk(&[Root::new(root.to_path_buf())], options, NEVER);
    assert!(walk.complete);
    let name = |entry: &WalkEntry| entry.path.strip_prefix(root).unwrap().display().to_string();
    walk.entries.iter().map(name).collect()
}

#[test]
fn rules_exclusions_and_hidden_names_are_left_out() {
    let (_dir, root) = sample();
    let rules = IgnoreRules::new(&root, &IgnoreOptions::default());
    let exclude = Exclusions::for_glob().unwrap();
    let mut options =
        WalkOptions { rules: Some(&rules), exclude: Some(&exclude), ..WalkOptions::default() };
    assert_eq!(
        names(&root, &options),
        ["a", "a-b", "a-b/z", "a/deep", "a/deep/y.rs", "a/x.rs", "b.txt"]
    );
    options.hidden = true;
    assert!(names(&root, &options).contains(&".hidden/h".to_owned()));
    assert!(!names(&root, &options).iter().any(|name| name.starts_with(".git/")));
    assert!(names(&root, &WalkOptions::default()).contains(&"target/out".to_owned()));
}

#[test]
fn walking_from_below_the_rules_root_keeps_the_rules() {
    let (_dir, root) = sample();
    fs::write(root.join(".gitignore"), "/a/deep\n").unwrap();
    let rules = IgnoreRules::new(&root, &IgnoreOptions::default());
    let options = WalkOptions { rules: Some(&rules), ..WalkOptions::default() };
    assert_eq!(names(&root.join("a"), &options), ["x.rs"]);
    assert_eq!(names(&root.join("a/deep"), &options), [""; 0]);
}

#[test]
fn cancel_and_time_limit_end_the_walk_with_what_is_there() {
    let (_dir, root) = sample();
    let calls = AtomicUsize::new(0);
    let cancel = || calls.fetch_add(1, Ordering::Relaxed) >= 1;
    let stopped = walk(&[Root::new(root.clone())], &WalkOptions::default(), &cancel);
    assert!(!stopped.complete);
    let options = WalkOptions { time_limit: Some(Duration::ZERO), ..WalkOptions::default() };
    assert_eq!(
        walk(&[Root::new(root)], &options, NEVER),
        Walk { entries: Vec::new(), complete: false }
    );
}

#[test]
fn missing_roots_are_empty() {
    let walk = walk(&[Root::new("/does/not/exist".into())], &WalkOptions::default(), NEVER);
    assert_eq!(walk, Walk { entries: Vec::new(), complete: true });
}

#[cfg(unix)]
#[test]
fn links_are_entries_and_never_followed() {
    use std::os::unix::fs::symlink;
    let (_dir, root) = sample();
    symlink(&root, root.join("a/loop")).unwrap();
    let all = walk(&[Root::new(root.clone())], &WalkOptions::default(), NEVER);
    let link = all.entries.iter().find(|entry| entry.path.ends_with("a/loop")).unwrap();
    assert_eq!(link.kind, EntryKind::Symlink);
    assert!(!all.entries.iter().any(|entry| entry.path.ends_with("loop/a")));
}
