//! A value as a person types it on the command line, and the key it is for.

use serde_json::Value;

use crate::merge::is_banned;
use crate::schema::{self, Kind, Scope, Setting};
use crate::validate::check_value;
use crate::write::FileScope;

#[cfg(test)]
mod tests;

/// Why a key or a value is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AssignError {
    /// No setting has the key.
    #[error("There is no setting {key}.{}", meant(*.suggestion))]
    Unknown {
        /// The key as given.
        key: String,
        /// The key that may have been meant.
        suggestion: Option<&'static str>,
    },
    /// The key is that of a group.
    #[error("{key} is a group of settings, not one: name one of them, such as {example}.")]
    Group {
        /// The key as given.
        key: String,
        /// A setting in the group.
        example: &'static str,
    },
    /// The setting holds a single value, and the key names something in it.
    #[error("{setting} takes {expected}: there is no {key} in it.")]
    NothingBelow {
        /// The key as given.
        key: String,
        /// The setting.
        setting: &'static str,
        /// What it takes, in words.
        expected: String,
    },
    /// The value has the wrong type.
    #[error("{key} takes {expected}, not {given}.{}", detail.as_deref().unwrap_or_default())]
    WrongValue {
        /// The key as given.
        key: String,
        /// What it takes, in words.
        expected: String,
        /// What was given.
        given: String,
        /// What exactly is wrong inside of it, as a sentence with a blank before it.
        detail: Option<String>,
    },
    /// The file has no say in the setting.
    #[error("{key} cannot be set there: {reason}.")]
    NotHere {
        /// The key as given.
        key: String,
        /// Why.
        reason: &'static str,
    },
}

fn meant(suggestion: Option<&str>) -> String {
    suggestion.map(|key| format!(" Did you mean {key}?")).unwrap_or_default()
}

/// The setting that `key` names or lies in, with the type of what it names.
///
/// # Errors
/// For a key that names nothing, and for a group.
pub fn target(key: &str) -> Result<(&'static Setting, Kind), AssignError> {
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
            Kind::Record(_) | Kind::Map(_) => unknown(key, None),
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

/// The type of the entry `name` of an object; none when there is no such thing.
fn child(kind: Kind, name: &str) -> Option<Kind> {
    if name.is_empty() || is_banned(name) {
        return None;
    }
    match kind {
        Kind::Anything => Some(Kind::Anything),
        Kind::Map(values) => Some(*values),
        Kind::Record(record) => {
            let field = record.fields.iter().find(|field| field.name == name);
            let kind = field.map(|field| field.kind);
            kind.or_else(|| (!record.is_strict).then_some(Kind::Anything))
        }
        Kind::Either(kinds) => kinds.iter().find_map(|kind| child(*kind, name)),
        Kind::Boolean | Kind::Number | Kind::Text | Kind::Choice(_) | Kind::List(_) => None,
    }
}

/// Whether the files of `scope` have a say in the setting.
///
/// # Errors
/// When they have none.
pub fn check_scope(key: &str, setting: &Setting, scope: FileScope) -> Result<(), AssignError> {
    let reason = match (setting.scope, scope) {
        (Scope::Remote, _) => "the account's administrator decides it, and no file",
        (Scope::NotProject, FileScope::Project) => "a project's own file does not count",
        (Scope::Any | Scope::NotProject, _) => return Ok(()),
    };
    Err(AssignError::NotHere { key: key.to_owned(), reason })
}

/// The value that `text` spells for `key`. Texts are taken as they are, lists and objects are JSON, and
/// a reference to a variable (`$NAME`, `${NAME:-default}`) goes wherever a single value does.
///
/// # Errors
/// For a text that spells no value of the type.
pub fn value(key: &str, kind: Kind, text: &str) -> Result<Value, AssignError> {
    let candidates = match kind {
        Kind::Text => vec![Value::from(text)],
        // A word that JSON can read is meant so: `true`, `{"enabled": true}`.
        _ => serde_json::from_str(text).into_iter().chain([Value::from(text)]).collect(),
    };
    let is_single = matches!(kind, Kind::Boolean | Kind::Number | Kind::Choice(_));
    if is_single && is_reference(text) {
        return Ok(Value::from(text));
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
    // What is wrong with the whole has been said by naming what is wanted.
    let inside = issues.into_iter().find(|issue| issue.key != key || issue.types.is_none());
    let detail =
        inside.filter(|_| !is_single).map(|issue| format!(" {}: {}.", issue.key, issue.message));
    let given = if text.is_empty() { "nothing".to_owned() } else { shown(text) };
    Err(AssignError::WrongValue { key: key.to_owned(), expected: wanted(kind), given, detail })
}

/// What a type takes, with how lists and objects are written.
fn wanted(kind: Kind) -> String {
    let example = match kind {
        Kind::List(_) => ", written as JSON: [\"a\", \"b\"]",
        Kind::Map(_) | Kind::Record(_) => ", written as JSON: {\"name\": \"value\"}",
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

/// Whether the whole text refers to a variable.
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
