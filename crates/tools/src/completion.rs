//! Reports about background commands that have ended.

use std::sync::Arc;

use pollux_config::Settings;
use pollux_protocol::plain_text::strip_ansi;
use pollux_shell::{BackgroundProcess, ProcessState};

/// Number of bytes of output that the model gets (as in Gemini CLI 0.61); the log has all output.
const MODEL_OUTPUT_BYTES: usize = 5000;
/// Number of characters of a command line that the user is shown.
const SHOWN: usize = 80;

/// Receiver of the report (`tools.shell.backgroundCompletionBehavior`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BackgroundCompletion {
    /// No report.
    #[default]
    Silent,
    /// Report to the user.
    Notify,
    /// Report to the model.
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

/// Report of the end of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackgroundEnd {
    /// For the model, with its next request. The text contains untrusted output.
    ForModel(String),
    /// For the user, immediately.
    ForUser(String),
}

/// Function that takes the report of a command that has ended; it never blocks.
pub type Reporter = Arc<dyn Fn(BackgroundEnd) + Send + Sync>;

/// Reports the end of a process that continues in the background, when the process ends. The end of
/// a process that was stopped on purpose is not reported. Must be called inside a tokio runtime.
pub(crate) fn report_end(
    reporter: Reporter,
    completion: BackgroundCompletion,
    process: &Arc<BackgroundProcess>,
) {
    if completion == BackgroundCompletion::Silent {
        return;
    }
    let process = Arc::clone(process);
    tokio::spawn(async move {
        let state = process.ended().await;
        if process.is_stopped() {
            return;
        }
        if completion == BackgroundCompletion::Notify {
            return reporter(BackgroundEnd::ForUser(notice(&process, state)));
        }
        let reported = tokio::task::spawn_blocking(move || for_model(&process, state)).await;
        if let Ok(reported) = reported {
            reporter(BackgroundEnd::ForModel(reported));
        }
    });
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

/// Returns the report for the model, with the end of the log.
fn for_model(process: &BackgroundProcess, state: ProcessState) -> String {
    let log = process.log_path();
    let saved = match process.log_failure() {
        None => format!("Output saved to {}", log.display()),
        Some(failure) => format!("Its output could not be saved: {failure}"),
    };
    // The first character may be cut.
    let output = process.read_log(MODEL_OUTPUT_BYTES).unwrap_or_default();
    let output = String::from_utf8_lossy(&output).into_owned();
    let output = strip_ansi(output.trim_start_matches('\u{fffd}')).trim().to_owned();
    let (id, command) = (process.id(), process.command());
    let head =
        format!("[Background command {}. {saved}]\nPID: {id}. Command: {command}", outcome(state));
    if output.is_empty() { head } else { format!("{head}\n\n{output}") }
}
