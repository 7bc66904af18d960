//! The types that a setting's value may have.

use serde_json::Value;

/// The type of a value. Types nest, so that one description serves coercion, warnings, the JSON
/// schema and the reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Whatever JSON can say.
    Anything,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// Any text.
    Text,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// A list of values of one type.
    List(&'static Self),
    /// An object whose keys are free and whose values have one type.
    Map(&'static Self),
    /// An object with known keys.
    Record(&'static Record),
    /// A value of any of these types.
    Either(&'static [Self]),
}

/// An object with known keys.
#[derive(Debug, PartialEq)]
pub struct Record {
    /// What such an object is called in the JSON schema.
    pub name: &'static str,
    /// The keys.
    pub fields: &'static [Field],
    /// Whether other keys are a mistake. Otherwise they are kept and passed over.
    pub is_strict: bool,
}

/// One key of a [`Record`].
#[derive(Debug, PartialEq)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// The type of its value.
    pub kind: Kind,
    /// Whether the object makes no sense without it.
    pub is_required: bool,
}

impl Kind {
    /// A list of texts.
    pub const TEXTS: Self = Self::List(&Self::Text);
    /// An object of texts.
    pub const TEXT_MAP: Self = Self::Map(&Self::Text);
    /// An object of anything.
    pub const OBJECT: Self = Self::Map(&Self::Anything);

    /// The name of the JSON type, as warnings tell it.
    pub fn json_type(self) -> &'static str {
        match self {
            Self::Anything => "any",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::Text | Self::Choice(_) => "string",
            Self::List(_) => "array",
            Self::Map(_) | Self::Record(_) => "object",
            Self::Either(_) => "union",
        }
    }

    /// The type in words, for people: `one of text, json`, `a list of strings`.
    pub fn in_words(self) -> String {
        match self {
            Self::Anything => "any value".to_owned(),
            Self::Boolean => "true or false".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Text => "a string".to_owned(),
            Self::Choice(choices) => format!("one of {}", choices.join(", ")),
            Self::List(Self::Text) => "a list of strings".to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) | Self::Record(_) => "an object".to_owned(),
            Self::Either(kinds) => {
                let words: Vec<_> = kinds.iter().map(|kind| kind.in_words()).collect();
                words.join(", or ")
            }
        }
    }
}

/// The name of a value's JSON type.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
