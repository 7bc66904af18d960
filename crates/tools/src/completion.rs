//! What is told when a command in the background has ended, and to whom.

use std::sync::Arc;

use pollux_config::Settings;
use pollux_protocol::plain_text::strip_ansi;
use pollux_shell::{BackgroundProcess, ProcessState};

use crate::context::ToolContext;

/// Bytes of output that the model is told (Gemini CLI 0.61); the log has all of it.
const TOLD_BYTES: usize = 5000;
/// Characters of a command line that a person is shown.
const SHOWN: usize = 80;

/// Who is told (`tools.shell.backgroundCompletionBehavior`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BackgroundCompletion {
    /// Nobody.
    #[default]
    Silent,
    /// The person.
    Notify,
    /// The model.
    Inject,
}

impl BackgroundCompletion {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        match settings.text("tools.shell.backgroundCompletionBehavior") {
            Some("notify") => Self::Notify,
            Some("inject") => Self::Inject,
            _ => Self::Silent,
        }
    }
}

/// The end of a command, in words for one of the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackgroundEnd {
    /// For the model, with its next request: the words, with output that is not to be trusted.
    ForModel(String),
    /// For the person, now.
    ForPerson(String),
}

/// Takes the news of a command that has ended; never blocks.
pub type Reporter = Arc<dyn Fn(BackgroundEnd) + Send + Sync>;

impl ToolContext {
    /// Tells of the end of a process that goes on now, when it comes. One that is stopped on purpose is not told of. Must
    /// be called inside a tokio runtime.
    pub(crate) fn report_end(&self, process: &Arc<BackgroundProcess>) {
        let Some(reporter) = self.reporter.clone() else { return };
        let (process, completion) = (Arc::clone(process), self.options.background_completion);
        if completion == BackgroundCompletion::Silent {
            return;
        }
        tokio::spawn(async move {
            let state = process.ended().await;
            if process.is_stopped() {
                return;
            }
            if completion == BackgroundCompletion::Notify {
                return reporter(BackgroundEnd::ForPerson(notice(&process, state)));
            }
            let told = tokio::task::spawn_blocking(move || for_model(&process, state)).await;
            if let Ok(told) = told {
                reporter(BackgroundEnd::ForModel(told));
            }
        });
    }
}

fn notice(process: &BackgroundProcess, state: ProcessState) -> String {
    let line = process.command().lines().next().unwrap_or_default();
    let shown: String = line.chars().take(SHOWN).collect();
    let more = if shown.len() < process.command().len() { "..." } else { "" };
    format!("Background command {} {}: {shown}{more}", process.id(), outcome(state))
}

fn outcome(state: ProcessState) -> String {
    match state {
        ProcessState::Exited { code: Some(0), .. } => "completed successfully".to_owned(),
        ProcessState::Exited { code: Some(code), .. } => {
            format!("completed with error: exit code {code}")
        }
        ProcessState::Exited { signal: Some(signal), .. } => {
            format!("completed with error: signal {signal}")
        }
        ProcessState::Exited { .. } | ProcessState::Running => "ended".to_owned(),
    }
}

/// Reads the log.
fn for_model(process: &BackgroundProcess, state: ProcessState) -> String {
    let log = process.log_path();
    let saved = match process.log_failure() {
        None => format!("Output saved to {}", log.display()),
        Some(failure) => format!("Its output is lost: {failure}"),
    };
    // A character may have been cut in two.
    let output = process.read_log(TOLD_BYTES).unwrap_or_default();
    let output = String::from_utf8_lossy(&output).into_owned();
    let output = strip_ansi(output.trim_start_matches('\u{fffd}')).trim().to_owned();
    let (id, command) = (process.id(), process.command());
    let head =
        format!("[Background command {}. {saved}]\nPID: {id}. Command: {command}", outcome(state));
    if output.is_empty() { head } else { format!("{head}\n\n{output}") }
}
