//! JSON with comments, as settings files are written.
//!
//! `//` and `/* */` comments are allowed; everything else is strict JSON, so a trailing comma is
//! an error, as it is in Gemini CLI.

use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use serde_json::Value;

use crate::error::{Position, SyntaxError};

#[cfg(test)]
mod tests;

/// How deep objects and arrays may be nested. No real settings file comes near; the bound keeps
/// every later recursive walk within a small stack.
pub const MAX_DEPTH: usize = 128;

/// What a file is told whose root is no object.
const NOT_AN_OBJECT: &str = "Settings file is not a valid JSON object.";

/// Parses `text`, whose root must be an object. `path` only names the file in errors.
///
/// A byte order mark is skipped. Of two equal keys the later wins. Nesting is bounded by
/// [`MAX_DEPTH`].
pub fn parse(path: &Path, text: &str) -> Result<Value, SyntaxError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value: Value = jsonc_parser::parse_to_serde_value(text, &strict())
        .map_err(|error| syntax_error(path, &error))?;
    if !value.is_object() {
        return Err(SyntaxError::whole(path, NOT_AN_OBJECT));
    }
    if deeper_than(&value, MAX_DEPTH) {
        return Err(too_deep(path, None));
    }
    Ok(value)
}

/// The parser options for JSON with comments and nothing else beyond JSON.
pub(crate) fn strict() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Carries a parser error over with its place.
pub(crate) fn syntax_error(path: &Path, error: &ParseError) -> SyntaxError {
    let position = Some(Position { line: error.line_display(), column: error.column_display() });
    if matches!(error.kind(), ParseErrorKind::NestingDepthExceeded) {
        return too_deep(path, position);
    }
    SyntaxError { path: path.to_owned(), position, message: error.kind().to_string() }
}

fn too_deep(path: &Path, position: Option<Position>) -> SyntaxError {
    let message = format!("Objects and arrays are nested deeper than {MAX_DEPTH} levels");
    SyntaxError { path: path.to_owned(), position, message }
}

fn deeper_than(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => {
            levels == 0 || items.iter().any(|item| deeper_than(item, levels - 1))
        }
        Value::Object(map) => levels == 0 || map.values().any(|item| deeper_than(item, levels - 1)),
        _ => false,
    }
}
