use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn typed(key: &str, text: &str) -> Result<Value, String> {
    let (_, kind) = target(key).map_err(|error| error.to_string())?;
    value(key, kind, text).map_err(|error| error.to_string())
}

#[test]
fn words_become_values_of_the_type() {
    for (key, text, expected) in [
        ("general.vimMode", "true", json!(true)),
        ("general.vimMode", "FALSE", json!(false)),
        ("general.vimMode", "${FLAG:-true}", json!("${FLAG:-true}")),
        ("general.maxAttempts", "3", json!(3)),
        ("model.maxSessionTurns", "-1", json!(-1)),
        ("model.compressionThreshold", "0.25", json!(0.25)),
        ("model.name", "true", json!("true")),
        ("model.name", "", json!("")),
        ("output.format", "json", json!("json")),
        ("tools.core", r#"["a", "b"]"#, json!(["a", "b"])),
        ("context.fileName", "A.md", json!("A.md")),
        ("context.fileName", r#"["A.md"]"#, json!(["A.md"])),
        ("tools.sandbox", "true", json!(true)),
        ("tools.sandbox", "docker", json!("docker")),
        ("tools.sandbox", r#"{"enabled": true}"#, json!({"enabled": true})),
        ("tools.sandbox.image", "i", json!("i")),
        ("mcpServers.x", r#"{"command": "y"}"#, json!({"command": "y"})),
        ("mcpServers.x.timeout", "500", json!(500)),
        ("mcpServers.x.env.TOKEN", "$T", json!("$T")),
        ("hooks.BeforeTool", r#"[{"hooks": []}]"#, json!([{"hooks": []}])),
        ("modelConfigs.customAliases.a.extends", "base", json!("base")),
        ("pollux.shell.timeout", "60", json!(60)),
    ] {
        assert_eq!(typed(key, text), Ok(expected), "{key} {text}");
    }
}

#[test]
fn numbers_without_effect_are_refused() {
    for (key, value, message) in [
        ("general.maxAttempts", json!(10), ""),
        ("general.maxAttempts", json!("$ATTEMPTS"), ""),
        (
            "general.maxAttempts",
            json!(99),
            "general.maxAttempts takes a number from 1 to 10, not 99.",
        ),
        (
            "general.maxAttempts",
            json!(0.5),
            "general.maxAttempts takes a number from 1 to 10, not 0.5.",
        ),
        ("pollux.shell.timeout", json!(1e9), ""),
    ] {
        let (setting, _) = target(key).unwrap();
        let error = check_range(key, setting, &value).err();
        assert_eq!(error.map(|error| error.to_string()).unwrap_or_default(), message, "{key}");
    }
}

#[test]
fn what_is_wrong_is_said_with_what_is_allowed() {
    for (key, text, words) in [
        ("general.vimMode", "maybe", "general.vimMode takes true or false, not \"maybe\"."),
        ("general.maxAttempts", "many", "general.maxAttempts takes a number, not \"many\"."),
        ("general.maxAttempts", "", "general.maxAttempts takes a number, not nothing."),
        ("output.format", "yaml", "output.format takes one of text, json, not \"yaml\"."),
        (
            "tools.core",
            "a,b",
            "tools.core takes a list of strings, written as JSON: [\"a\", \"b\"], not \"a,b\".",
        ),
        ("tools.core", "[1]", "not \"[1]\". tools.core[0]: Expected string, received number."),
        ("mcpServers.x", r#"{"comand": "y"}"#, "Unrecognized key(s) in object: 'comand'."),
        (
            "general.vimmode",
            "true",
            "There is no setting general.vimmode. Did you mean general.vimMode?",
        ),
        ("nothing.like", "x", "There is no setting nothing.like."),
        (
            "general",
            "x",
            "general is a group of settings, not one: name one of them, such as general.preferredEditor.",
        ),
        (
            "general.vimMode.deep",
            "x",
            "general.vimMode takes true or false, which does not contain general.vimMode.deep.",
        ),
        ("mcpServers.x.comand", "y", "There is no setting mcpServers.x.comand."),
        ("mcpServers.__proto__.command", "y", "There is no setting mcpServers.__proto__.command."),
        ("mcpServers..command", "y", "There is no setting mcpServers..command."),
        ("", "y", "There is no setting \"\"."),
        (
            "context.fileName",
            "[\"A.md\"",
            "not \"[\"A.md\"\". It is not valid JSON: EOF while parsing a list at line 1 column 7.",
        ),
    ] {
        let message = typed(key, text).unwrap_err();
        assert!(message.ends_with(words), "{message}");
    }
}

#[test]
fn some_files_have_no_say() {
    let refused = |key: &str, scope| {
        let (setting, _) = target(key).unwrap();
        check_scope(key, setting, scope).is_err()
    };
    assert!(refused("admin.mcp.enabled", FileScope::User));
    assert!(refused("admin.mcp.enabled", FileScope::System));
    assert!(refused("security.folderTrust.enabled", FileScope::Project));
    assert!(!refused("security.folderTrust.enabled", FileScope::User));
    assert!(!refused("general.vimMode", FileScope::Project));
}
