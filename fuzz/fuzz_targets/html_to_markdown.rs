//! Pages as Markdown: reading any page ends, and the size of the result is limited by the size of
//! the page and the addresses in it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pollux_tools::{MarkdownOptions, html_to_markdown};

/// Maximum growth: a page of one tag may become a few marks and line ends.
const GROWTH: usize = 64;

fuzz_target!(|input: &str| {
    let limit = 1 << 20;
    let text = html_to_markdown(input, &MarkdownOptions { links: None, limit });
    assert!(text.len() <= GROWTH * (input.len() + 1), "{} of {}", text.len(), input.len());
    let links = "https://a.example/b".parse().ok();
    html_to_markdown(input, &MarkdownOptions { links, limit });
});
