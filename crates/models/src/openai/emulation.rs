//! Emulated tools for models without native tool support: tools are declared in the instruction and
//! called in fenced blocks of the text.

use std::fmt::Write as _;

use pollux_protocol::{FunctionCall, FunctionResponse, Part};
use serde_json::{Map, Value, json};

use super::request::WireFunction;
use crate::declarations::SentTools;

/// Opening line of a call.
pub(super) const FENCE: &str = "```tool_call";

/// Returns the instruction that explains the use of the tools to the model. In a text they have
/// their own names.
pub(super) fn instruction(tools: &SentTools<'_>) -> String {
    let mut text = format!(
        "# Tools\n\n\
        You cannot call tools directly: call them in your text. To call a tool, write a block like \
        this one, with each fence on its own line:\n\n\
        {FENCE}\n{{\"name\": \"NAME\", \"arguments\": {{\"KEY\": \"VALUE\"}}}}\n```\n\n\
        A block contains exactly one JSON object. Write several blocks for several calls. Stop after \
        the last block: the results arrive in the next message, in blocks that begin with \
        ```tool_result. Never write such a block yourself. If you need no tool, answer in plain text.\n\n\
        The tools, each with the JSON schema of its arguments:\n"
    );
    for tool in tools.iter() {
        let described = WireFunction {
            name: &tool.declaration.name,
            description: &tool.declaration.description,
            parameters: tool.parameters,
        };
        // Neither the encoding nor writing to a string fails.
        let described = serde_json::to_string(&described).unwrap_or_default();
        writeln!(text, "\n{described}").unwrap_or_default();
    }
    text
}

/// Returns a call in the format that the instruction describes.
pub(super) fn written_call(call: &FunctionCall) -> String {
    let object = json!({ "name": call.name, "arguments": call.args });
    format!("\n{FENCE}\n{object}\n```\n")
}

/// Returns a result in the format that the instruction describes. `output` is the output of the
/// tool.
pub(super) fn written_result(response: &FunctionResponse, output: &str) -> String {
    // The fence is longer than any in the text, so that the text cannot end it.
    let longest = output.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n{fence}tool_result {}\n{output}\n{fence}\n", response.name)
}

/// Reads the calls in a block: one object, several, or a list of them. Invalid text becomes a call
/// that fails, so that the model receives an error.
pub(super) fn read_calls(block: &str) -> Vec<Part> {
    let block = block.trim();
    let block = block.strip_suffix("```").unwrap_or(block);
    let mut calls = Vec::new();
    for value in serde_json::Deserializer::from_str(block).into_iter::<Value>() {
        match value {
            Ok(Value::Array(values)) => calls.extend(values.into_iter().map(read_call)),
            Ok(value) => calls.push(read_call(value)),
            // Text after a complete call is ignored.
            Err(_) if !calls.is_empty() => break,
            Err(_) => calls.push(Part::call("", "", Value::from(block))),
        }
        if matches!(calls.last().and_then(Part::as_call), Some(call) if call.name.is_empty()) {
            break;
        }
    }
    calls
}

fn read_call(value: Value) -> Part {
    let Value::Object(mut keys) = value else { return Part::call("", "", value) };
    let name = keys.get("name").or_else(|| keys.get("tool")).and_then(Value::as_str);
    let name = name.unwrap_or_default().to_owned();
    let arguments = ["arguments", "args", "parameters", "input"]
        .into_iter()
        .find_map(|key| keys.shift_remove(key))
        .filter(|arguments| !arguments.is_null());
    Part::call("", name, arguments.unwrap_or_else(|| Value::Object(Map::new())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(block: &str) -> Vec<(String, Value)> {
        let calls = read_calls(block);
        calls
            .iter()
            .map(|part| part.as_call().unwrap())
            .map(|call| (call.name.clone(), call.args.clone()))
            .collect()
    }

    #[test]
    fn blocks_are_read() {
        let glob = ("glob".to_owned(), json!({"pattern": "*"}));
        for block in [
            r#"{"name": "glob", "arguments": {"pattern": "*"}}"#,
            r#" {"tool": "glob", "args": {"pattern": "*"}} "#,
            r#"[{"name": "glob", "parameters": {"pattern": "*"}}]"#,
            "{\"name\": \"glob\", \"arguments\": {\"pattern\": \"*\"}} and so on",
            "{\"name\": \"glob\", \"arguments\": {\"pattern\": \"*\"}}```",
        ] {
            assert_eq!(calls(block), std::slice::from_ref(&glob), "{block}");
        }
        assert_eq!(calls("{\"name\":\"a\"}\n{\"name\":\"b\"}").len(), 2);
        assert_eq!(
            calls("{\"name\": \"glob\", "),
            [(String::new(), json!("{\"name\": \"glob\","))]
        );
        assert_eq!(calls("7"), [(String::new(), json!(7))]);
        assert_eq!(calls(""), []);
    }

    #[test]
    fn a_result_cannot_end_its_own_block() {
        let response = FunctionResponse {
            id: String::new(),
            name: "t".into(),
            response: json!({}),
            parts: vec![],
        };
        let text = written_result(&response, "a\n````\nb");
        assert_eq!(text, "\n`````tool_result t\na\n````\nb\n`````\n");
    }
}
