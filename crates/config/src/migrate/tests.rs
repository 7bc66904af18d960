use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

#[test]
fn old_keys_become_new_ones() {
    let cases = [
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
        // Not a truth value: nothing sensible to turn round.
        (json!({"general": {"disableAutoUpdate": "x"}}), json!({"general": {}})),
        // A group of the wrong type is left for the validation to report.
        (
            json!({"general": 3, "experimental": {"plan": false}}),
            json!({"general": 3, "experimental": {}}),
        ),
    ];
    for (old, new) in cases {
        let mut layer = old.clone();
        migrate(&mut layer);
        assert_eq!(layer, new, "{old}");
    }
}

#[test]
fn reports_what_it_found() {
    let mut layer = json!({"experimental": {"plan": true}, "tools": {"approvalMode": "plan"}});
    assert_eq!(migrate(&mut layer), ["tools.approvalMode", "experimental.plan"]);
    assert!(migrate(&mut layer).is_empty());
}
