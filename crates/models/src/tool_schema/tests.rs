use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

const REPEATED: &str = "The same structure as one that it is part of.";
const UNKNOWN: &str = "Any value. The schema of this tool does not contain its definition.";

fn declaration(parameters: Value) -> Declaration {
    Declaration { name: "t".to_owned(), description: "Does.".to_owned(), parameters }
}

fn compiled(parameters: &Value, dialect: ToolDialect) -> Result<Value, Unusable> {
    Ok(compile(&declaration(parameters.clone()), dialect)?.parameters)
}

/// Asserts the result for all dialects, as JSON text: the order of keys counts.
#[track_caller]
fn assert_compiled(parameters: &Value, expected: &Value) {
    for dialect in [ToolDialect::Gemini, ToolDialect::Chat, ToolDialect::Anthropic] {
        let result = compiled(parameters, dialect).map(|schema| schema.to_string());
        assert_eq!(result, Ok(expected.to_string()), "{dialect:?}");
    }
}

/// Asserts the result for a schema whose only property is `p`.
#[track_caller]
fn assert_property(schema: &Value, definitions: &Value, expected: &Value) {
    assert_compiled(
        &json!({"type": "object", "properties": {"p": schema}, "$defs": definitions}),
        &json!({"type": "object", "properties": {"p": expected}}),
    );
}

#[test]
fn a_schema_without_problems_is_not_changed() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "required": ["path"],
        "type": "object",
        "properties": {
            "path": {"description": "A path.", "type": "string", "minLength": 1, "pattern": "^/"},
            "mode": {"type": "string", "enum": ["a", "b"], "default": "a"},
            "limits": {"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}},
            "any": {},
            "either": {"anyOf": [{"type": "string"}, {"type": "null"}], "x-order": [1, {"a": 2}]},
            "type": {"type": "object", "additionalProperties": {"type": ["string", "number"]}},
            "const": {"type": "string"},
        },
        "additionalProperties": false,
        "propertyOrdering": ["path"],
    });
    assert_compiled(&schema, &schema);
}

#[test]
fn references_are_replaced_by_their_targets() {
    let target = json!({"type": "string", "title": "T"});
    for (reference, definitions) in [
        ("#/$defs/t", json!({"t": target})),
        ("#/$defs/a~1b~0c", json!({"a/b~c": target})),
        ("#/$defs/a%20b%25", json!({"a b%": target})),
        ("#/$defs/list/prefixItems/1", json!({"list": {"prefixItems": [true, target]}})),
        ("#/$defs/chain", json!({"chain": {"$ref": "#/$defs/t"}, "t": target})),
        ("#name", json!({"t": {"$anchor": "name", "type": "string", "title": "T"}})),
    ] {
        assert_property(&json!({"$ref": reference}), &definitions, &target);
    }
    // `definitions` of older drafts, and the address of the document itself.
    assert_compiled(
        &json!({
            "$id": "https://example.com/tool",
            "type": "object",
            "properties": {
                "a": {"$ref": "#/definitions/t"},
                "b": {"$ref": "https://example.com/tool#/definitions/t"},
            },
            "definitions": {"t": target},
        }),
        &json!({
            "$id": "https://example.com/tool",
            "type": "object",
            "properties": {"a": target, "b": target},
        }),
    );
    // A part with an own address has its own definitions.
    let part = json!({
        "$id": "part", "$ref": "#/$defs/t", "$defs": {"t": {"type": "integer"}}
    });
    assert_property(&part, &json!({"t": target}), &json!({"type": "integer"}));
    // Data that looks like a reference.
    let data = json!({"const": {"$ref": "#/nowhere"}});
    assert_property(&data, &json!({}), &data);
}

#[test]
fn keywords_beside_a_reference_apply_too() {
    let definitions = json!({"t": {
        "type": "object",
        "description": "Theirs.",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
    }});
    assert_property(
        &json!({
            "$ref": "#/$defs/t",
            "description": "Ours.",
            "properties": {"a": {"maxLength": 3}, "b": {"type": "integer"}},
            "required": ["b"],
        }),
        &definitions,
        &json!({
            "description": "Ours.",
            "properties": {"a": {"maxLength": 3, "type": "string"}, "b": {"type": "integer"}},
            "required": ["b", "a"],
            "type": "object",
        }),
    );
    // In draft 7 only the reference counts.
    assert_compiled(
        &json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"p": {"$ref": "#/definitions/t", "type": "string", "title": "P"}},
            "definitions": {"t": {"type": "integer"}},
        }),
        &json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"p": {"title": "P", "type": "integer"}},
        }),
    );
}

