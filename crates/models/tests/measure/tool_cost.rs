//! Measures how long it takes to compile the declarations of 1,000 tools of servers, and of schemas
//! that are meant to take long.
//!
//! `cargo bench -p pollux-models --bench tool_cost` prints medians in microseconds.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use pollux_models::{ToolDialect, compile};
use pollux_protocol::Declaration;
use serde_json::{Map, Value, json};

const ROUNDS: usize = 30;

fn main() {
    let tools: Vec<Declaration> = (0..1_000).map(realistic).collect();
    let size: usize = tools.iter().map(|tool| tool.parameters.to_string().len()).sum();
    println!("schemas of 1,000 tools, on average {} bytes", size / tools.len());
    for dialect in [ToolDialect::Gemini, ToolDialect::Chat, ToolDialect::Anthropic] {
        let median = median(|| {
            for tool in &tools {
                let compiled = compile(black_box(tool), dialect).unwrap();
                black_box(serde_json::value::to_raw_value(&compiled.parameters).unwrap());
            }
        });
        println!("compiled and encoded, {dialect:?}: {:>8} us", median.as_micros());
    }
    for (name, schema) in [("ten references at each level", exponential()), ("a chain", chain())] {
        let tool = declaration("hostile", schema);
        let median = median(|| drop(black_box(compile(black_box(&tool), ToolDialect::Chat))));
        println!("{name}: {:>8} us", median.as_micros());
    }
}

fn declaration(name: &str, parameters: Value) -> Declaration {
    Declaration { name: name.to_owned(), description: "Does something.".to_owned(), parameters }
}

/// Returns a tool as the common frameworks for servers declare it.
fn realistic(index: usize) -> Declaration {
    let field = |number: usize| {
        let description =
            format!("Field {number} of the record: what it contains, and how it is used.");
        let schema = match number % 4 {
            0 => json!({"type": "string", "description": description, "minLength": 1}),
            1 => json!({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null,
                "title": "Field", "description": description}),
            2 => json!({"type": ["string", "null"], "enum": ["red", "green", "blue", null]}),
            _ => json!({"type": "array", "items": {"$ref": "#/$defs/Filter"}}),
        };
        (format!("field_{number}"), schema)
    };
    let properties: Map<String, Value> = (0..6 + index % 10).map(field).collect();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "required": ["field_0"],
        "additionalProperties": false,
        "$defs": {
            "Filter": {
                "type": "object",
                "properties": {
                    "field": {"type": "string"},
                    "operator": {"type": "string", "enum": ["eq", "ne", "lt", "gt", "in"]},
                    "value": {},
                    "all": {"type": "array", "items": {"$ref": "#/$defs/Filter"}},
                },
                "required": ["field", "operator"],
            },
        },
    });
    declaration(&format!("mcp_server_tool_{index}"), schema)
}

fn exponential() -> Value {
    let references = |level: usize| -> Value {
        let reference = json!({"$ref": format!("#/$defs/l{level}")});
        (0..10).map(|index| (format!("p{index}"), reference.clone())).collect()
    };
    let level = |level: usize| {
        (format!("l{level}"), json!({"type": "object", "properties": references(level + 1)}))
    };
    let definitions: Map<String, Value> = (0..60).map(level).collect();
    json!({"type": "object", "properties": references(0), "$defs": definitions})
}

fn chain() -> Value {
    let link = |index: usize| {
        let next = format!("#/$defs/{}", index + 1);
        (index.to_string(), json!({"$ref": next, "default": "x".repeat(2_000)}))
    };
    let definitions: Map<String, Value> = (0..3_000).map(link).collect();
    let all: Value = (0..3_000).map(|index| json!({"$ref": format!("#/$defs/{index}")})).collect();
    json!({"type": "object", "properties": {"p": {"anyOf": all}}, "$defs": definitions})
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let started = Instant::now();
            work();
            started.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}
