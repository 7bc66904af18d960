//! The ignore rules say what git says.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use pollux_fs::{IgnoreOptions, IgnoreRules, NEVER, WalkOptions, walk};

const IGNORE_FILES: &[(&str, &str)] = &[
    (
        ".gitignore",
        "*.log\n!important.log\n/build\ntmp/\n**/cache/**\ndoc/*.txt\na/**/z\nspace\\ \n\\#hash\n\\!bang\n[Tt]humbs*\n*.{js,ts}\nfoo?bar\n",
    ),
    ("a/.gitignore", "!*.log\n*.md\n!/keep.md\n"),
    ("a/b/.gitignore", "*\n!.gitignore\n!stay\n"),
    ("doc/.gitignore", "/*\n!deep/\n"),
    (".git/info/exclude", "private-*\n"),
];

const FILES: &[&str] = &[
    "x.log",
    "important.log",
    "build",
    "c/build",
    "tmp/x",
    "c/tmp",
    "cache/x",
    "c/cache/y/z",
    "doc/a.txt",
    "doc/deep/a.txt",
    "a/x.log",
    "a/keep.md",
    "a/other.md",
    "a/c/keep.md",
    "a/b/stay",
    "a/b/go",
    "a/q/r/z",
    "a/z",
    "#hash",
    "!bang",
    "Thumbs.db",
    "thumbs",
    "x.js",
    "x.ts",
    "x.{js,ts}",
    "foo1bar",
    "foo/bar",
    "private-x",
    "a/private-y",
    "plain",
    "space ",
    "a/b/c/stay",
];

fn git(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.current_dir(root).args(arguments);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command
}

#[test]
fn the_same_files_as_git_check_ignore() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    if !git(&root, &["init", "-q"]).status().is_ok_and(|status| status.success()) {
        println!("skipped: no git here");
        return;
    }
    for (path, content) in IGNORE_FILES.iter().copied().chain(FILES.iter().map(|file| (*file, "")))
    {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if !path.is_dir() {
            fs::write(path, content).unwrap();
        }
    }
    let mut child = git(&root, &["check-ignore", "--stdin", "-z"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(FILES.join("\0").as_bytes()).unwrap();
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let ignored: Vec<&str> = output.split_terminator('\0').collect();
    assert!(ignored.len() > 10, "git ignored only {ignored:?}");

    let rules = IgnoreRules::new(&root, &IgnoreOptions::default());
    for file in FILES {
        let path = root.join(file);
        assert_eq!(rules.is_ignored(&path, path.is_dir()), ignored.contains(file), "{file}");
    }
    // The walk asks the same engine in another way.
    let options = WalkOptions { rules: Some(&rules), hidden: true, ..WalkOptions::default() };
    let walked = walk(std::slice::from_ref(&root), &options, NEVER);
    for file in FILES.iter().filter(|file| !root.join(file).is_dir()) {
        let seen = walked.entries.iter().any(|entry| entry.path == root.join(file));
        assert_eq!(seen, !ignored.contains(file), "{file}");
    }
}
