use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::{ConfigError, Environment, merge_into};

fn settings(layer: &Value) -> Settings {
    let mut merged = schema::defaults();
    merge_into(&mut merged, layer);
    Settings::new(merged)
}

#[test]
fn defaults_of_the_spine() {
    let settings = Settings::defaults();
    assert_eq!(settings.text("model.name"), None);
    assert_eq!(settings.integer("model.maxSessionTurns"), -1);
    assert_eq!(settings.max_attempts(), 10);
    assert!(
        settings.boolean("general.plan.enabled") && settings.boolean("general.retryFetchErrors")
    );
    assert!(!settings.boolean("general.sessionRetention.enabled"), "nothing is purged by default");
    assert_eq!(settings.integer("tools.truncateToolOutputThreshold"), 40_000);
    assert_eq!(settings.texts("tools.core"), None);
    assert_eq!(settings.context().memory_boundary_markers, [".git"]);
    assert_eq!(settings.text("output.format"), Some("text"));
    assert!(
        settings.boolean("privacy.usageStatisticsEnabled")
            && settings.boolean("security.folderTrust.enabled")
    );
}

#[test]
fn values_of_a_wrong_type_fall_back_to_the_default() {
    let settings = settings(&json!({
        "general": {"maxAttempts": "many", "defaultApprovalMode": "yolo", "plan": {"enabled": 3}},
        "output": {"format": "yaml"},
        "tools": {"core": 7, "truncateToolOutputThreshold": null},
        "model": {"maxSessionTurns": [], "compressionThreshold": "x"},
    }));
    assert_eq!(settings.max_attempts(), 10);
    assert_eq!(settings.text("general.defaultApprovalMode"), Some("default"));
    assert!(settings.boolean("general.plan.enabled"));
    assert_eq!(settings.text("output.format"), Some("text"));
    assert_eq!(settings.texts("tools.core"), None);
    assert_eq!(settings.integer("tools.truncateToolOutputThreshold"), 40_000);
    assert_eq!(settings.integer("model.maxSessionTurns"), -1);
    assert_eq!(settings.number("model.compressionThreshold"), Some(0.5));
}

#[test]
fn figures_are_brought_into_range() {
    let settings = settings(&json!({
        "general": {"maxAttempts": 99},
        "tools": {"truncateToolOutputThreshold": 0},
        "model": {"maxSessionTurns": 3},
    }));
    assert_eq!(settings.max_attempts(), 10);
    assert_eq!(settings.integer("tools.truncateToolOutputThreshold"), 0);
    assert_eq!(settings.integer("model.maxSessionTurns"), 3);
}

#[test]
fn keys_by_name() {
    let settings = settings(&json!({"context": {"fileName": "A.md"}, "own": {"x": 1}}));
    assert_eq!(settings.value("own.x"), Some(&json!(1)));
    assert_eq!(settings.value("nope.x"), None);
    assert_eq!(settings.texts("context.fileName").unwrap(), ["A.md"]);
    assert_eq!(settings.text("tools.shell.pager"), Some("cat"));
    assert_eq!(settings.number("model.compressionThreshold"), Some(0.5));
    assert!(settings.boolean("ui.showSpinner"));
}

#[test]
fn telemetry_variables_beat_settings() {
    let file =
        settings(&json!({"telemetry": {"enabled": true, "outfile": "a", "logPrompts": true}}));
    let environment = Environment::from_pairs([
        ("GEMINI_TELEMETRY_ENABLED", "yes"),
        ("GEMINI_TELEMETRY_OUTFILE", "b"),
        ("GEMINI_TELEMETRY_LOG_PROMPTS", "1"),
    ]);
    let resolved = TelemetrySettings::resolve(&file, &environment).unwrap();
    assert!(!resolved.enabled, "only true and 1 mean yes");
    assert!(resolved.log_prompts);
    assert_eq!(resolved.outfile.as_deref(), Some("b"));

    let short = settings(&json!({"telemetry": true}));
    let nothing = Environment::default();
    assert!(TelemetrySettings::resolve(&short, &nothing).unwrap().enabled);
}

#[test]
fn a_bad_telemetry_target_is_an_error() {
    let environment = Environment::from_pairs([("GEMINI_TELEMETRY_TARGET", "x")]);
    let error = TelemetrySettings::resolve(&Settings::defaults(), &environment).unwrap_err();
    assert!(matches!(error, ConfigError::Telemetry(_)));
    assert_eq!(
        error.to_string(),
        "Invalid telemetry configuration: Invalid telemetry target: x. Valid values are: local, gcp."
    );
}
