use pollux_config::{ConfigError, LayerKind, TrustSource, TrustState};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::home::Home;

#[test]
fn without_any_file_there_are_only_defaults() {
    let loaded = Home::new().load();
    assert!(loaded.layers.is_empty() && loaded.warnings.is_empty());
    assert_eq!(loaded.trust.state, TrustState::Unknown);
    assert_eq!(loaded.settings.value("general.maxAttempts"), Some(&json!(10)));
}

#[test]
fn later_layers_beat_earlier_ones() {
    let home = Home::new();
    home.trust(&home.work());
    home.write(
        "system/system-defaults.json",
        r#"{"model": {"name": "gemini-2.5-flash-lite"}, "ui": {"theme": "one", "hideTips": true}}"#,
    );
    home.write(
        "home/.gemini/settings.json",
        r#"{"model": {"name": "gemini-2.5-flash"}, "tools": {"exclude": ["x"]}}"#,
    );
    home.write(
        "work/.gemini/settings.json",
        r#"{"model": {"name": "gemini-2.5-pro"}, "tools": {"exclude": ["y", "x"]}}"#,
    );
    home.write("system/settings.json", r#"{"ui": {"theme": "two"}}"#);
    let loaded = home.load();
    assert_eq!(loaded.settings.text("model.name"), Some("gemini-2.5-pro"));
    assert_eq!(loaded.settings.text("ui.theme"), Some("two"));
    assert!(loaded.settings.boolean("ui.hideTips"));
    assert_eq!(loaded.settings.texts("tools.exclude").unwrap(), ["x", "y"]);
    let kinds: Vec<_> = loaded.layers.iter().map(|layer| layer.kind).collect();
    assert_eq!(
        kinds,
        [LayerKind::SystemDefaults, LayerKind::User, LayerKind::Workspace, LayerKind::System]
    );
}

#[test]
fn project_settings_need_trust() {
    let mut home = Home::new();
    home.write("work/.gemini/settings.json", r#"{"model": {"name": "project"}}"#);
    let name =
        |loaded: pollux_config::Loaded| loaded.settings.text("model.name").map(str::to_owned);
    assert_eq!(name(home.load()), None);
    assert_eq!(name(home.load_with(true, false).unwrap()).as_deref(), Some("project"));
    home.set("GEMINI_CLI_TRUST_WORKSPACE", "true");
    assert_eq!(name(home.load()).as_deref(), Some("project"));
}

#[test]
fn a_project_cannot_switch_the_question_off_for_itself() {
    let home = Home::new();
    let off = r#"{"security": {"folderTrust": {"enabled": false}}, "model": {"name": "evil"}}"#;
    home.write("work/.gemini/settings.json", off);
    let loaded = home.load();
    assert_eq!(loaded.trust.state, TrustState::Unknown);
    assert_eq!(loaded.settings.text("model.name"), None);

    home.write(
        "home/.gemini/settings.json",
        r#"{"security": {"folderTrust": {"enabled": false}}}"#,
    );
    let loaded = home.load();
    assert_eq!(loaded.trust.source, TrustSource::Disabled);
    assert_eq!(loaded.settings.text("model.name"), Some("evil"));
}

#[test]
fn a_broken_project_file_is_not_read_without_trust() {
    let home = Home::new();
    home.write("work/.gemini/settings.json", "{ broken");
    assert!(home.try_load().is_ok());
    assert!(home.load_with(true, false).is_err());
}

#[test]
fn in_the_home_directory_there_is_no_project_layer() {
    let home = Home::new();
    home.write("home/.gemini/settings.json", r#"{"context": {"includeDirectories": ["a"]}}"#);
    let loaded = home.load_in(&home.path("home"), true, false).unwrap();
    assert_eq!(loaded.layers.len(), 1);
    assert_eq!(loaded.settings.texts("context.includeDirectories").unwrap(), ["a"]);
}

#[test]
fn every_broken_file_is_named() {
    let home = Home::new();
    let user = home.write("home/.gemini/settings.json", "{\n  \"a\": 1,\n}");
    let system = home.write("system/settings.json", "[]");
    let error = home.try_load().unwrap_err();
    assert!(matches!(&error, ConfigError::Broken(files) if files.len() == 2));
    assert_eq!(
        error.to_string(),
        format!(
            "Error in {}: Settings file is not a valid JSON object.\n\
             Error in {}: Trailing commas are not allowed (line 2, column 9)\n\
             Please fix the configuration file(s) and try again.",
            system.display(),
            user.display()
        )
    );
}

#[test]
fn a_folder_in_place_of_the_file_is_named() {
    let home = Home::new();
    home.write("home/.gemini/settings.json/x", "");
    let text = home.try_load().unwrap_err().to_string();
    assert!(text.contains("settings.json: EISDIR: illegal operation on a directory\n"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_the_file_does_not_hang() {
    let home = Home::new();
    let path = home.path("home/.gemini/settings.json");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        pollux_testkit::cannot_run("mkfifo is not installed");
        return;
    }
    assert!(home.try_load().is_err());
}

#[test]
fn variables_types_and_old_keys() {
    let mut home = Home::new();
    home.set("MODEL", "from-environment");
    home.set("FLAG", "true");
    home.write(
        "home/.gemini/settings.json",
        r#"{
            // comment
            "model": {"name": "$MODEL"},
            "general": {"vimMode": "${FLAG}", "maxAttempts": "${N:-3}", "disableAutoUpdate": true},
            "admin": {"secureModeEnabled": true},
            "telemetry": {"outfile": "${UNSET}"}
        }"#,
    );
    let loaded = home.load();
    assert_eq!(loaded.settings.text("model.name"), Some("from-environment"));
    assert!(loaded.settings.boolean("general.vimMode"));
    assert_eq!(loaded.settings.max_attempts(), 3);
    assert!(!loaded.settings.boolean("general.enableAutoUpdate"));
    assert!(!loaded.settings.boolean("admin.secureModeEnabled"), "files cannot set admin");
    assert_eq!(loaded.settings.text("telemetry.outfile"), Some("${UNSET}"));
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}

#[test]
fn wrong_values_and_unknown_keys_do_not_stop_a_run() {
    let home = Home::new();
    let path =
        home.write("home/.gemini/settings.json", r#"{"theme": "x", "general": {"vimMode": 7}}"#);
    let loaded = home.load();
    assert_eq!(loaded.warnings.len(), 1);
    assert!(
        loaded.warnings[0].starts_with(&format!("Invalid configuration in {}:\n", path.display()))
    );
    assert_eq!(loaded.unknown_keys, [(path, "theme".to_owned())]);
    assert_eq!(loaded.settings.value("theme"), Some(&json!("x")), "unknown keys are kept");
    assert_eq!(loaded.settings.value("general.vimMode"), Some(&json!(7)), "used as written");
    assert!(!loaded.settings.boolean("general.vimMode"));
}

#[test]
fn system_files_with_old_keys_are_reported_about() {
    let home = Home::new();
    home.write("system/settings.json", r#"{"experimental": {"plan": false}}"#);
    let loaded = home.load();
    let words = "The system configuration contains deprecated settings: [experimental.plan]. ";
    assert!(loaded.warnings[0].starts_with(words), "{:?}", loaded.warnings);
    assert!(!loaded.settings.boolean("general.plan.enabled"));
}

#[cfg(unix)]
#[test]
fn system_files_that_others_could_write_are_not_read() {
    let mut home = Home::new();
    home.write("system/settings.json", r#"{"model": {"name": "theirs"}}"#);
    home.write("system/system-defaults.json", "{ broken");
    home.check_system_file = pollux_config::guard::check;
    let loaded = home.load();
    assert_eq!(loaded.settings.text("model.name"), None);
    assert_eq!(loaded.warnings.len(), 2, "{:?}", loaded.warnings);
    for (warning, name) in loaded.warnings.iter().zip(["settings", "defaults"]) {
        let words = format!("Security Warning: Skipping system {name} file '");
        assert!(warning.starts_with(&words), "{warning}");
    }
}
