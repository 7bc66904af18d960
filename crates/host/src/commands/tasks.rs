//! `/tasks`: the commands that run in the background.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::plain_text::one_line;
use pollux_protocol::{Command, CommandContext, CommandError, Op};
use pollux_shell::{BackgroundProcess, ProcessState};
use pollux_tools::ToolContext;

use super::continuations;

const USAGE: &str = "Usage: /tasks, or /tasks stop PID";

/// `/tasks`, with the background commands of the session.
pub(super) struct Tasks(pub(super) Arc<ToolContext>);

#[async_trait]
impl Command for Tasks {
    fn name(&self) -> &'static str {
        "tasks"
    }

    fn aliases(&self) -> &[&str] {
        &["bg", "background", "shells", "bashes"]
    }

    fn description(&self) -> &'static str {
        "list the background commands, or stop one"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[list|stop PID]")
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        let running = self.0.background.list().into_iter().filter(|process| is_running(process));
        let stops = running.map(|process| format!("stop {}", process.id()));
        let words = ["list".to_owned(), "stop".to_owned()];
        if partial.starts_with("stop ") {
            continuations(partial, stops)
        } else {
            continuations(partial, words)
        }
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let words: Vec<&str> = context.arguments.split_whitespace().collect();
        match words[..] {
            [] | ["list"] => context.say(list(&self.0.background.list())),
            ["stop", id] => context.say(self.stop(id).await?),
            _ => return Err(CommandError(USAGE.to_owned())),
        }
        Ok(None)
    }
}

impl Tasks {
    async fn stop(&self, id: &str) -> Result<String, CommandError> {
        let process = id.parse().ok().and_then(|id| self.0.background.find(id));
        let process = process.ok_or_else(|| {
            CommandError(format!("There is no background command {id}. /tasks lists them."))
        })?;
        let was_running = is_running(&process);
        if !process.stop().await {
            return Err(CommandError(format!("{id} does not end, even after SIGKILL.")));
        }
        let command = one_line(process.command());
        Ok(if was_running {
            format!("Stopped {id}: {command}")
        } else {
            format!("{id} had already ended: {command}")
        })
    }
}

fn is_running(process: &BackgroundProcess) -> bool {
    process.state() == ProcessState::Running
}

fn list(processes: &[Arc<BackgroundProcess>]) -> String {
    if processes.is_empty() {
        return "No command runs in the background.".to_owned();
    }
    let line = |process: &Arc<BackgroundProcess>| {
        let state = match process.state() {
            ProcessState::Running => "running".to_owned(),
            ProcessState::Exited { code: Some(code), .. } => format!("ended ({code})"),
            ProcessState::Exited { signal: Some(signal), .. } => format!("ended (signal {signal})"),
            ProcessState::Exited { .. } => "ended".to_owned(),
        };
        format!("  {:<8} {state:<18} {}", process.id(), one_line(process.command()))
    };
    let lines: Vec<String> = processes.iter().map(line).collect();
    format!("Background commands:\n{}\nOutput: {}", lines.join("\n"), logs(processes))
}

/// Returns the folder of the logs.
fn logs(processes: &[Arc<BackgroundProcess>]) -> String {
    let path = processes.first().map(|process| process.log_path()).unwrap_or_default();
    path.with_file_name("background-PID.log").display().to_string()
}
