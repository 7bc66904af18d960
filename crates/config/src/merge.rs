//! How two layers of settings become one.
//!
//! Pure: values in, a value out. Which keys merge in which way the settings table says.

use serde_json::{Map, Value};

use crate::schema::{self, Strategy};

#[cfg(test)]
mod tests;

/// The strategy of the dotted key `path`: that of the settings table, and for hooks of an event that
/// the table does not know the one that all events have.
pub fn strategy(path: &str) -> Strategy {
    match (schema::find(path), path.strip_prefix("hooks.")) {
        (Some(setting), _) => setting.merge,
        (None, Some(event)) if !event.contains('.') => Strategy::Concat,
        (None, _) => Strategy::Replace,
    }
}

/// Merges `upper` over `base`.
///
/// `null` overwrites. Keys that name JavaScript's prototype machinery are dropped, so that a file
/// means the same to both programs. For layers whose values have the types of the schema the
/// operation is associative.
pub fn merge_into(base: &mut Value, upper: &Value) {
    if let (Value::Object(base), Value::Object(upper)) = (base, upper) {
        merge_objects(base, upper, "");
    }
}

/// Whether a key names JavaScript's prototype machinery.
pub(crate) fn is_banned(key: &str) -> bool {
    matches!(key, "__proto__" | "constructor" | "prototype")
}

fn merge_objects(base: &mut Map<String, Value>, upper: &Map<String, Value>, prefix: &str) {
    for (key, value) in upper {
        if is_banned(key) {
            continue;
        }
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match base.get_mut(key) {
            Some(existing) => merge_value(existing, value, &path),
            None => {
                base.insert(key.clone(), adopted(value, &path));
            }
        }
    }
}

/// A value that meets nothing below it. Objects are still walked, to drop the banned keys.
fn adopted(value: &Value, path: &str) -> Value {
    match value {
        Value::Object(map) => {
            let mut fresh = Map::new();
            merge_objects(&mut fresh, map, path);
            Value::Object(fresh)
        }
        other => other.clone(),
    }
}

fn merge_value(base: &mut Value, upper: &Value, path: &str) {
    match (strategy(path), base, upper) {
        (Strategy::Concat, Value::Array(items), upper) => items.extend(as_items(upper)),
        (Strategy::Union, Value::Array(items), upper) => unite(items, as_items(upper)),
        (Strategy::ShallowMerge, Value::Object(base), Value::Object(upper)) => {
            base.extend(upper.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        (_, Value::Object(base), Value::Object(upper)) => merge_objects(base, upper, path),
        (_, base, upper) => *base = adopted(upper, path),
    }
}

/// The items that a value adds to a list: a lone value counts as a list of one.
fn as_items(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items.clone(),
        other => vec![other.clone()],
    }
}

/// Appends `more` and keeps the first of equal items.
fn unite(items: &mut Vec<Value>, more: Vec<Value>) {
    let mut seen = std::collections::HashSet::new();
    items.extend(more);
    // `Value` has no hash; its text does, and equal values have equal text.
    items.retain(|item| seen.insert(item.to_string()));
}
