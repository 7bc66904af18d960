//! Comparison of the ignore rules with git, on random trees and ignore files.
//!
//! `POLLUX_IGNORE_TREES` sets the number of trees; `POLLUX_IGNORE_SEED` sets the first seed of the
//! series.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use pollux_fs::{IgnoreOptions, IgnoreRules, NEVER, Root, WalkOptions, list};

/// Number of trees of one run of the test.
const TREES: u64 = 40;

/// Names from which files, folders and patterns are built.
const NAMES: &[&[u8]] = &[
    b"a",
    b"b",
    b"c",
    b"ab",
    b"abc",
    b"A",
    b"AB",
    b"x.log",
    b"y.log",
    b"X.LOG",
    b"a.b.c",
    b".a",
    b"a b",
    b" a",
    b"a ",
    b"a\t",
    b"#a",
    b"!a",
    b"[a]",
    b"a]",
    b"a-c",
    b"^",
    b"*",
    b"a*",
    b"?",
    b"\\",
    b"a\\b",
    b"{a,b}",
    b"build",
    b"1",
    "é".as_bytes(),
    "日本".as_bytes(),
    "É".as_bytes(),
    b"caf\xe9",
    b"~",
    b"a:b",
];

/// Further pieces from which patterns are built.
const PIECES: &[&[u8]] = &[
    b"*",
    b"*",
    b"*",
    b"**",
    b"**",
    b"***",
    b"?",
    b"?",
    b"/",
    b"/",
    b"/",
    b"/**/",
    b"**/",
    b"/**",
    b"*.log",
    b"[ab]",
    b"[!a]",
    b"[^a]",
    b"[a-c]",
    b"[c-a]",
    b"[]a]",
    b"[!]a]",
    b"[a\\]]",
    b"[\\a-\\c]",
    b"[a-",
    b"[",
    b"]",
    b"[[:alpha:]]",
    b"[[:upper:][:digit:]]",
    b"[![:space:]]",
    b"[[:nope:]]",
    b"[[:alpha]",
    b"[[.",
    b"[-a]",
    b"[a-]",
    b"[a/b]",
    b"\\*",
    b"\\?",
    b"\\[",
    b"\\\\",
    b"\\ ",
    b"\\#",
    b"\\!",
    b"\\a",
    b"\\/",
    b"\\",
    b" ",
    b"\t",
    b"#",
    b"!",
    b".",
];

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }

    fn pick<'a>(&mut self, list: &[&'a [u8]]) -> &'a [u8] {
        list[self.below(list.len())]
    }

    fn pattern(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        if self.below(5) == 0 {
            line.push(b'!');
        }
        if self.below(4) == 0 {
            line.push(b'/');
        }
        for _ in 0..=self.below(4) {
            let piece = if self.below(2) == 0 { self.pick(NAMES) } else { self.pick(PIECES) };
            line.extend(piece);
            if self.below(4) == 0 {
                line.push(b'/');
            }
        }
        for (chance, end) in
            [(12, &b" "[..]), (20, b"\\ "), (20, b"  "), (20, b"\\  "), (20, b"\t"), (20, b"\r")]
        {
            if self.below(chance) == 0 {
                line.extend(end);
            }
        }
        line
    }

    fn ignore_file(&mut self) -> Vec<u8> {
        let mut content = if self.below(10) == 0 { b"\xEF\xBB\xBF".to_vec() } else { Vec::new() };
        let count = 1 + self.below(7);
        for number in 0..count {
            content.extend(self.pattern());
            if number + 1 < count || self.below(4) > 0 {
                content.extend(if self.below(6) == 0 { &b"\r\n"[..] } else { b"\n" });
            }
        }
        content
    }
}

/// File or folder of the tree: its path from the root, and true for a folder.
type Entry = (Vec<u8>, bool);

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

fn fill(root: &Path, folder: &[u8], depth: usize, random: &mut Random, entries: &mut Vec<Entry>) {
    let names: BTreeSet<&[u8]> = (0..5 + random.below(6)).map(|_| random.pick(NAMES)).collect();
    for name in names {
        let way = if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() };
        let is_folder = depth < 3 && random.below(3) == 0;
        let path = root.join(path_of(&way));
        entries.push((way.clone(), is_folder));
        if is_folder {
            fs::create_dir(&path).unwrap();
            fill(root, &way, depth + 1, random, entries);
        } else {
            fs::write(&path, "").unwrap();
        }
    }
    if folder.is_empty() || random.below(3) == 0 {
        fs::write(root.join(path_of(folder)).join(".gitignore"), random.ignore_file()).unwrap();
    }
}

fn git(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.current_dir(root).args(arguments);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command.env("XDG_CONFIG_HOME", root.join(".git"));
    command
}

fn init(root: &Path) -> bool {
    git(root, &["init", "-q"]).status().is_ok_and(|status| status.success())
}

