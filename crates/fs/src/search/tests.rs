use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::rules::IgnoreOptions;
use crate::walk::NEVER;

fn tree(files: &[(&str, &[u8])]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dunce::canonicalize(dir.path()).unwrap();
    for (path, content) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    (dir, root)
}

/// Formats matches as `path:number:text`, and context as `path-number-text`.
fn flat(root: &Path, result: &SearchResult) -> Vec<String> {
    let line = |file: &FileMatches, line: &MatchLine| {
        let path = file.path.strip_prefix(root).unwrap().display().to_string();
        let mark = if line.is_match { ':' } else { '-' };
        format!("{path}{mark}{}{mark}{}", line.number, line.text)
    };
    result.files.iter().flat_map(|file| file.lines.iter().map(move |l| line(file, l))).collect()
}

fn run(root: &Path, pattern: &str, set: impl FnOnce(&mut SearchRequest<'_>)) -> Vec<String> {
    let paths = [root.to_path_buf()];
    let mut request = SearchRequest::new(pattern, &paths);
    set(&mut request);
    flat(root, &search(&request, NEVER).unwrap())
}

#[test]
fn finds_lines_in_path_order() {
    let (_dir, root) = tree(&[
        ("b.txt", b"Foo\nbar\nfoo bar"),
        ("a/x.rs", b"let foo = 1;\r\n"),
        ("a-b", b"foo\n"),
        (".hidden", b"foo\n"),
        ("binary", b"foo\n\0foo\n"),
        ("utf16", b"\xFF\xFEf\0o\0o\0\n\0"),
        ("latin", b"foo \xE9\n"),
    ]);
    let all = [
        "a-b:1:foo",
        "a/x.rs:1:let foo = 1;",
        "b.txt:1:Foo",
        "b.txt:3:foo bar",
        "latin:1:foo \u{FFFD}",
        "utf16:1:foo",
    ];
    assert_eq!(run(&root, "foo", |_| ()), all);
    assert_eq!(run(&root, "Foo", |request| request.case_sensitive = true), ["b.txt:1:Foo"]);
    assert_eq!(run(&root, "foo", |request| request.hidden = true)[0], ".hidden:1:foo");
    assert_eq!(run(&root, "foo", |request| request.include = Some("*.rs")), [all[1]]);
    assert_eq!(run(&root, "foo", |request| request.include = Some("a/**")), [all[1]]);
    assert_eq!(run(&root, "foo", |request| request.include = Some("!a")).len(), 5);
    assert_eq!(
        run(&root, "foo", |request| request.exclude_pattern = Some("BAR|let")),
        [all[0], all[2], all[4], all[5]]
    );
    assert_eq!(run(&root, "1;$", |_| ()), [all[1]]);
    assert_eq!(run(&root, "= 1;", |request| request.fixed_strings = true), [all[1]]);
    assert_eq!(
        run(&root, "f(o|x)+", |request| request.names_only = true),
        [all[0], all[1], all[2], all[4], all[5]]
    );
    assert_eq!(run(&root, "f(o", |request| request.fixed_strings = true), [""; 0]);
}

#[test]
fn context_and_limits() {
    let (_dir, root) = tree(&[("a", b"1\nhit 2\n3\n4\n5\nhit 6\nhit 7\n8\n9\n"), ("b", b"hit\n")]);
    let context = |set: &dyn Fn(&mut SearchRequest<'_>)| {
        run(&root.join("a"), "hit", |request| set(request))
            .iter()
            .map(|line| line[1..].to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let with = |before, after, per_file| {
        context(&|request| {
            (request.before, request.after, request.max_per_file) = (before, after, per_file);
        })
    };
    assert_eq!(with(Some(1), Some(1), None), "1-1 2:hit 2 3-3 5-5 6:hit 6 7:hit 7 8-8");
    assert_eq!(with(None, Some(2), Some(1)), "2:hit 2 3-3 4-4");
    assert_eq!(with(None, Some(9), Some(1)), "2:hit 2 3-3 4-4 5-5");
    assert_eq!(with(Some(9), None, Some(2)), "1-1 2:hit 2 3-3 4-4 5-5 6:hit 6");
    assert_eq!(
        context(&|request| (request.context, request.exclude_pattern) = (1, Some("2|7"))),
        "5-5 6:hit 6"
    );
    assert_eq!(
        context(&|request| (request.context, request.exclude_pattern) = (2, Some("[147]"))),
        "2:hit 2 3-3 5-5 6:hit 6 8-8",
        "lines around matches are left out too"
    );

    let paths = [root.clone()];
    let mut request = SearchRequest::new("hit", &paths);
    request.max_total = 3;
    let result = search(&request, NEVER).unwrap();
    assert_eq!((result.matches, result.files.len(), result.truncated), (3, 1, true));
    request.max_total = 4;
    assert!(search(&request, NEVER).unwrap().truncated);
    request.max_total = 5;
    assert!(!search(&request, NEVER).unwrap().truncated);
}

#[test]
fn rules_and_exclusions_apply_to_files_named_too() {
    let (_dir, root) = tree(&[
        (".git/HEAD", b"hit\n"),
        (".gitignore", b"secret\n"),
        ("secret", b"hit\n"),
        ("x.log", b"hit\n"),
        ("dist/x", b"hit\n"),
        ("src/x", b"hit\n"),
    ]);
    let rules = IgnoreRules::new(&root, &IgnoreOptions::default());
    let exclude = Exclusions::for_search().unwrap();
    let paths = [root.clone(), root.join("secret"), root.join("src/x"), root.join("missing")];
    let mut request = SearchRequest::new("hit", &paths);
    (request.rules, request.exclude) = (Some(&rules), Some(&exclude));
    assert_eq!(flat(&root, &search(&request, NEVER).unwrap()), ["src/x:1:hit"]);
    (request.rules, request.exclude) = (None, None);
    assert_eq!(search(&request, NEVER).unwrap().matches, 4);
}

#[test]
fn bad_patterns_are_errors() {
    let paths = [PathBuf::from("/nowhere")];
    for bad in ["(", "a\nb", "(?=x)", "x{99999999}", r"\w{400}"] {
        assert!(
            matches!(search(&SearchRequest::new(bad, &paths), NEVER), Err(Error::Pattern(_))),
            "{bad}"
        );
    }
    let long = "x".repeat(MAX_PATTERN_BYTES + 1);
    for fixed_strings in [false, true] {
        let request = SearchRequest { fixed_strings, ..SearchRequest::new(&long, &paths) };
        let error = search(&request, NEVER).unwrap_err();
        assert_eq!(error.to_string(), "the pattern is too long");
    }
    let exclude = SearchRequest { exclude_pattern: Some(&long), ..SearchRequest::new("x", &paths) };
    assert!(matches!(search(&exclude, NEVER), Err(Error::Pattern(_))));
    let mut request = SearchRequest::new("x", &paths);
    request.include = Some("a[");
    assert!(matches!(search(&request, NEVER), Err(Error::Pattern(_))));
    assert_eq!(search(&SearchRequest::new("x", &paths), NEVER).unwrap(), SearchResult::default());
}

#[test]
fn huge_lines_are_cut_at_a_character() {
    let line = format!("hit {}", "\u{e9}".repeat(MAX_LINE_BYTES));
    let (_dir, root) = tree(&[("a", line.as_bytes())]);
    let text = run(&root, "hit", |_| ()).remove(0);
    assert!(text.len() <= MAX_LINE_BYTES + 4 && text.ends_with('\u{e9}'));
}

#[test]
fn time_limit_and_cancel_are_distinguished() {
    let (_dir, root) = tree(&[("a", b"hit\n")]);
    let paths = [root];
    let mut request = SearchRequest::new("hit", &paths);
    request.time_limit = Some(Duration::ZERO);
    let result = search(&request, NEVER).unwrap();
    assert!(result.timed_out && !result.cancelled);
    request.time_limit = None;
    let result = search(&request, &|| true).unwrap();
    assert!(result.cancelled && !result.timed_out && result.files.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_limit_keeps_the_first_matches(
        limit in 1_usize..40,
        counts in proptest::collection::vec(0_usize..4, 1..40),
    ) {
        let files: Vec<(String, Vec<u8>)> = counts.iter().enumerate()
            .map(|(index, count)| (format!("{index:03}"), b"hit\nmiss\n".repeat(*count))).collect();
        let files = files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
        let files: Vec<(&str, &[u8])> = files.collect();
        let (_dir, root) = tree(&files);
        let all = run(&root, "hit", |request| request.max_total = usize::MAX);
        let some = run(&root, "hit", |request| request.max_total = limit);
        prop_assert_eq!(&some[..], &all[..all.len().min(limit)]);
    }
}

#[test]
fn a_flood_of_context_is_cut_and_reported() {
    let line = format!("hit {}\n", "x".repeat(8000));
    let (_dir, root) = tree(&[("a", line.repeat(3000).as_bytes())]);
    let paths = [root];
    let mut request = SearchRequest::new("hit", &paths);
    request.max_total = usize::MAX;
    let result = search(&request, NEVER).unwrap();
    assert!(result.truncated && result.matches < 3000 && result.matches > 1000);
}
