//! Edits of a settings file's text that keep everything else in it: comments, order, line endings
//! and the byte order mark. Comments are removed only inside a value that is replaced or removed.
//! Pure: takes text, returns text.

use std::ops::Range;
use std::path::Path;

use jsonc_parser::ast::{ObjectProp, Value as Node};
use jsonc_parser::common::Ranged;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, parse_to_ast};
use serde_json::Value;

use crate::error::SyntaxError;
use crate::jsonc;

#[cfg(test)]
mod tests;

/// Initial content of an empty file.
const EMPTY: &str = "{}";

/// White space within a line.
const BLANKS: [char; 2] = [' ', '\t'];

/// Returns the text with `value` at `key`, which has one name per level. Missing objects on the
/// path are created. The text is empty or that of a settings file, and stays unchanged if the key
/// has this value; `path` is only used in errors.
///
/// # Errors
/// Fails if the file is invalid, with line and column, or if a value on the path is not an object.
pub fn set(path: &Path, text: &str, key: &[&str], value: &Value) -> Result<String, SyntaxError> {
    let Some((name, groups)) = key.split_last() else { return Ok(text.to_owned()) };
    let body = jsonc::without_mark(text);
    let mark = &text[..text.len() - body.len()];
    let body = if body.trim().is_empty() { EMPTY } else { body };
    let before = jsonc::parse(path, body)?;
    if key.iter().try_fold(&before, |value, name| value.get(name)) == Some(value) {
        return Ok(text.to_owned());
    }
    let root = CstRootNode::parse(body, &jsonc::strict())
        .map_err(|error| jsonc::syntax_error(path, &error))?;
    let mut object = root.object_value_or_set();
    for (depth, group) in groups.iter().enumerate() {
        let below = match last(&object, group) {
            Some(property) => property.object_value(),
            None => object.append(group, CstInputValue::Object(Vec::new())).object_value(),
        };
        object = below.ok_or_else(|| no_object(path, body, &key[..=depth]))?;
    }
    match last(&object, name) {
        Some(property) => property.set_value(input(value)),
        None => _ = object.append(name, input(value)),
    }
    let changed = root.to_string();
    // If the text is now nested too deeply, it could not be parsed again.
    jsonc::parse(path, &changed)?;
    Ok(format!("{mark}{changed}"))
}

/// Returns the property that takes effect: the last one with this name.
fn last(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    let has_name = |property: &CstObjectProp| property.decoded_name().is_some_and(|it| it == name);
    object.properties().into_iter().rfind(has_name)
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => {
            map.iter().map(|(name, value)| (name.clone(), input(value))).collect::<Vec<_>>().into()
        }
    }
}

fn no_object(path: &Path, text: &str, key: &[&str]) -> SyntaxError {
    let root = jsonc::nodes(path, text).ok().flatten();
    let value = root.as_ref().and_then(|root| node(root, key));
    let kind = match value {
        Some(Node::StringLit(_)) => "string",
        Some(Node::NumberLit(_)) => "number",
        Some(Node::BooleanLit(_)) => "boolean",
        Some(Node::Array(_)) => "array",
        Some(Node::Object(_)) => "object",
        Some(Node::NullKeyword(_)) | None => "null",
    };
    let position = value.map(|value| jsonc::position(text, value.start()));
    let message = format!("{} is no object but of type {kind}", key.join("."));
    SyntaxError { path: path.to_owned(), position, message }
}

/// Returns the value at a key. Of repeated names the last takes effect.
fn node<'n, 't>(root: &'n Node<'t>, key: &[&str]) -> Option<&'n Node<'t>> {
    key.iter().try_fold(root, |value, name| {
        let properties = &value.as_object()?.properties;
        let property = properties.iter().rfind(|property| property.name.as_str() == *name);
        property.map(|property| &property.value)
    })
}

/// Returns the text without `key`, or the unchanged text if the key does not exist. Repeats of the
/// key are removed too, because otherwise they would take effect. Groups that become empty are
/// removed as well, except for groups with comments.
///
/// # Errors
/// Fails if the file is invalid, with line and column.
pub fn unset(path: &Path, text: &str, key: &[&str]) -> Result<String, SyntaxError> {
    let changed = unset_one(path, text, key)?;
    match key.split_last() {
        Some((_, groups)) if !groups.is_empty() && changed != text => {
            if is_blank_group(&changed, groups) {
                unset(path, &changed, groups)
            } else {
                Ok(changed)
            }
        }
        _ => Ok(changed),
    }
}

