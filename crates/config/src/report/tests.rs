use std::path::Path;

use pretty_assertions::assert_eq;

use super::*;

fn remarks(kind: LayerKind, text: &str) -> Vec<(String, &'static str, usize)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    std::fs::write(&path, text).unwrap();
    let file = LayerFile { kind, path, state: LayerFileState::Read };
    let found = of_file(&file, None, &Environment::default());
    let shown = |remark: Remark| {
        let line = remark.position.map_or(0, |position| position.line);
        (remark.key, remark.kind.as_str(), line)
    };
    found.into_iter().map(shown).collect()
}

#[test]
fn each_kind_of_remark() {
    let text = r#"{
  "theme": "x",
  "general": {
    "devtools": true,
    "devtools": false,
    "disableAutoUpdate": true,
    "maxAttempts": "many",
    "maxAtempts": 3
  },
  "admin": { "secureModeEnabled": true },
  "tools": { "core": ["a", 1], "exclude": [] },
  "mcpServers": { "x": { "comand": "y" } }
}"#;
    let expected = [
        ("theme", "flat", 2),
        ("general.devtools", "hidden", 4),
        ("general.devtools", "not-acted-on", 5),
        ("general.disableAutoUpdate", "old-name", 6),
        ("general.maxAttempts", "wrong-value", 7),
        ("general.maxAtempts", "unknown", 8),
        ("admin.secureModeEnabled", "not-honoured", 10),
        ("tools.core[1]", "wrong-value", 11),
        ("mcpServers.x", "wrong-value", 12),
    ];
    let mut found = remarks(LayerKind::User, text);
    // The version of Pollux determines whether servers are used.
    found.retain(|(key, _, _)| key != "mcpServers");
    let found: Vec<_> =
        found.iter().map(|(key, kind, line)| (key.as_str(), *kind, *line)).collect();
    assert_eq!(found, expected);
}

#[test]
fn unknown_keys_of_a_hook_are_named() {
    let text = r#"{
  "hooks": {
    "BeforeTool": [
      {
        "machter": "x",
        "hooks": [{"type": "command", "command": "y", "timout": 1, "env": {"A": 1}, "also": 2}]
      }
    ]
  }
}"#;
    let found = remarks(LayerKind::User, text);
    let key = |key: &str| (format!("hooks.BeforeTool[0].{key}"), "unknown", 3);
    assert_eq!(found, [key("hooks[0].timout"), key("hooks[0].also"), key("machter")]);
    let findings = validate::check(&mut jsonc::parse(Path::new("x"), text).unwrap());
    let meant: Vec<_> = findings.unknown_fields.into_iter().map(|(_, meant)| meant).collect();
    assert_eq!(meant, [Some("timeout"), None, Some("matcher")]);
}

#[test]
fn a_project_has_no_say_in_some() {
    let text = r#"{"security": {"folderTrust": {"enabled": false}}}"#;
    let kinds = |kind| remarks(kind, text).into_iter().map(|(_, kind, _)| kind).collect::<Vec<_>>();
    assert_eq!(kinds(LayerKind::Workspace), ["not-honoured"]);
    assert!(kinds(LayerKind::User).is_empty());
}

#[test]
fn misspelt_keys_have_a_suggestion() {
    for (written, meant) in [
        ("general.maxAtempts", Some("general.maxAttempts")),
        ("General.VimMode", Some("general.vimMode")),
        ("vimMode", Some("general.vimMode")),
        ("enabled", None),
        ("completely.different", None),
    ] {
        assert_eq!(schema::suggestion(written), meant, "{written}");
    }
    assert_eq!(schema::suggestion(&"x".repeat(1 << 20)), None);
}
