//! A session in a temporary project.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt as _;
use pollux_fs::Workspace;
use pollux_protocol::{
    Args, CallId, CancellationToken, Invocation, LiveOutput, ModelError, ModelErrorKind,
    RunContext, SideModels, Tool, ToolError, ToolErrorKind, ToolOutput,
};
use pollux_scripted::{ScriptedModels, reply};
use pollux_tools::{ToolContext, builtin};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;

/// A project folder, a temporary folder next to it, and the tools.
pub struct Session {
    pub root: PathBuf,
    pub outside: PathBuf,
    pub spill: PathBuf,
    pub tools: Vec<Arc<dyn Tool>>,
    pub live: watch::Sender<Vec<LiveOutput>>,
    /// Models for side calls.
    pub models: ScriptedModels,
    _folder: TempDir,
}

impl Session {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    /// Creates a session whose context is adapted first.
    pub fn with(adapt: impl FnOnce(&mut ToolContext)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let [root, temp, outside] = ["project", "temp", "outside"].map(|name| base.join(name));
        for path in [&root, &temp, &outside] {
            std::fs::create_dir(path).unwrap();
        }
        let spill = temp.join("tool-outputs/session-1");
        let workspace = Workspace::new(root.clone(), temp);
        let mut context = ToolContext::new(workspace, spill.clone());
        context.environment = std::env::vars_os().collect();
        adapt(&mut context);
        let tools = builtin(&Arc::new(context));
        Self {
            root,
            outside,
            spill,
            tools,
            live: watch::Sender::default(),
            models: nobody(),
            _folder: folder,
        }
    }

    /// Returns the session with these models for side calls.
    pub fn asking(self, models: &ScriptedModels) -> Self {
        Self { models: models.clone(), ..self }
    }

    pub fn tool(&self, name: &str) -> &Arc<dyn Tool> {
        self.tools.iter().find(|tool| tool.name() == name).unwrap()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Writes a file of the project.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    pub fn prepare(&self, tool: &str, args: &Value) -> Result<Box<dyn Invocation>, ToolError> {
        let args: &Args = args.as_object().unwrap();
        self.tool(tool).prepare(args)
    }

    pub fn run_context(&self, cancel: CancellationToken) -> RunContext {
        let live = self.live.clone();
        RunContext {
            call_id: CallId::new("call__1"),
            prompt_id: "prompt".to_owned(),
            cancel,
            output: Arc::new(move |output| live.send_modify(|all| all.push(output))),
            input: futures::stream::pending().boxed(),
            room: None,
            models: Arc::new(self.models.clone()),
            confinement: pollux_protocol::CallConfinement::default(),
        }
    }

    /// Waits until a call has shown output.
    pub async fn output_shown(&self) {
        self.live.subscribe().wait_for(|all| !all.is_empty()).await.unwrap();
    }

    /// Prepares and runs a call; an error of the preparation becomes a failed result.
    pub async fn call(&self, tool: &str, args: Value) -> ToolOutput {
        match self.prepare(tool, &args) {
            Ok(invocation) => invocation.run(self.run_context(CancellationToken::new())).await,
            Err(error) => error.into(),
        }
    }

    /// Returns the text for the model of a call that must succeed.
    pub async fn ok(&self, tool: &str, args: Value) -> String {
        text(&self.call(tool, args).await)
    }

    /// Returns kind and message of a call that must fail.
    pub async fn err(&self, tool: &str, args: Value) -> (ToolErrorKind, String) {
        let error = self.call(tool, args).await.error.expect("the call should have failed");
        (error.kind, error.message)
    }
}

/// Returns the text for the model of a successful result.
pub fn text(output: &ToolOutput) -> String {
    assert_eq!(output.error, None);
    output.content.iter().filter_map(|part| part.as_text()).collect()
}

/// Returns the content for the user, as JSON.
pub fn display(output: &ToolOutput) -> Value {
    serde_json::to_value(output.display.as_ref().unwrap()).unwrap()
}

/// Creates a pipe that nobody writes to.
#[cfg(unix)]
pub fn make_fifo(path: &Path) {
    let status = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(status.success());
}

/// Returns models that refuse every side call.
fn nobody() -> ScriptedModels {
    let models = ScriptedModels::default();
    let refusal = || ModelError::new(ModelErrorKind::Config, "no model is there to be asked.");
    models.generate_with(move |_| reply().fails(refusal()));
    models
}

/// Returns models that refuse every side call, as needed for a confirmation.
pub fn side_models() -> Arc<dyn SideModels> {
    Arc::new(nobody())
}
