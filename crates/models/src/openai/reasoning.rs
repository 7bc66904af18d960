//! Reasoning that a vendor requires back together with the calls that it led to, stored as a signed
//! thought before them.

use std::sync::Arc;

use pollux_protocol::{Opaque, Part};
use serde_json::{Map, Value};

use crate::catalog::ReasoningKey;

/// Dialect of the opaque bytes.
const DIALECT: &str = "openai";

/// Key of the opaque bytes with the name of the model that sent the reasoning.
const MODEL: &str = "model";

/// Maximum size of reasoning that is sent back, in bytes.
const LIMIT: usize = 1024 * 1024;

/// Rule for sending reasoning back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) enum ReasoningReturn {
    /// No reasoning is sent back.
    #[default]
    Never,
    /// The vendor gets all reasoning under this key.
    Vendor(ReasoningKey),
    /// The model of this name gets its own reasoning under the keys under which it came. For
    /// services that the catalog does not describe.
    Model(Arc<str>),
}

/// Reasoning that is collected from the stream.
#[derive(Debug)]
pub(super) struct Gathered {
    rule: ReasoningReturn,
    /// Text under the key `reasoning_content`, or whatever its key for a vendor of this key.
    content: String,
    /// Text under the key `reasoning`.
    plain: String,
    details: Vec<Value>,
    size: usize,
}

/// Piece of reasoning.
#[derive(Default)]
pub(super) struct Reasoning<'a> {
    /// Text under the key `reasoning_content`.
    pub(super) content: &'a str,
    /// Text under the key `reasoning`.
    pub(super) plain: &'a str,
    /// Objects that only the vendor understands.
    pub(super) details: Option<Value>,
}

impl<'a> Reasoning<'a> {
    /// Returns the text. Some vendors send the same text under both keys.
    pub(super) fn text(&self) -> &'a str {
        if self.content.is_empty() { self.plain } else { self.content }
    }
}

impl Gathered {
    pub(super) fn new(rule: ReasoningReturn) -> Self {
        let (content, plain, details) = (String::new(), String::new(), Vec::new());
        Self { rule, content, plain, details, size: 0 }
    }

    /// Adds a piece.
    pub(super) fn take(&mut self, piece: Reasoning<'_>) {
        let (content, plain, details) = match self.rule {
            ReasoningReturn::Never => return,
            ReasoningReturn::Vendor(ReasoningKey::ReasoningContent) => (piece.text(), "", None),
            ReasoningReturn::Vendor(ReasoningKey::Reasoning) => ("", piece.text(), None),
            ReasoningReturn::Vendor(ReasoningKey::ReasoningDetails) => ("", "", piece.details),
            ReasoningReturn::Model(_) => (piece.content, piece.plain, piece.details),
        };
        self.size += content.len() + plain.len();
        if let Some(Value::Array(details)) = details {
            self.size += details.iter().map(|one| one.to_string().len()).sum::<usize>();
            self.details.extend(details);
        }
        if self.size > LIMIT {
            (self.content, self.plain, self.details) = <_>::default();
        } else {
            self.content.push_str(content);
            self.plain.push_str(plain);
        }
    }

    /// Returns the collected reasoning as a signed thought without text, because the user has
    /// already seen the text. Incomplete reasoning would be refused, so reasoning above the size
    /// limit is dropped completely.
    pub(super) fn take_part(&mut self) -> Option<Part> {
        let content = std::mem::take(&mut self.content);
        let plain = std::mem::take(&mut self.plain);
        let details = std::mem::take(&mut self.details);
        if self.size > LIMIT || self.size == 0 {
            return None;
        }
        self.size = 0;
        let mut data = Map::new();
        let mut put = |key: &str, value: Value| data.insert(key.to_owned(), value);
        if let ReasoningReturn::Model(model) = &self.rule {
            put(MODEL, (&**model).into());
        }
        for (key, text) in
            [(ReasoningKey::ReasoningContent, content), (ReasoningKey::Reasoning, plain)]
        {
            if !text.is_empty() {
                put(key.as_str(), text.into());
            }
        }
        if !details.is_empty() {
            put(ReasoningKey::ReasoningDetails.as_str(), details.into());
        }
        let data = Value::from(data).to_string();
        let opaque = Some(Opaque { dialect: DIALECT.to_owned(), data });
        Some(Part { opaque, ..Part::thought("") })
    }
}

