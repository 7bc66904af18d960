//! Streams of OpenAI's Responses, from the items of their output.

use serde_json::{Value, json};

use crate::reply::{ModelReply, reply};

/// Returns the events of a response with these items, as the service sends them: each item is
/// announced, its text and its arguments arrive in two pieces, and then the whole item. Usage is 10
/// and 5 tokens.
pub fn events(items: &[Value]) -> Vec<Value> {
    let response = |status: &str, output: &[Value], usage: Value| {
        json!({"id": "resp_1", "object": "response", "model": "gpt-test", "status": status,
            "instructions": "…", "error": null, "incomplete_details": null, "output": output,
            "usage": usage})
    };
    let begun = response("in_progress", &[], Value::Null);
    let mut events = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
    ];
    for (index, item) in items.iter().enumerate() {
        item_events(index, item, &mut events);
    }
    let usage = json!({"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0}});
    events.push(json!({"type": "response.completed",
        "response": response("completed", items, usage)}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    events
}

/// Creates a reply with the events of [`events`].
pub fn turn(items: &[Value]) -> ModelReply {
    reply().status(200, bytes(&events(items)))
}

/// Returns events as the bytes of a stream.
pub fn bytes(events: &[Value]) -> Vec<u8> {
    let line = |event: &Value| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n")
    };
    events.iter().map(line).collect::<String>().into_bytes()
}

/// Returns reasoning of the model with this summary, which can go back.
pub fn reasoning(summary: &str, encrypted: &str) -> Value {
    json!({"id": "rs_1", "type": "reasoning", "encrypted_content": encrypted,
        "summary": [{"type": "summary_text", "text": summary}]})
}

/// Returns a message of the model.
pub fn message(text: &str) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

/// Returns a call of the model.
pub fn call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({"id": format!("fc_{id}"), "type": "function_call", "status": "completed",
        "call_id": id, "name": name, "arguments": arguments.to_string()})
}

fn item_events(index: usize, item: &Value, events: &mut Vec<Value>) {
    let id = &item["id"];
    let mut announced = item.clone();
    announced["status"] = "in_progress".into();
    for key in ["content", "summary"] {
        if item.get(key).is_some() {
            announced[key] = json!([]);
        }
    }
    if item.get("arguments").is_some() {
        announced["arguments"] = "".into();
    }
    events.push(json!({"type": "response.output_item.added", "output_index": index,
        "item": announced}));
    let mut pieces = |kind: &str, place: &str, at: usize, text: &str| {
        let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
        for piece in [&text[..middle], &text[middle..]] {
            events.push(json!({"type": format!("{kind}.delta"), "output_index": index,
                "item_id": id, place: at, "delta": piece}));
        }
        events.push(json!({"type": format!("{kind}.done"), "output_index": index,
            "item_id": id, place: at, "text": text, "arguments": text}));
    };
    let texts = |key: &str| item[key].as_array().cloned().unwrap_or_default();
    for (at, part) in texts("summary").iter().enumerate() {
        let text = part["text"].as_str().unwrap_or_default();
        pieces("response.reasoning_summary_text", "summary_index", at, text);
    }
    for (at, part) in texts("content").iter().enumerate() {
        let (kind, key) = match part["type"].as_str() {
            Some("refusal") => ("response.refusal", "refusal"),
            Some("reasoning_text") => ("response.reasoning_text", "text"),
            _ => ("response.output_text", "text"),
        };
        pieces(kind, "content_index", at, part[key].as_str().unwrap_or_default());
    }
    if let Some(arguments) = item["arguments"].as_str() {
        pieces("response.function_call_arguments", "content_index", 0, arguments);
    }
    events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
}
