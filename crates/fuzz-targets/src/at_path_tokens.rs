//! `@path` tokens of a prompt: each range is correct, the tokens are in order, and no token is
//! empty.

// The tokenizer is part of a crate that does not export it, so its file is included directly.
#[path = "../../host/src/references/at_path.rs"]
mod at_path;

pub(crate) fn run(text: &str) {
    let mut end = 0;
    for token in at_path::tokens(text) {
        assert!(token.range.start >= end && token.range.end > token.range.start);
        end = token.range.end;
        for shorter in token.shorter(text) {
            assert_eq!(shorter.range.start, token.range.start);
            assert!(shorter.range.end < token.range.end && !shorter.path.is_empty());
        }
        assert!(text[token.range].starts_with('@'));
        assert!(!token.path.is_empty());
    }
}