/// Returns the keys of a message that send the reasoning of a part back; empty if there are none.
/// In older session files the reasoning is part of the call.
pub(super) fn carried(part: &Part, rule: &ReasoningReturn) -> Map<String, Value> {
    let mut keys = Map::new();
    let opaque = part.opaque.as_ref().filter(|opaque| opaque.dialect == DIALECT);
    // A session file may contain anything.
    let data = opaque.and_then(|opaque| serde_json::from_str::<Value>(&opaque.data).ok());
    let Some(Value::Object(mut data)) = data else { return keys };
    for key in ReasoningKey::ALL {
        let is_wanted = match rule {
            ReasoningReturn::Never => false,
            ReasoningReturn::Vendor(wanted) => *wanted == key,
            ReasoningReturn::Model(model) => {
                data.get(MODEL).and_then(Value::as_str) == Some(&**model)
            }
        };
        let value = data.remove(key.as_str()).filter(|value| match key {
            ReasoningKey::ReasoningContent | ReasoningKey::Reasoning => value.is_string(),
            ReasoningKey::ReasoningDetails => value.is_array(),
        });
        if let (true, Some(value)) = (is_wanted, value) {
            keys.insert(key.as_str().to_owned(), value);
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CONTENT: ReasoningReturn = ReasoningReturn::Vendor(ReasoningKey::ReasoningContent);
    const DETAILS: ReasoningReturn = ReasoningReturn::Vendor(ReasoningKey::ReasoningDetails);

    fn model(name: &str) -> ReasoningReturn {
        ReasoningReturn::Model(name.into())
    }

    fn piece(content: &str, details: Option<Value>) -> Reasoning<'_> {
        Reasoning { content, details, ..Reasoning::default() }
    }

    fn keys(part: &Part, rule: &ReasoningReturn) -> Value {
        Value::from(carried(part, rule))
    }

    #[test]
    fn what_is_gathered_comes_back_under_its_key_only() {
        let mut gathered = Gathered::new(CONTENT);
        gathered.take(piece("one ", Some(json!([{"type": "x"}]))));
        gathered.take(Reasoning { plain: "two", ..Reasoning::default() });
        let thought = gathered.take_part().unwrap();
        assert!(thought.is_signed_thought() && thought.as_thought() == Some(""));
        assert_eq!(keys(&thought, &CONTENT), json!({"reasoning_content": "one two"}));
        for rule in [DETAILS, ReasoningReturn::Never, model("m")] {
            assert_eq!(keys(&thought, &rule), json!({}), "{rule:?}");
        }
        assert_eq!(gathered.take_part(), None);

        let opaque = Some(Opaque { dialect: "gemini".to_owned(), data: "QQ==".to_owned() });
        let other = Part { opaque, ..thought };
        assert_eq!(keys(&other, &CONTENT), json!({}));
    }

    #[test]
    fn a_model_of_an_unknown_service_gets_its_own_reasoning_only() {
        let mut gathered = Gathered::new(model("m"));
        gathered.take(piece("hm", Some(json!([{"type": "x"}]))));
        // Each text goes back under the key under which it came.
        gathered.take(Reasoning { plain: "so", ..Reasoning::default() });
        let thought = gathered.take_part().unwrap();
        let own = json!({"reasoning_content": "hm", "reasoning": "so",
            "reasoning_details": [{"type": "x"}]});
        assert_eq!(keys(&thought, &model("m")), own);
        assert_eq!(keys(&thought, &model("other")), json!({}));
        // A vendor that requires reasoning gets all that there is.
        assert_eq!(keys(&thought, &CONTENT), json!({"reasoning_content": "hm"}));
    }

    #[test]
    fn too_much_is_dropped_whole() {
        let mut gathered = Gathered::new(DETAILS);
        gathered.take(piece("", Some(json!(["x".repeat(LIMIT), "y"]))));
        gathered.take(piece("", Some(json!(["z"]))));
        assert_eq!(gathered.take_part(), None);
        let mut gathered = Gathered::new(CONTENT);
        gathered.take(piece(&"x".repeat(LIMIT), None));
        gathered.take(piece("y", None));
        assert_eq!(gathered.take_part(), None);
    }
}
