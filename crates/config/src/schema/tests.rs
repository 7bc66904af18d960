use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

#[test]
fn keys_are_unique_and_defaults_fit_their_kind() {
    let mut seen = std::collections::BTreeSet::new();
    for setting in all() {
        assert!(seen.insert(setting.key), "{} is listed twice", setting.key);
        assert!(setting.description.ends_with('.'), "{}: a sentence ends", setting.key);
        assert!(!is_group(setting.key), "{} is both a setting and a group", setting.key);
        let fits = match (setting.kind, setting.default) {
            (_, DefaultValue::Unset)
            | (SettingKind::Boolean, DefaultValue::Boolean(_))
            | (SettingKind::Number, DefaultValue::Integer(_) | DefaultValue::Fraction(_))
            | (SettingKind::Text, DefaultValue::Text(_))
            | (SettingKind::List(_), DefaultValue::Texts(_))
            | (SettingKind::Map(_), DefaultValue::EmptyObject) => true,
            (SettingKind::Choice(choices), DefaultValue::Text(text)) => choices.contains(&text),
            _ => false,
        };
        assert!(fits, "{}: {:?} is no {:?}", setting.key, setting.default, setting.kind);
    }
    assert_eq!(seen.len(), INDEX.len());
}

#[test]
fn defaults_are_nested() {
    let defaults = defaults();
    assert_eq!(defaults["general"]["plan"]["enabled"], json!(true));
    assert_eq!(defaults["advanced"]["excludedEnvVars"], json!(["DEBUG", "DEBUG_MODE"]));
    assert_eq!(lookup(&defaults, "model.compressionThreshold"), Some(&json!(0.5)));
    assert_eq!(lookup(&defaults, "model.name"), None);
}

#[test]
fn groups_are_prefixes_of_settings() {
    assert!(is_group("general") && is_group("general.plan") && is_group("contextManagement.tools"));
    assert!(!is_group("gen") && !is_group("general.pla") && !is_group("general.plan.enabled"));
}

/// Returns each `settings.METHOD("KEY")` of a text.
fn reads(text: &str) -> Vec<(&str, &str)> {
    let call = |text| -> Option<(&str, &str)> {
        let (method, rest) = str::trim_start(text).strip_prefix('.')?.split_once("(\"")?;
        let (key, _) = rest.split_once('"')?;
        let methods = ["value", "boolean", "number", "integer", "text", "texts"];
        methods.contains(&method).then_some((method, key))
    };
    text.split("settings").skip(1).filter_map(call).collect()
}

#[test]
fn settings_are_read_as_the_table_has_them() {
    let mut text = String::new();
    sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut text);
    let reads = reads(&text);
    assert!(reads.len() > 50, "the search finds them: {}", reads.len());
    for (method, key) in reads {
        let kind = find(key).map(|setting| setting.kind);
        let fits = match (method, kind) {
            ("value", _) => kind.is_some() || is_group(key),
            ("boolean", Some(SettingKind::Boolean))
            | ("number" | "integer", Some(SettingKind::Number))
            | ("text", Some(SettingKind::Text | SettingKind::Choice(_)))
            | ("texts", Some(SettingKind::List(SettingKind::Text) | SettingKind::Either(_))) => {
                true
            }
            _ => false,
        };
        assert!(fits, "{key} is read with {method}, and the table says {kind:?}");
    }
}

/// Collects the sources of all crates except this table.
fn sources(folder: &std::path::Path, found: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["schema", "tests", "target", "examples"].contains(&name.as_str()) {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|end| end == "rs")
            && !["tests.rs", "migrate.rs"].contains(&name.as_str())
        {
            found.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn what_is_acted_on_is_read_somewhere() {
    let mut text = String::new();
    sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut text);
    for setting in all().filter(|setting| setting.acted_on && setting.key != "$schema") {
        // Two groups are read as a whole.
        let group =
            setting.key.split('.').next().filter(|name| ["modelConfigs", "hooks"].contains(name));
        let mut names = group.into_iter().chain([setting.key]).map(|name| format!("\"{name}\""));
        assert!(names.any(|name| text.contains(&name)), "nobody reads {}", setting.key);
    }
}

#[test]
fn samples_fit_the_json_schema() {
    let validator = jsonschema::validator_for(&json_schema()).unwrap();
    let error = |value: &Value| {
        let found: Vec<_> = validator.iter_errors(value).map(|error| error.to_string()).collect();
        found
    };
    let none: Vec<String> = Vec::new();
    for sample in [
        json!({}),
        json!({"$schema": "https://example.org/schema.json", "general": {"vimMode": true}}),
        json!({"telemetry": true}),
        json!({"telemetry": {"enabled": true, "target": "local"}}),
        json!({"context": {"fileName": ["A.md"]}, "tools": {"sandbox": {"enabled": true}}}),
        json!({"mcpServers": {"x": {"command": "y", "args": ["z"], "env": {"A": "b"}}}}),
        json!({"hooks": {"BeforeTool": [{"matcher": "*", "hooks": [{"type": "command", "command": "x"}]}], "Later": []}}),
        json!({"ui": {"customThemes": {"t": {"type": "custom", "name": "t", "text": {"primary": "#fff"}}}}}),
        json!({"agents": {"overrides": {"a": {"runConfig": {"maxTurns": 3}}}}}),
        json!({"pollux": {"shell": {"timeout": 5}}}),
        defaults(),
    ] {
        assert_eq!(error(&sample), none, "{sample}");
    }
    for sample in [
        json!([]),
        json!({"theme": "x"}),
        json!({"general": {"vimMod": true}}),
        json!({"general": {"vimMode": "yes"}}),
        json!({"output": {"format": "yaml"}}),
        json!({"telemetry": {"on": true}}),
        json!({"mcpServers": {"x": {"comand": "y"}}}),
        json!({"ui": {"customThemes": {"t": {"type": "custom"}}}}),
        json!({"tools": {"core": [1]}}),
        json!({"pollux": {"anything": 1}}),
    ] {
        assert_ne!(error(&sample), none, "{sample}");
    }
}

#[test]
fn the_reference_has_a_row_for_each_setting() {
    let page = reference();
    for setting in all() {
        assert!(page.contains(&format!("\n| `{}` |", setting.key)), "{}", setting.key);
    }
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        assert_eq!(line.replace("\\|", "").matches('|').count(), 5, "{line}");
    }
}
