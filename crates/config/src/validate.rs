//! Check of the values in a settings file against the types of the schema.
//!
//! Wrong values cause a warning, never an error: the file is used unchanged, and readers of a
//! setting use its default instead. Unknown keys are kept and listed.

use std::fmt::Write as _;
use std::path::Path;

use pollux_protocol::spelling;
use serde_json::{Map, Value};

use crate::schema::{self, Branch, Node, ObjectKind, SettingKind, type_name};

#[cfg(test)]
mod tests;

/// Maximum number of problems shown for one file.
const SHOWN: usize = 5;

/// A value of the wrong type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Dotted key, with `[index]` for items of lists.
    pub key: String,
    /// Description of the problem.
    pub message: String,
    /// Expected and actual type, if they add information.
    pub types: Option<(String, String)>,
}

/// Result of checking one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// Values of the wrong type, in the order of the reference.
    pub(crate) issues: Vec<Issue>,
    /// Unknown dotted keys, in the order of the file.
    pub(crate) unknown_keys: Vec<String>,
    /// Unknown keys of objects with known keys, such as hooks, each with the key that the user may
    /// have meant.
    pub(crate) unknown_fields: Vec<(String, Option<&'static str>)>,
}

/// Checks `layer` against the schema. Strings that spell a boolean or a number are converted if the
/// schema requires one, so that `"${FLAG}"` works.
pub(crate) fn check(layer: &mut Value) -> Findings {
    let mut findings = Findings::default();
    if let Value::Object(map) = layer {
        check_group(map, schema::root(), "", &mut findings);
    }
    findings
}

/// Checks and converts one value of the dotted `key`, like a value in a settings file.
pub fn check_value(kind: SettingKind, key: &str, value: &mut Value) -> Vec<Issue> {
    let mut findings = Findings::default();
    check_kind(kind, key, value, &mut findings);
    findings.issues
}

/// Returns the warning for a file in Gemini CLI's layout, or `None` if there are no issues.
pub(crate) fn warning(path: &Path, issues: &[Issue]) -> Option<String> {
    if issues.is_empty() {
        return None;
    }
    let mut text = format!("Invalid configuration in {}:\n\n", path.display());
    for issue in issues.iter().take(SHOWN) {
        // Writing to a string cannot fail.
        let _infallible = writeln!(text, "Error in: {}\n    {}", issue.key, issue.message);
        if let Some((expected, received)) = &issue.types {
            let _infallible = writeln!(text, "Expected: {expected}, but received: {received}");
        }
        text.push('\n');
    }
    if let Some(more) = issues.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let _infallible = writeln!(text, "...and {more} more errors.\n");
    }
    text.push_str("Please fix the configuration.");
    Some(text)
}

fn check_group(
    map: &mut Map<String, Value>,
    branch: &Branch,
    prefix: &str,
    findings: &mut Findings,
) {
    for (name, node) in &branch.children {
        let Some(value) = map.get_mut(*name) else { continue };
        let key = join(prefix, name);
        match (node, value) {
            (Node::Setting(setting), value) => {
                check_kind(setting.kind, &key, value, findings);
            }
            (Node::Group(below), Value::Object(map)) => check_group(map, below, &key, findings),
            (Node::Group(_), value) => {
                // `telemetry: true` is short for an object with `enabled`.
                let is_short = key == "telemetry" && {
                    coerce(SettingKind::Boolean, value);
                    value.is_boolean()
                };
                if !is_short {
                    findings.issues.push(mismatch(&key, "object", value));
                }
            }
        }
    }
    let strange: Vec<_> = map.keys().filter(|name| branch.get(name).is_none()).collect();
    if prefix != "telemetry" {
        findings.unknown_keys.extend(strange.iter().map(|name| join(prefix, name)));
    } else if !strange.is_empty() {
        findings.issues.push(unrecognised(prefix, &strange));
    }
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}

