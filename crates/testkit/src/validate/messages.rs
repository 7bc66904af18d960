//! Rules that Anthropic's Messages API enforces on a request.

use serde_json::Value;

/// Maximum number of breakpoints of the cache in a request.
const BREAKPOINTS: usize = 4;

/// Blocks that may be in a message of the user, and in one of the assistant.
const KINDS: [(&str, &[&str]); 2] = [
    ("user", &["text", "image", "document", "tool_result"]),
    ("assistant", &["text", "thinking", "redacted_thinking", "tool_use", "server_tool_use"]),
];

/// Checks a request against the service's rules:
///
/// - `model` (or, for Vertex AI, `anthropic_version`) and `max_tokens` are set, the first message
///   is the user's, and roles alternate;
/// - no message is empty, and no text is without visible characters;
/// - calls come from the assistant, results from the user; every call is answered exactly once in
///   the next message, before all other blocks;
/// - names of tools are legal and unique, and their schemas are objects;
/// - at most four blocks are breakpoints of the cache.
///
/// # Errors
///
/// The first broken rule, with the place: `messages[2].content[0]: …`.
pub fn validate_messages(body: &Value) -> Result<(), String> {
    let is_vertex = body.get("anthropic_version").is_some();
    if body["model"].as_str().is_none_or(str::is_empty) != is_vertex {
        return Err("model: missing, or beside anthropic_version".to_owned());
    }
    if body["max_tokens"].as_u64().is_none_or(|limit| limit == 0) {
        return Err("max_tokens: missing".to_owned());
    }
    validate_tools(&body["tools"])?;
    let breakpoints = count_breakpoints(body);
    if breakpoints > BREAKPOINTS {
        return Err(format!("{breakpoints} breakpoints of the cache"));
    }
    let messages = body["messages"].as_array().filter(|messages| !messages.is_empty());
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.ok_or("messages: empty")?.iter().enumerate() {
        let place = format!("messages[{index}]");
        let (role, kinds) = KINDS[index % 2];
        if message["role"] != role {
            return Err(format!("{place}: role {} where {role} must speak", message["role"]));
        }
        let blocks = message["content"].as_array().filter(|blocks| !blocks.is_empty());
        let blocks = blocks.ok_or_else(|| format!("{place}: no content"))?;
        let mut results_ended = false;
        for (number, block) in blocks.iter().enumerate() {
            let fail = |problem: String| Err(format!("{place}.content[{number}]: {problem}"));
            let kind = block["type"].as_str().unwrap_or_default();
            if !kinds.contains(&kind) {
                return fail(format!("a block {kind:?} of the {role}"));
            }
            if kind == "tool_result" {
                let id = block["tool_use_id"].as_str().unwrap_or_default();
                let Some(place) = open.iter().position(|call| *call == id) else {
                    return fail(format!("a result of no open call: {id:?}"));
                };
                if results_ended {
                    return fail("a result after other blocks".to_owned());
                }
                open.remove(place);
            } else {
                results_ended = true;
            }
            if let Err(problem) = validate_block(kind, block) {
                return fail(problem);
            }
            if kind == "tool_use" {
                open.push(block["id"].as_str().unwrap_or_default());
            }
        }
        if role == "user" && !open.is_empty() {
            return Err(format!("{place}: calls without results: {open:?}"));
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("calls without results: {open:?}")) }
}

fn validate_block(kind: &str, block: &Value) -> Result<(), String> {
    let text = |key: &str| block[key].as_str().unwrap_or_default();
    match kind {
        "text" if text("text").trim().is_empty() => {
            Err("a text without visible characters".to_owned())
        }
        "thinking" if text("signature").is_empty() => Err("a thought without signature".to_owned()),
        "redacted_thinking" if text("data").is_empty() => Err("no data".to_owned()),
        "tool_use" if !is_legal(text("id")) => Err(format!("the id {}", block["id"])),
        "tool_use" if !is_legal(text("name")) => Err(format!("the name {}", block["name"])),
        "tool_use" if !block["input"].is_object() => Err("input: not an object".to_owned()),
        "image" | "document" if !block["source"].is_object() => Err("no source".to_owned()),
        "tool_result" => {
            for inner in block["content"].as_array().into_iter().flatten() {
                validate_block(inner["type"].as_str().unwrap_or_default(), inner)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn validate_tools(tools: &Value) -> Result<(), String> {
    let mut seen = Vec::new();
    for (index, tool) in tools.as_array().into_iter().flatten().enumerate() {
        let name = tool["name"].as_str().unwrap_or_default();
        if !is_legal(name) || seen.contains(&name) {
            return Err(format!("tools[{index}]: the name {name:?}"));
        }
        if tool["input_schema"]["type"] != "object" {
            return Err(format!("tools[{index}]: the schema is not that of an object"));
        }
        seen.push(name);
    }
    Ok(())
}

fn is_legal(name: &str) -> bool {
    let legal = |one: u8| one.is_ascii_alphanumeric() || matches!(one, b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(legal)
}

fn count_breakpoints(value: &Value) -> usize {
    match value {
        Value::Object(keys) => {
            let own = usize::from(keys.contains_key("cache_control"));
            own + keys.values().map(count_breakpoints).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(count_breakpoints).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fault(messages: &Value) -> String {
        let body = json!({"model": "m", "max_tokens": 9, "messages": messages});
        validate_messages(&body).err().unwrap_or_default()
    }

    fn user(content: &Value) -> Value {
        json!({"role": "user", "content": content})
    }

    fn assistant(content: &Value) -> Value {
        json!({"role": "assistant", "content": content})
    }

    #[test]
    fn each_rule_is_enforced() {
        let hi = user(&json!([{"type": "text", "text": "hi"}]));
        let call = assistant(&json!([{"type": "tool_use", "id": "a", "name": "t", "input": {}}]));
        let result = json!({"type": "tool_result", "tool_use_id": "a", "content": "x"});
        let text = json!({"type": "text", "text": "x"});
        assert_eq!(fault(&json!([hi, call, user(&json!([result, text]))])), "");
        for (messages, expected) in [
            (json!([]), "messages: empty"),
            (json!([call]), "user must speak"),
            (json!([hi, hi]), "assistant must speak"),
            (json!([user(&json!([]))]), "no content"),
            (json!([user(&json!([{"type": "text", "text": " \n"}]))]), "visible characters"),
            (json!([hi, call]), "calls without results"),
            (json!([hi, call, hi]), "calls without results"),
            (json!([user(&json!([result]))]), "no open call"),
            (json!([hi, call, user(&json!([text, result]))]), "after other blocks"),
            (json!([hi, call, user(&json!([result, result]))]), "no open call"),
            (json!([user(&json!([{"type": "tool_use"}]))]), "of the user"),
            (json!([hi, assistant(&json!([{"type": "thinking", "thinking": "x"}]))]), "signature"),
        ] {
            let found = fault(&messages);
            assert!(found.contains(expected), "{messages}: {found:?}");
        }
        assert!(validate_messages(&json!({"model": "m"})).is_err());
        let tool = |name: &str| json!({"name": name, "input_schema": {"type": "object"}});
        let cached = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
        for (key, value) in [
            ("tools", json!([tool("a.b")])),
            ("tools", json!([tool("a"), tool("a")])),
            ("tools", json!([{"name": "a", "input_schema": {}}])),
            ("system", json!([cached, cached, cached, cached, cached])),
        ] {
            let mut body = json!({"model": "m", "max_tokens": 9, "messages": [hi]});
            body[key] = value;
            assert!(validate_messages(&body).is_err(), "{body}");
        }
    }
}