/// Returns true if the only property at a key is an empty object, without a comment in it or before
/// it.
fn is_blank_group(text: &str, key: &[&str]) -> bool {
    let body = jsonc::without_mark(text);
    let parsed = parse_to_ast(body, &CollectOptions::default(), &jsonc::strict());
    let Some(root) = parsed.ok().and_then(|parsed| parsed.value) else { return false };
    let Some((name, groups)) = key.split_last() else { return false };
    let Some(object) = node(&root, groups).and_then(Node::as_object) else { return false };
    let mut named = object.properties.iter().filter(|property| property.name.as_str() == *name);
    let (Some(property), None) = (named.next(), named.next()) else { return false };
    let Some(group) = property.value.as_object() else { return false };
    let is_blank = |start, end, allowed| {
        body.get(start..end).is_some_and(|between: &str| between.trim() == allowed)
    };
    is_blank(group.start() + 1, group.end() - 1, "")
        && is_blank(property.name.end(), group.start(), ":")
}

/// Returns the text without `key`; groups that become empty stay.
fn unset_one(path: &Path, text: &str, key: &[&str]) -> Result<String, SyntaxError> {
    let body = jsonc::without_mark(text);
    let Some((name, groups)) = key.split_last() else { return Ok(text.to_owned()) };
    if body.trim().is_empty() {
        return Ok(text.to_owned());
    }
    jsonc::parse(path, body)?;
    let options = CollectOptions { tokens: true, ..CollectOptions::default() };
    let parsed = parse_to_ast(body, &options, &jsonc::strict())
        .map_err(|error| jsonc::syntax_error(path, &error))?;
    let group = parsed.value.as_ref().and_then(|root| node(root, groups)?.as_object());
    let Some(group) = group else { return Ok(text.to_owned()) };
    let tokens = parsed.tokens.unwrap_or_default().into_iter();
    let commas = tokens.filter(|token| token.token == Token::Comma).map(|comma| comma.start());
    let mut changed = text[..text.len() - body.len()].to_owned();
    let mut done = 0;
    for cut in cuts(body, &group.properties, &commas.collect::<Vec<_>>(), name) {
        changed.push_str(body.get(done..cut.start).unwrap_or_default());
        done = done.max(cut.end);
    }
    changed.push_str(&body[done..]);
    Ok(changed)
}

/// Returns the ranges whose removal leaves valid JSON without properties called `name`, ordered by
/// their starts. Of these properties it includes the commas, and the lines or blanks that would be
/// left over.
fn cuts(
    text: &str,
    properties: &[ObjectProp<'_>],
    commas: &[usize],
    name: &str,
) -> Vec<Range<usize>> {
    let is_removed = |property: &ObjectProp<'_>| property.name.as_str() == name;
    let last_kept = properties.iter().rposition(|property| !is_removed(property));
    let mut cuts = Vec::new();
    for (index, property) in properties.iter().enumerate() {
        let next = commas.partition_point(|comma| *comma < property.end());
        let comma = commas.get(next).copied().filter(|_| index + 1 < properties.len());
        if is_removed(property) {
            let is_last = last_kept.is_none_or(|kept| index > kept);
            cuts.push(property_cut(text, property, comma, is_last));
        }
        if is_removed(property) || last_kept == Some(index) {
            cuts.extend(comma.map(|comma| comma..comma + 1));
        }
    }
    cuts
}

/// Returns the range of a property and of the blanks that would be left over, with the comma if
/// only blanks precede it. `is_last` means that no property follows that is kept.
fn property_cut(
    text: &str,
    property: &ObjectProp<'_>,
    comma: Option<usize>,
    is_last: bool,
) -> Range<usize> {
    let (start, end) = (property.start(), property.end());
    let comma = comma.filter(|comma| text[end..*comma].trim_matches(BLANKS).is_empty());
    let end = comma.map_or(end, |comma| comma + 1);
    let blanks_start = text[..start].trim_end_matches(BLANKS).len();
    let rest = text[end..].trim_start_matches(BLANKS);
    let begins_line = text[..blanks_start].ends_with('\n');
    match rest.strip_prefix('\n').or_else(|| rest.strip_prefix("\r\n")) {
        Some(next_line) if begins_line => blanks_start..text.len() - next_line.len(),
        _ if is_last && !begins_line => blanks_start..end,
        _ => start..text.len() - rest.len(),
    }
}