fn check_kind(kind: SettingKind, key: &str, value: &mut Value, findings: &mut Findings) {
    coerce(kind, value);
    match (kind, &mut *value) {
        (SettingKind::Anything, _)
        | (SettingKind::Boolean, Value::Bool(_))
        | (SettingKind::Number, Value::Number(_))
        | (SettingKind::Text, Value::String(_)) => {}
        (SettingKind::Choice(choices), Value::String(text)) => {
            if !choices.contains(&text.as_str()) {
                findings.issues.push(wrong_choice(key, choices, text));
            }
        }
        (SettingKind::List(items), Value::Array(values)) => {
            for (index, value) in values.iter_mut().enumerate() {
                check_kind(*items, &format!("{key}[{index}]"), value, findings);
            }
        }
        (SettingKind::Map(kind), Value::Object(map)) => {
            for (name, value) in map {
                check_kind(*kind, &join(key, name), value, findings);
            }
        }
        (SettingKind::Record(record), Value::Object(map)) => {
            check_record(record, key, map, findings);
        }
        (SettingKind::Either(kinds), value) => check_either(kinds, key, value, findings),
        (SettingKind::Choice(choices), value) => {
            findings.issues.push(mismatch(key, &either_of(choices), value));
        }
        (kind, value) => findings.issues.push(mismatch(key, kind.json_type(), value)),
    }
}

fn check_record(
    record: &ObjectKind,
    key: &str,
    map: &mut Map<String, Value>,
    findings: &mut Findings,
) {
    for field in record.fields {
        let key = join(key, field.name);
        match map.get_mut(field.name) {
            Some(value) => check_kind(field.kind, &key, value, findings),
            None if field.is_required => {
                let types = Some((field.kind.json_type().to_owned(), "undefined".to_owned()));
                findings.issues.push(Issue { key, message: "Required".to_owned(), types });
            }
            None => {}
        }
    }
    let known = |name: &str| record.fields.iter().any(|field| field.name == name);
    let strange: Vec<_> = map.keys().filter(|name| !known(name)).collect();
    if !record.is_strict {
        let nearest = |name| spelling::nearest(name, record.fields.iter().map(|field| field.name));
        let unknown = strange.iter().map(|name| (join(key, name), nearest(name)));
        findings.unknown_fields.extend(unknown);
    } else if !strange.is_empty() {
        findings.issues.push(unrecognised(key, &strange));
    }
}

/// Converts the value to the first matching type. If none matches, the issues are those of the type
/// that has the value's JSON type.
fn check_either(kinds: &[SettingKind], key: &str, value: &mut Value, findings: &mut Findings) {
    for kind in kinds {
        let mut candidate = value.clone();
        let mut found = Findings::default();
        check_kind(*kind, key, &mut candidate, &mut found);
        if found.issues.is_empty() {
            *value = candidate;
            findings.unknown_fields.extend(found.unknown_fields);
            return;
        }
    }
    let own = kinds.iter().find(|kind| kind.json_type() == type_name(value));
    if let Some(kind) = own {
        return check_kind(*kind, key, value, findings);
    }
    let expected: Vec<_> = kinds.iter().map(|kind| kind.json_type()).collect();
    let types = Some((expected.join(" | "), type_name(value).to_owned()));
    findings.issues.push(Issue { key: key.to_owned(), message: "Invalid input".to_owned(), types });
}

/// Converts a string to the boolean or number that it spells.
fn coerce(kind: SettingKind, value: &mut Value) {
    let Value::String(text) = &*value else { return };
    let spelled = match kind {
        SettingKind::Boolean if text.eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
        SettingKind::Boolean if text.eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
        SettingKind::Number => number(text.trim()),
        _ => None,
    };
    if let Some(spelled) = spelled {
        *value = spelled;
    }
}

fn number(text: &str) -> Option<Value> {
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    let fraction = text.parse::<f64>().ok()?;
    serde_json::Number::from_f64(fraction).map(Value::Number)
}

fn mismatch(key: &str, expected: &str, value: &Value) -> Issue {
    let received = type_name(value);
    Issue {
        key: key.to_owned(),
        message: format!("Expected {expected}, received {received}"),
        types: Some((expected.to_owned(), received.to_owned())),
    }
}

fn either_of(choices: &[&str]) -> String {
    let choices: Vec<_> = choices.iter().map(|choice| format!("'{choice}'")).collect();
    choices.join(" | ")
}

fn wrong_choice(key: &str, choices: &[&str], received: &str) -> Issue {
    let expected = either_of(choices);
    Issue {
        key: key.to_owned(),
        message: format!("Invalid enum value. Expected {expected}, received '{received}'"),
        types: None,
    }
}

fn unrecognised(key: &str, names: &[&String]) -> Issue {
    let names: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
    Issue {
        key: key.to_owned(),
        message: format!("Unrecognized key(s) in object: {}", names.join(", ")),
        types: None,
    }
}
