//! Correction of results before they are read into the SDK's types.

use pollux_protocol::plain_text::visible;
use rmcp::model::{ContentBlock, Prompt, Resource, ResourceTemplate, Tool};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{ANNOTATIONS, DROPPED};

/// Maximum number of items of a page of a list.
const MOST_ITEMS: usize = 10_000;

/// Maximum number of unusable items that are named.
const MOST_NAMED: usize = 20;

/// Corrects a result of the request with this method.
pub(super) fn repair(method: &str, result: &mut Value) {
    let Value::Object(result) = result else {
        if method == "tools/call" {
            let content = json!([{"type": "text", "text": text_of(result)}]);
            *result = json!({ "content": content });
        }
        return;
    };
    match method {
        "initialize" => introduction(result),
        "tools/list" => {
            listed::<Tool>(result, "tools", tool);
            page(result);
        }
        "prompts/list" => {
            listed::<Prompt>(result, "prompts", |_| {});
            page(result);
        }
        "resources/list" => {
            listed::<Resource>(result, "resources", named_by_uri);
            page(result);
        }
        "resources/templates/list" => {
            listed::<ResourceTemplate>(result, "resourceTemplates", |_| {});
            page(result);
        }
        "tools/call" => call(result),
        _ => {}
    }
}

/// Keeps the usable items of a list, after `correct` has corrected each of them.
fn listed<T: DeserializeOwned>(
    result: &mut Map<String, Value>,
    key: &str,
    correct: impl Fn(&mut Map<String, Value>),
) {
    let mut items = match result.remove(key) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    items.truncate(MOST_ITEMS);
    let mut dropped = Vec::new();
    items.retain_mut(|item| {
        let Value::Object(fields) = item else {
            dropped.push(json!(format!("an item of its {key} is not an object")));
            return false;
        };
        // Icons and annotations of an unknown form say nothing about how an item is used.
        fields.remove("icons");
        for key in ["title", "description", "mimeType", "annotations", "_meta", "arguments", "size"]
        {
            fields.retain(|name, value| name != key || !value.is_null());
        }
        correct(fields);
        let name = fields.get("name").map(Value::to_string);
        T::deserialize(&*item).map_or_else(
            |error| {
                let name: String = visible(&name.unwrap_or_default()).chars().take(100).collect();
                dropped.push(json!(format!("{name} of its {key} cannot be used: {error}")));
                false
            },
            |_| true,
        )
    });
    result.insert(key.to_owned(), Value::Array(items));
    dropped.truncate(MOST_NAMED);
    result.insert("_meta".to_owned(), json!({ DROPPED: dropped }));
}

/// Corrects what belongs to a page of any list.
fn page(result: &mut Map<String, Value>) {
    result.retain(|key, value| match key.as_str() {
        "nextCursor" => value.as_str().is_some_and(|cursor| !cursor.is_empty()),
        "tools" | "prompts" | "resources" | "resourceTemplates" | "_meta" => true,
        _ => false,
    });
}

fn tool(fields: &mut Map<String, Value>) {
    let schema = fields.get("inputSchema");
    if schema.is_none_or(|schema| !schema.is_object()) {
        fields.insert("inputSchema".to_owned(), json!({"type": "object", "properties": {}}));
    }
    for key in ["title", "description"] {
        fields.retain(|name, value| name != key || value.is_string());
    }
    // Only what describes the result, which nothing reads.
    fields.remove("outputSchema");
    fields.remove("execution");
    let annotations = fields.remove("annotations").filter(Value::is_object);
    let meta = annotations.map(|annotations| json!({ ANNOTATIONS: annotations }));
    fields.remove("_meta");
    if let Some(meta) = meta {
        fields.insert("_meta".to_owned(), meta);
    }
}

fn named_by_uri(fields: &mut Map<String, Value>) {
    if !fields.contains_key("name")
        && let Some(uri) = fields.get("uri").cloned()
    {
        fields.insert("name".to_owned(), uri);
    }
}

/// Fills in what a server's introduction lacks.
fn introduction(result: &mut Map<String, Value>) {
    for key in ["capabilities", "serverInfo"] {
        if !result.get(key).is_some_and(Value::is_object) {
            result.insert(key.to_owned(), json!({}));
        }
    }
    if let Some(Value::Object(info)) = result.get_mut("serverInfo") {
        info.retain(|key, value| matches!(key.as_str(), "name" | "version") && value.is_string());
        for key in ["name", "version"] {
            info.entry(key).or_insert_with(|| json!(""));
        }
    }
    if let Some(Value::Object(capabilities)) = result.get_mut("capabilities") {
        // A capability is present if it has any value other than false or null.
        capabilities.retain(|_, value| !matches!(value, Value::Null | Value::Bool(false)));
        for value in capabilities.values_mut() {
            if !value.is_object() {
                *value = json!({});
            }
        }
        capabilities.retain(|key, _| {
            matches!(key.as_str(), "tools" | "prompts" | "resources" | "logging" | "completions")
        });
        for value in capabilities.values_mut().filter_map(Value::as_object_mut) {
            value.retain(|_, flag| flag.is_boolean());
        }
    }
    result.retain(|key, value| match key.as_str() {
        "instructions" => value.is_string(),
        "protocolVersion" | "capabilities" | "serverInfo" => true,
        _ => false,
    });
}

/// Corrects the result of a call.
fn call(result: &mut Map<String, Value>) {
    let failed = |value: Option<&Value>| {
        value.is_some_and(|flag| *flag == Value::Bool(true) || *flag == json!("true"))
    };
    let is_error = failed(result.get("isError"))
        || failed(result.get("error").and_then(|error| error.get("isError")));
    let content = match result.remove("content") {
        Some(Value::Array(blocks)) => blocks,
        Some(Value::Null) | None => Vec::new(),
        Some(single @ Value::Object(_)) => vec![single],
        Some(other) => vec![json!({"type": "text", "text": text_of(&other)})],
    };
    let content: Vec<Value> = content.into_iter().take(MOST_ITEMS).map(block).collect();
    let structured = result.remove("structuredContent").filter(|value| !value.is_null());
    result.clear();
    result.insert("content".to_owned(), Value::Array(content));
    result.insert("isError".to_owned(), Value::Bool(is_error));
    result.extend(structured.map(|value| ("structuredContent".to_owned(), value)));
}

/// Returns a block of a result that can be read. In place of an unknown block there is a note.
fn block(mut block: Value) -> Value {
    if let Value::Object(fields) = &mut block {
        for key in ["annotations", "_meta", "icons"] {
            fields.remove(key);
        }
        if fields.get("type") == Some(&json!("resource_link")) {
            named_by_uri(fields);
        }
        if let Some(Value::Object(resource)) = fields.get_mut("resource") {
            resource.remove("_meta");
        }
    }
    if ContentBlock::deserialize_ref(&block) {
        return block;
    }
    if let Value::String(text) = block {
        return json!({"type": "text", "text": text});
    }
    let kind: String = match block.get("type").and_then(Value::as_str) {
        Some(kind) => kind.chars().take(40).collect(),
        None => "none".to_owned(),
    };
    json!({"type": "text", "text": format!("[Unknown content type: {kind}]")})
}

trait Readable {
    fn deserialize_ref(value: &Value) -> bool;
}

impl<T: DeserializeOwned> Readable for T {
    fn deserialize_ref(value: &Value) -> bool {
        T::deserialize(value).is_ok()
    }
}

/// Returns a value as text: a text itself, anything else as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
