use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

/// Returns the text and the path of each token.
fn found(text: &str) -> Vec<(&str, String)> {
    tokens(text).into_iter().map(|token| (&text[token.range], token.path)).collect()
}

#[test]
fn the_grammar() {
    let table: &[(&str, &[(&str, &str)])] = &[
        ("", &[]),
        ("no file here", &[]),
        ("@", &[]),
        ("a @ b", &[]),
        ("@a.txt", &[("@a.txt", "a.txt")]),
        ("see @src/main.rs.", &[("@src/main.rs", "src/main.rs")]),
        ("see @src/main.rs. Then", &[("@src/main.rs", "src/main.rs")]),
        (
            "@a, @b; @c! (@d) [@e] {@f}?",
            &[("@a", "a"), ("@b", "b"), ("@c", "c"), ("@d", "d"), ("@e", "e"), ("@f", "f")],
        ),
        ("@../up/x", &[("@../up/x", "../up/x")]),
        ("@./", &[("@./", "./")]),
        ("@a..", &[("@a.", "a.")]),
        ("@a.\tb", &[("@a", "a")]),
        ("@my\\ file.txt now", &[("@my\\ file.txt", "my file.txt")]),
        ("@app/\\[id\\]/p.tsx", &[("@app/\\[id\\]/p.tsx", "app/[id]/p.tsx")]),
        ("@\"my file.txt\" now", &[("@\"my file.txt\"", "my file.txt")]),
        ("@docs/\"a b\".md", &[("@docs/\"a b\".md", "docs/a b.md")]),
        ("@it\"s", &[("@it\"s", "it\"s")]),
        // No quote closes the one after `a`, so it is part of the name.
        ("\"@a\" b", &[("@a\"", "a\"")]),
        ("@\"\"", &[]),
        ("\\@literal", &[]),
        ("me@example.com", &[("@example.com", "example.com")]),
        ("@a@b", &[("@a@b", "a@b")]),
        ("@@ -1 +1 @@", &[("@@", "@"), ("@@", "@")]),
        ("@end\\", &[("@end\\", "end\\")]),
        ("@line\\\nnext", &[("@line\\", "line\\")]),
        ("@snímek\u{202f}1.png", &[("@snímek\u{202f}1.png", "snímek\u{202f}1.png")]),
        ("@ä\n@ö", &[("@ä", "ä"), ("@ö", "ö")]),
    ];
    for (text, expected) in table {
        let expected: Vec<_> =
            expected.iter().map(|(raw, path)| (*raw, (*path).to_owned())).collect();
        assert_eq!(found(text), expected, "{text:?}");
    }
}

#[test]
fn hostile_texts_take_linear_time() {
    let begun = Instant::now();
    for piece in ["@", "@\"", "\\@", "@a", "@a ", "@.", "\"@"] {
        let text = piece.repeat(1 << 18);
        assert!(tokens(&text).len() <= text.len());
    }
    // A quadratic algorithm takes minutes.
    assert!(begun.elapsed() < Duration::from_secs(10));
}

proptest! {
    #[test]
    fn tokens_are_in_order_and_end_where_the_grammar_says(text in "[@\\\\\"a. ,\n\tä/]{0,40}") {
        let mut end = 0;
        for Token { range, path } in tokens(&text) {
            prop_assert!(range.start >= end && range.len() > 1);
            let raw = &text[range.clone()];
            prop_assert!(raw.starts_with('@'));
            prop_assert!(!text[..range.start].ends_with('\\'));
            prop_assert!(path.len() < raw.len());
            prop_assert!(!raw.ends_with('.') || raw.ends_with("\\.")
                || text[range.end..].starts_with('.')
                || !text[range.end..].starts_with([' ', '\n', '\t']) && range.end < text.len());
            end = range.end;
        }
    }

    #[test]
    fn what_was_escaped_is_read_back(name in "[ -~]{1,20}") {
        let escaped: String = name.chars().flat_map(|character| {
            let plain = character.is_ascii_alphanumeric() || character == '/';
            (!plain).then_some('\\').into_iter().chain([character])
        }).collect();
        let text = format!("read @{escaped} now");
        prop_assume!(cfg!(not(windows)));
        let found = tokens(&text);
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(&found[0].path, &name);
    }
}
