//! Properties of all compiled schemas.

use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;

/// Names of properties and definitions.
fn name() -> impl Strategy<Value = String> {
    "[a-c]"
}

fn type_name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["object", "array", "string", "number", "integer", "boolean", "null"][..])
}

/// Schemas without further schemas in them.
fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => type_name().prop_map(|name| json!({"type": name})),
        1 => type_name().prop_map(|name| json!({"type": [name, "null"]})),
        1 => Just(json!({"enum": ["a", 1, null]})),
        1 => Just(json!({"const": "b"})),
        1 => Just(json!({"type": "string", "maxLength": 1, "description": "Short."})),
        1 => Just(json!({"type": "integer", "minimum": 0, "maximum": 1})),
        1 => Just(json!({"type": "array", "maxItems": 1})),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(json!({"$ref": "#"})),
        1 => Just(json!({"$ref": "https://example.com/remote"})),
        2 => name().prop_map(|name| json!({"$ref": format!("#/$defs/{name}")})),
        1 => (name(), leaf_constraint()).prop_map(|(name, mut beside)| {
            beside["$ref"] = format!("#/$defs/{name}").into();
            beside
        }),
    ]
}

fn leaf_constraint() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"description": "Ours."})),
        Just(json!({"required": ["a"]})),
        Just(json!({"properties": {"a": {"type": "string"}}, "additionalProperties": false})),
        type_name().prop_map(|name| json!({"type": name})),
        Just(json!({"unevaluatedProperties": false})),
        Just(json!({"maxContains": 1, "contains": {"type": "string"}})),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 24, 4, |inner| {
        let list = || prop::collection::vec(inner.clone(), 1..4);
        let named = || prop::collection::btree_map(name(), inner.clone(), 0..3);
        prop_oneof![
            3 => (named(), prop::collection::btree_set(name(), 0..2), any::<bool>()).prop_map(
                |(properties, required, open)| {
                    let mut schema = json!({"type": "object", "properties": properties});
                    schema["required"] = json!(required);
                    if !open {
                        schema["additionalProperties"] = false.into();
                    }
                    schema
                }
            ),
            1 => inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            1 => (list(), inner.clone())
                .prop_map(|(first, items)| json!({"prefixItems": first, "items": items})),
            1 => list().prop_map(|parts| json!({"anyOf": parts})),
            1 => list().prop_map(|parts| json!({"oneOf": parts})),
            1 => list().prop_map(|parts| json!({"allOf": parts})),
            1 => inner.clone().prop_map(|schema| json!({"not": schema})),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| json!({"if": a, "then": b, "else": c})),
            1 => (inner.clone(), inner).prop_map(|(a, b)| json!({
                "additionalProperties": a, "propertyNames": {"maxLength": 1}, "contains": b,
            })),
        ]
    })
}

/// Documents whose root is an object or has alternatives that are closed objects.
fn document() -> impl Strategy<Value = Value> {
    let named = || prop::collection::btree_map(name(), schema(), 0..3);
    let closed = || {
        let required = prop::collection::btree_set(name(), 0..2);
        (named(), required).prop_map(|(properties, required)| {
            json!({
                "type": "object", "properties": properties, "required": required,
                "additionalProperties": false,
            })
        })
    };
    let root = prop_oneof![
        named().prop_map(|properties| json!({"type": "object", "properties": properties})),
        prop::collection::vec(closed(), 1..3).prop_map(|parts| json!({"anyOf": parts})),
        prop::collection::vec(closed(), 1..3).prop_map(|parts| json!({"oneOf": parts})),
        (named(), prop::collection::vec(closed(), 1..3))
            .prop_map(|(properties, parts)| { json!({"properties": properties, "allOf": parts}) }),
        Just(json!({"$ref": "#/$defs/root"})),
    ];
    let definitions = (schema(), schema(), schema(), closed());
    (root, definitions).prop_map(|(mut root, (a, b, c, closed))| {
        root["$defs"] = json!({"a": a, "b": b, "c": c, "root": closed});
        root
    })
}

fn instance() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3).prop_map(Value::from),
        Just(json!(0.5)),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(name(), inner, 0..3).prop_map(|keys| json!(keys)),
        ]
    });
    prop::collection::btree_map(name(), value, 0..3).prop_map(|keys| json!(keys))
}

/// Returns a schema of the Gemini dialect in the form of JSON Schema.
fn without_nullable(schema: &Value) -> Value {
    match schema {
        Value::Object(keys) => {
            let mut keys: Map<String, Value> =
                keys.iter().map(|(key, value)| (key.clone(), without_nullable(value))).collect();
            let is_nullable = keys.remove("nullable").is_some();
            if is_nullable && keys["type"] != "null" {
                let name = keys["type"].take();
                keys["type"] = json!([name, "null"]);
            }
            keys.into()
        }
        Value::Array(items) => items.iter().map(without_nullable).collect(),
        other => other.clone(),
    }
}

