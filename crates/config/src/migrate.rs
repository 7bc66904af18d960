//! Old keys of settings files, and their new keys.
//!
//! Each layer is migrated in memory when it is loaded. Gemini CLI also rewrites the file; Pollux
//! leaves the user's file unchanged until `pollux config migrate`.

use serde_json::Value;

use crate::schema::{insert, lookup, take};

pub(crate) mod flat;

#[cfg(test)]
mod tests;

/// Conversion of the value of an old key to that of the new key.
#[derive(Debug, Clone, Copy)]
enum Change {
    /// The boolean is inverted.
    Inverted,
    /// The value is moved unchanged.
    Moved,
}

/// Old key, new key, and conversion.
const MOVES: &[(&str, &str, Change)] = &[
    ("general.disableAutoUpdate", "general.enableAutoUpdate", Change::Inverted),
    ("general.disableUpdateNag", "general.enableAutoUpdateNotification", Change::Inverted),
    (
        "ui.accessibility.disableLoadingPhrases",
        "ui.accessibility.enableLoadingPhrases",
        Change::Inverted,
    ),
    (
        "context.fileFiltering.disableFuzzySearch",
        "context.fileFiltering.enableFuzzySearch",
        Change::Inverted,
    ),
    ("tools.approvalMode", "general.defaultApprovalMode", Change::Moved),
    ("experimental.plan", "general.plan.enabled", Change::Moved),
];

/// Old object, new group, and the new location of each of the object's keys.
const INVESTIGATOR: (&str, &str, &[(&str, &str)]) = (
    "experimental.codebaseInvestigatorSettings",
    "agents.overrides.codebase_investigator",
    &[
        ("enabled", "enabled"),
        ("maxNumTurns", "runConfig.maxTurns"),
        ("maxTimeMinutes", "runConfig.maxTimeMinutes"),
        ("model", "modelConfig.model"),
        ("thinkingBudget", "modelConfig.generateContentConfig.thinkingConfig.thinkingBudget"),
    ],
);
const HELP_AGENT: (&str, &str, &[(&str, &str)]) =
    ("experimental.cliHelpAgentSettings", "agents.overrides.cli_help", &[("enabled", "enabled")]);

/// One step of a migration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// The dotted key is set to a value.
    Set(String, Value),
    /// The dotted key is removed.
    Remove(&'static str),
}

/// Moves old keys of a layer to their new location. Returns the steps, which make the same changes
/// to the file.
///
/// The new key is kept if both are set. An old key is left unchanged if its value should be a
/// boolean but is not, or if a value that is not an object blocks its new location.
pub(crate) fn migrate(layer: &mut Value) -> Vec<Step> {
    let mut steps = Vec::new();
    for (old, new, change) in MOVES {
        let value = match (change, lookup(layer, old)) {
            (Change::Inverted, Some(Value::Bool(flag))) => Value::Bool(!flag),
            (Change::Moved, Some(value)) => value.clone(),
            (_, Some(_) | None) => continue,
        };
        if set_if_absent(layer, new, &value, &mut steps) {
            remove(layer, old, &mut steps);
        }
    }
    for (old, new, parts) in [INVESTIGATOR, HELP_AGENT] {
        let Some(value) = lookup(layer, old).cloned() else { continue };
        let mut has_room = true;
        for (from, to) in parts {
            if let Some(part) = value.get(from) {
                has_room &= set_if_absent(layer, &format!("{new}.{to}"), part, &mut steps);
            }
        }
        if has_room {
            remove(layer, old, &mut steps);
        }
    }
    if lookup(layer, "ui.accessibility.enableLoadingPhrases") == Some(&Value::Bool(false)) {
        set_if_absent(layer, "ui.loadingPhrases", &Value::from("off"), &mut steps);
    }
    rename_theme(layer);
    steps
}

/// Returns the old keys that the steps remove.
pub(crate) fn old_keys(steps: &[Step]) -> Vec<&'static str> {
    let removed = |step: &Step| match step {
        Step::Remove(key) => Some(*key),
        Step::Set(..) => None,
    };
    steps.iter().filter_map(removed).collect()
}

/// Sets the key unless it has a value. Returns true if the key has a value afterwards; false if a
/// group on its path is not an object.
fn set_if_absent(layer: &mut Value, key: &str, value: &Value, steps: &mut Vec<Step>) -> bool {
    if lookup(layer, key).is_some() {
        return true;
    }
    if let Value::Object(map) = layer {
        insert(map, key, value.clone());
    }
    let is_set = lookup(layer, key).is_some();
    if is_set {
        steps.push(Step::Set(key.to_owned(), value.clone()));
    }
    is_set
}

fn remove(layer: &mut Value, key: &'static str, steps: &mut Vec<Step>) {
    take(layer, key);
    steps.push(Step::Remove(key));
}

/// Renames two themes in memory. Files keep the old names, which other versions know.
fn rename_theme(layer: &mut Value) {
    let renamed = match lookup(layer, "ui.theme").and_then(Value::as_str) {
        Some("VS") => "Default Light",
        Some("VS2015") => "Default Dark",
        _ => return,
    };
    if let Value::Object(map) = layer {
        insert(map, "ui.theme", Value::from(renamed));
    }
}
