//! Settings keys and values as typed on the command line.

use serde_json::Value;

use crate::merge::is_banned;
use crate::schema::{self, Setting, SettingKind, SettingScope};
use crate::validate::check_value;
use crate::write::FileScope;

#[cfg(test)]
mod tests;

/// Error of a rejected key or value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AssignError {
    /// No setting has this key.
    #[error("There is no setting {}.{}", named(key), meant(*.suggestion))]
    Unknown {
        /// The key as given.
        key: String,
        /// Key that the user may have meant.
        suggestion: Option<&'static str>,
    },
    /// The key names a group of settings.
    #[error("{key} is a group of settings, not one: name one of them, such as {example}.")]
    Group {
        /// The key as given.
        key: String,
        /// Key of a setting in the group.
        example: &'static str,
    },
    /// The setting holds a single value, but the key names something inside it.
    #[error("{setting} takes {expected}, which does not contain {key}.")]
    NothingBelow {
        /// The key as given.
        key: String,
        /// Key of the setting.
        setting: &'static str,
        /// Description of the type that the setting takes.
        expected: String,
    },
    /// The value has the wrong type.
    #[error("{key} takes {expected}, not {given}.{}", detail.as_deref().unwrap_or_default())]
    WrongValue {
        /// The key as given.
        key: String,
        /// Description of the type that the setting takes.
        expected: String,
        /// The given value.
        given: String,
        /// Exact problem inside the value, as a sentence that starts with a space.
        detail: Option<String>,
    },
    /// The number is outside of the setting's range.
    #[error("{key} takes a number from {} to {}, not {given}.", range.0, range.1)]
    OutOfRange {
        /// The key as given.
        key: String,
        /// Smallest and largest number.
        range: (u32, u32),
        /// The given number.
        given: String,
    },
    /// The setting has no effect in this file.
    #[error("{key} cannot be set there: {reason}.")]
    NotHere {
        /// The key as given.
        key: String,
        /// Reason why the setting has no effect.
        reason: &'static str,
    },
}

fn named(key: &str) -> &str {
    if key.is_empty() { "\"\"" } else { key }
}

fn meant(suggestion: Option<&str>) -> String {
    suggestion.map(|key| format!(" Did you mean {key}?")).unwrap_or_default()
}

/// Returns the setting that `key` names or belongs to, with the type of the value at `key`.
///
/// # Errors
/// Fails for an unknown key, and for the key of a group.
pub fn target(key: &str) -> Result<(&'static Setting, SettingKind), AssignError> {
    let Some(setting) = schema::owner(key) else {
        let example = schema::all().find(|setting| {
            setting.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'))
        });
        return Err(match example {
            Some(setting) => AssignError::Group { key: key.to_owned(), example: setting.key },
            None => unknown(key, schema::suggestion(key)),
        });
    };
    let mut kind = setting.kind;
    let below = key.strip_prefix(setting.key).and_then(|rest| rest.strip_prefix('.'));
    for name in below.into_iter().flat_map(|below| below.split('.')) {
        kind = child(kind, name).ok_or_else(|| match kind {
            SettingKind::Record(_) | SettingKind::Map(_) => unknown(key, None),
            _ => AssignError::NothingBelow {
                key: key.to_owned(),
                setting: setting.key,
                expected: setting.kind.in_words(),
            },
        })?;
    }
    Ok((setting, kind))
}

fn unknown(key: &str, suggestion: Option<&'static str>) -> AssignError {
    AssignError::Unknown { key: key.to_owned(), suggestion }
}

/// Returns the type of the entry `name` of an object, or `None` if there is no such entry.
fn child(kind: SettingKind, name: &str) -> Option<SettingKind> {
    if name.is_empty() || is_banned(name) {
        return None;
    }
    match kind {
        SettingKind::Anything => Some(SettingKind::Anything),
        SettingKind::Map(values) => Some(*values),
        SettingKind::Record(record) => {
            let field = record.fields.iter().find(|field| field.name == name);
            let kind = field.map(|field| field.kind);
            kind.or_else(|| (!record.is_strict).then_some(SettingKind::Anything))
        }
        SettingKind::Either(kinds) => kinds.iter().find_map(|kind| child(*kind, name)),
        SettingKind::Boolean
        | SettingKind::Number
        | SettingKind::Text
        | SettingKind::Choice(_)
        | SettingKind::List(_) => None,
    }
}

