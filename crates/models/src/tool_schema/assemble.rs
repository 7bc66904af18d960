//! Assembly of the expanded schemas to one schema of a dialect.
//!
//! A schema that was cut accepts more than the original. Where that would make a surrounding schema
//! accept less (`not`, `oneOf`), the surrounding keyword is replaced or omitted.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::ToolDialect;
use super::conjoin::{Keys, conjoin};
use super::expand::{Cut, Form, Layer, Named, Slot, Tree};
use super::keywords;

/// Assembled schema.
struct Built {
    schema: Value,
    /// False if the schema accepts more than the original.
    is_exact: bool,
}

impl Default for Built {
    fn default() -> Self {
        Self { schema: Value::Object(Map::new()), is_exact: false }
    }
}

/// Returns the root of the tree. A root that is not an object accepts everything or nothing.
pub(super) fn assemble(tree: Tree<'_>, dialect: ToolDialect) -> Value {
    let mut assembly = Assembly { built: Vec::new(), dialect };
    assembly.built.resize_with(tree.nodes.len(), Built::default);
    // Each schema comes after the schema that contains it.
    for (index, node) in tree.nodes.into_iter().enumerate().rev() {
        assembly.built[index] = match node.form {
            Form::Boolean(accepts) => Built { schema: accepts.into(), is_exact: true },
            Form::Keywords { layers, cut } => assembly.object(layers, cut),
            Form::Waiting(_) | Form::Open => Built::default(),
        };
    }
    assembly.take(0).schema
}

struct Assembly {
    built: Vec<Built>,
    dialect: ToolDialect,
}

impl Assembly {
    fn take(&mut self, index: usize) -> Built {
        std::mem::take(&mut self.built[index])
    }

    /// Takes a schema that stands where services expect an object.
    fn take_object(&mut self, index: usize) -> Built {
        let built = self.take(index);
        match built.schema {
            Value::Bool(true) => Built { is_exact: built.is_exact, ..Built::default() },
            _ => built,
        }
    }

    fn object(&mut self, layers: Vec<Layer<'_>>, cut: Option<Cut<'_>>) -> Built {
        let mut keys = Map::new();
        let mut is_exact = cut.is_none();
        for layer in layers {
            let (next, is_next_exact) = self.layer(layer);
            is_exact &= is_next_exact & conjoin(&mut keys, next);
        }
        if let Some(Cut { kind, description }) = cut {
            let mut substitute = Map::new();
            substitute.extend(kind.map(|kind| ("type".to_owned(), kind.into())));
            substitute.insert("description".to_owned(), description.into());
            conjoin(&mut keys, substitute);
        }
        if !is_exact {
            // Properties and items that the cut part has evaluated would be refused.
            keys.shift_remove("unevaluatedProperties");
            keys.shift_remove("unevaluatedItems");
        }
        if self.dialect != ToolDialect::Gemini && is_array(&keys) && !keys.contains_key("items") {
            keys.insert("items".to_owned(), json!({}));
        }
        Built { schema: keys.into(), is_exact }
    }

    fn layer(&mut self, layer: Layer<'_>) -> (Keys, bool) {
        let mut keys = Map::new();
        let mut inexact = Vec::new();
        for (key, slot) in layer.slots {
            let (value, is_exact) = match slot {
                Slot::Data(Value::Array(names)) if key == "required" => (distinct(names), true),
                Slot::Data(value) => (value.clone(), true),
                Slot::Type(value) => {
                    let (kept, nullable) = types(value, self.dialect);
                    keys.extend(nullable.then(|| ("nullable".to_owned(), true.into())));
                    let Some(kept) = kept else {
                        inexact.push(key);
                        continue;
                    };
                    (kept, true)
                }
                Slot::Schema(index) if is_usually_boolean(key) => {
                    let Built { schema, is_exact } = self.take(index);
                    (schema, is_exact)
                }
                Slot::Schema(index) => {
                    let Built { schema, is_exact } = self.take_object(index);
                    (schema, is_exact)
                }
                Slot::Schemas(indices) => self.list(indices),
                Slot::NamedSchemas(named) => self.named(named),
            };
            if !is_exact {
                inexact.push(key);
            }
            keys.insert(key.to_owned(), value);
        }
        for key in &inexact {
            weaken(&mut keys, key);
        }
        (keys, inexact.is_empty())
    }

    fn list(&mut self, indices: Vec<usize>) -> (Value, bool) {
        let mut all_exact = true;
        let schemas = indices.into_iter().map(|index| {
            let Built { schema, is_exact } = self.take_object(index);
            all_exact &= is_exact;
            schema
        });
        (schemas.collect(), all_exact)
    }

    fn named(&mut self, named: Vec<(&str, Named<'_>)>) -> (Value, bool) {
        let mut all_exact = true;
        let schemas = named.into_iter().map(|(name, value)| {
            let value = match value {
                Named::Names(names) => names.clone(),
                Named::Schema(index) => {
                    let Built { schema, is_exact } = self.take_object(index);
                    all_exact &= is_exact;
                    schema
                }
            };
            (name.to_owned(), value)
        });
        (Value::Object(schemas.collect()), all_exact)
    }
}

/// Replaces or removes keywords that would refuse too much, because the schema of `key` accepts
/// more than the original.
fn weaken(keys: &mut Keys, key: &str) {
    let removed: &[&str] = match key {
        "not" => &["not"],
        "if" => &["if", "then", "else"],
        "contains" => &["maxContains"],
        "oneOf" => {
            if let Some(alternatives) = keys.shift_remove("oneOf")
                && !keys.contains_key("anyOf")
            {
                keys.insert("anyOf".to_owned(), alternatives);
            }
            &[]
        }
        _ => &[],
    };
    for key in removed {
        keys.shift_remove(*key);
    }
}

/// True for keywords that are usually `true` or `false`.
fn is_usually_boolean(key: &str) -> bool {
    matches!(key, "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems")
}

/// Returns the value of `type` for a dialect, and whether `nullable` is added. A value with an
/// unknown name is omitted.
fn types(value: &Value, dialect: ToolDialect) -> (Option<Value>, bool) {
    let named = |value: &Value| value.as_str().is_some_and(keywords::is_type);
    let is_known = match value {
        Value::Array(names) => !names.is_empty() && names.iter().all(named),
        value => named(value),
    };
    if !is_known {
        return (None, false);
    }
    match (dialect, value) {
        (ToolDialect::Chat | ToolDialect::Anthropic, Value::Array(names)) => {
            let names: Vec<Value> = names.iter().map(in_lower_case).collect();
            (Some(distinct(&names)), false)
        }
        (ToolDialect::Chat | ToolDialect::Anthropic, name) => (Some(in_lower_case(name)), false),
        (ToolDialect::Gemini, Value::Array(names)) => match names.as_slice() {
            [other, null] | [null, other] if null == "null" && other != "null" => {
                (Some(other.clone()), true)
            }
            _ => (Some(distinct(names)), false),
        },
        (ToolDialect::Gemini, name) => (Some(name.clone()), false),
    }
}

/// Returns a list of names without repetitions, which JSON Schema forbids.
fn distinct(names: &[Value]) -> Value {
    let mut seen = HashSet::new();
    names.iter().filter(|name| seen.insert(name.as_str())).cloned().collect()
}

fn in_lower_case(name: &Value) -> Value {
    name.as_str().unwrap_or_default().to_ascii_lowercase().into()
}

fn is_array(keys: &Keys) -> bool {
    match keys.get("type") {
        Some(Value::Array(names)) => names.iter().any(|name| name == "array"),
        Some(name) => name == "array",
        None => false,
    }
}
