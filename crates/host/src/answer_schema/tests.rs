use std::fs;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn inline(schema: &str) -> Result<Arc<dyn AnswerSchema>, String> {
    read(schema, Path::new("/")).map(|schema| schema.0)
}

#[test]
fn a_schema_is_given_whole_or_as_a_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.json"), "\u{feff}{\"type\": \"integer\"}").unwrap();
    for given in ["s.json", " {\"type\": \"integer\"}"] {
        let schema = read(given, folder.path()).unwrap().0;
        assert!(schema.problems(&json!(3)).is_empty());
        assert_eq!(schema.problems(&json!("3")).len(), 1);
    }
    fs::write(folder.path().join("large.json"), " ".repeat(300 << 10)).unwrap();
    for given in ["missing.json", ".", "", "large.json"] {
        assert!(read(given, folder.path()).is_err(), "{given}");
    }
}

#[test]
fn what_cannot_be_used_is_refused_with_the_reason() {
    let deep = format!("{}{}", "{\"not\":".repeat(70), "{}") + &"}".repeat(70);
    for (schema, reason) in [
        ("{", "not JSON"),
        ("{\"type\": \"objekt\"}", "not a valid JSON Schema"),
        ("{\"properties\": []}", "not a valid JSON Schema"),
        ("{\"pattern\": \"(\"}", "not a valid JSON Schema"),
        ("{\"$ref\": \"https://example.com/s.json\"}", "$ref refers to"),
        ("{\"items\": {\"$ref\": \"other.json#/a\"}}", "$ref refers to"),
        ("{\"allOf\": [{\"$dynamicRef\": \"file:///etc/passwd\"}]}", "$dynamicRef refers to"),
        ("{\"$ref\": \"#/$defs/missing\"}", "not a valid JSON Schema"),
        ("{\"$ref\": \"#\"}", "refers to itself"),
        (
            "{\"$defs\": {\"a\": {\"$ref\": \"#/$defs/b\"}, \"b\": {\"anyOf\": [{\"$ref\": \"#/$defs/a\"}]}}, \"$ref\": \"#/$defs/a\"}",
            "refers to itself",
        ),
        ("{\"properties\": {\"x\": {\"$ref\": \"#/properties/x\"}}}", "refers to itself"),
        (&deep, "nested deeper"),
    ] {
        let error = inline(schema).err().unwrap_or_else(|| panic!("{schema}"));
        assert!(error.contains(reason), "{schema}: {error}");
    }
}

#[test]
fn references_into_the_schema_are_followed_and_data_is_left_alone() {
    let tree = inline(
        r##"{"$defs": {"node": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "additionalProperties": false}}, "$ref": "#/$defs/node"}"##,
    )
    .unwrap();
    assert!(tree.problems(&json!({"children": [{"children": []}]})).is_empty());
    assert!(!tree.problems(&json!({"children": [{"childs": []}]})).is_empty());
    let data = inline(r#"{"const": {"$ref": "https://example.com"}}"#).unwrap();
    assert!(data.problems(&json!({"$ref": "https://example.com"})).is_empty());
}

#[test]
fn draft_2020_12_is_what_holds() {
    // Keywords that draft 2020-12 added or changed.
    for (schema, right, wrong) in [
        (json!({"prefixItems": [{"type": "integer"}], "items": false}), json!([1]), json!([1, 2])),
        (json!({"dependentRequired": {"a": ["b"]}}), json!({"a": 1, "b": 2}), json!({"a": 1})),
        (json!({"contains": {"const": 1}, "minContains": 2}), json!([1, 1]), json!([1])),
        (
            json!({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false}),
            json!({"a": 1}),
            json!({"a": 1, "b": 2}),
        ),
        (json!({"if": {"type": "string"}, "then": {"minLength": 2}}), json!("ab"), json!("a")),
        (json!({"type": ["integer", "null"]}), json!(1.0), json!(1.5)),
        (json!({"multipleOf": 0.5}), json!(1.5), json!(1.2)),
        (json!({"format": "date"}), json!("2026-11-22"), json!("22.11.2026")),
        (json!({"format": "email"}), json!("a@b.example"), json!("nobody")),
        (json!({"enum": [1, "a", null]}), json!(null), json!(2)),
        (json!({"uniqueItems": true}), json!([1, 2]), json!([1, 1])),
        (
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "minProperties": 1}),
            json!({"a": 1}),
            json!({}),
        ),
    ] {
        let compiled = inline(&schema.to_string()).unwrap();
        assert_eq!(compiled.problems(&right), Vec::<String>::new(), "{schema}");
        assert!(!compiled.problems(&wrong).is_empty(), "{schema}");
    }
}

#[test]
fn problems_are_bounded_however_wrong_the_answer_is() {
    let schema = inline(r#"{"items": {"type": "integer"}}"#).unwrap();
    let answer = json!(vec!["x".repeat(10_000); 1000]);
    let problems = schema.problems(&answer);
    assert_eq!(problems.len(), REPORTED);
    assert!(problems.iter().all(|problem| problem.chars().count() <= LONGEST + 1));
}
