use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn findings(mut layer: Value) -> Findings {
    check(&mut layer)
}

#[test]
fn texts_become_what_they_spell() {
    let mut layer = json!({
        "general": {"vimMode": "TRUE", "maxAttempts": "3"},
        "model": {"compressionThreshold": "0.25", "name": "true"},
        "tools": {"sandbox": "false"},
    });
    assert_eq!(check(&mut layer), Findings::default());
    assert_eq!(
        layer,
        json!({
            "general": {"vimMode": true, "maxAttempts": 3},
            "model": {"compressionThreshold": 0.25, "name": "true"},
            "tools": {"sandbox": false},
        })
    );
}

/// Checks that each layer has one issue with this key and message.
fn described(cases: &[(Value, &str, &str)]) {
    for (layer, key, message) in cases {
        let found = findings(layer.clone()).issues;
        assert_eq!(found.len(), 1, "{layer}");
        assert_eq!((found[0].key.as_str(), found[0].message.as_str()), (*key, *message), "{layer}");
    }
}

#[test]
fn wrong_values_are_described() {
    described(&[
        (
            json!({"general": {"vimMode": "maybe"}}),
            "general.vimMode",
            "Expected boolean, received string",
        ),
        (json!({"general": 3}), "general", "Expected object, received number"),
        (json!({"model": {"name": null}}), "model.name", "Expected string, received null"),
        (json!({"tools": {"core": ["a", 1]}}), "tools.core[1]", "Expected string, received number"),
        (
            json!({"output": {"format": "yaml"}}),
            "output.format",
            "Invalid enum value. Expected 'text' | 'json', received 'yaml'",
        ),
        (
            json!({"mcpServers": {"x": {"comand": "a"}}}),
            "mcpServers.x",
            "Unrecognized key(s) in object: 'comand'",
        ),
        (json!({"telemetry": {"on": true}}), "telemetry", "Unrecognized key(s) in object: 'on'"),
        (json!({"telemetry": "x"}), "telemetry", "Expected object, received string"),
    ]);
}

#[test]
fn wrong_values_inside_are_described() {
    described(&[
        (json!({"context": {"fileName": 1}}), "context.fileName", "Invalid input"),
        (
            json!({"context": {"fileName": [1]}}),
            "context.fileName[0]",
            "Expected string, received number",
        ),
        (
            json!({"tools": {"sandbox": {"on": true}}}),
            "tools.sandbox",
            "Unrecognized key(s) in object: 'on'",
        ),
        (
            json!({"mcpServers": {"x": {"env": {"A": 1}}}}),
            "mcpServers.x.env.A",
            "Expected string, received number",
        ),
        (
            json!({"mcpServers": {"x": {"type": "tcp"}}}),
            "mcpServers.x.type",
            "Invalid enum value. Expected 'stdio' | 'sse' | 'http', received 'tcp'",
        ),
        (
            json!({"hooks": {"BeforeTool": [{"hooks": [{"timeout": "x"}]}]}}),
            "hooks.BeforeTool[0].hooks[0].timeout",
            "Expected number, received string",
        ),
        (
            json!({"agents": {"overrides": {"a": {"runConfig": {"zz": 1}}}}}),
            "agents.overrides.a.runConfig",
            "Unrecognized key(s) in object: 'zz'",
        ),
        (
            json!({"ui": {"customThemes": {"t": {"type": "custom"}}}}),
            "ui.customThemes.t.name",
            "Required",
        ),
        (
            json!({"model": {"summarizeToolOutput": {"x": {"tokenBudget": "y"}}}}),
            "model.summarizeToolOutput.x.tokenBudget",
            "Expected number, received string",
        ),
    ]);
}

#[test]
fn what_is_allowed_beside_the_plain_types() {
    for layer in [
        json!({"telemetry": true}),
        json!({"tools": {"sandbox": "docker"}}),
        json!({"context": {"fileName": ["A.md", "B.md"]}}),
        json!({"telemetry": "TRUE"}),
        json!({"mcpServers": {"x": {"command": "a", "env": {"K": "v"}, "timeout": "5"}}}),
        json!({"hooks": {"BeforeTool": [{"matcher": "*", "hooks": [{"command": "x"}]}]}}),
        json!({"context": {"importFormat": "any"}, "security": {"auth": {"selectedType": "any"}}}),
    ] {
        assert_eq!(findings(layer.clone()), Findings::default(), "{layer}");
    }
    let found = findings(json!({"hooks": {"BeforeTool": [{"matchr": "*", "own": 1}]}}));
    assert_eq!(found.issues, []);
    let key = |name: &str| format!("hooks.BeforeTool[0].{name}");
    assert_eq!(found.unknown_fields, [(key("matchr"), Some("matcher")), (key("own"), None)]);
}

#[test]
fn unknown_keys_are_listed_with_their_whole_name() {
    let found = findings(json!({
        "theme": "x", "general": {"plan": {"nope": 1}}, "hooks": {"X": []}, "pollux": {"a": 1},
    }));
    let expected = ["general.plan.nope", "pollux.a", "hooks.X", "theme"];
    let (mut found_keys, mut expected) = (found.unknown_keys.clone(), expected.to_vec());
    found_keys.sort();
    expected.sort_unstable();
    assert_eq!(found_keys, expected);
    assert!(found.issues.is_empty());
}

#[test]
fn the_layout_of_a_warning() {
    let found = findings(json!({"general": {"vimMode": 1}}));
    assert_eq!(
        warning(Path::new("/h/settings.json"), &found.issues).unwrap(),
        "Invalid configuration in /h/settings.json:\n\n\
         Error in: general.vimMode\n    Expected boolean, received number\n\
         Expected: boolean, but received: number\n\n\
         Please fix the configuration."
    );
    assert_eq!(warning(Path::new("/x"), &[]), None);
}

#[test]
fn at_most_five_problems_are_shown() {
    let layer = json!({"ui": {
        "hideTips": 1, "hideBanner": 1, "hideFooter": 1, "showSpinner": 1,
        "showCitations": 1, "debugRainbow": 1, "showLineNumbers": 1,
    }});
    let text = warning(Path::new("/x"), &findings(layer).issues).unwrap();
    assert_eq!(text.matches("Error in: ").count(), 5);
    assert!(text.ends_with("\n\n...and 2 more errors.\n\nPlease fix the configuration."));
}
