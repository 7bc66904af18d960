//! Conversion of HTML to Markdown that models can read.
//!
//! Pages come from untrusted sources, so this is not a browser: the conversion is one pass over the
//! text, without a tree. Open elements are counted, not nested, so time, memory and stack cannot
//! grow beyond the size of the page. Layout is lost; the text and its order are kept.
//!
//! Crates built on `html5ever` cannot promise this. Its tree builder takes quadratic time for
//! nested elements, its tokenizer for many attributes, and `htmd` descends into the tree by
//! recursion: 15 KB of `<div>` overflow the stack of a thread, which ends the process.

mod markdown;
mod tokens;

pub use markdown::{MarkdownOptions, html_to_markdown};
