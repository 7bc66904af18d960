//! Checks of the MCP servers in a manifest. The types are those of the setting `mcpServers`.

use std::path::Path;

use pollux_config::{Issue, check_value, schema};
use serde_json::{Map, Value};

use crate::manifest::{MANIFEST_FILE, Manifest};

/// Setting that has entries of the same form.
const SETTING: &str = "mcpServers";
/// Keys for the address of a server. Connections by `tcp` are refused when the server is started.
const ADDRESSES: [&str; 4] = ["command", "url", "httpUrl", "tcp"];

/// A fault of a server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ServerFault {
    /// Message with the file, the dotted key, and what is wrong there.
    pub(crate) text: String,
    /// True for a value that has no effect because of its type, and for a missing address.
    pub(crate) is_severe: bool,
}

/// Returns the faults of the servers in the manifest of a folder.
pub(crate) fn server_faults(manifest: &Manifest, folder: &Path) -> Vec<ServerFault> {
    let Some(setting) = schema::find(SETTING).filter(|_| !manifest.servers.is_empty()) else {
        return Vec::new();
    };
    let path = folder.join(MANIFEST_FILE);
    let fault = |problem: String, is_severe| {
        let text = format!("Invalid configuration in {}: {problem}", path.display());
        ServerFault { text, is_severe }
    };
    let entries = manifest.servers.iter().map(|(name, entry)| (name.clone(), with_texts(entry)));
    let mut value = Value::Object(entries.collect());
    let issues = check_value(setting.kind, SETTING, &mut value).into_iter();
    let wrong = issues.map(|Issue { key, message, types }| {
        fault(format!("\"{key}\": {message}"), types.is_some())
    });
    let has_address = |entry: &Value| ADDRESSES.iter().any(|key| !entry[key].is_null());
    let unaddressed = manifest.servers.iter().filter(|(_, entry)| !has_address(entry));
    let unaddressed = unaddressed.map(|(name, _)| {
        let keys = "neither \"command\" nor \"url\" nor \"httpUrl\"";
        fault(format!("\"{SETTING}.{name}\" has {keys}"), true)
    });
    wrong.chain(unaddressed).collect()
}

/// Returns an entry in which numbers and booleans of variables and headers are texts, as they are
/// for its server, and null is nothing.
fn with_texts(entry: &Value) -> Value {
    let mut entry = entry.clone();
    let Some(map) = entry.as_object_mut() else { return entry };
    map.retain(|_, value| !value.is_null());
    for key in ["env", "headers"] {
        let values = map.get_mut(key).and_then(Value::as_object_mut).map(Map::values_mut);
        for value in values.into_iter().flatten() {
            if value.is_number() || value.is_boolean() {
                *value = Value::String(value.to_string());
            }
        }
    }
    entry
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn faults_are_named_with_their_keys() {
        for (entry, faults) in [
            (json!({"command": "c", "args": ["a"], "env": {"A": "b", "N": 1, "B": true}}), vec![]),
            (json!({"url": "$BASE/mcp", "timeout": "5", "cwd": null}), vec![]),
            (json!({"tcp": "h:1"}), vec![]),
            (
                json!({"command": 5, "args": "x", "env": {"A": []}}),
                vec![
                    ("\"mcpServers.s.command\": Expected string, received number", true),
                    ("\"mcpServers.s.args\": Expected array, received string", true),
                    ("\"mcpServers.s.env.A\": Expected string, received array", true),
                ],
            ),
            (
                json!({"comand": "c"}),
                vec![
                    ("\"mcpServers.s\": Unrecognized key(s) in object: 'comand'", false),
                    ("\"mcpServers.s\" has neither \"command\" nor \"url\" nor \"httpUrl\"", true),
                ],
            ),
        ] {
            let servers = vec![("s".to_owned(), entry)];
            let manifest = Manifest { servers, ..Manifest::default() };
            let found = server_faults(&manifest, Path::new("/x"));
            let start = "Invalid configuration in /x/gemini-extension.json: ";
            let found = found.iter().map(|ServerFault { text, is_severe }| {
                (text.strip_prefix(start).unwrap_or_default(), *is_severe)
            });
            assert_eq!(found.collect::<Vec<_>>(), faults);
        }
    }
}
