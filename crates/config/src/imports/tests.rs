use std::collections::BTreeMap;

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

/// Expands `text` in `/p` with an in-memory file system; `/p` is the project.
fn expand_over(files: &[(&str, &str)], text: &str, format: ImportFormat) -> String {
    let files: BTreeMap<&Path, &str> =
        files.iter().map(|(path, text)| (Path::new(*path), *text)).collect();
    let mut read = |path: &Path| {
        if !path.starts_with("/p") {
            return Err(ImportFailure::Outside);
        }
        if path == Path::new("/p/locked.md") {
            return Err(ImportFailure::Unreadable("EACCES: permission denied".into()));
        }
        files.get(path).map(|text| (*text).to_owned()).ok_or(ImportFailure::Missing)
    };
    expand(text, Path::new("/p"), format, &mut read)
}

#[test]
fn tree() {
    let files = [
        ("/p/a.md", "A"),
        ("/p/sub/b.md", "B @../a.md"),
        ("/p/self.md", "S @./self.md"),
        ("/p/x.md", "X @y.md"),
        ("/p/y.md", "Y @x.md"),
    ];
    let cases = [
        ("plain text, me@a.md", "plain text, me@a.md"),
        ("@a.md", "<!-- Imported from: a.md -->\nA\n<!-- End of import from: a.md -->"),
        (
            "1 @./a.md 2",
            "1 <!-- Imported from: ./a.md -->\nA\n<!-- End of import from: ./a.md --> 2",
        ),
        (
            "@sub/b.md",
            "<!-- Imported from: sub/b.md -->\nB <!-- Imported from: ../a.md -->\nA\n\
             <!-- End of import from: ../a.md -->\n<!-- End of import from: sub/b.md -->",
        ),
        (
            "@self.md",
            "<!-- Imported from: self.md -->\nS <!-- File already processed: ./self.md -->\n\
             <!-- End of import from: self.md -->",
        ),
        (
            "@x.md",
            "<!-- Imported from: x.md -->\nX <!-- Imported from: y.md -->\n\
             Y <!-- File already processed: x.md -->\n<!-- End of import from: y.md -->\n\
             <!-- End of import from: x.md -->",
        ),
        ("@/p/a.md", "<!-- Imported from: /p/a.md -->\nA\n<!-- End of import from: /p/a.md -->"),
        ("@../q.md", "<!-- Import failed: ../q.md - Path traversal attempt -->"),
        ("@/etc/passwd", "<!-- Import failed: /etc/passwd - Path traversal attempt -->"),
        ("@https://x/y.md", "<!-- Import failed: https://x/y.md - Path traversal attempt -->"),
        ("@file:///p/a.md", "<!-- Import failed: file:///p/a.md - Path traversal attempt -->"),
        ("@locked.md", "<!-- Import failed: locked.md - EACCES: permission denied -->"),
        ("@no.md", "@no.md"),
        ("Run npx @scope/pkg init, or @Injectable.", "Run npx @scope/pkg init, or @Injectable."),
        ("see \"@a.md\". Then", "see \"@a.md\". Then"),
        (
            "see @a.md. Then",
            "see <!-- Imported from: a.md -->\nA\n<!-- End of import from: a.md -->. Then",
        ),
        ("看 @a.md。", "看 <!-- Imported from: a.md -->\nA\n<!-- End of import from: a.md -->。"),
        ("`@a.md`", "`@a.md`"),
        ("```\n@a.md\n```", "```\n@a.md\n```"),
        ("` @1 @ @-x", "` @1 @ @-x"),
    ];
    for (text, expected) in cases {
        assert_eq!(expand_over(&files, text, ImportFormat::Tree), expected, "{text}");
    }
}

#[test]
fn code_needs_runs_of_the_same_length() {
    let tokens = |text: &str| import_tokens(text).len();
    assert_eq!(tokens("`` ` @a `` @b"), 1);
    assert_eq!(tokens("` @a"), 1);
    assert_eq!(tokens("``` @a ` @b ``` @c `@d`"), 1);
    assert_eq!(tokens("`x` @a `y`"), 1);
    assert_eq!(tokens("é @a ` @b é ` @c"), 2);
}

#[test]
fn five_levels_are_followed() {
    let names: Vec<_> =
        (1..=7).map(|n| (format!("/p/{n}x"), format!("level{n} @./{}x", n + 1))).collect();
    let files: Vec<_> = names.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let text = expand_over(&files, "@./1x", ImportFormat::Tree);
    assert!(text.contains("level5 @./6x"), "the text below level five is not expanded: {text}");
    assert!(!text.contains("level6"));
}

#[test]
fn flat() {
    let files = [("/p/a.md", "A @c.md"), ("/p/b.md", "B"), ("/p/c.md", "C @a.md")];
    assert_eq!(
        expand_over(&files, "root @a.md @b.md @no.md @../q.md @b.md", ImportFormat::Flat),
        "--- File: /p ---\nroot @a.md @b.md @no.md @../q.md @b.md\n--- End of File: /p ---\n\n\
         --- File: /p/b.md ---\nB\n--- End of File: /p/b.md ---\n\n\
         --- File: /p/a.md ---\nA @c.md\n--- End of File: /p/a.md ---\n\n\
         --- File: /p/c.md ---\nC @a.md\n--- End of File: /p/c.md ---"
    );
}

#[test]
fn a_bomb_stays_small() {
    let many = "@a.md @b.md @c.md @d.md @e.md @f.md @g.md @h.md ".repeat(100);
    let files: Vec<_> =
        ["/p/a.md", "/p/b.md", "/p/c.md", "/p/d.md", "/p/e.md", "/p/f.md", "/p/g.md", "/p/h.md"]
            .into_iter()
            .map(|path| (path, many.as_str()))
            .collect();
    for format in [ImportFormat::Tree, ImportFormat::Flat] {
        assert!(expand_over(&files, &many, format).len() < 8 * MAX_TOTAL_BYTES);
    }
}

#[test]
fn backticks_cost_linear_time() {
    let text: String = (1..1500).map(|length| "`".repeat(length) + " @a ").collect();
    assert_eq!(import_tokens(&text).len(), 1499);
}

proptest! {
    #[test]
    fn never_panics(text in "[@`./a\\\\ \né~:]{0,60}") {
        let files = [("/p/a", "@a"), ("/p/a/a", "@../a")];
        for format in [ImportFormat::Tree, ImportFormat::Flat] {
            let _ignored = expand_over(&files, &text, format);
        }
    }

    #[test]
    fn text_without_tokens_is_unchanged(text in "[^@]{0,80}") {
        prop_assert_eq!(expand_over(&[], &text, ImportFormat::Tree), text);
    }
}
