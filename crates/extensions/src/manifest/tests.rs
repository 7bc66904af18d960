use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn of(value: &Value) -> Result<Manifest, String> {
    Manifest::of(value, Path::new("/e"))
}

fn with(field: &str, value: Value) -> Value {
    let mut manifest = json!({"name": "n", "version": "1"});
    manifest[field] = value;
    manifest
}

#[test]
fn all_fields() {
    let manifest = of(&json!({
        "name": "acme-tools", "version": "1.2.0", "description": "demo", "unknown": 1,
        "contextFileName": ["ACME.md", "extra/RULES.md"],
        "mcpServers": {"acme": {"command": "node", "trust": true}, "two": {"url": "u"}},
        "excludeTools": ["google_web_search"],
        "settings": [
            {"name": "Token", "description": "API token", "envVar": "T", "sensitive": true},
            {"name": "Region", "envVar": "R"}
        ],
        "themes": [{"name": "night"}], "plan": {"directory": ".acme/plans"},
        "migratedTo": "https://github.com/acme/new-repo"
    }))
    .unwrap();
    assert_eq!(manifest.servers[0], ("acme".into(), json!({"command": "node"})));
    assert_eq!(manifest.context_files.unwrap(), ["ACME.md", "extra/RULES.md"]);
    assert_eq!(manifest.exclude_tools, ["google_web_search"]);
    assert!(manifest.settings[0].is_sensitive && !manifest.settings[1].is_sensitive);
    assert_eq!(manifest.settings[1].variable, "R");
    assert_eq!(manifest.themes, [json!({"name": "night"})]);
    assert_eq!(manifest.plan_directory.unwrap(), ".acme/plans");
    assert_eq!(
        of(&with("contextFileName", json!("X.md"))).unwrap().context_files.unwrap(),
        ["X.md"]
    );
    assert_eq!(of(&with("contextFileName", json!([]))).unwrap().context_files, None);
    assert_eq!(of(&with("mcpServers", Value::Null)).unwrap().servers, []);
}

#[test]
fn each_wrong_field_is_named() {
    let setting = |value: Value| with("settings", json!([value]));
    let invalid = "Invalid configuration in /e: ";
    for (value, problem) in [
        (json!([]), "it must be an object"),
        (json!({"version": "1"}), "missing \"name\""),
        (json!({"name": "", "version": "1"}), "missing \"name\""),
        (json!({"name": 1, "version": "1"}), "\"name\" must be a string"),
        (json!({"name": "n"}), "missing \"version\""),
        (with("version", json!(1)), "\"version\" must be a string"),
        (with("description", json!({})), "\"description\" must be a string"),
        (with("mcpServers", json!([])), "\"mcpServers\" must be an object"),
        (with("mcpServers", json!({"a": 1})), "\"mcpServers.a\" must be an object"),
        (
            with("contextFileName", json!(5)),
            "\"contextFileName\" must be a string or an array of strings",
        ),
        (with("contextFileName", json!([5])), "\"contextFileName\" must be an array of strings"),
        (with("excludeTools", json!("a")), "\"excludeTools\" must be an array of strings"),
        (with("excludeTools", json!([1])), "\"excludeTools\" must be an array of strings"),
        (with("settings", json!({})), "\"settings\" must be an array of objects"),
        (setting(json!({"envVar": "A"})), "missing \"settings[0].name\""),
        (setting(json!({"name": "A"})), "missing \"settings[0].envVar\""),
        (
            setting(json!({"name": "A", "envVar": "A B"})),
            "\"settings[0].envVar\" must be a name of letters, digits and _",
        ),
        (
            setting(json!({"name": "A", "envVar": "A", "sensitive": 1})),
            "\"settings[0].sensitive\" must be true or false",
        ),
        (
            setting(json!({"name": "A", "envVar": "A", "description": 1})),
            "\"settings[0].description\" must be a string",
        ),
        (with("themes", json!([1])), "\"themes\" must be an array of objects"),
        (with("plan", json!(1)), "\"plan\" must be an object"),
        (with("plan", json!({"directory": 1})), "\"plan.directory\" must be a string"),
        (
            with("plan", json!({"directory": "../x"})),
            "\"plan.directory\" must be a path in the project",
        ),
        (with("migratedTo", json!(1)), "\"migratedTo\" must be a string"),
        (
            with("excludeTools", json!(vec!["a"; 201])),
            "\"excludeTools\" must be of at most 200 entries",
        ),
    ] {
        assert_eq!(of(&value).unwrap_err(), format!("{invalid}{problem}"));
    }
    for name in ["a b", "ä", "a/b", "..", "a_b", &"x".repeat(129)] {
        let error = of(&json!({"name": name, "version": "1"})).unwrap_err();
        assert!(error.starts_with("Invalid extension name"), "{error}");
    }
    for path in ["../X.md", "a/../../b", "/etc/passwd", "a\\..\\b", "", "."] {
        let error = of(&with("contextFileName", json!(path))).unwrap_err();
        assert!(error.starts_with("Invalid context file path: "), "{path}: {error}");
    }
}

#[test]
fn a_byte_order_mark_and_line_ends_of_windows_do_not_matter() {
    let text = "\u{feff}{\r\n\"name\": \"n\",\r\n\"version\": \"1\"}\r\n";
    assert_eq!(of(&parse(text.as_bytes()).unwrap()).unwrap().name, "n");
    assert!(parse(b"{").is_err() && parse(b"\xff{}").is_err() && parse(b"").is_err());
}

#[test]
fn files_are_read_with_their_variables() {
    let folder = tempfile::tempdir().unwrap();
    let variables = Variables::new(folder.path(), Path::new("/w"));
    let read = || Manifest::read(folder.path(), &variables);
    let path = folder.path().join(MANIFEST_FILE);
    let missing = format!("Configuration file not found at {}", path.display());
    assert_eq!(read().unwrap_err().to_string(), missing);
    std::fs::write(&path, "{").unwrap();
    let error = read().unwrap_err().to_string();
    let beginning = format!("Failed to load extension config from {}: ", path.display());
    assert!(error.starts_with(&beginning), "{error}");
    let text = r#"{"name": "n", "version": "${workspacePath}${/}1"}"#;
    std::fs::write(&path, text).unwrap();
    assert_eq!(read().unwrap().0.version, "/w/1");
}
