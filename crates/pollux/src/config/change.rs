//! `config set`, `unset` and `migrate`: change one file, and report the effect.

use std::path::{Path, PathBuf};

use pollux_config::{
    Changed, ConfigError, FileScope, Inspection, LayerFileState, LayerKind, SourceOutcome,
    ValueSource, assign, edit, edit_file, masked, migrate_file, schema,
};
use serde_json::{Value, json};

use super::{Answer, ConfigContext, place, shown};
use crate::exit::Failure;

/// Writes a value.
pub(super) fn set(
    context: &ConfigContext,
    key: &str,
    text: &str,
    scope: FileScope,
) -> Result<Answer, Failure> {
    let refused = |error: assign::AssignError| Failure::general(error.to_string());
    let (setting, kind) = assign::target(key).map_err(refused)?;
    assign::check_scope(key, setting, scope).map_err(refused)?;
    let value = assign::value(key, kind, text).map_err(refused)?;
    assign::check_range(key, setting, &value).map_err(refused)?;
    let path = file(context, scope)?;
    let names: Vec<&str> = key.split('.').collect();
    let changed = edit_file(scope, &path, &|text| edit::set(&path, text, &names, &value))
        .map_err(|error| failure(&error))?;
    let value_shown = shown(key, &value);
    let words = match changed {
        Changed::Yes => format!("{key} = {value_shown} saved in {}", path.display()),
        Changed::No => format!("{key} is {value_shown} already in {}", path.display()),
    };
    let mut answer = finish(context, key, scope, &path, changed, words);
    answer.json["value"] = masked(key, &value);
    Ok(answer)
}

/// Removes a value.
pub(super) fn unset(
    context: &ConfigContext,
    key: &str,
    scope: FileScope,
) -> Result<Answer, Failure> {
    let path = file(context, scope)?;
    let names: Vec<&str> = key.split('.').collect();
    let changed = edit_file(scope, &path, &|text| edit::unset(&path, text, &names))
        .map_err(|error| failure(&error))?;
    // An unknown key can be removed, but an unknown key that is not set is an error.
    if changed == Changed::No && !schema::is_group(key) {
        assign::target(key).map_err(|error| Failure::general(error.to_string()))?;
    }
    let words = match changed {
        Changed::Yes => format!("{key} removed from {}", path.display()),
        Changed::No => format!("{key} is not set in {}", path.display()),
    };
    Ok(finish(context, key, scope, &path, changed, words))
}

/// Renames old keys.
pub(super) fn migrate(context: &ConfigContext, scope: FileScope) -> Result<Answer, Failure> {
    let path = file(context, scope)?;
    let keys = migrate_file(scope, &path).map_err(|error| failure(&error))?;
    let text = if keys.is_empty() {
        format!("{} contains no old keys", path.display())
    } else {
        format!("{} renamed in {}", keys.join(", "), path.display())
    };
    let json = json!({ "path": path.display().to_string(), "scope": scope.as_str(), "keys": keys });
    Ok(Answer::new(text, json))
}

fn failure(error: &ConfigError) -> Failure {
    match error {
        ConfigError::Broken(_) => Failure::config(error.to_string()),
        _ => Failure::general(error.to_string()),
    }
}

/// Returns the file of a scope. In the home directory the project's file is the user's.
fn file(context: &ConfigContext, scope: FileScope) -> Result<PathBuf, Failure> {
    let path = scope.path(&context.places, &context.cwd);
    let real = |path: &Path| pollux_fs::real_path(path).unwrap_or_else(|_| path.to_owned());
    if scope == FileScope::Project && real(&context.cwd) == real(&context.places.home) {
        return Err(Failure::general(
            "This folder is the home directory, whose settings are the user's: use --user.",
        ));
    }
    Ok(path)
}

/// Returns the result of a change, with remarks about its effect.
fn finish(
    context: &ConfigContext,
    key: &str,
    scope: FileScope,
    path: &Path,
    changed: Changed,
    text: String,
) -> Answer {
    let (effective, notes) = effect(context, key, scope);
    let json = json!({
        "key": key,
        "scope": scope.as_str(),
        "path": path.display().to_string(),
        "changed": changed == Changed::Yes,
        "effective": effective,
        "notes": notes,
    });
    Answer { notes, ..Answer::new(text, json) }
}

/// Returns the effective value, and the reasons why it differs from the value in the file.
fn effect(context: &ConfigContext, key: &str, scope: FileScope) -> (Option<Value>, Vec<String>) {
    let loaded = match context.load_quietly() {
        Ok(loaded) => loaded,
        Err(failure) => return (None, vec![failure.message]),
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
    if explanation.setting.is_some_and(|setting| !setting.acted_on) {
        notes.push(format!("{key} has no effect in this version of Pollux."));
    }
    (explanation.value.map(|value| masked(key, &value)), notes)
}
