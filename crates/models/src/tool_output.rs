//! Results of tools as text, for dialects in which they are text.

use serde_json::{Map, Value};

/// Returns the result of a tool as text: its output unchanged, other results as JSON.
pub(crate) fn output(response: &Value) -> String {
    let keys: Option<&Map<String, Value>> = response.as_object();
    let only = |key: &str| {
        keys.filter(|keys| keys.len() == 1).and_then(|keys| keys.get(key)).and_then(Value::as_str)
    };
    match (only("output"), only("error")) {
        (Some(output), _) => output.to_owned(),
        (None, Some(error)) => format!("Error: {error}"),
        (None, None) => response.to_string(),
    }
}
