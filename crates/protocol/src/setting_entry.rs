//! Settings as a list of them shows them.

use serde_json::Value;

/// A setting with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingEntry {
    /// Dotted key.
    pub key: &'static str,
    /// Effect of the setting.
    pub description: &'static str,
    /// Type of the value.
    pub kind: SettingEntryKind,
    /// Value in effect; `None` if there is none, and if it contains a credential.
    pub value: Option<Value>,
    /// The value as text, with credentials hidden.
    pub shown: String,
    /// Source of the value, such as `default` or `user`, or several.
    pub source: String,
    /// Remarks, in sentences.
    pub notes: Vec<String>,
}

/// Type of the value of a setting, as far as a list of settings edits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingEntryKind {
    /// `true` or `false`.
    Boolean,
    /// One of these strings.
    Choice(&'static [&'static str]),
    /// A number.
    Number,
    /// A string.
    Text,
    /// A list, an object, or one of several types.
    Other,
}
