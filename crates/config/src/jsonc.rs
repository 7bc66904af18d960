//! JSON with comments, the syntax of settings files.
//!
//! `//` and `/* */` comments are allowed; everything else is strict JSON, so a trailing comma is
//! an error, as it is in Gemini CLI.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use crate::error::{Position, SyntaxError};

#[cfg(test)]
mod tests;

/// Maximum nesting depth of objects and arrays. Real settings files stay far below it; the limit
/// bounds the stack use of recursive functions.
pub const MAX_DEPTH: usize = 128;

/// Message for a file whose root is not an object.
pub(crate) const NOT_AN_OBJECT: &str = "Settings file is not a valid JSON object.";

/// Parses `text`, whose root must be an object. `path` is only used in errors.
///
/// A byte order mark is skipped. Of two equal keys the later is used. Nesting is limited to
/// [`MAX_DEPTH`].
pub fn parse(path: &Path, text: &str) -> Result<Value, SyntaxError> {
    let text = without_mark(text);
    if let Some(name) = other_encoding(text) {
        let message = format!("The file is {name}. Settings files are UTF-8");
        return Err(SyntaxError::whole(path, message));
    }
    let value: Value = jsonc_parser::parse_to_serde_value(text, &strict())
        .map_err(|error| syntax_error(path, &error))?;
    if let Some(offset) = control_character(text) {
        let message = "A string contains a control character that is not escaped".to_owned();
        let position = Some(position(text, offset));
        return Err(SyntaxError { path: path.to_owned(), position, message });
    }
    if !value.is_object() {
        return Err(SyntaxError::whole(path, NOT_AN_OBJECT));
    }
    if deeper_than(&value, MAX_DEPTH) {
        return Err(too_deep(path, None));
    }
    Ok(value)
}

/// Returns the position of a control character in a string. The text has passed the parser, which
/// accepts such characters.
fn control_character(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut in_string) = (0, false);
    while let Some(byte) = bytes.get(at) {
        at += match (in_string, byte) {
            (true, 0..0x20) => return Some(at),
            (true, b'\\') => 2,
            (_, b'"') => {
                in_string = !in_string;
                1
            }
            (false, b'/') if bytes[at..].starts_with(b"//") => {
                text[at..].find('\n').unwrap_or(text.len() - at)
            }
            (false, b'/') if bytes[at..].starts_with(b"/*") => {
                text[at + 2..].find("*/").map_or(text.len() - at, |end| end + 4)
            }
            _ => 1,
        };
    }
    None
}

/// Returns the encoding of a file that is not UTF-8 but was read as UTF-8. The file's byte order
/// mark has become replacement characters; in a file without one, every second byte of the
/// beginning is zero.
fn other_encoding(text: &str) -> Option<&'static str> {
    let start = text.trim_start_matches(char::REPLACEMENT_CHARACTER);
    let mut letters = start.bytes();
    match (letters.next(), letters.next()) {
        (Some(0), Some(letter)) if letter != 0 => Some("UTF-16 (big endian)"),
        (Some(letter), Some(0)) if letter != 0 => Some("UTF-16 (little endian)"),
        _ => None,
    }
}

/// Returns the text without a byte order mark.
pub(crate) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Parses a text without byte order mark into nodes with positions. Returns `None` if the text
/// contains no value.
pub(crate) fn nodes<'t>(path: &Path, text: &'t str) -> Result<Option<Node<'t>>, SyntaxError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &strict());
    parsed.map(|parsed| parsed.value).map_err(|error| syntax_error(path, &error))
}

/// Returns the position of the byte at `offset`.
pub(crate) fn position(text: &str, offset: usize) -> Position {
    let before = &text[..offset];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    Position { line: before.matches('\n').count() + 1, column: before[line..].chars().count() + 1 }
}

/// Positions of the keys in a settings file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyPlaces {
    /// Dotted keys, including those of groups. Of a repeated key the last position, which takes
    /// effect.
    pub found: BTreeMap<String, Position>,
    /// Keys that are hidden by a later repeat, in the order of the file.
    pub hidden: Vec<(String, Position)>,
}

/// Finds the keys of a settings file. `path` is only used in errors.
///
/// # Errors
/// Fails like [`parse`].
pub fn key_places(path: &Path, text: &str) -> Result<KeyPlaces, SyntaxError> {
    parse(path, text)?;
    let text = without_mark(text);
    let mut search = Search { text, lines: Vec::new(), places: KeyPlaces::default() };
    search.lines.extend(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)));
    if let Some(Node::Object(root)) = nodes(path, text)? {
        search.look_in(&root, "");
    }
    Ok(search.places)
}

struct Search<'t> {
    text: &'t str,
    /// Offsets of the starts of lines.
    lines: Vec<usize>,
    places: KeyPlaces,
}

impl Search<'_> {
    fn look_in(&mut self, object: &Object<'_>, prefix: &str) {
        let mut last = HashMap::new();
        for (index, property) in object.properties.iter().enumerate() {
            last.insert(property.name.as_str(), index);
        }
        for (index, property) in object.properties.iter().enumerate() {
            let name = property.name.as_str();
            let key = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
            let position = self.position(property.start());
            if last.get(name) != Some(&index) {
                self.places.hidden.push((key, position));
                continue;
            }
            if let Node::Object(below) = &property.value {
                self.look_in(below, &key);
            }
            self.places.found.insert(key, position);
        }
    }

    fn position(&self, offset: usize) -> Position {
        let line = self.lines.partition_point(|start| *start <= offset);
        let start = self.lines[line.saturating_sub(1)];
        Position { line, column: self.text[start..offset].chars().count() + 1 }
    }
}

/// Returns the parser options for JSON with comments and no other extensions.
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

/// Converts a parser error, with its position.
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