#[test]
fn cycles_and_unknown_references_become_any_value() {
    let node = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        },
    });
    assert_property(
        &json!({"$ref": "#/$defs/node"}),
        &json!({"node": node}),
        &json!({
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {
                    "type": "array",
                    "items": {"type": "object", "description": REPEATED},
                },
            },
        }),
    );
    // The root itself.
    assert_compiled(
        &json!({"type": "object", "properties": {"p": {"$ref": "#"}}}),
        &json!({
            "type": "object",
            "properties": {"p": {"type": "object", "description": REPEATED}},
        }),
    );
    // References that lead to each other.
    let circle = json!({"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}});
    assert_property(&json!({"$ref": "#/$defs/a"}), &circle, &json!({"description": REPEATED}));
    for reference in
        ["https://example.com/s.json", "#/$defs/missing", "#missing", "other#/a", "#/%ff"]
    {
        let expected = json!({"description": "Ours."});
        let schema = json!({"$ref": reference, "description": "Ours."});
        assert_property(&schema, &json!({}), &expected);
        let expected = json!({"description": UNKNOWN});
        assert_property(&json!({"$ref": reference}), &json!({}), &expected);
    }
    let dynamic = json!({"type": "string", "$dynamicRef": "#x"});
    let expected = json!({"type": "string", "description": UNKNOWN});
    assert_property(&dynamic, &json!({}), &expected);
}

#[test]
fn a_cut_never_makes_a_schema_refuse_more() {
    let remote = || json!({"$ref": "https://example.com/s.json"});
    let any = || json!({"description": UNKNOWN});
    for (schema, expected) in [
        (json!({"not": remote()}), json!({})),
        (json!({"if": remote(), "then": {"minimum": 1}, "else": false}), json!({})),
        (
            json!({"oneOf": [{"type": "string"}, remote()]}),
            json!({"anyOf": [{"type": "string"}, any()]}),
        ),
        (
            json!({"contains": remote(), "minContains": 1, "maxContains": 2}),
            json!({"contains": any(), "minContains": 1}),
        ),
        (json!({"allOf": [remote()], "unevaluatedProperties": false}), json!({"allOf": [any()]})),
        (json!({"oneOf": [{"type": "nonsense"}]}), json!({"anyOf": [{}]})),
    ] {
        assert_property(&schema, &json!({}), &expected);
    }
}

#[test]
fn optional_types_are_nullable_in_the_gemini_dialect_alone() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": ["string", "null"], "description": "A."},
            "b": {"type": "array", "items": {"type": ["null", "integer"]}},
            "c": {"type": ["string", "integer", "null"]},
            "d": {"type": ["string", "integer"]},
        },
    });
    let mut expected = schema.clone();
    assert_eq!(compiled(&schema, ToolDialect::Chat), Ok(schema.clone()));
    let properties = &mut expected["properties"];
    properties["a"] = json!({"type": "string", "description": "A.", "nullable": true});
    properties["b"]["items"] = json!({"type": "integer", "nullable": true});
    assert_eq!(compiled(&schema, ToolDialect::Gemini), Ok(expected));
}

#[test]
fn keywords_with_unusable_values_are_omitted() {
    for (schema, expected) in [
        (json!({"type": "int", "title": "P"}), json!({"title": "P"})),
        (json!({"type": 7}), json!({})),
        (json!({"type": []}), json!({})),
        (json!({"type": ["null", "null"]}), json!({"type": ["null"]})),
        (json!({"required": ["a", "b", "a"]}), json!({"required": ["a", "b"]})),
        (json!({"multipleOf": 0}), json!({})),
        (json!({"enum": []}), json!({})),
        (json!({"enum": "a"}), json!({})),
        (json!({"required": true, "description": 1, "pattern": null}), json!({})),
        (json!({"properties": [], "anyOf": {}, "allOf": []}), json!({})),
        (json!({"minLength": "1", "maximum": "2", "uniqueItems": 1}), json!({})),
        (json!({"exclusiveMinimum": true, "minimum": 1}), json!({"minimum": 1})),
        (json!({"properties": {"q": 3}}), json!({"properties": {"q": {}}})),
        (json!({"properties": {"q": true}}), json!({"properties": {"q": {}}})),
        (json!("string"), json!({})),
        (json!(null), json!({})),
        (json!({"$ref": 1, "type": "string"}), json!({"type": "string"})),
    ] {
        assert_property(&schema, &json!({}), &expected);
    }
}

