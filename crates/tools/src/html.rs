//! HTML as Markdown, for a model to read.
//!
//! Pages come from anybody, so this is no browser: one pass over the text, without a tree. What is open is counted,
//! not nested, so neither time nor memory nor the stack can be made to grow beyond the size of the page. Layout is
//! lost, words and their order are not.

mod markdown;
mod tokens;

pub use markdown::{MarkdownOptions, html_to_markdown};
