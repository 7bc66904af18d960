//! Commands in the background: their start and the reports about them.

use std::time::Duration;

use futures::StreamExt as _;
use pollux_fs::HEAD_BYTES;
use pollux_protocol::{CallInput, Display, RunContext, ToolOutput};
use pollux_shell::{
    BackgroundProcess, Ended, Output, ProcessState, ShellCommand, ShellOutcome, Spilled,
};

use super::report::Report;
use super::{Confined, RunShellCommand, not_started, reported};
use pollux_protocol::untrusted;

/// Time for which output is collected before the result, unless a call specifies another time (as
/// in Gemini CLI 0.61).
const DELAY: Duration = Duration::from_millis(200);
/// Maximum time that a call can specify.
const LONGEST_DELAY: Duration = Duration::from_hours(24);

/// Reason to report the first output now.
enum Moment {
    /// The command continues.
    Running,
    /// The command has ended in the meantime.
    Ended(ProcessState),
    /// The user cancelled the call.
    Cancelled,
}

impl RunShellCommand {
    /// Starts the command and collects its first output.
    pub(super) async fn run_in_background(&self, run: RunContext, report: Report) -> ToolOutput {
        if run.cancel.is_cancelled() {
            return ToolOutput::text("Command was cancelled by user before it could start.");
        }
        let command = ShellCommand {
            // A server can run as long as the session.
            timeout: self.own_timeout(),
            inactivity: None,
            spill: None,
            // The user does not see the output.
            attended: false,
            ..self.command(report.file.clone(), run.confinement).await
        };
        let mut confined = Confined::begin(self, &command).await;
        let process = match self.context.background.start(&command) {
            Ok(process) => process,
            Err(error) => return confined.with_earlier(not_started(&error)),
        };
        let moment = self.first_moments(run, &process).await;
        match moment {
            Moment::Cancelled => process.end(),
            Moment::Running => self.context.report_end(&process),
            Moment::Ended(_) => {}
        }
        let outcome = outcome(&process, &moment);
        let failure = process.log_failure();
        if matches!(moment, Moment::Ended(_)) {
            confined.set_process(process.id());
            return reported(move || confined.finish(&outcome, report.output(&outcome))).await;
        }
        confined.finish_later(&process);
        let is_cancelled = matches!(moment, Moment::Cancelled);
        let reported = reported(move || {
            if is_cancelled {
                report.output(&outcome)
            } else {
                running(&report, &outcome, failure.as_deref())
            }
        })
        .await;
        confined.with_earlier(reported)
    }

    async fn first_moments(&self, run: RunContext, process: &BackgroundProcess) -> Moment {
        let RunContext { cancel, mut input, .. } = run;
        let delay = self.params.delay_ms.map(|delay| u64::try_from(delay).unwrap_or(0));
        let delay = delay.map_or(DELAY, Duration::from_millis).min(LONGEST_DELAY);
        let over = tokio::time::sleep(delay);
        tokio::pin!(over);
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Moment::Cancelled,
                state = process.ended() => return Moment::Ended(state),
                Some(op) = input.next() => match op {
                    CallInput::Stop => return Moment::Cancelled,
                    CallInput::Background => return Moment::Running,
                    CallInput::Key(_) | CallInput::Resize { .. } => {}
                },
                () = &mut over => return Moment::Running,
            }
        }
    }
}

/// Returns the first output in the form used for reports of ended commands.
fn outcome(process: &BackgroundProcess, moment: &Moment) -> ShellOutcome {
    let none = pollux_shell::OutputLimits { head: 0, tail: 0 };
    let output = process.take_first_output().unwrap_or_else(|| Output::new(none));
    let (exit_code, signal) = match moment {
        Moment::Ended(ProcessState::Exited { code, signal }) => (*code, *signal),
        Moment::Ended(ProcessState::Running) | Moment::Running | Moment::Cancelled => (None, None),
    };
    let head = output.head();
    let bytes = output.len() as u64 + output.omitted();
    ShellOutcome {
        binary: pollux_fs::is_binary(&head[..head.len().min(HEAD_BYTES)]),
        bytes,
        exit_code,
        signal,
        ended: if matches!(moment, Moment::Cancelled) { Ended::Cancelled } else { Ended::Exited },
        process_group: process.id(),
        background_pids: Vec::new(),
        // The log has the whole output.
        spilled: Some(Spilled {
            path: process.log_path(),
            bytes,
            dropped: 0,
            failure: process.log_failure(),
        }),
        lines: None,
        awaited: None,
        output,
    }
}

/// Returns the result for a command that continues.
fn running(report: &Report, outcome: &ShellOutcome, failure: Option<&str>) -> ToolOutput {
    let (pid, text) = (outcome.process_group, report.shown(outcome));
    let text = if text.is_empty() { "(empty)" } else { &text };
    let lost = failure.map(|reason| format!("\nIts output is not available later: {reason}"));
    let reported = format!("Command is running in background. PID: {pid}. Initial output:\n{text}");
    ToolOutput::quiet(untrusted::wrap(&(reported + &lost.unwrap_or_default())))
        .display(Display::Text(format!("Background process started with PID {pid}.")))
}

/// Returns the result for a command that the user moved to the background.
pub(super) fn handed_over(process: &BackgroundProcess) -> ToolOutput {
    let pid = process.id();
    let reported =
        format!("Command moved to background (PID: {pid}). Output hidden. Press Ctrl+B to view.");
    ToolOutput::quiet(untrusted::wrap(&reported)).display(Display::Text(reported))
}
