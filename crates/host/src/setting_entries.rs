//! All settings of a session with their sources, for a list of them.

use std::collections::BTreeSet;

use pollux_config::schema::{Setting, SettingKind, SettingScope};
use pollux_config::{ConfigError, ExplanationStep, Inspection, SourceOutcome, masked, schema};
use pollux_protocol::{SettingEntry, SettingEntryKind};

use crate::settings_files::{SettingsFiles, shown};

/// Name of the source of a value that nothing sets.
const DEFAULT: &str = "default";

/// Reads the settings that a file can set, in the order of the reference. Blocks the thread.
///
/// # Errors
/// For a file that cannot be used.
pub(crate) fn setting_entries(files: &SettingsFiles) -> Result<Vec<SettingEntry>, ConfigError> {
    let loaded = files.load()?;
    let inspection = Inspection::new(&loaded, &[]);
    let set: BTreeSet<&str> = inspection.set_keys().into_iter().collect();
    let has_file =
        |setting: &&Setting| setting.scope != SettingScope::Remote && !setting.key.starts_with('$');
    let entry = |setting: &'static Setting| entry(setting, &inspection, set.contains(setting.key));
    Ok(schema::all().filter(has_file).map(entry).collect())
}

fn entry(setting: &'static Setting, inspection: &Inspection<'_>, is_set: bool) -> SettingEntry {
    let key = setting.key;
    let (mut source, mut notes) = (DEFAULT.to_owned(), Vec::new());
    if is_set {
        let explanation = inspection.explain(key);
        let is_used = |step: &&ExplanationStep| {
            matches!(step.outcome, SourceOutcome::Wins | SourceOutcome::Merged)
        };
        let (used, hidden): (Vec<_>, Vec<_>) = explanation.steps.iter().partition(is_used);
        let names: Vec<&str> = used.iter().map(|step| step.source.as_str()).collect();
        if !names.is_empty() {
            source = names.join(", ");
        }
        let hidden = hidden.iter().filter(|step| step.value.is_some());
        let hidden: Vec<&str> =
            hidden.map(|step| step.source.as_str()).filter(|name| *name != DEFAULT).collect();
        if !hidden.is_empty() {
            notes.push(format!("Also set in, without effect: {}.", hidden.join(", ")));
        }
    }
    notes.extend(setting.without_effect().map(str::to_owned));
    if setting.restart {
        notes.push("Takes effect at the next start.".to_owned());
    }
    let value = inspection.value(key);
    let has_credential = |value: &serde_json::Value| masked(key, value) != *value;
    SettingEntry {
        key,
        description: setting.description,
        kind: kind(setting.kind),
        value: value.filter(|value| !has_credential(value)).cloned(),
        shown: value.map_or_else(|| "-".to_owned(), |value| shown(key, value)),
        source,
        notes,
    }
}

fn kind(kind: SettingKind) -> SettingEntryKind {
    match kind {
        SettingKind::Boolean => SettingEntryKind::Boolean,
        SettingKind::Choice(choices) => SettingEntryKind::Choice(choices),
        SettingKind::Number => SettingEntryKind::Number,
        SettingKind::Text => SettingEntryKind::Text,
        _ => SettingEntryKind::Other,
    }
}
