//! The model's answer: any bytes give a chunk or an error message, and an encoded chunk is decoded
//! to the same texts, calls and token counts.

use pollux_models::decode_chunk;
use pollux_protocol::{FinishReason, Part, ResponseChunk};
use serde_json::{Value, json};

pub(crate) fn run(bytes: &[u8]) {
    let chunk = match decode_chunk(bytes) {
        Ok(chunk) => chunk,
        Err(error) => return assert!(!error.to_string().is_empty(), "an error has a message"),
    };
    let again = decode_chunk(encoded(&chunk).to_string().as_bytes());
    let again = again.expect("an encoded chunk is a response");
    assert_eq!(texts(&chunk), texts(&again));
    assert_eq!(calls(&chunk), calls(&again));
    assert_eq!(chunk.usage, again.usage);
    assert_eq!(chunk.finish, again.finish);
    // An independent reading of plain responses, for comparison.
    if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
        let part = value["candidates"][0]["content"]["parts"][0].as_object();
        let only = part.filter(|part| part.len() == 1).and_then(|part| part.get("text"));
        if let Some(text) = only.and_then(Value::as_str) {
            assert_eq!(chunk.parts.first().and_then(Part::as_text), Some(text));
        }
        if let Some(total) = value["usageMetadata"]["totalTokenCount"].as_u64() {
            assert_eq!(chunk.usage.map(|usage| usage.total), Some(total as f64 as u64));
        }
    }
}

/// Returns the chunk as a response of the service.
fn encoded(chunk: &ResponseChunk) -> Value {
    let mut response = json!({
        "candidates": [{ "content": { "role": "model", "parts": chunk.parts } }]
    });
    match &chunk.finish {
        Some(FinishReason::PromptBlocked(reason)) => {
            response["promptFeedback"] = json!({ "blockReason": reason });
        }
        Some(finish) => response["candidates"][0]["finishReason"] = json!(finish.as_str()),
        None => {}
    }
    if let Some(usage) = chunk.usage {
        response["usageMetadata"] = json!({
            "promptTokenCount": usage.prompt,
            "candidatesTokenCount": usage.candidates,
            "totalTokenCount": usage.total,
            "cachedContentTokenCount": usage.cached,
            "thoughtsTokenCount": usage.thoughts,
            "toolUsePromptTokenCount": usage.tool,
        });
    }
    response
}

/// Returns the texts and thoughts.
fn texts(chunk: &ResponseChunk) -> Vec<(bool, &str)> {
    let texts = chunk.parts.iter();
    texts.filter_map(|part| Some((part.thought, part.as_text().or(part.as_thought())?))).collect()
}

/// Returns the ids, names and arguments of the calls.
fn calls(chunk: &ResponseChunk) -> Vec<(&str, &str, &Value)> {
    let calls = chunk.parts.iter().filter_map(Part::as_call);
    calls.map(|call| (call.id.as_str(), call.name.as_str(), &call.args)).collect()
}
