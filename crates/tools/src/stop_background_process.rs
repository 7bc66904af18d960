//! `stop_background_process`: ends a background process of this session. Gemini CLI has no such
//! tool.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{
    Args, Declaration, Effects, Invocation, RunContext, Tool, ToolError, ToolErrorKind, ToolKind,
    ToolOutput,
};
use pollux_shell::ProcessState;
use serde::Deserialize;
use serde_json::json;

use crate::blocking::cancelled;
use crate::context::ToolContext;
use crate::list_background_processes::ending;
use crate::read_background_output::{find, not_found};
use crate::validation::Schema;

/// Name of the tool for models and policies.
const NAME: &str = "stop_background_process";

/// The tool `stop_background_process`.
pub(crate) struct StopBackgroundProcessTool {
    context: Arc<ToolContext>,
    schema: Schema,
}

impl StopBackgroundProcessTool {
    /// Creates the tool for a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "pid": {
                    "type": "integer",
                    "description": "The PID of the background process."
                }
            },
            "required": ["pid"]
        }));
        Self { context, schema }
    }
}

#[derive(Deserialize)]
struct Params {
    pid: i64,
}

impl Tool for StopBackgroundProcessTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "Stop Background Process"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Execute
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description: "Stops a background process of this session and all processes that it started: \
                          first SIGTERM, then SIGKILL after 200 ms. Its output stays readable. Cannot \
                          stop other processes."
                .to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let Params { pid } = self.schema.read(args)?;
        Ok(Box::new(StopBackgroundProcess { context: Arc::clone(&self.context), pid }))
    }
}

struct StopBackgroundProcess {
    context: Arc<ToolContext>,
    pid: i64,
}

#[async_trait]
impl Invocation for StopBackgroundProcess {
    /// Runs alone, because other calls of the same turn can refer to the running process.
    fn effects(&self) -> Effects {
        Effects { alone: true, ..Effects::default() }
    }

    fn describe(&self) -> String {
        let process = find(&self.context, self.pid);
        let command = process.map(|process| format!(": {}", process.command().replace('\n', " ")));
        format!("Stops background process {}{}", self.pid, command.unwrap_or_default())
    }

    async fn run(&self, run: RunContext) -> ToolOutput {
        let Some(process) = find(&self.context, self.pid) else { return not_found(self.pid) };
        let before = process.state();
        // A stop that has begun continues after a cancellation.
        let Some(is_gone) = run.cancel.run_until_cancelled(process.stop()).await else {
            return cancelled().into();
        };
        let pid = self.pid;
        if !is_gone {
            let message = format!("Background process {pid} does not end, even after SIGKILL.");
            return ToolError::new(ToolErrorKind::ExecutionFailed, message).into();
        }
        let end = ending(process.state());
        ToolOutput::text(match before {
            ProcessState::Running => format!("Background process {pid} was stopped.{end}"),
            ProcessState::Exited { .. } => {
                format!("Background process {pid} had already ended.{end}")
            }
        })
    }
}