#[test]
fn arrays_are_written_as_services_read_them() {
    assert_property(
        &json!({"type": "array", "items": [{"type": "string"}], "additionalItems": false}),
        &json!({}),
        &json!({"type": "array", "prefixItems": [{"type": "string"}], "items": false}),
    );
    let schema = json!({"type": "object", "properties": {"p": {"type": ["array", "null"]}}});
    let chat = compiled(&schema, ToolDialect::Chat).unwrap();
    assert_eq!(chat["properties"]["p"], json!({"type": ["array", "null"], "items": {}}));
    let gemini = compiled(&schema, ToolDialect::Gemini).unwrap();
    assert_eq!(gemini["properties"]["p"], json!({"type": "array", "nullable": true}));
}

#[test]
fn a_missing_schema_means_no_parameters() {
    for schema in [json!(null), json!({}), json!(true)] {
        assert_compiled(&schema, &json!({"type": "object", "properties": {}}));
    }
    let bare = json!({"type": "object"});
    assert_eq!(compiled(&bare, ToolDialect::Gemini), Ok(bare.clone()));
    let expected = json!({"type": "object", "properties": {}});
    assert_eq!(compiled(&bare, ToolDialect::Chat), Ok(expected));
}

#[test]
fn the_root_is_an_object() {
    let properties = json!({"a": {"type": "string"}});
    let expected = json!({"type": "object", "properties": properties});
    for schema in [
        json!({"properties": properties}),
        json!({"$ref": "#/$defs/t", "$defs": {"t": expected}}),
        json!({"type": ["object"], "properties": properties}),
        json!({"allOf": [{"type": "object"}, {"properties": properties}]}),
        json!({"anyOf": [{"type": "string"}, expected]}),
        json!({"oneOf": [false, expected]}),
    ] {
        assert_compiled(&schema, &expected);
    }
    // An alternative that accepts everything.
    for anything in [json!(true), json!({})] {
        let expected = json!({"type": "object", "properties": {}});
        let schema = json!({"anyOf": [{"properties": properties}, anything]});
        assert_eq!(compiled(&schema, ToolDialect::Chat), Ok(expected));
    }
    for schema in [
        json!({"type": "string"}),
        json!({"type": ["array", "null"]}),
        json!({"anyOf": [{"type": "string"}, {"type": "array"}]}),
        json!({"allOf": [{"type": "string"}, {"properties": properties}]}),
        json!({"$ref": "#/$defs/t", "$defs": {"t": {"type": "array"}}}),
        json!({"$ref": "#/$defs/t", "$defs": {"t": false}}),
        json!(false),
        json!([]),
        json!("object"),
    ] {
        for dialect in [ToolDialect::Gemini, ToolDialect::Chat, ToolDialect::Anthropic] {
            assert_eq!(compiled(&schema, dialect), Err(Unusable::NotAnObject), "{schema}");
        }
    }
}

#[test]
fn alternatives_in_the_root_are_merged() {
    let file = json!({
        "type": "object",
        "properties": {
            "kind": {"const": "file"}, "name": {"type": "string"}, "path": {"type": "string"},
        },
        "required": ["kind", "name", "path"],
        "additionalProperties": false,
    });
    let url = json!({
        "type": "object",
        "properties": {"kind": {"const": "url"}, "name": {"type": "string"}},
        "required": ["name", "kind"],
        "additionalProperties": false,
    });
    assert_compiled(
        &json!({"description": "Opens.", "oneOf": [file, url]}),
        &json!({
            "description": "Opens.",
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "kind": {"anyOf": [{"const": "file"}, {"const": "url"}]},
                "name": {"type": "string"},
                "path": {"type": "string"},
            },
            "required": ["kind", "name"],
        }),
    );
    // With a type, the Gemini dialect keeps what Gemini CLI sends.
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        "not": {"required": ["c"]},
    });
    assert_eq!(compiled(&schema, ToolDialect::Gemini), Ok(schema.clone()));
    let expected = json!({"type": "object", "properties": schema["properties"]});
    assert_eq!(compiled(&schema, ToolDialect::Chat), Ok(expected));
    let many: Value = (0..100).map(|index| json!({"required": [index.to_string()]})).collect();
    let expected = json!({"type": "object", "properties": {}});
    assert_eq!(compiled(&json!({"anyOf": many}), ToolDialect::Chat), Ok(expected));
}

#[test]
fn types_in_upper_case_are_understood() {
    let schema = json!({"type": "OBJECT", "properties": {"a": {"type": "STRING"}}});
    assert_eq!(compiled(&schema, ToolDialect::Gemini), Ok(schema.clone()));
    let expected = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    assert_eq!(compiled(&schema, ToolDialect::Chat), Ok(expected));
}

