use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;

fn declaration(name: &str, parameters: Value) -> Declaration {
    Declaration { name: name.to_owned(), description: "Does.".to_owned(), parameters }
}

fn sent(cache: &DeclarationCache, declarations: &[Declaration]) -> Vec<(String, *const RawValue)> {
    let tools = cache.prepare(declarations).unwrap();
    tools.iter().map(|tool| (tool.name.to_owned(), std::ptr::from_ref(tool.parameters))).collect()
}

#[test]
fn unusable_tools_are_left_out_alone() {
    let declarations = [
        declaration("a", json!({"type": "object"})),
        declaration("b", json!({"type": "string"})),
        declaration("c", json!({})),
        declaration("a", json!({})),
    ];
    let cache = DeclarationCache::new(ToolDialect::Gemini);
    let tools = cache.prepare(&declarations).unwrap();
    assert_eq!(tools.iter().map(|tool| tool.name).collect::<Vec<_>>(), ["a", "c"]);
    let omission = |tool: &str, reason: &str| ToolOmission {
        tool: tool.to_owned(),
        reason: reason.to_owned(),
    };
    assert_eq!(
        *tools.omissions,
        [
            omission("b", "its parameters are not described as an object"),
            omission("a", "another tool has the same name"),
        ]
    );
}

#[test]
fn a_declaration_is_compiled_again_only_when_it_changes() {
    let cache = DeclarationCache::new(ToolDialect::Chat);
    let schema =
        json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/t"}}, "$defs": {"t": {}}});
    let one = declaration("one", schema.clone());
    let first = sent(&cache, &[one.clone(), declaration("two", schema.clone())]);
    // Another list, with one changed tool.
    let changed = Declaration { description: "Changed.".to_owned(), ..declaration("two", schema) };
    let second = sent(&cache, &[changed, one]);
    assert_eq!(first[0], second[1]);
    assert_ne!(first[1].1, second[0].1);
}
