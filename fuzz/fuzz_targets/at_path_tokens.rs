//! `@path` tokens of a prompt: each lies where it says, in order, and none is empty.

#![no_main]

use libfuzzer_sys::fuzz_target;

// The tokenizer belongs to the program, which is no library: the file is taken as it is.
#[path = "../../crates/host/src/references/at_path.rs"]
mod at_path;

fuzz_target!(|text: &str| {
    let mut end = 0;
    for token in at_path::tokens(text) {
        assert!(token.range.start >= end && token.range.end > token.range.start);
        end = token.range.end;
        assert!(text[token.range].starts_with('@'));
        assert!(!token.path.is_empty());
    }
});
