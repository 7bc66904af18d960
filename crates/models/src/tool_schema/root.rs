//! The root of a schema: the arguments of a call, which are an object.
//!
//! Alternatives in the root (`anyOf`, `oneOf`) and `allOf` are merged into it, because services
//! require a root of type `object` with `properties`; OpenAI refuses alternatives beside them. The
//! merged root has the properties of all alternatives. A property for which they have different
//! schemas may have any of them; only properties that all alternatives require are required. A
//! property that only some alternatives declare keeps their schema, although the others may accept
//! any value for it: otherwise nothing would be known about it. That is the only case in which a
//! compiled schema refuses what the original accepts.
//!
//! In the Gemini dialect a root with a type stays as it is, as in Gemini CLI.

use serde_json::{Map, Value, json};

use super::conjoin::{Keys, conjoin};
use super::{ToolDialect, Unusable};

/// Maximum number of alternatives that are merged. The properties of more of them are not
/// described.
const MAX_ALTERNATIVES: usize = 64;

/// Maximum length of the name of a parameter that Anthropic's service accepts.
const MAX_PARAMETER_NAME: usize = 64;

/// Returns the root in the form that the dialect accepts.
///
/// # Errors
/// [`Unusable::NotAnObject`] if no object satisfies the root.
pub(super) fn normalised(root: Value, dialect: ToolDialect) -> Result<Keys, Unusable> {
    let mut keys = match root {
        Value::Object(keys) => keys,
        Value::Bool(true) => Map::new(),
        _ => return Err(Unusable::NotAnObject),
    };
    if dialect != ToolDialect::Gemini || !keys.contains_key("type") {
        keys = merged(keys).ok_or(Unusable::NotAnObject)?;
    }
    if !may_be_object(&keys) {
        return Err(Unusable::NotAnObject);
    }
    match keys.get_mut("type") {
        Some(Value::String(_)) => {}
        Some(kind) => *kind = "object".into(),
        None => drop(keys.shift_insert(0, "type".to_owned(), "object".into())),
    }
    if dialect != ToolDialect::Gemini {
        for key in ["enum", "const", "not"] {
            keys.shift_remove(key);
        }
        if !keys.contains_key("properties") {
            keys.insert("properties".to_owned(), json!({}));
        }
    }
    if dialect == ToolDialect::Anthropic {
        shorten_names(&mut keys);
    }
    Ok(keys)
}

/// Removes parameters whose names the service does not accept. A model can still use them if their
/// description mentions them, because others are allowed.
fn shorten_names(keys: &mut Keys) {
    let legal = |name: &str| {
        let is_legal = |one: u8| one.is_ascii_alphanumeric() || matches!(one, b'_' | b'.' | b'-');
        (1..=MAX_PARAMETER_NAME).contains(&name.len()) && name.bytes().all(is_legal)
    };
    let Some(Value::Object(properties)) = keys.get_mut("properties") else { return };
    let count = properties.len();
    properties.retain(|name, _| legal(name));
    if properties.len() == count {
        return;
    }
    if let Some(Value::Array(required)) = keys.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(legal));
    }
    for closing in ["additionalProperties", "unevaluatedProperties", "propertyNames"] {
        keys.shift_remove(closing);
    }
}

/// Merges `allOf`, `anyOf` and `oneOf` into a schema; `None` if no object satisfies it.
fn merged(mut keys: Keys) -> Option<Keys> {
    let parts = match keys.shift_remove("allOf") {
        Some(Value::Array(parts)) => parts,
        _ => Vec::new(),
    };
    for part in parts {
        match part {
            Value::Object(part) => drop(conjoin(&mut keys, merged(part)?)),
            Value::Bool(false) => return None,
            _ => {}
        }
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(alternatives)) = keys.shift_remove(key) {
            conjoin(&mut keys, union(alternatives)?);
        }
    }
    may_be_object(&keys).then_some(keys)
}

fn may_be_object(keys: &Keys) -> bool {
    let is_object =
        |name: &Value| name.as_str().is_some_and(|name| name.eq_ignore_ascii_case("object"));
    match keys.get("type") {
        None => true,
        Some(Value::Array(names)) => names.iter().any(is_object),
        Some(name) => is_object(name),
    }
}

/// Returns a schema that accepts the objects that one of the alternatives accepts; `None` if there
/// are none.
fn union(alternatives: Vec<Value>) -> Option<Keys> {
    let accepts_all = |alternative: &Value| match alternative {
        Value::Object(keys) => keys.is_empty(),
        other => *other == Value::Bool(true),
    };
    if alternatives.len() > MAX_ALTERNATIVES || alternatives.iter().any(accepts_all) {
        return Some(Map::new());
    }
    let objects: Vec<Keys> = alternatives
        .into_iter()
        .filter_map(|alternative| match alternative {
            Value::Object(keys) => merged(keys),
            _ => None,
        })
        .collect();
    let (first, others) = objects.split_first()?;
    // What all of them say applies in any case.
    let mut keys = first.clone();
    keys.retain(|key, value| others.iter().all(|other| other.get(key) == Some(value)));
    for key in ["properties", "required"] {
        keys.shift_remove(key);
    }
    let properties = properties(&objects);
    if !properties.is_empty() {
        keys.insert("properties".to_owned(), properties.into());
    }
    let required = required(&objects);
    if !required.is_empty() {
        keys.insert("required".to_owned(), required.into());
    }
    if keys.get("additionalProperties").is_some_and(|rest| *rest != Value::Bool(false)) {
        // It would apply to the properties of other alternatives.
        keys.shift_remove("additionalProperties");
    }
    Some(keys)
}

/// Returns the properties of all alternatives, each with all its different schemas.
fn properties(objects: &[Keys]) -> Keys {
    let mut variants: indexmap::IndexMap<&str, Vec<&Value>> = indexmap::IndexMap::new();
    let all = objects.iter().filter_map(|keys| keys.get("properties")?.as_object()).flatten();
    for (name, schema) in all {
        let known = variants.entry(name).or_default();
        if !known.contains(&schema) {
            known.push(schema);
        }
    }
    let described = variants.into_iter().map(|(name, variants)| {
        let schema = match variants.as_slice() {
            [one] => (*one).clone(),
            several => json!({ "anyOf": several }),
        };
        (name.to_owned(), schema)
    });
    described.collect()
}

/// Returns the properties that all alternatives require.
fn required(objects: &[Keys]) -> Vec<Value> {
    let lists: Vec<&[Value]> = objects
        .iter()
        .map(|keys| keys.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice))
        .collect();
    let Some((first, others)) = lists.split_first() else { return Vec::new() };
    let in_all = |name: &&Value| others.iter().all(|list| list.contains(name));
    first.iter().filter(in_all).cloned().collect()
}
