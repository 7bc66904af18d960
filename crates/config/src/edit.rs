//! Edits of a settings file's text that keep everything else in it: comments, order, indentation,
//! line endings and the byte order mark.
//!
//! An edit consists of a few cuts and insertions at positions that the parser returns. Comments are
//! removed only inside a value that is replaced. Pure: takes text, returns text.

use std::path::Path;

use jsonc_parser::ast::{Object, ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;
use serde_json::{Map, Value};

use crate::error::SyntaxError;
use crate::jsonc;

mod layout;
mod remove;
#[cfg(test)]
mod tests;

use layout::Layout;

/// Initial content of an empty file.
const EMPTY: &str = "{}";

/// Returns the text with `value` at `key`, which has one name per level. Missing objects on the
/// path are created. The text is empty or that of a settings file; `path` is only used in errors.
///
/// # Errors
/// Fails if the file is invalid, with line and column, or if a value on the path is not an object.
pub fn set(path: &Path, text: &str, key: &[&str], value: &Value) -> Result<String, SyntaxError> {
    change(path, text, |body| insertion(path, body, key, value))
}

/// Returns the text without `key`, or the unchanged text if the key does not exist. Repeats of the
/// key are removed too, because otherwise they would take effect.
///
/// # Errors
/// Fails if the file is invalid, with line and column.
pub fn unset(path: &Path, text: &str, key: &[&str]) -> Result<String, SyntaxError> {
    if jsonc::without_mark(text).trim().is_empty() {
        return Ok(text.to_owned());
    }
    change(path, text, |body| {
        let root = object(path, body)?;
        let Some((name, groups)) = key.split_last() else { return Ok(Vec::new()) };
        let group =
            groups.iter().try_fold(&root, |object, name| match &last(object, name)?.value {
                Node::Object(below) => Some(below),
                _ => None,
            });
        Ok(group.map(|group| remove::cuts(body, group, name)).unwrap_or_default())
    })
}

/// A cut and its replacement text. An insertion cuts nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Splice {
    start: usize,
    end: usize,
    text: String,
}

impl Splice {
    fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { start: at, end: at, text: text.into() }
    }

    fn cut(start: usize, end: usize) -> Self {
        Self { start, end, text: String::new() }
    }
}

/// Applies splices to the text after the byte order mark, if there is one.
fn change(
    path: &Path,
    text: &str,
    splices: impl FnOnce(&str) -> Result<Vec<Splice>, SyntaxError>,
) -> Result<String, SyntaxError> {
    let (mark, body) = text.split_at(text.len() - jsonc::without_mark(text).len());
    let body = if body.trim().is_empty() { EMPTY } else { body };
    // Checks the root and the nesting depth, which the other parser does not check.
    jsonc::parse(path, body)?;
    let changed = apply(body, splices(body)?);
    // If the text is now nested too deeply, it could not be parsed again.
    jsonc::parse(path, &changed)?;
    Ok(format!("{mark}{changed}"))
}

/// Applies splices. Splices may be adjacent or equal; overlapping splices must only cut.
fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| (splice.start, splice.end));
    let mut changed = String::with_capacity(text.len() + 64);
    let mut done = 0;
    for splice in &splices {
        changed.push_str(text.get(done..splice.start).unwrap_or_default());
        changed.push_str(&splice.text);
        done = done.max(splice.end);
    }
    changed.push_str(text.get(done..).unwrap_or_default());
    changed
}

fn object<'t>(path: &Path, text: &'t str) -> Result<Object<'t>, SyntaxError> {
    match jsonc::nodes(path, text)? {
        Some(Node::Object(object)) => Ok(object),
        _ => Err(SyntaxError::whole(path, jsonc::NOT_AN_OBJECT)),
    }
}

/// Returns the property that takes effect: the last one with this name.
fn last<'o, 't>(object: &'o Object<'t>, name: &str) -> Option<&'o ObjectProp<'t>> {
    object.properties.iter().rev().find(|property| property.name.as_str() == name)
}

