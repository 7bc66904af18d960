//! Conjunction of two schemas in one.

use serde_json::{Map, Value};

use super::keywords;

/// Keywords of a schema.
pub(super) type Keys = Map<String, Value>;

/// Keywords that have an effect together, and are therefore taken from one schema only.
const GROUPS: [&[&str]; 2] = [&["if", "then", "else"], &["contains", "minContains", "maxContains"]];

/// Maximum number of comparisons of the elements of two lists.
const MAX_COMPARISONS: usize = 100_000;

/// Adds the keywords of another schema that must apply, too. Annotations of `keys` take precedence.
/// Returns false if the result may accept more than both: where two keywords cannot be combined,
/// the one of `keys` remains.
pub(super) fn conjoin(keys: &mut Keys, mut other: Keys) -> bool {
    let is_described = |keys: &Keys| keys.keys().all(|key| keywords::is_annotation(key));
    // Keywords such as `additionalProperties` depend on the other keywords of their schema.
    let is_exact = is_described(keys) || is_described(&other);
    for group in GROUPS {
        if group.iter().any(|key| keys.contains_key(*key)) {
            for key in group {
                other.shift_remove(*key);
            }
        }
    }
    for (key, value) in other {
        match keys.get_mut(&key) {
            None => drop(keys.insert(key, value)),
            Some(kept) => combine(&key, kept, value),
        }
    }
    is_exact
}

/// Combines two values of a keyword.
fn combine(key: &str, kept: &mut Value, other: Value) {
    match (key, kept, other) {
        ("allOf", Value::Array(kept), Value::Array(other)) => kept.extend(other),
        ("required", Value::Array(kept), Value::Array(other)) if is_comparable(kept, &other) => {
            for name in other {
                if !kept.contains(&name) {
                    kept.push(name);
                }
            }
        }
        ("enum", Value::Array(kept), Value::Array(other))
            if is_comparable(kept, &other) && kept.iter().any(|value| other.contains(value)) =>
        {
            kept.retain(|value| other.contains(value));
        }
        ("type", kept, other) => combine_types(kept, &other),
        ("properties", Value::Object(kept), Value::Object(other)) => {
            for (name, schema) in other {
                match (kept.get_mut(&name), schema) {
                    (None, schema) => drop(kept.insert(name, schema)),
                    (Some(Value::Object(kept)), Value::Object(schema)) => {
                        conjoin(kept, schema);
                    }
                    (Some(_), _) => {}
                }
            }
        }
        _ => {}
    }
}

fn is_comparable(one: &[Value], other: &[Value]) -> bool {
    one.len().saturating_mul(other.len()) <= MAX_COMPARISONS
}

/// Keeps the types that both values name.
fn combine_types(kept: &mut Value, other: &Value) {
    let others = names(other);
    let both: Vec<Value> =
        names(kept).iter().filter(|name| others.contains(name)).cloned().collect();
    match both.as_slice() {
        // Both refuse everything, or one says `number` and the other `integer`.
        [] => {}
        [one] => *kept = one.clone(),
        _ => *kept = both.into(),
    }
}

/// Returns the elements of a list, or a value as the only element.
fn names(value: &Value) -> &[Value] {
    match value {
        Value::Array(names) => names,
        name => std::slice::from_ref(name),
    }
}
