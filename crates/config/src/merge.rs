//! Merging of two layers of settings.
//!
//! Pure: takes values, returns a value. The settings table determines the merge strategy of each
//! key.

use serde_json::{Map, Value};

use crate::schema::{self, MergeStrategy};

#[cfg(test)]
mod tests;

/// Returns the merge strategy of the dotted key `path`, as in the settings table. Hooks of an event
/// unknown to the table are merged like those of known events.
pub fn strategy(path: &str) -> MergeStrategy {
    match (schema::find(path), path.strip_prefix("hooks.")) {
        (Some(setting), _) => setting.merge,
        (None, Some(event)) if !event.contains('.') => MergeStrategy::Concat,
        (None, _) => MergeStrategy::Replace,
    }
}

/// Merges `upper` over `base`.
///
/// `null` overwrites. Keys that access JavaScript's object prototypes are dropped, so that a file
/// has the same meaning in both programs. For layers whose values have the types of the schema the
/// operation is associative.
pub fn merge_into(base: &mut Value, upper: &Value) {
    if let (Value::Object(base), Value::Object(upper)) = (base, upper) {
        merge_objects(base, upper, "");
    }
}

/// Returns true if a key accesses JavaScript's object prototypes.
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

/// Returns a value that has no counterpart in the lower layer. Banned keys inside objects are
/// dropped.
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
        (MergeStrategy::Concat, Value::Array(items), upper) => items.extend(as_items(upper)),
        (MergeStrategy::Union, Value::Array(items), upper) => unite(items, as_items(upper)),
        (MergeStrategy::ShallowMerge, Value::Object(base), Value::Object(upper)) => {
            base.extend(upper.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        (_, Value::Object(base), Value::Object(upper)) => merge_objects(base, upper, path),
        (_, base, upper) => *base = adopted(upper, path),
    }
}

/// Returns the items that a value adds to a list. A single value counts as a list of one item.
fn as_items(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items.clone(),
        other => vec![other.clone()],
    }
}

/// Appends `more`, and keeps only the first of equal items.
fn unite(items: &mut Vec<Value>, more: Vec<Value>) {
    let mut seen = std::collections::HashSet::new();
    items.extend(more);
    // `Value` cannot be hashed, but its text can, and equal values have equal text.
    items.retain(|item| seen.insert(item.to_string()));
}
