use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn schema() -> Schema {
    Schema::new(json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "start": {"type": "integer", "minimum": 1},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "list": {"type": "array", "items": {"type": "string"}},
            "options": {"type": "object", "properties": {"flag": {"type": "boolean"}}},
        },
        "required": ["path", "kind"],
    }))
}

fn check(args: &Value) -> Result<Value, String> {
    schema().read::<Value>(args.as_object().unwrap()).map_err(|error| {
        assert_eq!(error.kind, ToolErrorKind::InvalidToolParams);
        error.message
    })
}

#[test]
fn messages_are_ajvs() {
    let table = [
        (json!({}), "params must have required property 'path'"),
        (json!({"path": "x"}), "params must have required property 'kind'"),
        (json!({"path": 7}), "params must have required property 'kind'"),
        (json!({"path": 7, "kind": "a"}), "params/path must be string"),
        (json!({"path": null, "kind": "a"}), "params/path must be string"),
        (json!({"kind": "z", "start": 0, "path": "x"}), "params/start must be >= 1"),
        (json!({"path": "x", "kind": "a", "start": 1.5}), "params/start must be integer"),
        (
            json!({"path": "x", "kind": "z"}),
            "params/kind must be equal to one of the allowed values",
        ),
        (json!({"path": "x", "kind": "a", "list": ["y", 3]}), "params/list/1 must be string"),
        (
            json!({"path": "x", "kind": "a", "options": {"flag": "yes"}}),
            "params/options/flag must be boolean",
        ),
    ];
    for (args, expected) in table {
        assert_eq!(check(&args).unwrap_err(), expected, "{args}");
    }
}

#[test]
fn additional_properties_are_allowed() {
    let args = json!({"path": "x", "kind": "a", "wait_for_previous": true, "start": 2.0});
    assert_eq!(check(&args).unwrap(), args);
}

#[test]
fn many_failures_cost_little() {
    let list: Vec<Value> = (0..100_000).map(Value::from).collect();
    let message = check(&json!({"path": "x", "kind": "a", "list": list})).unwrap_err();
    assert_eq!(message, "params/list/0 must be string");
}

#[derive(Debug, Deserialize)]
struct Count {
    #[serde(default, deserialize_with = "whole")]
    value: Option<u64>,
}

#[test]
fn whole_numbers_come_in_two_spellings() {
    let read =
        |value: Value| serde_json::from_value::<Count>(json!({"value": value})).unwrap().value;
    assert_eq!(read(json!(5)), Some(5));
    assert_eq!(read(json!(5.0)), Some(5));
    assert_eq!(read(json!(1e300)), Some(u64::MAX));
    assert_eq!(read(json!(-3)), Some(0));
    assert_eq!(serde_json::from_value::<Count>(json!({})).unwrap().value, None);
}
