//! Types of setting values.

use serde_json::Value;

/// Type of a value. Types nest, so that coercion, warnings, the JSON schema and the reference share
/// one description.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SettingKind {
    /// Any JSON value.
    Anything,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// Any string.
    Text,
    /// One of these strings.
    Choice(&'static [&'static str]),
    /// A list of values of one type.
    List(&'static Self),
    /// An object with any keys, and with values of one type.
    Map(&'static Self),
    /// An object with known keys.
    Record(&'static ObjectKind),
    /// A value of any of these types.
    Either(&'static [Self]),
}

/// An object with known keys.
#[derive(Debug, PartialEq)]
pub struct ObjectKind {
    /// Name of such an object in the JSON schema.
    pub name: &'static str,
    /// Known keys of the object.
    pub fields: &'static [Field],
    /// True if other keys are an error. Otherwise they are kept and ignored.
    pub is_strict: bool,
}

/// One key of a [`ObjectKind`].
#[derive(Debug, PartialEq)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// Type of the value.
    pub kind: SettingKind,
    /// True if the object is invalid without this key.
    pub is_required: bool,
}

impl SettingKind {
    /// A list of strings.
    pub const TEXTS: Self = Self::List(&Self::Text);
    /// An object with strings as values.
    pub const TEXT_MAP: Self = Self::Map(&Self::Text);
    /// An object with values of any type.
    pub const OBJECT: Self = Self::Map(&Self::Anything);

    /// Returns the name of the JSON type in warnings.
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

    /// Returns a description of the type for the user: `one of text, json`, `a list of strings`.
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

/// Returns the name of a value's JSON type.
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
