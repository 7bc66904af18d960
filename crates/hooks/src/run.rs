//! Run of one program, from its start to its reply.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pollux_protocol::{CancellationToken, HookCallMeasure, HookEvent};
use pollux_shell::{
    ChildSpec, Ended, PipedCommand, PipedOutcome, Program, Shell, ShellError, run_piped,
};

use crate::consent;
use crate::definition::{Hook, HookSource};
use crate::output::{HookReply, parse};
use crate::script::substitute;

/// Maximum number of bytes of each stream that are read as a reply. The largest expected reply is a
/// whole conversation.
const LONGEST_REPLY: usize = 16 << 20;
/// Maximum number of bytes of each stream that are kept for telemetry.
const KEPT: usize = 8 << 10;

/// Process settings of all programs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    /// Folder of the project.
    pub(crate) cwd: PathBuf,
    /// Environment, without variables that hooks must not see.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Names that command lines may use, with their values. They are also set as environment
    /// variables.
    pub(crate) names: Vec<(&'static str, String)>,
}

/// A run of a hook.
#[derive(Debug, Clone)]
pub struct HookRun {
    /// Event of the run.
    pub event: HookEvent,
    /// Name of the hook, or its command line if it has no name.
    pub hook: String,
    /// Layer that defines the hook.
    pub source: HookSource,
    /// Duration of the run.
    pub duration: Duration,
    /// Exit code of the program, unless a signal or Pollux ended it.
    pub exit_code: Option<i32>,
    /// Reason for a failure: the program could not run, did not end in time, or printed too much.
    pub error: Option<String>,
    /// JSON that the program received.
    pub input: Arc<str>,
    /// Decision of the program, if it made one.
    pub reply: Option<HookReply>,
    /// Beginning of the standard output.
    pub stdout: String,
    /// Beginning of the standard error.
    pub stderr: String,
}

impl HookRun {
    /// Returns true if the program ended by itself with exit code 0.
    pub fn succeeded(&self) -> bool {
        self.error.is_none() && self.exit_code == Some(0)
    }

    /// Returns the program's message for the user.
    pub fn system_message(&self) -> Option<&str> {
        self.reply.as_ref()?.text("systemMessage")
    }

    /// Returns a short reason for a failed run, or `None` if the run succeeded.
    pub fn failure(&self) -> Option<String> {
        match (&self.error, self.exit_code) {
            (Some(error), _) => Some(error.clone()),
            (None, Some(0)) => None,
            (None, Some(code)) => Some(format!("exit code {code}")),
            (None, None) => Some("ended by a signal".to_owned()),
        }
    }

    /// Returns the measurement of the run.
    pub fn measure(&self) -> HookCallMeasure {
        HookCallMeasure {
            event: self.event,
            name: self.hook.clone(),
            duration: self.duration,
            success: self.succeeded(),
            exit_code: self.exit_code,
            error: self.error.clone(),
            input: Arc::clone(&self.input),
            output: self.reply.as_ref().and_then(|reply| serde_json::to_string(&reply.0).ok()),
            stdout: self.stdout.clone(),
            stderr: self.stderr.clone(),
        }
    }
}

/// Completed run, or `None` if the work was cancelled.
pub(crate) type Finished = Option<HookRun>;

impl Surroundings {
    /// Runs a hook with this input. Returns `None` if `cancel` fired, in which case the hook made
    /// no decision.
    pub(crate) async fn run(
        &self,
        hook: &Hook,
        input: Arc<str>,
        cancel: &CancellationToken,
    ) -> Finished {
        let started = Instant::now();
        let mut run = HookRun {
            event: hook.event,
            hook: hook.label().to_owned(),
            source: hook.source,
            duration: Duration::ZERO,
            exit_code: None,
            error: None,
            input,
            reply: None,
            stdout: String::new(),
            stderr: String::new(),
        };
        if consent::has_changed(hook, &self.cwd) {
            run.error = Some("it has changed since its approval, and was not run".to_owned());
            return Some(run);
        }
        let ran = match Shell::current() {
            Ok(shell) => run_piped(self.command(hook, shell, &run.input), cancel).await,
            Err(error) => Err(error),
        };
        run.duration = started.elapsed();
        match ran {
            Ok(outcome) if outcome.ended == Ended::Cancelled => return None,
            Ok(outcome) => take(&mut run, &outcome, hook.timeout),
            Err(ShellError::CancelledBeforeStart) => return None,
            Err(error) => run.error = Some(error.to_string()),
        }
        Some(run)
    }

    fn command(&self, hook: &Hook, shell: &Shell, input: &str) -> PipedCommand {
        let names: Vec<(&str, &str)> =
            self.names.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let own = hook.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let added = names.iter().copied().chain(own);
        let added = added.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let script = Program::Script(substitute(&hook.command, &names, shell.dialect));
        let environment = self.environment.iter().cloned().chain(added).collect();
        PipedCommand {
            child: ChildSpec::new(script, &self.cwd, environment),
            input: input.as_bytes().to_vec(),
            timeout: hook.timeout,
            limit: LONGEST_REPLY,
        }
    }
}

fn take(run: &mut HookRun, outcome: &PipedOutcome, timeout: Duration) {
    run.exit_code = outcome.exit_code;
    run.stdout = beginning(&outcome.stdout);
    run.stderr = beginning(&outcome.stderr);
    if outcome.ended == Ended::TimedOut {
        run.error = Some(format!("Hook timed out after {}ms", timeout.as_millis()));
    } else if outcome.overflowed {
        run.error = Some(format!("it printed more than {} MiB", LONGEST_REPLY >> 20));
    } else {
        run.reply = parse(&outcome.stdout, &outcome.stderr, outcome.exit_code);
    }
}

fn beginning(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(KEPT)]).into_owned()
}
