//! `config set`, `unset` and `migrate`: change one file, and report the effect.

use pollux_config::{ConfigError, FileScope, migrate_file};
use pollux_host::{SettingChange, SettingChangeError, SettingsFiles};
use serde_json::json;

use super::Answer;
use crate::exit::Failure;

/// Writes a value.
pub(super) fn set(
    files: &SettingsFiles,
    key: &str,
    text: &str,
    scope: FileScope,
) -> Result<Answer, Failure> {
    let change = files.set(key, text, scope).map_err(|error| failure(&error))?;
    let value = change.value.clone();
    let mut answer = answer(key, scope, change);
    answer.json["value"] = json!(value);
    Ok(answer)
}

/// Removes a value.
pub(super) fn unset(files: &SettingsFiles, key: &str, scope: FileScope) -> Result<Answer, Failure> {
    Ok(answer(key, scope, files.unset(key, scope).map_err(|error| failure(&error))?))
}

/// Renames old keys.
pub(super) fn migrate(files: &SettingsFiles, scope: FileScope) -> Result<Answer, Failure> {
    let path = files.file(scope).map_err(|error| failure(&error))?;
    let keys = migrate_file(scope, &path).map_err(|error| failure(&error.into()))?;
    let text = if keys.is_empty() {
        format!("{} contains no old keys", path.display())
    } else {
        format!("{} renamed in {}", keys.join(", "), path.display())
    };
    let json = json!({ "path": path.display().to_string(), "scope": scope.as_str(), "keys": keys });
    Ok(Answer::new(text, json))
}

fn failure(error: &SettingChangeError) -> Failure {
    match error {
        SettingChangeError::File(ConfigError::Broken(_)) => Failure::config(error.to_string()),
        _ => Failure::general(error.to_string()),
    }
}

/// Returns the result of a change, with remarks about its effect.
fn answer(key: &str, scope: FileScope, change: SettingChange) -> Answer {
    let SettingChange { path, has_changed, effective, notes, text, .. } = change;
    let json = json!({
        "key": key,
        "scope": scope.as_str(),
        "path": path.display().to_string(),
        "changed": has_changed,
        "effective": effective,
        "notes": notes,
    });
    Answer { notes, ..Answer::new(text, json) }
}
