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

#[test]
fn wrong_values_are_described() {
    let cases = [
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
    ];
    for (layer, key, message) in cases {
        let found = findings(layer.clone()).issues;
        assert_eq!(found.len(), 1, "{layer}");
        assert_eq!((found[0].key.as_str(), found[0].message.as_str()), (key, message), "{layer}");
    }
}

#[test]
fn what_is_allowed_beside_the_plain_types() {
    for layer in [
        json!({"telemetry": true}),
        json!({"tools": {"sandbox": "docker"}}),
        json!({"context": {"fileName": ["A.md", "B.md"]}}),
        json!({"pollux": {"anything": [1, {"goes": null}]}}),
        json!({"mcpServers": {"x": {"command": "a", "env": {"K": "v"}}}}),
    ] {
        assert_eq!(findings(layer.clone()), Findings::default(), "{layer}");
    }
}

#[test]
fn unknown_keys_are_listed_with_their_whole_name() {
    let found =
        findings(json!({"theme": "x", "general": {"plan": {"nope": 1}}, "hooks": {"X": []}}));
    assert_eq!(found.unknown_keys, ["theme", "general.plan.nope", "hooks.X"]);
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
