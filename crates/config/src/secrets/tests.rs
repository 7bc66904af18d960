use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

#[test]
fn credentials_are_not_shown() {
    let table = [
        ("mcpServers.x.env", json!({"A": "b", "C": "$D"}), json!({"A": "********", "C": "$D"})),
        (
            "mcpServers.x.env",
            json!({"A": "$b!", "C": "${D:-e}"}),
            json!({"A": "********", "C": "********"}),
        ),
        ("mcpServers.x.env.A", json!("b"), json!("********")),
        (
            "mcpServers",
            json!({"x": {"headers": {"X": "y"}, "url": "https://h/mcp?key=1&b=2", "timeout": 5}}),
            json!({"x": {"headers": {"X": "********"}, "url": "https://h/mcp?key=********&b=2", "timeout": 5}}),
        ),
        (
            "mcpServers.x.oauth",
            json!({"clientId": "i", "clientSecret": "s", "scopes": ["a"]}),
            json!({"clientId": "i", "clientSecret": "********", "scopes": ["a"]}),
        ),
        (
            "mcpServers.x.args",
            json!(["--api-key", "k", "--token=t", "-v", "ghp_0123456789ab"]),
            json!(["--api-key", "********", "--token=********", "-v", "********"]),
        ),
        ("telemetry.otlpEndpoint", json!("http://me:pw@h:1/x"), json!("http://********@h:1/x")),
        // Values that are not credentials despite similar names.
        ("model.name", json!("gemini-2.5-pro"), json!("gemini-2.5-pro")),
        ("security.auth.selectedType", json!("gemini-api-key"), json!("gemini-api-key")),
        (
            "model.summarizeToolOutput",
            json!({"x": {"tokenBudget": 5}}),
            json!({"x": {"tokenBudget": 5}}),
        ),
        ("tools.core", json!(["run_shell_command(env)"]), json!(["run_shell_command(env)"])),
    ];
    for (key, value, shown) in table {
        assert_eq!(masked(key, &value), shown, "{key}");
    }
}