/// Checks that the setting has an effect in the files of `scope`.
///
/// # Errors
/// Fails if the setting has no effect there.
pub fn check_scope(key: &str, setting: &Setting, scope: FileScope) -> Result<(), AssignError> {
    let reason = match (setting.scope, scope) {
        (SettingScope::Remote, _) => "only the account's administrator can set it",
        (SettingScope::NotProject, FileScope::Project) => "a project's own file cannot set it",
        (SettingScope::Any | SettingScope::NotProject, _) => return Ok(()),
    };
    Err(AssignError::NotHere { key: key.to_owned(), reason })
}

/// Parses `text` as the value for `key`. Strings are taken unchanged, lists and objects are parsed
/// as JSON, and a reference to a variable (`$NAME`, `${NAME:-default}`) is accepted for any single
/// value.
///
/// # Errors
/// Fails if the text is not a value of the type.
pub fn value(key: &str, kind: SettingKind, text: &str) -> Result<Value, AssignError> {
    let candidates = match kind {
        SettingKind::Text => vec![Value::from(text)],
        // A text that is valid JSON is parsed as JSON: `true`, `{"enabled": true}`.
        _ => serde_json::from_str(text).into_iter().chain([Value::from(text)]).collect(),
    };
    let is_single =
        matches!(kind, SettingKind::Boolean | SettingKind::Number | SettingKind::Choice(_));
    if is_single && is_reference(text) {
        return Ok(Value::from(text));
    }
    if let Err(error) = serde_json::from_str::<Value>(text)
        && is_meant_as_json(kind, text)
    {
        return Err(AssignError::WrongValue {
            key: key.to_owned(),
            expected: wanted(kind),
            given: shown(text),
            detail: Some(format!(" It is not valid JSON: {error}.")),
        });
    }
    let mut issues = Vec::new();
    for mut candidate in candidates {
        let found = check_value(kind, key, &mut candidate);
        if found.is_empty() {
            return Ok(candidate);
        }
        if issues.is_empty() {
            issues = found;
        }
    }
    // An issue about the whole value adds nothing to `expected`.
    let inside = issues.into_iter().find(|issue| issue.key != key || issue.types.is_none());
    let detail =
        inside.filter(|_| !is_single).map(|issue| format!(" {}: {}.", issue.key, issue.message));
    let given = if text.is_empty() { "nothing".to_owned() } else { shown(text) };
    Err(AssignError::WrongValue { key: key.to_owned(), expected: wanted(kind), given, detail })
}

/// Returns true if the text begins like a list or an object that the type accepts.
fn is_meant_as_json(kind: SettingKind, text: &str) -> bool {
    match kind {
        SettingKind::Either(kinds) => kinds.iter().any(|kind| is_meant_as_json(*kind, text)),
        SettingKind::List(_) => text.trim_start().starts_with('['),
        SettingKind::Map(_) | SettingKind::Record(_) => text.trim_start().starts_with('{'),
        _ => false,
    }
}

/// Checks that a number is in the range of its setting.
///
/// # Errors
/// Fails with [`AssignError::OutOfRange`].
pub fn check_range(key: &str, setting: &Setting, value: &Value) -> Result<(), AssignError> {
    match (setting.range, value.as_f64()) {
        (Some((least, most)), Some(given))
            if !(f64::from(least)..=f64::from(most)).contains(&given) =>
        {
            let given = value.to_string();
            Err(AssignError::OutOfRange { key: key.to_owned(), range: (least, most), given })
        }
        _ => Ok(()),
    }
}

/// Returns a description of a type, with an example for lists and objects.
fn wanted(kind: SettingKind) -> String {
    let example = match kind {
        SettingKind::List(_) => ", written as JSON: [\"a\", \"b\"]",
        SettingKind::Map(_) | SettingKind::Record(_) => ", written as JSON: {\"name\": \"value\"}",
        _ => "",
    };
    kind.in_words() + example
}

fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("\"{}…\"", &text[..end]),
        None => format!("\"{text}\""),
    }
}

/// Returns true if the whole text is a reference to a variable.
pub(crate) fn is_reference(text: &str) -> bool {
    let name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let Some(rest) = text.strip_prefix('$') else { return false };
    match rest.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) {
        Some(inner) => name(inner.split_once(":-").map_or(inner, |(name, _)| name)),
        None => name(rest),
    }
}
