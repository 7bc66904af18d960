//! Description of a tool for a model.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Description of a tool for a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Declaration {
    /// Name by which the model calls the tool.
    pub name: String,
    /// Purpose of the tool, and when to use it.
    pub description: String,
    /// JSON schema of the arguments.
    pub parameters: Value,
}

impl Declaration {
    /// Argument that makes a call wait for the earlier calls of its turn.
    pub const WAIT: &str = "wait_for_previous";

    /// Adds the argument [`Self::WAIT`] to the schema of an object.
    pub fn with_waiting(mut schema: Map<String, Value>) -> Value {
        if schema.get("type").and_then(Value::as_str) == Some("object") {
            let properties = schema.entry("properties").or_insert_with(|| Map::new().into());
            if let Some(properties) = properties.as_object_mut() {
                properties.entry(Self::WAIT).or_insert_with(|| {
                    serde_json::json!({
                        "type": "boolean",
                        "description": "Wait until all earlier calls of this turn are finished. Default: false."
                    })
                });
            }
        }
        Value::Object(schema)
    }
}
