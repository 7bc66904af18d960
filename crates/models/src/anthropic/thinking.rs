//! Thoughts that the vendor requires back, stored as signed thoughts.
//!
//! A block is kept as received, with the name of the model that it came from. Only that model gets
//! it back: the signature of another model, or of another vendor with the same dialect, would make
//! the request fail.

use pollux_protocol::{Opaque, Part};
use serde::{Deserialize, Serialize};

use super::DIALECT;

/// Block with a thought, as it is received and sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Thought {
    /// Thought with its text, which may be empty if the service omits it.
    Thinking {
        /// Text of the thought.
        thinking: String,
        /// Proof that the model wrote the text.
        signature: String,
    },
    /// Thought that only the service can read.
    RedactedThinking {
        /// Encrypted thought.
        data: String,
    },
}

/// Opaque data of a signed thought.
#[derive(Serialize, Deserialize)]
struct Kept {
    model: String,
    block: Thought,
}

impl Thought {
    /// Returns the thought as a part without text, because the user has already seen the text.
    /// `None` for a thought without a signature, which the service does not accept back.
    pub(super) fn into_part(self, model: &str) -> Option<Part> {
        let is_signed = match &self {
            Self::Thinking { signature, .. } => !signature.is_empty(),
            Self::RedactedThinking { data } => !data.is_empty(),
        };
        let kept = is_signed.then(|| Kept { model: model.to_owned(), block: self })?;
        let data = serde_json::to_string(&kept).ok()?;
        let opaque = Some(Opaque { dialect: DIALECT.to_owned(), data });
        Some(Part { opaque, ..Part::thought("") })
    }

    /// Returns the thought that a part contains, if it is one of this model.
    pub(super) fn of_part(part: &Part, model: &str) -> Option<Self> {
        let opaque = part.opaque.as_ref().filter(|opaque| opaque.dialect == DIALECT)?;
        // A session file may contain anything.
        let kept: Kept = serde_json::from_str(&opaque.data).ok()?;
        (kept.model == model).then_some(kept.block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thought_comes_back_to_its_model_only() {
        for block in [
            Thought::Thinking { thinking: "hm".to_owned(), signature: "c2ln".to_owned() },
            Thought::Thinking { thinking: String::new(), signature: "c2ln".to_owned() },
            Thought::RedactedThinking { data: "QUJD".to_owned() },
        ] {
            let part = block.clone().into_part("m").unwrap();
            assert!(part.is_signed_thought() && part.as_thought() == Some(""));
            assert_eq!(Thought::of_part(&part, "m"), Some(block));
            assert_eq!(Thought::of_part(&part, "other"), None);
        }
    }

    #[test]
    fn what_is_not_a_signed_thought_is_dropped() {
        let unsigned = Thought::Thinking { thinking: "hm".to_owned(), signature: String::new() };
        assert_eq!(unsigned.into_part("m"), None);
        for (dialect, data) in
            [("gemini", "QQ=="), (DIALECT, "no JSON"), (DIALECT, r#"{"model":"m","block":{}}"#)]
        {
            let opaque = Some(Opaque { dialect: dialect.to_owned(), data: data.to_owned() });
            let part = Part { opaque, ..Part::thought("") };
            assert_eq!(Thought::of_part(&part, "m"), None, "{data}");
        }
    }
}
