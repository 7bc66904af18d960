use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn admin(response: &Value) -> Value {
    let controls = AdminControls::from_response(response).unwrap();
    assert_eq!(controls.warnings, Vec::<String>::new());
    controls.apply(&Settings::defaults()).value("admin").unwrap().clone()
}

#[test]
fn without_a_say_everything_is_allowed() {
    for response in [json!({}), json!({"adminControlsApplicable": false}), json!(null), json!([1])]
    {
        assert_eq!(AdminControls::from_response(&response), None, "{response}");
    }
    let settings = Settings::defaults();
    assert!(!settings.boolean("admin.secureModeEnabled") && settings.boolean("admin.mcp.enabled"));
}

#[test]
fn what_is_left_out_is_forbidden() {
    let expected = json!({
        "secureModeEnabled": true,
        "extensions": {"enabled": false},
        "mcp": {"enabled": false, "config": {}, "requiredConfig": {}},
        "skills": {"enabled": false},
    });
    assert_eq!(admin(&json!({"adminControlsApplicable": true})), expected);
    let settings = AdminControls::from_response(&json!({"adminControlsApplicable": true}))
        .unwrap()
        .apply(&Settings::defaults());
    assert!(settings.security.secure_mode_enabled, "typed settings follow");
}

#[test]
fn what_is_allowed() {
    let response = json!({
        "adminControlsApplicable": true,
        "strictModeDisabled": true,
        "mcpSetting": {
            "mcpEnabled": true,
            "mcpConfigJson": r#"{"mcpServers": {"a": {"url": "https://a", "type": "http"}},
                "requiredMcpServers": {"b": {"url": "https://b"}}}"#,
        },
        "cliFeatureSetting": {
            "extensionsSetting": {"extensionsEnabled": true},
            "unmanagedCapabilitiesEnabled": true,
        },
    });
    let expected = json!({
        "secureModeEnabled": false,
        "extensions": {"enabled": true},
        "mcp": {
            "enabled": true,
            "config": {"a": {"url": "https://a", "type": "http"}},
            "requiredConfig": {"b": {"url": "https://b"}},
        },
        "skills": {"enabled": true},
    });
    assert_eq!(admin(&response), expected);
}

#[test]
fn the_older_name_says_the_opposite() {
    for (field, value, secure) in [
        ("secureModeEnabled", json!(false), false),
        ("secureModeEnabled", json!(true), true),
        ("strictModeDisabled", json!(true), false),
        ("strictModeDisabled", json!("true"), true),
    ] {
        let mut response = json!({"adminControlsApplicable": true});
        response[field] = value.clone();
        assert_eq!(admin(&response)["secureModeEnabled"], json!(secure), "{field}: {value}");
    }
}

#[test]
fn a_list_that_cannot_be_read_allows_nothing() {
    let deep = format!("{{\"mcpServers\": {}{}}}", "[".repeat(1000), "]".repeat(1000));
    for config in [json!("{"), json!(3), json!("[]"), json!(r#"{"mcpServers": 1}"#), json!(deep)] {
        let response = json!({
            "adminControlsApplicable": true,
            "mcpSetting": {"mcpEnabled": true, "mcpConfigJson": config},
        });
        let controls = AdminControls::from_response(&response).unwrap();
        assert_eq!(controls.warnings.len(), 1, "{config}");
        assert!(!controls.apply(&Settings::defaults()).boolean("admin.mcp.enabled"), "{config}");
    }
}

#[test]
fn a_required_server_that_starts_a_program_is_left_out() {
    let response = json!({
        "adminControlsApplicable": true,
        "mcpSetting": {
            "mcpEnabled": true,
            "mcpConfigJson": r#"{"requiredMcpServers": {"b": {"command": "rm"}, "c": {"url": "u"}}}"#,
        },
    });
    let controls = AdminControls::from_response(&response).unwrap();
    let settings = controls.apply(&Settings::defaults());
    assert_eq!(settings.value("admin.mcp.requiredConfig"), Some(&json!({"c": {"url": "u"}})));
    assert!(controls.warnings[0].contains("\"b\" is left out"), "{:?}", controls.warnings);
}

/// Servers and settings as JSON to what is left of the servers.
fn governed(local: &Value, mcp: &Value) -> (Value, Vec<String>) {
    let controls = AdminControls { admin: json!({"mcp": mcp}), warnings: Vec::new() };
    let settings = controls.apply(&Settings::defaults());
    let governed = govern_servers(local.as_object().unwrap(), &settings);
    (Value::Object(governed.servers), governed.blocked)
}

#[test]
fn the_lists_are_laid_over_the_servers() {
    let local = json!({"jira": {"command": "x", "env": {"A": "b"}, "description": "d"}, "other": {"url": "u"}});
    let mcp = json!({
        "enabled": true,
        "config": {"jira": {"url": "https://jira/mcp", "type": "http", "trust": true, "includeTools": ["search"]}},
        "requiredConfig": {"audit": {"url": "https://audit/mcp", "type": "http", "headers": {"X": "1"}}},
    });
    let expected = json!({
        "jira": {"description": "d", "url": "https://jira/mcp", "type": "http", "trust": true, "includeTools": ["search"]},
        "audit": {"url": "https://audit/mcp", "type": "http", "headers": {"X": "1"}, "trust": true},
    });
    assert_eq!(governed(&local, &mcp), (expected, vec!["other".to_owned()]));
}

#[test]
fn a_list_takes_trust_and_tools_away_too() {
    let local = json!({"a": {"url": "u", "trust": true, "excludeTools": ["x"], "timeout": 5}});
    let listed = json!({"enabled": true, "config": {"a": {"url": "v", "includeTools": ["y"]}}});
    let expected = json!({"a": {"url": "v", "includeTools": ["y"], "timeout": 5}});
    assert_eq!(governed(&local, &listed), (expected, Vec::new()));
}

#[test]
fn without_lists_servers_stay_as_they_are_unless_forbidden() {
    let local = json!({"a": {"command": "x"}});
    assert_eq!(governed(&local, &json!({"enabled": true})), (local.clone(), Vec::new()));
    let nothing = (json!({}), vec!["a".to_owned()]);
    assert_eq!(governed(&local, &json!({"enabled": false})), nothing);
}
