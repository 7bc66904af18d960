//! What is known about one setting.

use serde_json::{Value, json};

/// The type of a setting's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// Any text.
    Text,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// A text or a list of texts.
    TextOrTexts,
    /// A list of anything.
    List,
    /// An object whose keys are free.
    Object,
    /// `true`, `false`, a text, or an object.
    SandboxChoice,
}

/// The value of a setting that no file sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DefaultValue {
    /// None.
    Unset,
    /// A truth value.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Fraction(f64),
    /// A text.
    Text(&'static str),
    /// A list of texts.
    Texts(&'static [&'static str]),
    /// `{}`.
    EmptyObject,
}

impl DefaultValue {
    /// The default as JSON; `None` when there is none.
    pub fn to_value(self) -> Option<Value> {
        match self {
            Self::Unset => None,
            Self::Boolean(value) => Some(json!(value)),
            Self::Integer(value) => Some(json!(value)),
            Self::Fraction(value) => Some(json!(value)),
            Self::Text(value) => Some(json!(value)),
            Self::Texts(values) => Some(json!(values)),
            Self::EmptyObject => Some(json!({})),
        }
    }
}

/// One setting: the source of coercion, warnings, defaults and documentation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// The dotted key.
    pub key: &'static str,
    /// The type.
    pub kind: Kind,
    /// The value when no file sets it.
    pub default: DefaultValue,
    /// Whether a change takes effect only at the next start.
    pub restart: bool,
    /// What it does, in one sentence.
    pub description: &'static str,
}

impl Setting {
    /// Marks the setting as one that needs a restart.
    pub(super) const fn restart(mut self) -> Self {
        self.restart = true;
        self
    }
}

const fn setting(
    key: &'static str,
    kind: Kind,
    default: DefaultValue,
    description: &'static str,
) -> Setting {
    Setting { key, kind, default, restart: false, description }
}

/// A truth value with a default.
pub(super) const fn boolean(
    key: &'static str,
    default: bool,
    description: &'static str,
) -> Setting {
    setting(key, Kind::Boolean, DefaultValue::Boolean(default), description)
}

/// A whole number with a default.
pub(super) const fn integer(key: &'static str, default: i64, description: &'static str) -> Setting {
    setting(key, Kind::Number, DefaultValue::Integer(default), description)
}

/// A fraction with a default.
pub(super) const fn fraction(
    key: &'static str,
    default: f64,
    description: &'static str,
) -> Setting {
    setting(key, Kind::Number, DefaultValue::Fraction(default), description)
}

/// A text with a default.
pub(super) const fn text(
    key: &'static str,
    default: &'static str,
    description: &'static str,
) -> Setting {
    setting(key, Kind::Text, DefaultValue::Text(default), description)
}

/// One of several texts, with a default.
pub(super) const fn choice(
    key: &'static str,
    choices: &'static [&'static str],
    default: &'static str,
    description: &'static str,
) -> Setting {
    setting(key, Kind::Choice(choices), DefaultValue::Text(default), description)
}

/// A list of texts with a default.
pub(super) const fn texts(
    key: &'static str,
    default: &'static [&'static str],
    description: &'static str,
) -> Setting {
    setting(key, Kind::Texts, DefaultValue::Texts(default), description)
}

/// A list of anything, empty by default.
pub(super) const fn list(key: &'static str, description: &'static str) -> Setting {
    setting(key, Kind::List, DefaultValue::Texts(&[]), description)
}

/// An object with free keys, empty by default.
pub(super) const fn object(key: &'static str, description: &'static str) -> Setting {
    setting(key, Kind::Object, DefaultValue::EmptyObject, description)
}

/// A setting of any type that is unset by default.
pub(super) const fn unset(key: &'static str, kind: Kind, description: &'static str) -> Setting {
    setting(key, kind, DefaultValue::Unset, description)
}
