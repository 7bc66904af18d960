//! Description of one setting, and the functions that build the rows of the tables.

use serde_json::{Value, json};

use super::kind::SettingKind;
use super::strategy::MergeStrategy;

/// Value of a setting that no file sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DefaultValue {
    /// No value.
    Unset,
    /// A boolean.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A number with a fraction.
    Fraction(f64),
    /// A string.
    Text(&'static str),
    /// A list of strings.
    Texts(&'static [&'static str]),
    /// `{}`.
    EmptyObject,
}

impl DefaultValue {
    /// Returns the default as JSON, or `None` if there is no default.
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

/// Files that may set a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingScope {
    /// Every settings file.
    Any,
    /// Files of the user and the system. The setting is ignored in a project's file.
    NotProject,
    /// No file. Only the account's administrator can set it, through the service.
    Remote,
}

/// A setting: the source of coercion, warnings, defaults, merging and documentation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Dotted key.
    pub key: &'static str,
    /// Type of the value.
    pub kind: SettingKind,
    /// Value that applies if no file sets another.
    pub default: DefaultValue,
    /// True if a change takes effect only at the next start.
    pub restart: bool,
    /// Files that may set the setting.
    pub scope: SettingScope,
    /// Strategy for merging the values of several layers.
    pub merge: MergeStrategy,
    /// True if this version of Pollux uses the setting.
    pub acted_on: bool,
    /// Reason why the setting has nothing to act on in Pollux, in a sentence; `None` for every
    /// other setting.
    pub needless: Option<&'static str>,
    /// Variables that override the setting, the strongest first.
    pub variables: &'static [&'static str],
    /// Flag that overrides the setting. (The flag's folders are added to a list of folders.)
    pub flag: Option<&'static str>,
    /// Smallest and largest number that has an effect.
    pub range: Option<(u32, u32)>,
    /// Effect of the setting, in one or two sentences.
    pub description: &'static str,
}

impl Setting {
    /// Returns the title of the setting's group.
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

    /// Marks the setting as one that takes effect only after a restart.
    pub(super) const fn restart(mut self) -> Self {
        self.restart = true;
        self
    }

    /// Marks the setting as one that is accepted but not used in this version.
    pub(super) const fn idle(mut self) -> Self {
        self.acted_on = false;
        self
    }

    /// Marks the setting as one that is accepted and has nothing to act on, for this reason.
    pub(super) const fn needless(mut self, reason: &'static str) -> Self {
        self.acted_on = false;
        self.needless = Some(reason);
        self
    }

    /// Returns the sentence about a setting that has no effect; `None` if it has one.
    pub fn without_effect(&self) -> Option<&'static str> {
        let general = "This setting has no effect in this version of Pollux.";
        (!self.acted_on).then(|| self.needless.unwrap_or(general))
    }

    /// Marks the setting as one that a project's file cannot set.
    pub(super) const fn not_project(mut self) -> Self {
        self.scope = SettingScope::NotProject;
        self
    }

    /// Marks the setting as one that no file can set.
    pub(super) const fn remote(mut self) -> Self {
        self.scope = SettingScope::Remote;
        self
    }

    /// Appends the lists of several layers.
    pub(super) const fn concat(mut self) -> Self {
        self.merge = MergeStrategy::Concat;
        self
    }

    /// Appends the lists of several layers without repeats.
    pub(super) const fn union(mut self) -> Self {
        self.merge = MergeStrategy::Union;
        self
    }

    /// Replaces each key of the object as a whole.
    pub(super) const fn shallow(mut self) -> Self {
        self.merge = MergeStrategy::ShallowMerge;
        self
    }

    /// Sets the variables that override the setting.
    pub(super) const fn variables(mut self, names: &'static [&'static str]) -> Self {
        self.variables = names;
        self
    }

    /// Sets the smallest and the largest number that has an effect.
    pub(super) const fn within(mut self, least: u32, most: u32) -> Self {
        self.range = Some((least, most));
        self
    }

    /// Sets the flag that overrides the setting.
    pub(super) const fn flag(mut self, name: &'static str) -> Self {
        self.flag = Some(name);
        self
    }
}

const fn setting(
    key: &'static str,
    kind: SettingKind,
    default: DefaultValue,
    description: &'static str,
) -> Setting {
    Setting {
        key,
        kind,
        default,
        restart: false,
        scope: SettingScope::Any,
        merge: MergeStrategy::Replace,
        acted_on: true,
        needless: None,
        variables: &[],
        flag: None,
        range: None,
        description,
    }
}

/// Creates a boolean setting with a default.
pub(super) const fn boolean(
    key: &'static str,
    default: bool,
    description: &'static str,
) -> Setting {
    setting(key, SettingKind::Boolean, DefaultValue::Boolean(default), description)
}

/// Creates an integer setting with a default.
pub(super) const fn integer(key: &'static str, default: i64, description: &'static str) -> Setting {
    setting(key, SettingKind::Number, DefaultValue::Integer(default), description)
}

/// Creates a setting for a fraction with a default.
pub(super) const fn fraction(
    key: &'static str,
    default: f64,
    description: &'static str,
) -> Setting {
    setting(key, SettingKind::Number, DefaultValue::Fraction(default), description)
}

/// Creates a string setting with a default.
pub(super) const fn text(
    key: &'static str,
    default: &'static str,
    description: &'static str,
) -> Setting {
    setting(key, SettingKind::Text, DefaultValue::Text(default), description)
}

/// Creates a setting for one of several strings, with a default.
pub(super) const fn choice(
    key: &'static str,
    choices: &'static [&'static str],
    default: &'static str,
    description: &'static str,
) -> Setting {
    setting(key, SettingKind::Choice(choices), DefaultValue::Text(default), description)
}

/// Creates a setting for a list of strings, with a default.
pub(super) const fn texts(
    key: &'static str,
    default: &'static [&'static str],
    description: &'static str,
) -> Setting {
    setting(key, SettingKind::TEXTS, DefaultValue::Texts(default), description)
}

/// Creates a setting for a list of values of one type, empty by default.
pub(super) const fn list(
    key: &'static str,
    items: &'static SettingKind,
    description: &'static str,
) -> Setting {
    setting(key, SettingKind::List(items), DefaultValue::Texts(&[]), description)
}

/// Creates a setting for an object with any keys, empty by default.
pub(super) const fn object(
    key: &'static str,
    values: &'static SettingKind,
    description: &'static str,
) -> Setting {
    setting(key, SettingKind::Map(values), DefaultValue::EmptyObject, description)
}

/// Creates a setting of any type that is unset by default.
pub(super) const fn unset(
    key: &'static str,
    kind: SettingKind,
    description: &'static str,
) -> Setting {
    setting(key, kind, DefaultValue::Unset, description)
}
