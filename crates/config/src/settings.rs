//! Merged settings of a run, as an immutable snapshot.

use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value;

use crate::schema;

mod groups;
mod telemetry;
#[cfg(test)]
mod tests;

pub use groups::{
    AdvancedSettings, AuthSettings, ContextSettings, FileFilteringSettings, GeneralSettings,
    ModelSettings, SecuritySettings, SessionRetentionSettings, ShellSettings, ToolSettings,
    UiSettings,
};
pub use telemetry::{OtlpProtocol, TelemetrySettings, TelemetryTarget};

/// All settings of a run. Clones share the snapshot; a change creates a new one.
///
/// The groups that the program reads are fields (through [`SettingsSnapshot`]); every other key is
/// found with [`Settings::value`].
#[derive(Debug, Clone)]
pub struct Settings {
    snapshot: Arc<SettingsSnapshot>,
}

/// Content of a [`Settings`].
#[derive(Debug)]
#[non_exhaustive]
pub struct SettingsSnapshot {
    merged: Value,
    /// `general` and its sub-groups.
    pub general: GeneralSettings,
    /// `model` and `modelConfigs`.
    pub model: ModelSettings,
    /// `context`.
    pub context: ContextSettings,
    /// `tools`.
    pub tools: ToolSettings,
    /// `security` and `admin.secureModeEnabled`.
    pub security: SecuritySettings,
    /// `advanced`.
    pub advanced: AdvancedSettings,
    /// The part of `ui` that headless runs read.
    pub ui: UiSettings,
    /// `output.format`: `text` or `json`.
    pub output_format: String,
    /// `privacy.usageStatisticsEnabled`.
    pub usage_statistics_enabled: bool,
}

impl Settings {
    /// Creates settings from merged values, which include the defaults.
    pub(crate) fn new(merged: Value) -> Self {
        let reader = Reader { merged: &merged };
        let snapshot = SettingsSnapshot {
            general: GeneralSettings::read(reader),
            model: ModelSettings::read(reader),
            context: ContextSettings::read(reader),
            tools: ToolSettings::read(reader),
            security: SecuritySettings::read(reader),
            advanced: AdvancedSettings::read(reader),
            ui: UiSettings::read(reader),
            output_format: reader.text_of("output.format"),
            usage_statistics_enabled: reader.boolean("privacy.usageStatisticsEnabled"),
            merged,
        };
        Self { snapshot: Arc::new(snapshot) }
    }

    /// Returns the defaults only, as if no file exists.
    pub fn defaults() -> Self {
        Self::new(schema::defaults())
    }

    /// Returns all merged settings as an object.
    pub fn merged(&self) -> &Value {
        &self.snapshot.merged
    }

    /// Returns the value at a dotted key, including defaults. The key may also name a whole group
    /// or an unknown setting.
    pub fn value(&self, key: &str) -> Option<&Value> {
        schema::lookup(&self.snapshot.merged, key)
    }

    /// Returns the boolean at a dotted key. A value of another type counts as the default, and a
    /// missing default as `false`.
    pub fn boolean(&self, key: &str) -> bool {
        self.reader().boolean(key)
    }

    /// Returns the number at a dotted key, or the default if the value has another type.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.reader().number(key)
    }

    /// Returns the string at a dotted key, or the default if the value has another type.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.reader().text(key)
    }

    /// Returns the strings of the list at a dotted key. A single string counts as a list of one;
    /// other items are omitted. Returns `None` if the key is unset.
    pub fn texts(&self, key: &str) -> Option<Vec<String>> {
        self.reader().texts(key)
    }

    fn reader(&self) -> Reader<'_> {
        Reader { merged: &self.snapshot.merged }
    }
}

impl Deref for Settings {
    type Target = SettingsSnapshot;

    fn deref(&self) -> &SettingsSnapshot {
        &self.snapshot
    }
}

/// Typed access to merged settings. Values of the wrong type are replaced by the schema's default.
#[derive(Clone, Copy)]
struct Reader<'a> {
    merged: &'a Value,
}

impl<'a> Reader<'a> {
    fn value(self, key: &str) -> Option<&'a Value> {
        schema::lookup(self.merged, key).filter(|value| !value.is_null())
    }

    fn default_of(key: &str) -> Option<Value> {
        schema::find(key).and_then(|setting| setting.default.to_value())
    }

    fn boolean(self, key: &str) -> bool {
        self.maybe_boolean(key).unwrap_or_default()
    }

    fn maybe_boolean(self, key: &str) -> Option<bool> {
        let given = self.value(key).and_then(Value::as_bool);
        given.or_else(|| Self::default_of(key)?.as_bool())
    }

    fn number(self, key: &str) -> Option<f64> {
        let given = self.value(key).and_then(Value::as_f64);
        given.or_else(|| Self::default_of(key)?.as_f64())
    }

    /// Returns a number rounded toward zero into the range of the target, or zero if there is
    /// neither a number nor a default.
    fn integer(self, key: &str) -> i64 {
        self.number(key).unwrap_or_default() as i64
    }

    fn text(self, key: &str) -> Option<&'a str> {
        match (self.value(key), schema::find(key)) {
            (Some(Value::String(text)), Some(setting)) => match setting.kind {
                schema::SettingKind::Choice(choices) if !choices.contains(&text.as_str()) => {
                    default_text(setting)
                }
                _ => Some(text),
            },
            (Some(Value::String(text)), None) => Some(text),
            (_, Some(setting)) => default_text(setting),
            (_, None) => None,
        }
    }

    /// Returns [`Reader::text`] as an owned string, empty if unset.
    fn text_of(self, key: &str) -> String {
        self.text(key).unwrap_or_default().to_owned()
    }

    fn owned_text(self, key: &str) -> Option<String> {
        self.text(key).map(str::to_owned)
    }

    fn texts(self, key: &str) -> Option<Vec<String>> {
        let items = match self.value(key)? {
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            Value::String(text) => vec![text.as_str()],
            _ => return None,
        };
        Some(items.into_iter().map(str::to_owned).collect())
    }

    fn texts_of(self, key: &str) -> Vec<String> {
        self.texts(key).unwrap_or_default()
    }
}

fn default_text(setting: &schema::Setting) -> Option<&'static str> {
    match setting.default {
        schema::DefaultValue::Text(text) => Some(text),
        _ => None,
    }
}