fn insertion(
    path: &Path,
    text: &str,
    key: &[&str],
    value: &Value,
) -> Result<Vec<Splice>, SyntaxError> {
    let root = object(path, text)?;
    let layout = Layout::of(text, &root);
    let mut place = Place { object: &root, holder: None };
    for (depth, name) in key.iter().enumerate() {
        let below = &key[depth + 1..];
        let Some(property) = last(place.object, name) else {
            return Ok(place.add(&layout, name, &nested(below, value)));
        };
        if below.is_empty() {
            let range = property.value.range();
            let text = if layout.begins_line(property.start()) {
                layout.spread(value, layout.indentation(property.start()))
            } else {
                Layout::compact(value)
            };
            return Ok(vec![Splice { start: range.start, end: range.end, text }]);
        }
        match &property.value {
            Node::Object(object) => place = Place { object, holder: Some(property.start()) },
            other => return Err(no_object(path, text, &key[..=depth], other)),
        }
    }
    Ok(Vec::new())
}

fn no_object(path: &Path, text: &str, key: &[&str], found: &Node<'_>) -> SyntaxError {
    let kind = match found {
        Node::StringLit(_) => "string",
        Node::NumberLit(_) => "number",
        Node::BooleanLit(_) => "boolean",
        Node::NullKeyword(_) => "null",
        Node::Array(_) => "array",
        Node::Object(_) => "object",
    };
    let message = format!("{} is no object but of type {kind}", key.join("."));
    let position = Some(jsonc::position(text, found.start()));
    SyntaxError { path: path.to_owned(), position, message }
}

/// Returns `value` inside one object per name.
fn nested(names: &[&str], value: &Value) -> Value {
    names.iter().rev().fold(value.clone(), |inner, name| {
        Value::Object(Map::from_iter([((*name).to_owned(), inner)]))
    })
}

/// An object in the file.
struct Place<'o, 't> {
    object: &'o Object<'t>,
    /// Start of the property whose value is this object, or `None` for the root.
    holder: Option<usize>,
}

impl Place<'_, '_> {
    /// Adds a property at the end, in the layout of the existing ones.
    fn add(&self, layout: &Layout<'_>, name: &str, value: &Value) -> Vec<Splice> {
        match self.object.properties.last() {
            Some(last) => add_after(layout, last, self.object.end() - 1, name, value),
            None => self.add_first(layout, name, value),
        }
    }

    fn add_first(&self, layout: &Layout<'_>, name: &str, value: &Value) -> Vec<Splice> {
        let (open, close) = (self.object.start() + 1, self.object.end() - 1);
        let is_blank = layout.text[open..close].trim().is_empty();
        let on_lines = self.holder.is_none_or(|holder| layout.begins_line(holder));
        if !on_lines && is_blank {
            let text = format!("{}: {}", quoted(name), Layout::compact(value));
            return vec![Splice { start: open, end: close, text }];
        }
        let outer = layout.indentation(self.holder.unwrap_or(self.object.start()));
        let inner = format!("{outer}{}", layout.unit);
        let line = layout.line(&inner, name, value);
        if is_blank {
            let text = format!("{line}{}{outer}", layout.line_end);
            return vec![Splice { start: open, end: close, text }];
        }
        // Comments stay in their place; those on the line of the opening brace stay before the new
        // property.
        let at = layout.end_of_remarks(open, close);
        let closing = if layout.text[at..close].contains('\n') {
            String::new()
        } else {
            format!("{}{outer}", layout.line_end)
        };
        vec![Splice::insert(at, format!("{line}{closing}"))]
    }
}

fn add_after(
    layout: &Layout<'_>,
    last: &ObjectProp<'_>,
    close: usize,
    name: &str,
    value: &Value,
) -> Vec<Splice> {
    if !layout.begins_line(last.start()) {
        let text = format!(", {}: {}", quoted(name), Layout::compact(value));
        return vec![Splice::insert(last.end(), text)];
    }
    let indentation = layout.indentation(last.start());
    let at = layout.end_of_remarks(last.end(), close);
    let line = layout.line(indentation, name, value);
    if at == last.end() {
        vec![Splice::insert(at, format!(",{line}"))]
    } else {
        vec![Splice::insert(last.end(), ","), Splice::insert(at, line)]
    }
}

/// Returns a text as a JSON string.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
