//! Merged settings of a run, as immutable values.

use std::sync::Arc;

use pollux_protocol::SettingValues;
use serde_json::Value;

use crate::imports::ImportFormat;
use crate::schema;

mod telemetry;
#[cfg(test)]
mod tests;

pub use telemetry::{OtlpProtocol, TelemetrySettings, TelemetryTarget};

/// All settings of a run. Clones share the values; a change creates new settings.
///
/// Each setting is read by its dotted key in the schema; debug builds check that it is there. A
/// value of a wrong type counts as the default. Settings that several places read together, or only
/// in a range, have methods of their own.
#[derive(Debug, Clone)]
pub struct Settings {
    merged: Arc<Value>,
}

/// `security.auth`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthSettings {
    /// Selected authentication method.
    pub selected_type: Option<String>,
    /// The only authentication method that is allowed.
    pub enforced_type: Option<String>,
}

/// The part of `context` that determines the context files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextSettings {
    /// Names of context files given by the user, before the built-in ones.
    pub file_names: Vec<String>,
    /// Output format of imports.
    pub import_format: ImportFormat,
    /// Names that end the upward search.
    pub memory_boundary_markers: Vec<String>,
}

impl Settings {
    /// Creates settings from merged values, which include the defaults.
    pub(crate) fn new(merged: Value) -> Self {
        Self { merged: Arc::new(merged) }
    }

    /// Returns the defaults only, as if no file exists.
    pub fn defaults() -> Self {
        Self::new(schema::defaults())
    }

    /// Returns all merged settings for frontends.
    pub fn values(&self) -> SettingValues {
        SettingValues::new(Arc::clone(&self.merged))
    }

    /// Returns all merged settings as an object.
    pub fn merged(&self) -> &Value {
        &self.merged
    }

    /// Returns the value at a dotted key, including defaults. The key may also name a whole group
    /// or an unknown setting.
    pub fn value(&self, key: &str) -> Option<&Value> {
        schema::lookup(&self.merged, key)
    }

    /// Returns the boolean at a dotted key, `false` if it has no default.
    pub fn boolean(&self, key: &str) -> bool {
        let given = self.given(key).and_then(Value::as_bool);
        given.or_else(|| default_of(key)?.as_bool()).unwrap_or_default()
    }

    /// Returns the number at a dotted key.
    pub fn number(&self, key: &str) -> Option<f64> {
        let given = self.given(key).and_then(Value::as_f64);
        given.or_else(|| default_of(key)?.as_f64())
    }

    /// Returns the number at a dotted key, rounded toward zero into the range of the target, or
    /// zero if it has no default.
    pub fn integer(&self, key: &str) -> i64 {
        self.number(key).unwrap_or_default() as i64
    }

    /// Returns the string at a dotted key.
    pub fn text(&self, key: &str) -> Option<&str> {
        let setting = schema::find(key);
        let is_allowed = |text: &&str| match setting.map(|setting| &setting.kind) {
            Some(schema::SettingKind::Choice(choices)) => choices.contains(text),
            _ => true,
        };
        let given = self.given(key).and_then(Value::as_str).filter(is_allowed);
        given.or(match setting?.default {
            schema::DefaultValue::Text(text) => Some(text),
            _ => None,
        })
    }

    /// Returns the strings of the list at a dotted key. A single string counts as a list of one;
    /// other items are omitted. Returns `None` if the key is unset.
    pub fn texts(&self, key: &str) -> Option<Vec<String>> {
        let items = match self.given(key)? {
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            Value::String(text) => vec![text.as_str()],
            _ => return None,
        };
        Some(items.into_iter().map(str::to_owned).collect())
    }

    /// Returns the settings for signing in.
    pub fn auth(&self) -> AuthSettings {
        let filled = |key| self.text(key).filter(|text| !text.is_empty()).map(str::to_owned);
        AuthSettings {
            selected_type: filled("security.auth.selectedType"),
            enforced_type: filled("security.auth.enforcedType"),
        }
    }

    /// Returns the settings for context files.
    pub fn context(&self) -> ContextSettings {
        let is_flat = self.text("context.importFormat") == Some("flat");
        ContextSettings {
            file_names: self.texts("context.fileName").unwrap_or_default(),
            import_format: if is_flat { ImportFormat::Flat } else { ImportFormat::Tree },
            memory_boundary_markers: self
                .texts("context.memoryBoundaryMarkers")
                .unwrap_or_default(),
        }
    }

    /// Returns the maximum number of attempts for a request, 1 to 10.
    pub fn max_attempts(&self) -> u32 {
        self.integer("general.maxAttempts").clamp(1, 10) as u32
    }

    fn given(&self, key: &str) -> Option<&Value> {
        debug_assert!(schema::owner(key).is_some(), "the schema has no {key}");
        self.value(key).filter(|value| !value.is_null())
    }
}

fn default_of(key: &str) -> Option<Value> {
    schema::find(key).and_then(|setting| setting.default.to_value())
}
