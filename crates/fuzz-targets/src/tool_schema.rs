//! The schema of a tool: any JSON is compiled for both dialects or rejected. A compiled schema is
//! an object of limited size and depth that needs no further compilation.

use pollux_models::{ToolDialect, compile};
use pollux_protocol::Declaration;
use serde_json::Value;

/// Maximum size and depth of a compiled schema: those of the compiler, with room for what the
/// dialects add and for data.
const MAX_SIZE: usize = 400 * 1024;
const MAX_DEPTH: usize = 100;

pub(crate) fn run(input: &[u8]) {
    let Ok(parameters) = serde_json::from_slice::<Value>(input) else { return };
    let name = String::from_utf8_lossy(&input[..input.len().min(80)]).into_owned();
    let declaration = Declaration { name, description: String::new(), parameters };
    for dialect in [ToolDialect::Gemini, ToolDialect::Chat, ToolDialect::Anthropic] {
        let Ok(compiled) = compile(&declaration, dialect) else { continue };
        assert!((1..=64).contains(&compiled.name.len()), "{}", compiled.name);
        assert_eq!(
            compiled.parameters["type"].as_str().map(str::to_lowercase).as_deref(),
            Some("object")
        );
        assert!(compiled.parameters.to_string().len() < MAX_SIZE);
        assert!(depth(&compiled.parameters) < MAX_DEPTH);
        let again = Declaration { parameters: compiled.parameters.clone(), ..declaration.clone() };
        assert_eq!(compile(&again, dialect).as_ref(), Ok(&compiled));
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(keys) => 1 + keys.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
