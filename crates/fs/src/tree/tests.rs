use std::fs;

use super::*;
use crate::rules::IgnoreOptions;

fn tree(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dunce::canonicalize(dir.path()).unwrap();
    for file in files {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    (dir, root)
}

fn drawn(root: &Path, rules: Option<&IgnoreRules>, max: usize) -> String {
    folder_tree(root, rules, max).replace(&root.display().to_string(), "/p")
}

#[cfg(unix)]
#[test]
fn draws_files_before_folders() {
    let (_dir, root) = tree(&["Cargo.toml", "src/main.rs"]);
    let expected = "Showing up to 200 items (files + folders).\n\n/p/\n├───Cargo.toml\n└───src/\n    └───main.rs\n";
    assert_eq!(drawn(&root, None, 200), expected);
}

#[cfg(unix)]
#[test]
fn ignored_folders_stay_closed_and_ignored_files_away() {
    let (_dir, root) =
        tree(&["a/b/deep", "a/x", "node_modules/m/i.js", "target/out", "z.log", "z"]);
    fs::write(root.join(".geminiignore"), "*.log\ntarget\n").unwrap();
    let rules = IgnoreRules::new(&root, &IgnoreOptions::default());
    let text = drawn(&root, Some(&rules), 200);
    let body = text.split_once("\n\n").unwrap().1;
    assert_eq!(
        body,
        "/p/\n├───.geminiignore\n├───z\n├───a/\n│   ├───x\n│   └───b/\n│       └───deep\n\
         ├───node_modules/...\n└───target/...\n"
    );
}

#[cfg(unix)]
#[test]
fn stops_at_the_limit_breadth_first() {
    let (_dir, root) = tree(&["1", "2", "a/x", "a/y", "b/x", "c/d/e"]);
    for (max, body) in [
        (1, "/p/\n├───1\n└───...\n"),
        (3, "/p/\n├───1\n├───2\n├───a/...\n└───...\n"),
        (6, "/p/\n├───1\n├───2\n├───a/\n│   ├───x\n│   └───...\n├───b/...\n└───c/...\n"),
    ] {
        let text = drawn(&root, None, max);
        assert!(
            text.starts_with(&format!("Showing up to {max} items (files + folders). ")),
            "{text}"
        );
        assert_eq!(text.split_once("\n\n").unwrap().1, body);
    }
}

#[test]
fn only_the_first_names_of_a_crowded_folder_are_kept() {
    let names: Vec<String> = (0..300).map(|index| format!("f{index:03}")).collect();
    let (_dir, root) = tree(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let text = drawn(&root, None, 200);
    assert!(text.contains("f199\n") && !text.contains("f200") && text.ends_with("└───...\n"));
}

#[cfg(unix)]
#[test]
fn names_cannot_draw_lines() {
    let (_dir, root) = tree(&["evil\n├───fake"]);
    assert!(drawn(&root, None, 200).ends_with("└───evil?├───fake\n"));
}

#[test]
fn a_suffix_finds_the_one_file_it_fits() {
    let (_dir, root) = tree(&[
        "pkg/core/src/a.rs",
        "pkg/cli/src/a.rs",
        "pkg/cli/only.rs",
        "node_modules/x/only.rs",
    ]);
    let find = |suffix: &str| find_by_suffix(&Root::new(root.clone()), Path::new(suffix), None, 50);
    assert_eq!(find("only.rs"), [root.join("pkg/cli/only.rs")]);
    assert_eq!(find("core/src/a.rs"), [root.join("pkg/core/src/a.rs")]);
    assert_eq!(find("src/a.rs").len(), 2);
    assert_eq!(find("ore/src/a.rs"), [""; 0].map(PathBuf::from));
    assert_eq!(
        find_by_suffix(&Root::new(root.clone()), Path::new("only.rs"), None, 2),
        [""; 0].map(PathBuf::from)
    );
}

#[test]
fn a_suffix_is_not_looked_for_in_what_is_ignored() {
    let (_dir, root) = tree(&["out/core/a.rs", "pkg/core/a.rs", "pkg/b.log", ".git/core/c"]);
    fs::write(root.join(".geminiignore"), "out\n*.log\n").unwrap();
    let rules = IgnoreRules::new(&root, &IgnoreOptions::default());
    let find = |suffix: &str| {
        find_by_suffix(&Root::new(root.clone()), Path::new(suffix), Some(&rules), 50)
    };
    assert_eq!(find("core/a.rs"), [root.join("pkg/core/a.rs")]);
    assert_eq!(find("b.log"), [""; 0].map(PathBuf::from));
    assert_eq!(find("core/c"), [""; 0].map(PathBuf::from));
}
