//! Changes of agents in a settings file.

use std::path::PathBuf;

use pollux_config::{Changed, ConfigError, FileScope, Places, edit, edit_file};
use serde_json::Value;

/// Settings file in which agents are changed.
#[derive(Debug, Clone)]
pub(crate) struct AgentSwitch {
    /// Paths of the user.
    pub(crate) places: Places,
    /// Folder of the project.
    pub(crate) cwd: PathBuf,
}

impl AgentSwitch {
    /// Sets a value of an agent in the user's settings: `enabled`, or a path such as
    /// `runConfig.maxTurns`. Blocks the thread. Returns true if the file has changed.
    ///
    /// # Errors
    /// For a file that cannot be used.
    pub(crate) fn set(&self, agent: &str, key: &str, value: &Value) -> Result<bool, ConfigError> {
        let scope = FileScope::User;
        let path = scope.path(&self.places, &self.cwd);
        let keys: Vec<&str> =
            ["agents", "overrides", agent].into_iter().chain(key.split('.')).collect();
        let changed = edit_file(scope, &path, &|text| edit::set(&path, text, &keys, value))?;
        Ok(changed == Changed::Yes)
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> PathBuf {
        FileScope::User.path(&self.places, &self.cwd)
    }
}
