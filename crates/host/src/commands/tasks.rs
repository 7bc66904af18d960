//! `/tasks`: the commands that run in the background.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::plain_text::one_line;
use pollux_protocol::{Command, CommandContext, CommandError, Op};
use pollux_shell::{BackgroundProcess, ProcessState};
use pollux_tools::ToolContext;

use super::continuations;

const USAGE: &str = "Usage: /tasks, /tasks show PID, or /tasks stop PID";
/// Maximum size of the output that is shown, in bytes, and in lines.
const SHOWN_BYTES: usize = 16 << 10;
const SHOWN_LINES: usize = 20;

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
        "list, show or stop the background commands"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[list|show PID|stop PID]")
    }

    fn runs_while_working(&self) -> bool {
        true
    }

    fn needs_user(&self) -> bool {
        true
    }

    async fn complete(&self, partial: &str) -> Vec<String> {
        let all = self.0.background.list().into_iter();
        if partial.starts_with("stop ") {
            let running = all.filter(|process| is_running(process));
            continuations(partial, running.map(|process| format!("stop {}", process.id())))
        } else if partial.starts_with("show ") {
            continuations(partial, all.map(|process| format!("show {}", process.id())))
        } else {
            continuations(partial, ["list", "show", "stop"].map(str::to_owned))
        }
    }

    async fn run(&self, context: CommandContext) -> Result<Option<Op>, CommandError> {
        let words: Vec<&str> = context.arguments.split_whitespace().collect();
        match words[..] {
            [] | ["list"] => context.say(list(&self.0.background.list())),
            ["show", id] => context.say(self.show(id).await?),
            ["stop", id] => context.say(self.stop(id).await?),
            _ => return Err(CommandError(USAGE.to_owned())),
        }
        Ok(None)
    }
}

impl Tasks {
    fn find(&self, id: &str) -> Result<Arc<BackgroundProcess>, CommandError> {
        let process = id.parse().ok().and_then(|id| self.0.background.find(id));
        process.ok_or_else(|| {
            CommandError(format!("There is no background command {id}. /tasks lists them."))
        })
    }

    /// Returns the last lines of the output of a command.
    async fn show(&self, id: &str) -> Result<String, CommandError> {
        let process = self.find(id)?;
        let title = format!("{id}, {}: {}", state(&process), one_line(process.command()));
        let read = tokio::task::spawn_blocking(move || process.read_log(SHOWN_BYTES));
        let log = read.await.map_err(|error| CommandError(error.to_string()))?;
        let log = log.map_err(|error| CommandError(error.to_string()))?;
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        let last = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
        let last: Vec<String> = last.iter().map(|line| format!("  {line}")).collect();
        let output = if last.is_empty() { "  (no output)".to_owned() } else { last.join("\n") };
        Ok(format!("{title}\n{output}"))
    }

    async fn stop(&self, id: &str) -> Result<String, CommandError> {
        let process = self.find(id)?;
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

fn state(process: &BackgroundProcess) -> String {
    match process.state() {
        ProcessState::Running => "running".to_owned(),
        ProcessState::Exited { code: Some(code), .. } => format!("ended ({code})"),
        ProcessState::Exited { signal: Some(signal), .. } => format!("ended (signal {signal})"),
        ProcessState::Exited { .. } => "ended".to_owned(),
    }
}

fn list(processes: &[Arc<BackgroundProcess>]) -> String {
    if processes.is_empty() {
        return "No command runs in the background.".to_owned();
    }
    let line = |process: &Arc<BackgroundProcess>| {
        format!("  {:<8} {:<18} {}", process.id(), state(process), one_line(process.command()))
    };
    let lines: Vec<String> = processes.iter().map(line).collect();
    format!("Background commands:\n{}\nOutput: {}", lines.join("\n"), logs(processes))
}

/// Returns the folder of the logs.
fn logs(processes: &[Arc<BackgroundProcess>]) -> String {
    let path = processes.first().map(|process| process.log_path()).unwrap_or_default();
    path.with_file_name("background-PID.log").display().to_string()
}
