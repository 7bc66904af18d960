//! `list_background_processes`: lists running and ended background processes.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{
    Args, Declaration, Effects, Invocation, RunContext, Tool, ToolError, ToolKind, ToolOutput,
};
use pollux_shell::{BackgroundProcess, ProcessState};
use serde::Deserialize;
use serde_json::json;

use crate::context::ToolContext;
use crate::validation::Schema;

/// Name of the tool for models and policies.
const NAME: &str = "list_background_processes";

/// The tool `list_background_processes`.
pub(crate) struct ListBackgroundProcessesTool {
    context: Arc<ToolContext>,
    schema: Schema,
}

impl ListBackgroundProcessesTool {
    /// Creates the tool for a session.
    pub(crate) fn new(context: Arc<ToolContext>) -> Self {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "wait_for_previous": {
                    "type": "boolean",
                    "description": "Wait until all earlier calls of this turn are finished. Default: false."
                }
            }
        }));
        Self { context, schema }
    }
}

/// The listing needs no arguments.
#[derive(Deserialize)]
struct Params {}

impl Tool for ListBackgroundProcessesTool {
    fn name(&self) -> &'static str {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "List Background Processes"
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn declaration(&self) -> Declaration {
        Declaration {
            name: NAME.to_owned(),
            description:
                "Lists the background processes of this session, oldest first, each with its \
                          PID, command and status: RUNNING or EXITED, with the exit code or signal."
                    .to_owned(),
            parameters: self.schema.document().clone(),
        }
    }

    fn prepare(&self, args: &Args) -> Result<Box<dyn Invocation>, ToolError> {
        let Params {} = self.schema.read(args)?;
        Ok(Box::new(ListBackgroundProcesses { context: Arc::clone(&self.context) }))
    }
}

struct ListBackgroundProcesses {
    context: Arc<ToolContext>,
}

#[async_trait]
impl Invocation for ListBackgroundProcesses {
    fn effects(&self) -> Effects {
        Effects::default()
    }

    fn describe(&self) -> String {
        "Lists the background processes of this session".to_owned()
    }

    async fn run(&self, _run: RunContext) -> ToolOutput {
        let lines: Vec<String> =
            self.context.background.list().iter().map(|process| line(process)).collect();
        ToolOutput::text(if lines.is_empty() {
            "No background processes found.".to_owned()
        } else {
            lines.join("\n")
        })
    }
}

fn line(process: &BackgroundProcess) -> String {
    let state = match process.state() {
        ProcessState::Running => "RUNNING",
        ProcessState::Exited { .. } => "EXITED",
    };
    let end = ending(process.state());
    format!("- [PID {}] {state}: `{}`{end}", process.id(), process.command())
}

/// Describes the end of a process in parentheses after a blank; empty while it runs.
pub(crate) fn ending(state: ProcessState) -> String {
    let ProcessState::Exited { code, signal } = state else { return String::new() };
    let code = code.map(|code| format!(" (Exit Code: {code})"));
    let signal = signal.map(|signal| format!(" (Signal: {signal})"));
    [code, signal].into_iter().flatten().collect()
}