/// True if a schema of the document refers to itself for the same value, or, in a document with
/// `unevaluatedProperties`, for any value. The validator of these tests does not end for such
/// schemas.
fn has_loop(document: &Value) -> bool {
    fn loops<'a>(
        schema: &'a Value,
        (document, in_depth): (&'a Value, bool),
        open: &mut Vec<&'a Value>,
        done: &mut Vec<&'a Value>,
    ) -> bool {
        let is_in = |list: &[&Value]| list.iter().any(|one| std::ptr::eq(*one, schema));
        if is_in(open) || is_in(done) {
            return is_in(open);
        }
        open.push(schema);
        let reference = schema.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|text| document.pointer(text.strip_prefix('#')?));
        let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key));
        let parts = lists.filter_map(Value::as_array).flatten();
        let others = ["not", "if", "then", "else"].into_iter().filter_map(|key| schema.get(key));
        let mut next = target.into_iter().chain(parts).chain(others).collect::<Vec<_>>();
        match schema {
            Value::Object(keys) if in_depth => next.extend(keys.values()),
            Value::Array(items) if in_depth => next.extend(items),
            _ => {}
        }
        let found = next.into_iter().any(|next| loops(next, (document, in_depth), open, done));
        open.pop();
        done.push(schema);
        found
    }
    fn any<'a>(value: &'a Value, document: &'a Value, done: &mut Vec<&'a Value>) -> bool {
        let mut parts: Box<dyn Iterator<Item = &'a Value>> = match value {
            Value::Object(keys) => Box::new(keys.values()),
            Value::Array(items) => Box::new(items.iter()),
            _ => return false,
        };
        let in_depth = document.to_string().contains("unevaluatedProperties");
        loops(value, (document, in_depth), &mut Vec::new(), done)
            || parts.any(|part| any(part, document, done))
    }
    any(document, document, &mut Vec::new())
}

fn schemas(value: &Value) -> usize {
    match value {
        Value::Object(keys) => 1 + keys.values().map(schemas).sum::<usize>(),
        Value::Array(items) => items.iter().map(schemas).sum(),
        _ => 0,
    }
}

fn validator(schema: &Value) -> Option<jsonschema::Validator> {
    struct Anything;
    impl jsonschema::Retrieve for Anything {
        fn retrieve(
            &self,
            _uri: &jsonschema::Uri<String>,
        ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
            Ok(Value::Bool(true))
        }
    }
    jsonschema::options().with_retriever(Anything).build(schema).ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_original_accepts_is_accepted(
        document in document(),
        instances in prop::collection::vec(instance(), 12),
    ) {
        let declaration = Declaration {
            name: "t".to_owned(), description: String::new(), parameters: document.clone(),
        };
        let original = (!has_loop(&document)).then(|| validator(&document)).flatten();
        for dialect in [ToolDialect::Gemini, ToolDialect::Chat, ToolDialect::Anthropic] {
            let accepted = |instance: &&Value| {
                original.as_ref().is_some_and(|original| original.is_valid(instance))
            };
            let accepted: Vec<&Value> = instances.iter().filter(accepted).collect();
            let Ok(Compiled { parameters: compiled, .. }) = compile(&declaration, dialect) else {
                prop_assert!(accepted.is_empty(), "{document} accepts {accepted:?}");
                continue;
            };
            let text = compiled.to_string();
            prop_assert!(!text.contains("$ref") && !text.contains("$defs"), "{text}");
            prop_assert!(text.len() < 300_000 && schemas(&compiled) < 25_000, "{text}");
            prop_assert_eq!(&compiled["type"], "object");
            let checked = without_nullable(&compiled);
            let validator = validator(&checked);
            prop_assert!(validator.is_some(), "{checked} is no schema");
            let validator = validator.unwrap();
            for instance in accepted {
                prop_assert!(
                    validator.is_valid(instance),
                    "{instance} is accepted by {document} and not by {compiled} ({dialect:?})"
                );
            }
        }
    }

    #[test]
    fn compiled_schemas_are_not_changed_again(document in document()) {
        for dialect in [ToolDialect::Gemini, ToolDialect::Chat, ToolDialect::Anthropic] {
            let compiled = |parameters| {
                let (name, description) = ("t".to_owned(), String::new());
                compile(&Declaration { name, description, parameters }, dialect)
            };
            if let Ok(first) = compiled(document.clone()) {
                prop_assert_eq!(compiled(first.parameters.clone()), Ok(first));
            }
        }
    }
}
