//! Conversion of HTML to Markdown that models can read.
//!
//! Pages come from untrusted sources, so this is not a browser: the conversion is one pass over the
//! text, without a tree. Open elements are counted, not nested, so time, memory and stack cannot
//! grow beyond the size of the page. Layout is lost; the text and its order are kept.

mod markdown;
mod tokens;

pub use markdown::{MarkdownOptions, html_to_markdown};