/// Returns a schema whose parts refer ten times each to the next of `levels` definitions.
fn exponential(levels: usize) -> Value {
    let references = |level: usize| -> Value {
        let reference = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        (0..10).map(|index| (format!("p{index}"), reference.clone())).collect()
    };
    let definition =
        |level| (format!("l{level}"), json!({"type": "object", "properties": references(level)}));
    let mut definitions: serde_json::Map<String, Value> = (1..levels).map(definition).collect();
    definitions.insert(format!("l{levels}"), json!({"type": "string"}));
    json!({"type": "object", "properties": references(0), "$defs": definitions})
}

fn depth(schema: &Value) -> usize {
    match schema {
        Value::Object(keys) => 1 + keys.values().map(depth).max().unwrap_or(0),
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[test]
fn the_deepest_parts_of_large_schemas_are_cut() {
    // The first levels, of 10 and 100 schemas, are complete.
    let schema = compiled(&exponential(30), ToolDialect::Gemini).unwrap();
    assert!(schema.to_string().len() < 300_000);
    for path in ["p0/p0/p0", "p9/p9"] {
        let path = format!("/properties/{}", path.replace('/', "/properties/"));
        assert_eq!(schema.pointer(&path).unwrap()["type"], "object", "{path}");
    }
    // Nothing is cut without need.
    let schema = compiled(&exponential(3), ToolDialect::Gemini).unwrap();
    assert_eq!(schema.to_string().matches(r#"{"type":"string"}"#).count(), 1000);

    let mut deep = json!({"type": "string"});
    for _ in 0..500 {
        deep = json!({"type": "object", "properties": {"p": deep}});
    }
    let schema = compiled(&deep, ToolDialect::Chat).unwrap();
    assert!((40..100).contains(&depth(&schema)), "{}", depth(&schema));

    let long = json!({"type": "object", "properties": {
        "a": {"type": "object", "properties": {"b": {"enum": ["x".repeat(300_000)]}}},
        "c": {"type": "string", "description": "y".repeat(100_000)},
    }});
    let schema = compiled(&long, ToolDialect::Gemini).unwrap();
    assert_eq!(schema["properties"]["a"]["properties"]["b"], json!({}));
    assert_eq!(schema["properties"]["c"]["type"], "string");
    let mut nested = json!(1);
    for _ in 0..50 {
        nested = json!([nested]);
    }
    assert_property(&json!({"default": nested, "title": "P"}), &json!({}), &json!({"title": "P"}));
}

#[test]
fn a_root_that_is_too_large_is_unusable() {
    let properties: serde_json::Map<String, Value> =
        (0..20_000).map(|index| (index.to_string(), json!({}))).collect();
    for schema in [
        json!({"type": "object", "properties": properties}),
        json!({"type": "object", "description": "x".repeat(300_000)}),
    ] {
        assert_eq!(compiled(&schema, ToolDialect::Gemini), Err(Unusable::TooLarge));
    }
}

#[test]
fn hostile_schemas_take_no_time() {
    let chained: serde_json::Map<String, Value> = (0..3_000)
        .map(|index| {
            let next = format!("#/$defs/{}", index + 1);
            (index.to_string(), json!({"$ref": next, "default": "x".repeat(2_000)}))
        })
        .collect();
    let all: Value = (0..3_000).map(|index| json!({"$ref": format!("#/$defs/{index}")})).collect();
    let names: Value = (0..9_000).map(|index| index.to_string()).collect();
    let required = json!({"type": "object", "required": names});
    let wide: Value = (0..9_000).map(|index| json!({"enum": [index]})).collect();
    let schemas = [
        exponential(60),
        json!({"type": "object", "properties": {"p": {"anyOf": all}}, "$defs": chained}),
        json!({"allOf": [required, required, required]}),
        json!({"type": "object", "properties": {"p": {"allOf": wide}}}),
        json!({"anyOf": wide}),
    ];
    let _timed = pollux_testkit::timed_test();
    for schema in schemas {
        let started = Instant::now();
        drop(compiled(&schema, ToolDialect::Chat));
        // The promise is 10 ms for an optimised build.
        assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    }
}

#[test]
fn parameters_with_names_that_anthropic_refuses_are_left_out() {
    let long = "x".repeat(65);
    let schema = json!({
        "type": "object",
        "properties": {
            "a.b-c_1": {"type": "string"}, "päth": {}, "$ref": {}, "a b": {}, "": {}, long: {}
        },
        "required": ["a.b-c_1", "päth"],
        "additionalProperties": false,
    });
    let expected = json!({
        "type": "object",
        "properties": {"a.b-c_1": {"type": "string"}},
        "required": ["a.b-c_1"],
    });
    assert_eq!(compiled(&schema, ToolDialect::Anthropic), Ok(expected));
    assert_eq!(compiled(&schema, ToolDialect::Chat), Ok(schema.clone()));
}