/// Returns those of the paths that git ignores.
fn ignored_by_git(root: &Path, entries: &[Entry]) -> BTreeSet<Vec<u8>> {
    let mut child = git(root, &["check-ignore", "--no-index", "--stdin", "-z"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let ways: Vec<u8> = entries.iter().flat_map(|(way, _)| [&way[..], b"\0"].concat()).collect();
    let writer = std::thread::spawn(move || stdin.write_all(&ways));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.code().is_some_and(|code| code < 2), "{output:?}");
    output.stdout.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect()
}

/// Returns the contents of all ignore files of the tree, as help to find the cause of a difference.
fn reported(root: &Path, entries: &[Entry]) -> String {
    let folders = entries.iter().filter(|(_, is_folder)| *is_folder).map(|(way, _)| &way[..]);
    let mut text = String::new();
    for folder in [&b""[..]].into_iter().chain(folders) {
        if let Ok(content) = fs::read(root.join(path_of(folder)).join(".gitignore")) {
            text.extend([
                &folder.escape_ascii().to_string(),
                "/.gitignore: ",
                &content.escape_ascii().to_string(),
                "\n",
            ]);
        }
    }
    let exclude = fs::read(root.join(".git/info/exclude")).unwrap_or_default();
    text + &format!("exclude: {}", exclude.escape_ascii())
}

#[cfg(unix)]
#[test]
fn trees_made_at_random_are_read_as_git_reads_them() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first: u64 = number("POLLUX_IGNORE_SEED").unwrap_or(1);
    let count = number("POLLUX_IGNORE_TREES").unwrap_or(TREES);
    let (mut questions, mut ignored_in_all) = (0, 0);
    for seed in first..first + count {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        if !init(&root) {
            pollux_testkit::cannot_run("git is not installed");
            return;
        }
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut entries = Vec::new();
        fill(&root, b"", 0, &mut random, &mut entries);
        fs::create_dir_all(root.join(".git/info")).unwrap();
        fs::write(root.join(".git/info/exclude"), random.ignore_file()).unwrap();
        if seed % 4 == 0 {
            assert!(git(&root, &["config", "core.ignorecase", "true"]).status().unwrap().success());
        }
        let ignored = ignored_by_git(&root, &entries);
        let rules = IgnoreRules::new(&root, &IgnoreOptions::default());
        for (way, is_folder) in &entries {
            let expected = ignored.contains(way);
            assert_eq!(
                rules.is_ignored(&root.join(path_of(way)), *is_folder),
                expected,
                "seed {seed}, {}{}\n{}",
                way.escape_ascii(),
                if *is_folder { "/" } else { "" },
                reported(&root, &entries)
            );
            questions += 1;
            ignored_in_all += usize::from(expected);
        }
        the_walk_agrees(&root, &rules, &entries, &ignored);
    }
    assert!(ignored_in_all > questions / 20, "only {ignored_in_all} of {questions} are ignored");
    assert!(ignored_in_all < questions * 19 / 20, "{ignored_in_all} of {questions} are ignored");
    println!(
        "{questions} paths of {count} trees, {ignored_in_all} of them ignored: all as git says"
    );
}

/// Checks that a walk, which uses the same engine differently, has the same result.
fn the_walk_agrees(
    root: &Path,
    rules: &IgnoreRules,
    entries: &[Entry],
    ignored: &BTreeSet<Vec<u8>>,
) {
    let options = WalkOptions { rules: Some(rules), hidden: true, ..WalkOptions::default() };
    let seen = Mutex::new(BTreeSet::new());
    let add = |path, _| {
        seen.lock().unwrap().insert(path);
    };
    list(&Root::new(root.to_path_buf()), &options, NEVER, &add);
    let seen = seen.into_inner().unwrap();
    for (way, _) in entries {
        let path = root.join(path_of(way));
        assert_eq!(seen.contains(&path), !ignored.contains(way), "walk, {}", way.escape_ascii());
    }
}

#[test]
fn a_handwritten_tree_is_read_as_git_reads_it() {
    const FILES: &[(&str, &str)] = &[
        (
            ".gitignore",
            "*.log\n!important.log\n/build\ntmp/\n**/cache/**\ndoc/*.txt\na/**/z\nspace\\ \n\\#hash\n\\!bang\n[Tt]humbs*\n*.{js,ts}\nfoo?bar\n",
        ),
        ("a/.gitignore", "!*.log\n*.md\n!/keep.md\n"),
        ("a/b/.gitignore", "*\n!.gitignore\n!stay\n"),
        ("doc/.gitignore", "/*\n!deep/\n"),
        (".git/info/exclude", "private-*\n"),
        ("x.log", ""),
        ("important.log", ""),
        ("build", ""),
        ("c/build", ""),
        ("tmp/x", ""),
        ("c/tmp", ""),
        ("cache/x", ""),
        ("c/cache/y/z", ""),
        ("doc/a.txt", ""),
        ("doc/deep/a.txt", ""),
        ("a/x.log", ""),
        ("a/keep.md", ""),
        ("a/other.md", ""),
        ("a/c/keep.md", ""),
        ("a/b/stay", ""),
        ("a/b/go", ""),
        ("a/q/r/z", ""),
        ("a/z", ""),
        ("#hash", ""),
        ("!bang", ""),
        ("Thumbs.db", ""),
        ("thumbs", ""),
        ("x.js", ""),
        ("x.{js,ts}", ""),
        ("foo1bar", ""),
        ("foo/bar", ""),
        ("private-x", ""),
        ("a/private-y", ""),
        ("plain", ""),
        ("space ", ""),
        ("a/b/c/stay", ""),
    ];
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    if !init(&root) {
        pollux_testkit::cannot_run("git is not installed");
        return;
    }
    for (path, content) in FILES {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let entries: Vec<Entry> = FILES
        .iter()
        .filter(|(path, _)| !path.starts_with(".git/"))
        .map(|(path, _)| (path.as_bytes().to_vec(), false))
        .collect();
    let ignored = ignored_by_git(&root, &entries);
    assert!(ignored.len() > 10, "git ignored only {ignored:?}");
    let rules = IgnoreRules::new(&root, &IgnoreOptions::default());
    for (way, _) in &entries {
        let path = std::str::from_utf8(way).unwrap();
        assert_eq!(rules.is_ignored(&root.join(path), false), ignored.contains(way), "{path}");
    }
}
