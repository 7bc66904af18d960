use std::fs;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use super::*;
use crate::rules::IgnoreOptions;

type Entry = (String, EntryKind);

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

fn listed(root: &Path, options: &WalkOptions<'_>, cancel: Cancel<'_>) -> (Vec<Entry>, bool) {
    let entries = Mutex::new(Vec::new());
    let add = |path: PathBuf, kind| {
        let path = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        entries.lock().unwrap().push((path, kind));
    };
    let is_complete = list(&Root::new(root.to_path_buf()), options, cancel, &add);
    let mut entries = entries.into_inner().unwrap();
    entries.sort_by(|left: &Entry, right| left.0.cmp(&right.0));
    (entries, is_complete)
}

fn names(root: &Path, options: &WalkOptions<'_>) -> Vec<String> {
    let (entries, is_complete) = listed(root, options, NEVER);
    assert!(is_complete);
    entries.into_iter().map(|(name, _)| name).collect()
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
    assert!(!listed(&root, &WalkOptions::default(), &cancel).1);
    let options = WalkOptions { time_limit: Some(Duration::ZERO), ..WalkOptions::default() };
    assert_eq!(listed(&root, &options, NEVER), (Vec::new(), false));
}

#[test]
fn missing_roots_are_empty() {
    let found = listed(Path::new("/does/not/exist"), &WalkOptions::default(), NEVER);
    assert_eq!(found, (Vec::new(), true));
}

#[cfg(unix)]
#[test]
fn links_are_entries_and_never_followed() {
    use std::os::unix::fs::symlink;
    let (_dir, root) = sample();
    symlink(&root, root.join("a/loop")).unwrap();
    let (all, _) = listed(&root, &WalkOptions::default(), NEVER);
    assert!(all.contains(&("a/loop".to_owned(), EntryKind::Symlink)));
    assert!(!all.iter().any(|(path, _)| path.ends_with("loop/a")));
}
