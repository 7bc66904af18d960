//! A command with its limits, and its outcome.

use std::process::ExitStatus;
use std::time::Duration;

use pollux_protocol::{AnsiOutput, AwaitedInput};

use crate::child::ChildProcess;
use crate::error::ShellError;
use crate::output::{BINARY_NOTICE, Output, OutputLimits};
use crate::sessions::Leftovers;
use crate::spec::{ChildSpec, ChildStdio};
use crate::spill::{Spill, Spilled};
use crate::terminal::TerminalSize;

/// A command to run, usually a [`Program::CommandLine`](crate::Program::CommandLine), and its
/// limits.
#[derive(Debug, Clone)]
pub struct ShellCommand {
    /// Process to start.
    pub child: ChildSpec,
    /// Longest time that the command may take; `None` for no limit.
    pub timeout: Option<Duration>,
    /// Longest time without output; `None` for no limit.
    pub inactivity: Option<Duration>,
    /// Bytes of output that stay in memory.
    pub limits: OutputLimits,
    /// File for output that is too long; `None` for no file.
    pub spill: Option<Spill>,
    /// Terminal that the command runs in; `None` for plain pipes, with standard input closed. Plain
    /// pipes are also used where no terminal is available.
    pub terminal: Option<TerminalSize>,
    /// True if the colours of the terminal are reported.
    pub colour: bool,
    /// True if a user can type, see [`CommandOp::Type`]. Otherwise a command that waits for input
    /// is ended after some seconds.
    pub attended: bool,
}

impl ShellCommand {
    /// Creates a command without time limits and without a terminal.
    pub fn new(child: ChildSpec) -> Self {
        Self {
            child,
            timeout: None,
            inactivity: None,
            limits: OutputLimits::default(),
            spill: None,
            terminal: None,
            colour: true,
            attended: false,
        }
    }

    /// Starts the command in its terminal, or over plain pipes if it has none or none is available.
    /// Works on a blocking thread: confinement looks at many files, and the start waits until the
    /// system has run the program.
    pub(crate) async fn start(&self) -> Result<ChildProcess, ShellError> {
        let command = self.clone();
        let started = tokio::task::spawn_blocking(move || command.start_now()).await;
        started.unwrap_or_else(|error| Err(ShellError::Streams(std::io::Error::other(error))))
    }

    /// Starts the command as [`Self::start`], on the present thread.
    pub(crate) fn start_now(&self) -> Result<ChildProcess, ShellError> {
        let start = |stdio| ChildProcess::start(&self.child, stdio, Leftovers::End);
        match self.terminal.map(|size| start(ChildStdio::Terminal(size))) {
            Some(Ok(child)) => Ok(child),
            Some(Err(_)) | None => start(ChildStdio::Merged),
        }
    }
}

/// Reason for which [`run`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The command ended by itself.
    Exited,
    /// The token was cancelled.
    Cancelled,
    /// [`ShellCommand::timeout`] passed.
    TimedOut,
    /// [`ShellCommand::inactivity`] passed.
    Inactive,
    /// The command waited for input, and nobody could type.
    Unanswered,
}

/// Request to a running command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandOp {
    /// Type these bytes. Ignored without a terminal.
    Type(Vec<u8>),
    /// Set a new size of the terminal.
    Resize(TerminalSize),
    /// Continue the command in the background.
    MoveToBackground,
}

/// Result of a command.
#[derive(Debug, Clone)]
pub struct ShellOutcome {
    /// Output on both streams, in the order it was printed.
    pub output: Output,
    /// Exit code, unless a signal or Pollux ended the command.
    pub exit_code: Option<i32>,
    /// Signal that ended the command, unless Pollux sent it.
    pub signal: Option<i32>,
    /// Reason for the end.
    pub ended: Ended,
    /// Number of the process group and session, which is also the process number of the command.
    pub process_group: u32,
    /// Background jobs of the shell (`jobs -p`) that continue to run. Empty if Pollux ended the
    /// command, if the command replaced the shell with `exec` or set an exit trap, and on Windows.
    pub background_pids: Vec<u32>,
    /// True if the output is binary (see [`pollux_fs::is_binary`]).
    pub binary: bool,
    /// Number of bytes printed.
    pub bytes: u64,
    /// File with the whole output, if the output was long enough to need one.
    pub spilled: Option<Spilled>,
    /// Final screen of the terminal and some lines above it, if the command had one.
    pub lines: Option<AnsiOutput>,
    /// Input that the command was waiting for when it was ended.
    pub awaited: Option<AwaitedInput>,
}

impl ShellOutcome {
    /// Returns the output as in [`Output::text`], or [`BINARY_NOTICE`].
    pub fn text(&self) -> String {
        if self.binary { BINARY_NOTICE.to_owned() } else { self.output.text() }
    }
}

/// Returns the signal that ended a process.
#[cfg(unix)]
pub(crate) fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

/// Returns `None`: there are no signals on this system.
#[cfg(not(unix))]
pub(crate) fn signal(_status: ExitStatus) -> Option<i32> {
    None
}
