//! Do the values of one settings file have the types of the schema?
//!
//! Wrong values are a warning, never an error: the file is used as it is, and who reads a setting
//! falls back to its default. Keys that no setting has are kept and listed.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value};

use crate::schema::{self, Kind, Setting};

#[cfg(test)]
mod tests;

/// How many problems of one file are shown.
const SHOWN: usize = 5;

/// The only keys that a server definition may have.
const SERVER_KEYS: [&str; 19] = [
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "type",
    "httpUrl",
    "tcp",
    "headers",
    "timeout",
    "trust",
    "description",
    "includeTools",
    "excludeTools",
    "extension",
    "oauth",
    "authProviderType",
    "targetAudience",
    "targetServiceAccount",
];

/// The only keys that a sandbox may have.
const SANDBOX_KEYS: [&str; 5] = ["enabled", "command", "image", "allowedPaths", "networkAccess"];

/// One value that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Issue {
    /// The dotted key, with `[index]` for items of lists.
    pub(crate) key: String,
    /// What is wrong.
    pub(crate) message: String,
    /// What the schema wants and what is there, where that says more.
    pub(crate) types: Option<(String, String)>,
}

/// What a look at one file found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// Values that do not fit.
    pub(crate) issues: Vec<Issue>,
    /// Dotted keys that no setting has.
    pub(crate) unknown_keys: Vec<String>,
}

/// Checks `layer` against the schema. Texts that spell a truth value or a number become one where
/// the schema wants one, so that `"${FLAG}"` works.
pub(crate) fn check(layer: &mut Value) -> Findings {
    let mut findings = Findings::default();
    if let Value::Object(map) = layer {
        check_group(map, "", &mut findings);
    }
    findings
}

/// The warning for a file, in the layout that Gemini CLI prints; `None` without issues.
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

fn check_group(map: &mut Map<String, Value>, prefix: &str, findings: &mut Findings) {
    for (name, value) in map.iter_mut() {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        if let Some(setting) = schema::find(&key) {
            check_setting(setting, value, findings);
        } else if schema::is_group(&key) {
            match value {
                Value::Object(below) => check_group(below, &key, findings),
                Value::Bool(_) if key == "telemetry" => {}
                other => findings.issues.push(mismatch(&key, "object", other)),
            }
        } else if prefix == "telemetry" {
            findings.issues.push(unrecognised(prefix, &[name]));
        } else {
            findings.unknown_keys.push(key);
        }
    }
}

fn check_setting(setting: &Setting, value: &mut Value, findings: &mut Findings) {
    coerce(setting.kind, value);
    let key = setting.key;
    match (setting.kind, &*value) {
        (Kind::Boolean, Value::Bool(_))
        | (Kind::Number, Value::Number(_))
        | (Kind::Text | Kind::TextOrTexts, Value::String(_))
        | (Kind::List, Value::Array(_))
        | (Kind::SandboxChoice, Value::Bool(_) | Value::String(_)) => {}
        (Kind::SandboxChoice, Value::Object(map)) => {
            check_keys(key, map, &SANDBOX_KEYS, findings);
        }
        (Kind::Object, Value::Object(map)) => {
            if key == "mcpServers" {
                check_servers(map, findings);
            }
        }
        (Kind::Choice(choices), Value::String(text)) => {
            if !choices.contains(&text.as_str()) {
                findings.issues.push(wrong_choice(key, choices, text));
            }
        }
        (Kind::Texts | Kind::TextOrTexts, Value::Array(items)) => {
            for (index, item) in items.iter().enumerate().filter(|(_, item)| !item.is_string()) {
                findings.issues.push(mismatch(&format!("{key}[{index}]"), "string", item));
            }
        }
        (kind, other) => findings.issues.push(mismatch(key, expected_type(kind), other)),
    }
}

fn check_servers(servers: &Map<String, Value>, findings: &mut Findings) {
    for (name, definition) in servers {
        let key = format!("mcpServers.{name}");
        let Value::Object(definition) = definition else {
            findings.issues.push(mismatch(&key, "object", definition));
            continue;
        };
        check_keys(&key, definition, &SERVER_KEYS, findings);
    }
}

/// Reports keys that an object cannot have.
fn check_keys(key: &str, map: &Map<String, Value>, known: &[&str], findings: &mut Findings) {
    let strange: Vec<_> = map.keys().filter(|name| !known.contains(&name.as_str())).collect();
    if !strange.is_empty() {
        findings.issues.push(unrecognised(key, &strange));
    }
}

/// Turns a text into the truth value or number that it spells.
fn coerce(kind: Kind, value: &mut Value) {
    let Value::String(text) = &*value else { return };
    let spelled = match kind {
        Kind::Boolean | Kind::SandboxChoice if text.eq_ignore_ascii_case("true") => {
            Some(Value::Bool(true))
        }
        Kind::Boolean | Kind::SandboxChoice if text.eq_ignore_ascii_case("false") => {
            Some(Value::Bool(false))
        }
        Kind::Number => number(text.trim()),
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

fn wrong_choice(key: &str, choices: &[&str], received: &str) -> Issue {
    let choices: Vec<_> = choices.iter().map(|choice| format!("'{choice}'")).collect();
    let expected = choices.join(" | ");
    let received = format!("'{received}'");
    Issue {
        key: key.to_owned(),
        message: format!("Invalid enum value. Expected {expected}, received {received}"),
        types: Some((expected, received)),
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

fn expected_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Boolean => "boolean",
        Kind::Number => "number",
        Kind::Text | Kind::Choice(_) | Kind::TextOrTexts => "string",
        Kind::Texts | Kind::List => "array",
        Kind::Object | Kind::SandboxChoice => "object",
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
