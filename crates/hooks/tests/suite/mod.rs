mod endings;
mod programs;

use std::path::Path;

use pollux_config::{Accepted, Layer, LayerKind};
use pollux_hooks::{EventResult, HookOptions, Hooks, read};
use pollux_protocol::{CancellationToken, HookPayload};
use serde_json::{Value, json};

/// Hooks of the user, in a temporary folder.
pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
    hooks: Hooks,
}

impl Bench {
    /// Creates a bench. `definitions` are hooks by event, as in settings.
    #[expect(clippy::needless_pass_by_value, reason = "tests hand it a literal")]
    pub(crate) fn new(definitions: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let hooks = Hooks::new(options(&definitions, folder.path()));
        Self { folder, hooks }
    }

    /// Creates a bench with one command line at `BeforeTool` and these additional fields.
    #[expect(clippy::needless_pass_by_value, reason = "tests hand it a literal")]
    pub(crate) fn command(command: &str, fields: Value) -> Self {
        Self::new(json!({ "BeforeTool": [{ "hooks": [hook(command, &fields)] }] }))
    }

    pub(crate) async fn fire(&self, payload: HookPayload) -> EventResult {
        self.hooks.fire(&payload, &CancellationToken::new()).await
    }

    /// Fires a call of `glob`.
    pub(crate) async fn call(&self) -> EventResult {
        self.fire(tool_call()).await
    }

    pub(crate) fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    pub(crate) fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(file)).unwrap_or_default()
    }
}

pub(crate) fn options(definitions: &Value, folder: &Path) -> HookOptions {
    let value = json!({ "hooks": definitions });
    let layers = [Layer { kind: LayerKind::User, path: "/settings.json".into(), value }];
    HookOptions {
        hooks: read(&layers).hooks,
        accepted: Accepted::nothing(),
        disabled: Vec::new(),
        session_id: "the-session".to_owned(),
        transcript: Some("/chats/file.jsonl".into()),
        cwd: folder.to_owned(),
        plans_directory: "/plans here".into(),
        environment: std::env::vars_os().collect(),
    }
}

pub(crate) fn hook(command: &str, fields: &Value) -> Value {
    let mut hook = json!({ "type": "command", "command": command });
    hook.as_object_mut().unwrap().extend(fields.as_object().cloned().unwrap_or_default());
    hook
}

pub(crate) fn tool_call() -> HookPayload {
    pollux_hooks::sample(pollux_protocol::HookEvent::BeforeTool, "glob", json!({ "pattern": "*" }))
}

/// Returns a command line that prints this JSON.
pub(crate) fn says(reply: &Value) -> String {
    format!("cat > /dev/null; printf '%s' '{reply}'")
}
