//! Results of calls. Pure.

use pollux_protocol::plain_text::strip_ansi;
use serde_json::{Value, json};

/// Result of a prompt.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) session_id: String,
    /// Text of the last turn.
    pub(crate) response: String,
    pub(crate) stats: Value,
    pub(crate) warnings: Vec<String>,
    /// Message for a prompt that failed.
    pub(crate) error: Option<String>,
}

impl Answer {
    /// Returns the result of the call. The structured content is the object of `--output-format
    /// json`; the text names the session, because many clients give only the text to their model.
    pub(crate) fn result(self) -> Value {
        let Self { session_id, response, stats, warnings, error } = self;
        let response = strip_ansi(&response).into_owned();
        let id = format!("Session ID: {session_id}");
        let texts = [Some(response.as_str()), error.as_deref(), Some(id.as_str())];
        let content: Vec<Value> =
            texts.into_iter().flatten().filter(|text| !text.is_empty()).map(block).collect();
        let is_error = error.is_some();
        let mut object = json!({"session_id": session_id, "response": response, "stats": stats});
        if let Some(message) = error {
            object["error"] = json!({ "message": message });
        }
        if !warnings.is_empty() {
            object["warnings"] = json!(warnings);
        }
        json!({"content": content, "structuredContent": object, "isError": is_error})
    }
}

/// Returns the result of a call that is refused, or that failed before there was a session.
pub(crate) fn refusal(reason: &str) -> Value {
    json!({"content": [block(reason)], "isError": true})
}

fn block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}
