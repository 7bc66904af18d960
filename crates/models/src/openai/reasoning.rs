//! Reasoning that a vendor requires back together with the calls that it led to, stored as a signed
//! thought before them.

use pollux_protocol::{Opaque, Part};
use serde_json::Value;

use crate::catalog::ReasoningKey;

/// Dialect of the opaque bytes.
const DIALECT: &str = "openai";

/// Maximum size of reasoning that is sent back, in bytes.
const LIMIT: usize = 1024 * 1024;

/// Reasoning that is collected from the stream.
#[derive(Debug)]
pub(super) struct Gathered {
    key: ReasoningKey,
    text: String,
    details: Vec<Value>,
    size: usize,
}

impl Gathered {
    pub(super) fn new(key: ReasoningKey) -> Self {
        Self { key, text: String::new(), details: Vec::new(), size: 0 }
    }

    /// Adds a piece: text, and objects that only the vendor understands.
    pub(super) fn take(&mut self, words: &str, details: Vec<Value>) {
        match self.key {
            ReasoningKey::ReasoningContent => {
                self.size += words.len();
                if self.size <= LIMIT {
                    self.text.push_str(words);
                }
            }
            ReasoningKey::ReasoningDetails => {
                for detail in details {
                    self.size += detail.to_string().len();
                    self.details.push(detail);
                }
                if self.size > LIMIT {
                    self.details.clear();
                }
            }
        }
    }

    /// Returns the collected reasoning as a signed thought without text, because the user has
    /// already seen the text. Incomplete reasoning would be refused, so reasoning above the size
    /// limit is dropped completely.
    pub(super) fn take_part(&mut self) -> Option<Part> {
        if self.size == 0 || self.size > LIMIT {
            return None;
        }
        let value = match self.key {
            ReasoningKey::ReasoningContent => Value::from(std::mem::take(&mut self.text)),
            ReasoningKey::ReasoningDetails => Value::from(std::mem::take(&mut self.details)),
        };
        self.size = 0;
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
        gathered.take("one ", vec![json!({"type": "x"})]);
        gathered.take("two", Vec::new());
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
        gathered.take("", vec![json!("x".repeat(LIMIT)), json!("y")]);
        assert_eq!(gathered.take_part(), None);
    }
}
