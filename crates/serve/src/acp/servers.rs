//! MCP servers that a client passes.

use agent_client_protocol_schema::v1::{EnvVariable, HttpHeader, McpServer};
use serde_json::{Map, Value, json};

/// Returns the servers in the form of the setting `mcpServers`, by name. Servers of an unknown kind
/// get an entry without an address, which is not started.
pub(crate) fn entries(servers: &[McpServer]) -> Map<String, Value> {
    servers.iter().filter_map(entry).collect()
}

fn entry(server: &McpServer) -> Option<(String, Value)> {
    let remote = |kind: &str, name: &str, url: &str, headers: &[HttpHeader]| {
        let headers: Map<String, Value> =
            headers.iter().map(|header| (header.name.clone(), json!(header.value))).collect();
        (name.to_owned(), json!({ "type": kind, "url": url, "headers": headers }))
    };
    match server {
        McpServer::Stdio(server) => {
            let variable = |one: &EnvVariable| (one.name.clone(), json!(one.value));
            let env: Map<String, Value> = server.env.iter().map(variable).collect();
            let entry = json!({ "command": server.command, "args": server.args, "env": env });
            Some((server.name.clone(), entry))
        }
        McpServer::Http(one) => Some(remote("http", &one.name, &one.url, &one.headers)),
        McpServer::Sse(one) => Some(remote("sse", &one.name, &one.url, &one.headers)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn servers_become_entries_of_the_settings() {
        let passed = json!([
            {"name": "a", "command": "/bin/a", "args": ["-x"], "env": [{"name": "N", "value": "$V"}]},
            {"type": "http", "name": "b", "url": "https://b/", "headers": [{"name": "K", "value": "v"}]},
            {"type": "sse", "name": "c", "url": "https://c/", "headers": []},
        ]);
        let passed: Vec<McpServer> = serde_json::from_value(passed).unwrap();
        let expected = json!({
            "a": {"command": "/bin/a", "args": ["-x"], "env": {"N": "$V"}},
            "b": {"type": "http", "url": "https://b/", "headers": {"K": "v"}},
            "c": {"type": "sse", "url": "https://c/", "headers": {}},
        });
        assert_eq!(Value::Object(entries(&passed)), expected);
    }
}
