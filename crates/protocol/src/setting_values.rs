//! Settings as values, for frontends.

use std::sync::Arc;

use serde_json::Value;

/// Immutable snapshot of the merged settings. Clones share the values.
#[derive(Debug, Clone, Default)]
pub struct SettingValues(Arc<Value>);

impl SettingValues {
    /// Creates a snapshot of merged settings, an object of groups.
    pub fn new(merged: Arc<Value>) -> Self {
        Self(merged)
    }

    /// Returns the value at a dotted key such as `ui.theme`, including defaults; `None` for an
    /// unknown key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        key.split('.').try_fold(&*self.0, |value, name| value.get(name))
    }
}
