//! What is known about one setting, and the words in which the tables say it.

use serde_json::{Value, json};

use super::kind::Kind;
use super::strategy::Strategy;

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

/// Whose files may set a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Every settings file.
    Any,
    /// The person's and the system's files. A project's file is not honoured.
    NotProject,
    /// No file: only what the account's administrator says through the service.
    Remote,
}

/// One setting: the source of coercion, warnings, defaults, merging and documentation.
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
    /// Whose files count.
    pub scope: Scope,
    /// What becomes of values in several layers.
    pub merge: Strategy,
    /// Whether this version of Pollux does anything with it.
    pub acted_on: bool,
    /// The variables that beat it, the strongest first.
    pub variables: &'static [&'static str],
    /// The flag that beats it (a list of folders is added to).
    pub flag: Option<&'static str>,
    /// What it does, in one sentence or two.
    pub description: &'static str,
}

impl Setting {
    /// What the group is called that it belongs to.
    pub fn category(&self) -> &'static str {
        let group = self.key.split_once('.').map_or(self.key, |(group, _)| group);
        match group {
            "general" => "General",
            "output" => "Output",
            "privacy" => "Privacy",
            "ide" => "Editor companion",
            "billing" => "Billing",
            "telemetry" => "Telemetry",
            "ui" => "Appearance",
            "model" => "Model",
            "modelConfigs" => "Model configurations",
            "agents" => "Subagents",
            "context" => "Context",
            "tools" | "useWriteTodos" => "Tools",
            "mcp" => "MCP",
            "security" => "Security",
            "advanced" => "Advanced",
            "experimental" => "Experimental",
            "extensions" => "Extensions",
            "skills" => "Skills",
            "hooks" | "hooksConfig" => "Hooks",
            "contextManagement" => "Context management",
            "admin" => "Administration",
            "pollux" => "Pollux",
            _ => "Root",
        }
    }

    /// Marks the setting as one that needs a restart.
    pub(super) const fn restart(mut self) -> Self {
        self.restart = true;
        self
    }

    /// Marks the setting as one that is accepted and without effect in this version.
    pub(super) const fn idle(mut self) -> Self {
        self.acted_on = false;
        self
    }

    /// Marks the setting as one that a project's file cannot set.
    pub(super) const fn not_project(mut self) -> Self {
        self.scope = Scope::NotProject;
        self
    }

    /// Marks the setting as one that no file can set.
    pub(super) const fn remote(mut self) -> Self {
        self.scope = Scope::Remote;
        self
    }

    /// Lists of several layers are joined.
    pub(super) const fn concat(mut self) -> Self {
        self.merge = Strategy::Concat;
        self
    }

    /// Lists of several layers are joined without repeats.
    pub(super) const fn union(mut self) -> Self {
        self.merge = Strategy::Union;
        self
    }

    /// Each key of the object is replaced whole.
    pub(super) const fn shallow(mut self) -> Self {
        self.merge = Strategy::ShallowMerge;
        self
    }

    /// Names the variables that beat the setting.
    pub(super) const fn variables(mut self, names: &'static [&'static str]) -> Self {
        self.variables = names;
        self
    }

    /// Names the flag that beats the setting.
    pub(super) const fn flag(mut self, name: &'static str) -> Self {
        self.flag = Some(name);
        self
    }
}

const fn setting(
    key: &'static str,
    kind: Kind,
    default: DefaultValue,
    description: &'static str,
) -> Setting {
    Setting {
        key,
        kind,
        default,
        restart: false,
        scope: Scope::Any,
        merge: Strategy::Replace,
        acted_on: true,
        variables: &[],
        flag: None,
        description,
    }
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
    setting(key, Kind::TEXTS, DefaultValue::Texts(default), description)
}

/// A list of values of one type, empty by default.
pub(super) const fn list(
    key: &'static str,
    items: &'static Kind,
    description: &'static str,
) -> Setting {
    setting(key, Kind::List(items), DefaultValue::Texts(&[]), description)
}

/// An object with free keys, empty by default.
pub(super) const fn object(
    key: &'static str,
    values: &'static Kind,
    description: &'static str,
) -> Setting {
    setting(key, Kind::Map(values), DefaultValue::EmptyObject, description)
}

/// A setting of any type that is unset by default.
pub(super) const fn unset(key: &'static str, kind: Kind, description: &'static str) -> Setting {
    setting(key, kind, DefaultValue::Unset, description)
}
