//! MCP servers for tests: shell scripts that answer with fixed results.

use std::path::PathBuf;

use pollux_testkit::write_executable;
use serde_json::{Value, json};

use super::stage::Stage;

/// Beginning of every script: `answer RESULT` answers the present request.
const BEGINNING: &str = r#"#!/bin/sh
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
text() { answer "{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"; }
"#;

/// Result of `initialize`.
const INTRODUCTION: &str = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"}}"#;

/// A server that is a shell script. The fields are shell code: `$line` is the request, `$id` its
/// id.
pub(crate) struct ScriptServer<'s> {
    /// Commands before the first request.
    pub(crate) start: &'s str,
    /// Answer to `initialize`.
    pub(crate) initialize: String,
    /// Answer to `tools/list`.
    pub(crate) list: String,
    /// Answer to `tools/call`.
    pub(crate) call: &'s str,
    /// Branches of `case` for further requests.
    pub(crate) more: String,
    /// Commands after the end of the input.
    pub(crate) end: &'s str,
}

impl Default for ScriptServer<'_> {
    /// Returns a server with the tool `look`, which answers with `seen`.
    fn default() -> Self {
        Self {
            start: "",
            initialize: format!("answer '{INTRODUCTION}'"),
            list: listing(&[tool("look")]),
            call: "text seen",
            more: String::new(),
            end: "",
        }
    }
}

impl ScriptServer<'_> {
    /// Writes the script into the project, and returns its path.
    pub(crate) fn write(&self, stage: &Stage, name: &str) -> PathBuf {
        let Self { start, initialize, list, call, more, end } = self;
        let script = format!(
            "{BEGINNING}{start}\nwhile IFS= read -r line; do\n\
             id=${{line#*'\"id\":'}}; id=${{id%%[,\\}}]*}}\n\
             case $line in\n\
             *'\"method\":\"initialize\"'*) {initialize};;\n\
             *'\"method\":\"tools/list\"'*) {list};;\n\
             *'\"method\":\"tools/call\"'*) {call};;\n\
             *'\"method\":\"ping\"'*) answer '{{}}';;\n\
             {more}\n\
             esac\ndone\n{end}\n"
        );
        let path = stage.home.project().join(name);
        write_executable(&path, &script);
        path
    }

    /// Writes the script, and returns its entry in `mcpServers`.
    pub(crate) fn entry(&self, stage: &Stage, name: &str) -> Value {
        json!({ "command": self.write(stage, name) })
    }
}

/// Returns the shell code that answers `initialize` with these capabilities and instructions.
pub(crate) fn introduction(capabilities: &Value, instructions: &str) -> String {
    let result = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": capabilities,
        "serverInfo": {"name": "fake", "version": "1"},
        "instructions": instructions,
    });
    format!("answer '{result}'")
}

/// Returns the branch that answers requests of this method with a result.
pub(crate) fn branch(method: &str, result: &Value) -> String {
    format!("*'\"method\":\"{method}\"'*) answer '{result}';;\n")
}

/// Returns the declaration of a tool.
pub(crate) fn tool(name: &str) -> Value {
    json!({
        "name": name,
        "description": format!("Does {name}."),
        "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}},
    })
}

/// Returns the shell code that answers with these tools.
pub(crate) fn listing(tools: &[Value]) -> String {
    format!("answer '{}'", json!({ "tools": tools }))
}
