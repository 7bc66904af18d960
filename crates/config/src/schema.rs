//! Every setting that Pollux and Gemini CLI know, as tables in code.
//!
//! One row per setting in the file of its group. Defaults, coercion, warnings, the settings
//! reference and the JSON schema all follow from these rows. A key that no row names is kept and
//! passed on, and reported once in debug mode.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

mod agents;
mod context;
mod experimental;
mod general;
mod model;
mod security;
mod setting;
mod tools;
mod ui;

#[cfg(test)]
mod tests;

pub use setting::{DefaultValue, Kind, Setting};

/// All groups, in the order of the reference.
const GROUPS: [&[Setting]; 8] = [
    general::TABLE,
    ui::TABLE,
    model::TABLE,
    agents::TABLE,
    context::TABLE,
    tools::TABLE,
    security::TABLE,
    experimental::TABLE,
];

static INDEX: LazyLock<BTreeMap<&'static str, &'static Setting>> =
    LazyLock::new(|| all().map(|setting| (setting.key, setting)).collect());

/// Every setting, in the order of the reference.
pub fn all() -> impl Iterator<Item = &'static Setting> {
    GROUPS.into_iter().flatten()
}

/// The setting with exactly this dotted key.
pub fn find(key: &str) -> Option<&'static Setting> {
    INDEX.get(key).copied()
}

/// Whether some setting lies below the dotted key.
pub fn is_group(key: &str) -> bool {
    let prefix = format!("{key}.");
    INDEX.range(prefix.as_str()..).next().is_some_and(|(found, _)| found.starts_with(&prefix))
}

/// The lowest layer: an object with every default.
pub fn defaults() -> Value {
    let mut root = Map::new();
    for setting in all() {
        if let Some(value) = setting.default.to_value() {
            insert(&mut root, setting.key, value);
        }
    }
    Value::Object(root)
}

/// Puts `value` at the dotted `key`, making the objects on the way. A value on the way that is no
/// object is left alone.
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

/// The value at the dotted `key`.
pub(crate) fn lookup<'a>(root: &'a Value, key: &str) -> Option<&'a Value> {
    key.split('.').try_fold(root, |value, name| value.get(name))
}

/// Takes the value at the dotted `key` out.
pub(crate) fn take(root: &mut Value, key: &str) -> Option<Value> {
    let (parent, name) = match key.rsplit_once('.') {
        Some((group, name)) => {
            (group.split('.').try_fold(root, |value, part| value.get_mut(part))?, name)
        }
        None => (root, key),
    };
    parent.as_object_mut()?.shift_remove(name)
}
