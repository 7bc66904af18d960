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
    let paths = [Root::new(root.to_path_buf())];
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
        ("binary", b"foo\n\0\0\0\0foo\n"),
        ("utf16", b"\xFF\xFEf\0o\0o\0\n\0"),
        ("latin", b"foo \xE9\n"),
        ("nul.ts", b"foo = 'a\0b'\n"),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rfoo"),
    ]);
    let all = [
        "a-b:1:foo",
        "a/x.rs:1:let foo = 1;",
        "b.txt:1:Foo",
        "b.txt:3:foo bar",
        "latin:1:foo \u{E9}",
        "nul.ts:1:foo = 'a\0b'",
        "utf16:1:foo",
    ];
    assert_eq!(run(&root, "foo", |_| ()), all);
    assert_eq!(run(&root, "Foo", |request| request.case_sensitive = true), ["b.txt:1:Foo"]);
    assert_eq!(run(&root, "foo", |request| request.hidden = true)[0], ".hidden:1:foo");
    assert_eq!(run(&root, "foo", |request| request.include = Some("*.rs")), [all[1]]);
    assert_eq!(run(&root, "foo", |request| request.include = Some("a/**")), [all[1]]);
    assert_eq!(run(&root, "foo", |request| request.include = Some("!a")).len(), 6);
    assert_eq!(
        run(&root, "foo", |request| request.exclude_pattern = Some("BAR|let")),
        [all[0], all[2], all[4], all[5], all[6]]
    );
    assert_eq!(run(&root, "1;$", |_| ()), [all[1]]);
    assert_eq!(run(&root, "= 1;", |request| request.fixed_strings = true), [all[1]]);
    assert_eq!(
        run(&root, "f(o|x)+", |request| request.names_only = true),
        [all[0], all[1], all[2], all[4], all[5], all[6]]
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

    let paths = [Root::new(root.clone())];
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
    let paths = paths.map(Root::new);
    let mut request = SearchRequest::new("hit", &paths);
    (request.rules, request.exclude) = (Some(&rules), Some(&exclude));
    assert_eq!(flat(&root, &search(&request, NEVER).unwrap()), ["src/x:1:hit"]);
    (request.rules, request.exclude) = (None, None);
    assert_eq!(search(&request, NEVER).unwrap().matches, 4);
}

#[test]
fn bad_patterns_are_errors() {
    let paths = [Root::new(PathBuf::from("/nowhere"))];
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
    let paths = [Root::new(root)];
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
    let paths = [Root::new(root)];
    let mut request = SearchRequest::new("hit", &paths);
    request.max_total = usize::MAX;
    let result = search(&request, NEVER).unwrap();
    assert!(result.truncated && result.matches < 3000 && result.matches > 1000);
}

#[test]
fn binary_files_are_named_only() {
    let (_dir, root) = tree(&[
        ("a.bin", b"\0\0\0\0 foo \xFF"),
        ("b.bin", b"\0\0\0\0 bar \xFF"),
        ("c.txt", b"foo\n"),
        ("d.bin", b"\0\0\0\0 foo not"),
        ("e.txt", b"foo\n"),
        ("f.bin", b"\0\0\0\0 foo"),
    ]);
    let paths = [Root::new(root.clone())];
    let request =
        SearchRequest { exclude_pattern: Some("not"), ..SearchRequest::new("foo", &paths) };
    let result = search(&request, NEVER).unwrap();
    assert_eq!(flat(&root, &result), ["c.txt:1:foo", "e.txt:1:foo"]);
    assert_eq!(result.binary, [root.join("a.bin"), root.join("f.bin")]);
    // What comes after the last match that is reported is not reported either.
    let limited = search(&SearchRequest { max_total: 1, ..request }, NEVER).unwrap();
    assert_eq!((limited.matches, limited.binary), (1, vec![root.join("a.bin")]));
    let named = [Root::new(root.join("a.bin"))];
    let result = search(&SearchRequest::new("foo", &named), NEVER).unwrap();
    assert_eq!(result.binary, [root.join("a.bin")]);
}

#[test]
fn text_is_searched_as_it_is_read() {
    let (_dir, root) = tree(&[
        ("latin", b"caf\xE9"),
        ("utf16", b"\xFE\xFF\0c\0a\0f\0\xE9"),
        ("utf32", b"\xFF\xFE\0\0c\0\0\0a\0\0\0f\0\0\0\xE9\0\0\0"),
        ("utf8", "\u{FEFF}café".as_bytes()),
    ]);
    let all = ["latin:1:café", "utf16:1:café", "utf32:1:café", "utf8:1:café"];
    assert_eq!(run(&root, "^café$", |_| ()), all);
}

#[cfg(unix)]
#[test]
fn links_that_the_include_names_are_followed() {
    use std::os::unix::fs::symlink;
    let (_dir, root) = tree(&[("store/docs/g/a.md", b"foo\n"), ("w/x.md", b"foo\n")]);
    let (_other, outside) = tree(&[("secret.md", b"foo\n")]);
    symlink("store/docs", root.join("docs")).unwrap();
    symlink(".", root.join("w/self")).unwrap();
    symlink(outside, root.join("out")).unwrap();
    let workspace = Workspace::new(root.clone(), root.join("temp"));
    let paths = [Root::new(root.clone())];
    let found = |include| {
        let request = SearchRequest::new("foo", &paths);
        let (include, workspace) = (Some(include), Some(&workspace));
        let request = SearchRequest { include, workspace, ..request };
        flat(&root, &search(&request, NEVER).unwrap())
    };
    assert_eq!(found("docs/**/*.md"), ["docs/g/a.md:1:foo"]);
    assert_eq!(found("/docs/g/*.md"), ["docs/g/a.md:1:foo"]);
    assert_eq!(found("w/self/**"), ["w/self/x.md:1:foo"]);
    assert_eq!(found("*.md"), ["store/docs/g/a.md:1:foo", "w/x.md:1:foo"]);
    assert!(found("out/**").is_empty());
}
