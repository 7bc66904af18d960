//! Old keys of settings files and what became of them.
//!
//! Each layer is brought up to date in memory when it is loaded. Gemini CLI also rewrites the
//! file; Pollux leaves a person's file as it is.

use serde_json::Value;

use crate::schema::{insert, lookup, take};

#[cfg(test)]
mod tests;

/// How the value of an old key becomes that of the new one.
#[derive(Debug, Clone, Copy)]
enum Change {
    /// The truth value is turned round.
    Inverted,
    /// The value moves as it is.
    Moved,
}

/// The old key, the new key, and the change.
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

/// Old objects, and where each of their keys went.
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

/// Moves old keys of one layer to where they belong; returns the old keys that were found.
///
/// Where old and new are both set, the new one wins.
pub(crate) fn migrate(layer: &mut Value) -> Vec<&'static str> {
    let mut found = Vec::new();
    for (old, new, change) in MOVES {
        let Some(value) = take(layer, old) else { continue };
        found.push(*old);
        let value = match (change, value.as_bool()) {
            (Change::Inverted, Some(flag)) => Value::Bool(!flag),
            (Change::Inverted, None) => continue,
            (Change::Moved, _) => value,
        };
        insert_if_absent(layer, new, value);
    }
    for (old, new, parts) in [INVESTIGATOR, HELP_AGENT] {
        let Some(mut value) = take(layer, old) else { continue };
        found.push(old);
        for (from, to) in parts {
            if let Some(part) = take(&mut value, from) {
                insert_if_absent(layer, &format!("{new}.{to}"), part);
            }
        }
    }
    if lookup(layer, "ui.accessibility.enableLoadingPhrases") == Some(&Value::Bool(false)) {
        insert_if_absent(layer, "ui.loadingPhrases", Value::from("off"));
    }
    rename_theme(layer);
    found
}

fn insert_if_absent(layer: &mut Value, key: &str, value: Value) {
    if lookup(layer, key).is_none()
        && let Value::Object(map) = layer
    {
        insert(map, key, value);
    }
}

/// Two themes have new names.
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
