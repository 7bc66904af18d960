//! Reasoning that a vendor requires back together with the calls that it led to, stored as a signed
//! thought before them.

use pollux_protocol::{Opaque, Part};
use serde_json::Value;

use crate::catalog::ReasoningKey;

/// Dialect of the opaque bytes.
const DIALECT: &str = "openai";

/// Maximum size of reasoning that is sent back, in bytes.
const LIMIT: usize = 1024 * 1024;

/// Reasoning that is collected from the stream: a text or a list, depending on the key.
#[derive(Debug)]
pub(super) struct Gathered {
    key: ReasoningKey,
    value: Value,
    size: usize,
}

impl Gathered {
    pub(super) fn new(key: ReasoningKey) -> Self {
        let value = match key {
            ReasoningKey::ReasoningContent => Value::String(String::new()),
            ReasoningKey::ReasoningDetails => Value::Array(Vec::new()),
        };
        Self { key, value, size: 0 }
    }

    /// Adds a piece: text, and objects that only the vendor understands.
    pub(super) fn take(&mut self, words: &str, details: Option<Value>) {
        match (&mut self.value, details) {
            (Value::String(text), _) => {
                self.size += words.len();
                text.push_str(words);
            }
            (Value::Array(all), Some(Value::Array(details))) => {
                self.size += details.iter().map(|one| one.to_string().len()).sum::<usize>();
                all.extend(details);
            }
            _ => {}
        }
        if self.size > LIMIT {
            self.value = Value::Null;
        }
    }

    /// Returns the collected reasoning as a signed thought without text, because the user has
    /// already seen the text. Incomplete reasoning would be refused, so reasoning above the size
    /// limit is dropped completely.
    pub(super) fn take_part(&mut self) -> Option<Part> {
        let value = std::mem::take(&mut self.value);
        if self.size == 0 || value.is_null() {
            return None;
        }
        let data = serde_json::json!({ self.key.as_str(): value }).to_string();
        let opaque = Some(Opaque { dialect: DIALECT.to_owned(), data });
        Some(Part { opaque, ..Part::thought("") })
    }
}

/// Returns the reasoning that a part contains under a key. In older session files it is part of the
/// call.
pub(super) fn carried(part: &Part, key: ReasoningKey) -> Option<Value> {
    let opaque = part.opaque.as_ref().filter(|opaque| opaque.dialect == DIALECT)?;
    // A session file may contain anything.
    let mut value: Value = serde_json::from_str(&opaque.data).ok()?;
    let value = value.get_mut(key.as_str())?.take();
    match key {
        ReasoningKey::ReasoningContent => value.is_string().then_some(value),
        ReasoningKey::ReasoningDetails => value.is_array().then_some(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_gathered_comes_back_under_its_key_only() {
        let mut gathered = Gathered::new(ReasoningKey::ReasoningContent);
        gathered.take("one ", Some(json!([{"type": "x"}])));
        gathered.take("two", None);
        let thought = gathered.take_part().unwrap();
        assert!(thought.is_signed_thought() && thought.as_thought() == Some(""));
        assert_eq!(carried(&thought, ReasoningKey::ReasoningContent), Some(json!("one two")));
        assert_eq!(carried(&thought, ReasoningKey::ReasoningDetails), None);
        assert_eq!(gathered.take_part(), None);

        let opaque = Some(Opaque { dialect: "gemini".to_owned(), data: "QQ==".to_owned() });
        let other = Part { opaque, ..thought };
        assert_eq!(carried(&other, ReasoningKey::ReasoningContent), None);
    }

    #[test]
    fn too_much_is_dropped_whole() {
        let mut gathered = Gathered::new(ReasoningKey::ReasoningDetails);
        gathered.take("", Some(json!(["x".repeat(LIMIT), "y"])));
        gathered.take("", Some(json!(["z"])));
        assert_eq!(gathered.take_part(), None);
        let mut gathered = Gathered::new(ReasoningKey::ReasoningContent);
        gathered.take(&"x".repeat(LIMIT), None);
        gathered.take("y", None);
        assert_eq!(gathered.take_part(), None);
    }
}
