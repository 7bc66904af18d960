use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

/// Checks that each old layer is migrated to the new one.
fn migrated(cases: &[(Value, Value)]) {
    for (old, new) in cases {
        let mut layer = old.clone();
        migrate(&mut layer);
        assert_eq!(layer, *new, "{old}");
    }
}

#[test]
fn old_keys_become_new_ones() {
    migrated(&[
        (
            json!({"general": {"disableAutoUpdate": true}}),
            json!({"general": {"enableAutoUpdate": false}}),
        ),
        (
            json!({"general": {"disableUpdateNag": true, "enableAutoUpdateNotification": true}}),
            json!({"general": {"enableAutoUpdateNotification": true}}),
        ),
        (
            json!({"ui": {"accessibility": {"disableLoadingPhrases": true}}}),
            json!({"ui": {"accessibility": {"enableLoadingPhrases": false}, "loadingPhrases": "off"}}),
        ),
        (
            json!({"tools": {"approvalMode": "plan"}}),
            json!({"tools": {}, "general": {"defaultApprovalMode": "plan"}}),
        ),
        (
            json!({"experimental": {"codebaseInvestigatorSettings": {"maxNumTurns": 3, "model": "m"}}}),
            json!({"experimental": {}, "agents": {"overrides": {"codebase_investigator":
                {"runConfig": {"maxTurns": 3}, "modelConfig": {"model": "m"}}}}}),
        ),
        (json!({"ui": {"theme": "VS2015"}}), json!({"ui": {"theme": "Default Dark"}})),
        (
            json!({"context": {"fileFiltering": {"disableFuzzySearch": true}}}),
            json!({"context": {"fileFiltering": {"enableFuzzySearch": false}}}),
        ),
        (
            json!({"experimental": {"plan": false}, "general": {"plan": {"enabled": true}}}),
            json!({"experimental": {}, "general": {"plan": {"enabled": true}}}),
        ),
        (
            json!({"experimental": {"cliHelpAgentSettings": {"enabled": false}}}),
            json!({"experimental": {}, "agents": {"overrides": {"cli_help": {"enabled": false}}}}),
        ),
        (
            json!({"experimental": {"codebaseInvestigatorSettings":
                {"enabled": false, "maxTimeMinutes": 2, "thinkingBudget": 7}}}),
            json!({"experimental": {}, "agents": {"overrides": {"codebase_investigator": {
                "enabled": false,
                "runConfig": {"maxTimeMinutes": 2},
                "modelConfig": {"generateContentConfig": {"thinkingConfig": {"thinkingBudget": 7}}},
            }}}}),
        ),
        (
            json!({"ui": {"accessibility": {"enableLoadingPhrases": false}, "loadingPhrases": "all"}}),
            json!({"ui": {"accessibility": {"enableLoadingPhrases": false}, "loadingPhrases": "all"}}),
        ),
    ]);
}

#[test]
fn what_cannot_move_stays() {
    migrated(&[
        // A value that is not a boolean cannot be inverted. The key is reported as unknown.
        (
            json!({"general": {"disableAutoUpdate": "x"}}),
            json!({"general": {"disableAutoUpdate": "x"}}),
        ),
        // A group of the wrong type is left for the validation to report.
        (
            json!({"general": 3, "experimental": {"plan": false}}),
            json!({"general": 3, "experimental": {"plan": false}}),
        ),
        // The old flat keys are no longer supported.
        (json!({"theme": "x", "autoAccept": true}), json!({"theme": "x", "autoAccept": true})),
    ]);
}

#[test]
fn reports_what_it_found() {
    let mut layer = json!({"experimental": {"plan": true}, "tools": {"approvalMode": "plan"}});
    let steps = migrate(&mut layer);
    assert_eq!(old_keys(&steps), ["tools.approvalMode", "experimental.plan"]);
    assert!(migrate(&mut layer).is_empty());
}

#[test]
fn the_steps_do_the_same_to_the_file() {
    let text = r#"{
  // updates
  "general": { "disableAutoUpdate": true },
  "experimental": {
    "plan": false, // not yet
    "codebaseInvestigatorSettings": { "maxNumTurns": 3 }
  },
  "ui": { "theme": "VS" }
}"#;
    let path = std::path::Path::new("settings.json");
    let mut layer = crate::jsonc::parse(path, text).unwrap();
    let mut changed = text.to_owned();
    for step in migrate(&mut layer) {
        changed = match step {
            Step::Set(key, value) => {
                let names: Vec<&str> = key.split('.').collect();
                crate::edit::set(path, &changed, &names, &value).unwrap()
            }
            Step::Remove(key) => {
                let names: Vec<&str> = key.split('.').collect();
                crate::edit::unset(path, &changed, &names).unwrap()
            }
        };
    }
    assert!(changed.contains("// updates") && changed.contains("// not yet"), "{changed}");
    assert!(changed.contains(r#""theme": "VS""#), "{changed}");
    let mut read = crate::jsonc::parse(path, &changed).unwrap();
    assert!(migrate(&mut read).is_empty());
    assert_eq!(read, layer);
}

#[test]
fn keys_of_the_first_format_have_places_in_the_current_one() {
    for (old, new) in flat::MOVES {
        let is_known = crate::schema::find(new).is_some() || crate::schema::is_group(new);
        assert!(is_known || MOVES.iter().any(|(old, ..)| old == new), "{old} -> {new}");
        assert!(crate::schema::find(old).is_none(), "{old} has a meaning of its own");
    }
}
