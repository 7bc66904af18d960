//! All settings of Pollux and Gemini CLI, as tables in code.
//!
//! Each setting is one row in the file of its group. Defaults, coercion, merging, warnings, the
//! settings reference and the JSON schema are all derived from these rows. A key without a row is
//! kept, and reported once in debug mode and by `pollux config report`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use pollux_protocol::spelling;
use serde_json::{Map, Value};

mod agents;
mod context;
mod experimental;
mod extensions;
mod general;
mod json_schema;
mod kind;
mod model;
mod pollux;
mod records;
mod reference;
mod security;
mod services;
mod setting;
mod strategy;
mod tools;
mod tree;
mod ui;

#[cfg(test)]
mod tests;

pub use json_schema::json_schema;
pub(crate) use kind::type_name;
pub use kind::{Field, ObjectKind, SettingKind};
pub use reference::reference;
pub use setting::{DefaultValue, Setting, SettingScope};
pub use strategy::MergeStrategy;
pub(crate) use tree::{Branch, Node, root};

/// All groups, in the order in which Gemini CLI reports wrong values.
const GROUPS: [&[Setting]; 11] = [
    general::TABLE,
    ui::TABLE,
    services::TABLE,
    model::TABLE,
    agents::TABLE,
    context::TABLE,
    tools::TABLE,
    security::TABLE,
    experimental::TABLE,
    extensions::TABLE,
    pollux::TABLE,
];

static INDEX: LazyLock<BTreeMap<&'static str, &'static Setting>> =
    LazyLock::new(|| all().map(|setting| (setting.key, setting)).collect());

/// Returns all settings, in the order of the reference.
pub fn all() -> impl Iterator<Item = &'static Setting> {
    GROUPS.into_iter().flatten()
}

/// Returns the setting with exactly this dotted key.
pub fn find(key: &str) -> Option<&'static Setting> {
    INDEX.get(key).copied()
}

/// Returns the setting that the dotted key names or belongs to: `mcpServers` for
/// `mcpServers.x.command`.
pub fn owner(key: &str) -> Option<&'static Setting> {
    let ends = key.match_indices('.').map(|(end, _)| end).chain([key.len()]);
    ends.into_iter().find_map(|end| find(&key[..end]))
}

/// Returns true if a setting lies below the dotted key.
pub fn is_group(key: &str) -> bool {
    let prefix = format!("{key}.");
    INDEX.range(prefix.as_str()..).next().is_some_and(|(found, _)| found.starts_with(&prefix))
}

/// Returns the key of a setting that the user may have meant by `key`.
pub fn suggestion(key: &str) -> Option<&'static str> {
    let wanted = key.to_lowercase();
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_lowercase();
    let same_end = || {
        let mut found = all().filter(|setting| last(setting.key) == last(&wanted));
        let first = found.next();
        // A name that occurs in several groups identifies no setting.
        first.filter(|_| found.next().is_none())
    };
    let near = || {
        let distance = |setting: &Setting| spelling::distance(&wanted, &setting.key.to_lowercase());
        all()
            .map(|setting| (distance(setting), setting))
            .min_by_key(|(distance, _)| *distance)
            .filter(|(distance, setting)| *distance <= 3 && *distance * 3 <= setting.key.len())
    };
    let exact = all().find(|setting| setting.key.to_lowercase() == wanted);
    let found = exact.or_else(|| near().map(|(_, setting)| setting)).or_else(same_end);
    found.map(|setting| setting.key)
}

/// Returns the lowest layer: an object with all defaults.
pub fn defaults() -> Value {
    let mut root = Map::new();
    for setting in all() {
        if let Some(value) = setting.default.to_value() {
            insert(&mut root, setting.key, value);
        }
    }
    Value::Object(root)
}

/// Sets `value` at the dotted `key` and creates missing objects on the path. A value on the path
/// that is not an object is left unchanged.
pub(crate) fn insert(root: &mut Map<String, Value>, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            root.insert(key.to_owned(), value);
        }
        Some((group, rest)) => {
            let below = root.entry(group).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(below) = below {
                insert(below, rest, value);
            }
        }
    }
}

/// Returns the value at the dotted `key`.
pub fn lookup<'a>(root: &'a Value, key: &str) -> Option<&'a Value> {
    key.split('.').try_fold(root, |value, name| value.get(name))
}

/// Removes the settings that a project's file cannot set.
pub(crate) fn remove_users_own(project: &mut Value) {
    for setting in all().filter(|setting| setting.scope != SettingScope::Any) {
        take(project, setting.key);
    }
}

/// Removes and returns the value at the dotted `key`.
pub(crate) fn take(root: &mut Value, key: &str) -> Option<Value> {
    let (parent, name) = match key.rsplit_once('.') {
        Some((group, name)) => {
            (group.split('.').try_fold(root, |value, part| value.get_mut(part))?, name)
        }
        None => (root, key),
    };
    parent.as_object_mut()?.shift_remove(name)
}
