//! Settings files as the user sees and changes them: the origin of a value, and changes of one
//! file with their effect. Starts no session.

use std::path::{Path, PathBuf};

use pollux_config::{
    Changed, ConfigError, Environment, FileScope, Inspection, LayerFileState, LayerKind, Loaded,
    Places, Position, SourceOutcome, ValueSource, assign, edit, edit_file, masked, schema,
};
use serde_json::Value;

use crate::setup::load_options;

mod explanation;

pub use explanation::explanation_text;

/// Environment and paths from which settings are read.
#[derive(Debug, Clone)]
pub struct SettingsFiles {
    /// Environment of the process, without the variables of `.env` files.
    pub environment: Environment,
    /// Paths of the user and the system.
    pub places: Places,
    /// Folder of the project.
    pub cwd: PathBuf,
    /// True if the folder counts as trusted.
    pub skip_trust: bool,
}

/// Result of a change of a settings file.
#[derive(Debug, Clone)]
pub struct SettingChange {
    /// Path of the file.
    pub path: PathBuf,
    /// True if the file has changed.
    pub has_changed: bool,
    /// New value in the file, with credentials hidden; `None` after its removal.
    pub value: Option<Value>,
    /// Value that is in effect at the next start, with credentials hidden.
    pub effective: Option<Value>,
    /// Remarks for the user about the effect.
    pub notes: Vec<String>,
    /// Description of the change, without a full stop.
    pub text: String,
}

/// Error of a change of a settings file.
#[derive(Debug, thiserror::Error)]
pub enum SettingChangeError {
    /// The settings file cannot be read or written.
    #[error(transparent)]
    File(#[from] ConfigError),
    /// The key or its value is not possible, as the message says.
    #[error("{0}")]
    Refused(String),
}

impl From<assign::AssignError> for SettingChangeError {
    fn from(error: assign::AssignError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl SettingsFiles {
    /// Returns the settings as a run in this folder has them.
    ///
    /// # Errors
    /// For a file that cannot be used.
    pub fn load(&self) -> Result<Loaded, ConfigError> {
        let options = load_options(&self.places, &self.cwd, &self.environment, self.skip_trust);
        pollux_config::load(&options)
    }

    /// Writes a value, given as text, to the file of a scope. Blocks the thread.
    ///
    /// # Errors
    /// For a key or value that is not possible, and for a file that cannot be written.
    pub fn set(
        &self,
        key: &str,
        text: &str,
        scope: FileScope,
    ) -> Result<SettingChange, SettingChangeError> {
        let (setting, kind) = assign::target(key)?;
        assign::check_scope(key, setting, scope)?;
        let value = assign::value(key, kind, text)?;
        assign::check_range(key, setting, &value)?;
        let path = self.file(scope)?;
        let names: Vec<&str> = key.split('.').collect();
        let changed = edit_file(scope, &path, &|text| edit::set(&path, text, &names, &value))?;
        let value_shown = shown(key, &value);
        let text = match changed {
            Changed::Yes => format!("{key} = {value_shown} saved in {}", path.display()),
            Changed::No => format!("{key} is {value_shown} already in {}", path.display()),
        };
        let change = self.finished(key, scope, path, changed, text);
        Ok(SettingChange { value: Some(masked(key, &value)), ..change })
    }

    /// Removes a value from the file of a scope. Blocks the thread.
    ///
    /// # Errors
    /// For a key that is neither known nor set, and for a file that cannot be written.
    pub fn unset(&self, key: &str, scope: FileScope) -> Result<SettingChange, SettingChangeError> {
        let path = self.file(scope)?;
        let names: Vec<&str> = key.split('.').collect();
        let changed = edit_file(scope, &path, &|text| edit::unset(&path, text, &names))?;
        // An unknown key can be removed, but an unknown key that is not set is an error.
        if changed == Changed::No && !schema::is_group(key) {
            assign::target(key)?;
        }
        let text = match changed {
            Changed::Yes => format!("{key} removed from {}", path.display()),
            Changed::No => format!("{key} is not set in {}", path.display()),
        };
        Ok(self.finished(key, scope, path, changed, text))
    }

    /// Returns the file of a scope. In the home directory the project's file is the user's.
    ///
    /// # Errors
    /// For the project's file in the home directory.
    pub fn file(&self, scope: FileScope) -> Result<PathBuf, SettingChangeError> {
        let real = |path: &Path| pollux_fs::real_path(path).unwrap_or_else(|_| path.to_owned());
        if scope == FileScope::Project && real(&self.cwd) == real(&self.places.home) {
            return Err(SettingChangeError::Refused(
                "This folder is the home directory, whose settings are the user's: use --user."
                    .to_owned(),
            ));
        }
        Ok(scope.path(&self.places, &self.cwd))
    }

    fn finished(
        &self,
        key: &str,
        scope: FileScope,
        path: PathBuf,
        changed: Changed,
        text: String,
    ) -> SettingChange {
        let (effective, notes) = self.effect(key, scope);
        let has_changed = changed == Changed::Yes;
        SettingChange { path, has_changed, value: None, effective, notes, text }
    }

    /// Returns the effective value, and the reasons why it differs from the value in the file.
    fn effect(&self, key: &str, scope: FileScope) -> (Option<Value>, Vec<String>) {
        let loaded = match self.load() {
            Ok(loaded) => loaded,
            Err(error) => return (None, vec![error.to_string()]),
        };
        let explanation = Inspection::new(&loaded, &[]).explain(key);
        let kind = match scope {
            FileScope::User => LayerKind::User,
            FileScope::Project => LayerKind::Workspace,
            FileScope::System => LayerKind::System,
        };
        let mut notes = Vec::new();
        for file in loaded.files.iter().filter(|file| file.kind == kind) {
            if let LayerFileState::Skipped(reason) = &file.state {
                notes.push(format!("This file has no effect now: {reason}."));
            }
        }
        let steps = &explanation.steps;
        let own = steps.iter().position(|step| step.source == ValueSource::File(kind));
        let stronger = steps.iter().skip(own.map_or(0, |own| own + 1));
        for step in stronger.filter(|step| step.outcome == SourceOutcome::Wins) {
            let value = step.value.as_ref().map(|value| shown(key, value)).unwrap_or_default();
            let by = match (&step.path, step.names.is_empty()) {
                (Some(path), true) => place(path, step.position),
                _ => step.names.join(", "),
            };
            notes.push(format!("{by} has the value {value}, which is in effect."));
        }
        match explanation.setting.filter(|setting| !setting.acted_on) {
            Some(schema::Setting { needless: Some(reason), .. }) => {
                notes.push(format!("{key} has no effect: {reason}"));
            }
            Some(_) => notes.push(format!("{key} has no effect in this version of Pollux.")),
            None => {}
        }
        (explanation.value.map(|value| masked(key, &value)), notes)
    }
}

/// Returns a place in a file in the usual form `path:line`.
pub fn place(path: &Path, position: Option<Position>) -> String {
    let path = path.display();
    position.map_or_else(|| path.to_string(), |at| format!("{path}:{}", at.line))
}

/// Returns a value on one line, with credentials hidden.
pub fn shown(key: &str, value: &Value) -> String {
    masked(key, value).to_string()
}
