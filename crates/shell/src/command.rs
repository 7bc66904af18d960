//! A command with the bounds it runs in, and its outcome.

use std::process::ExitStatus;
use std::time::Duration;

use pollux_protocol::{AnsiOutput, AwaitedInput};

use crate::child::ChildProcess;
use crate::error::ShellError;
use crate::output::{BINARY_NOTICE, Limits, Output};
use crate::sessions::Leftovers;
use crate::spec::{ChildSpec, ChildStdio};
use crate::spill::{Spill, Spilled};
use crate::terminal::TerminalSize;

/// A command to run, usually a [`Program::CommandLine`](crate::Program::CommandLine),
/// and the bounds it runs in.
#[derive(Debug, Clone)]
pub struct ShellCommand {
    /// Process to start.
    pub child: ChildSpec,
    /// Longest time that the command may take; `None` for no limit.
    pub timeout: Option<Duration>,
    /// Longest time without output; `None` for no limit.
    pub inactivity: Option<Duration>,
    /// Bytes of output that stay in memory.
    pub limits: Limits,
    /// File for output that is too long; `None` for no file.
    pub spill: Option<Spill>,
    /// Terminal that the command runs in; `None` for plain pipes, with standard input closed. Plain
    /// pipes are also used where no terminal is available.
    pub terminal: Option<TerminalSize>,
    /// Whether the colours of the terminal are reported.
    pub colour: bool,
    /// Whether somebody can type, see [`Wish::Type`]. Otherwise a command that waits for input is
    /// ended after some seconds.
    pub attended: bool,
}

impl ShellCommand {
    /// A command without time limits and terminal.
    pub fn new(child: ChildSpec) -> Self {
        Self {
            child,
            timeout: None,
            inactivity: None,
            limits: Limits::default(),
            spill: None,
            terminal: None,
            colour: true,
            attended: false,
        }
    }

    /// Starts the command in its terminal, or over plain pipes if it has none or none is available.
    pub(crate) fn start(&self) -> Result<ChildProcess, ShellError> {
        let start = |stdio| ChildProcess::start(&self.child, stdio, Leftovers::End);
        match self.terminal.map(|size| start(ChildStdio::Terminal(size))) {
            Some(Ok(child)) => Ok(child),
            Some(Err(_)) | None => start(ChildStdio::Merged),
        }
    }
}

/// Why [`run`] returned.
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
    /// It waited for input, and nobody is there to give it.
    Unanswered,
}

/// What somebody wishes of a command that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// Type these bytes. Without a terminal nobody hears.
    Type(Vec<u8>),
    /// The terminal has a new size.
    Resize(TerminalSize),
    /// Let it go on in the background.
    HandOver,
}

/// What a command did.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What it printed, on both streams, in order.
    pub output: Output,
    /// Its exit code, unless a signal or we ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did that we did not send.
    pub signal: Option<i32>,
    /// Why it is over.
    pub ended: Ended,
    /// Number of its process group and session, also its own process number.
    pub process_group: u32,
    /// Background jobs of the shell (`jobs -p`) that go on. Empty if we ended the command, if it
    /// replaced the shell with `exec` or set an exit trap of its own, and on Windows.
    pub background_pids: Vec<u32>,
    /// Whether the output is binary: a NUL among its first 4096 bytes.
    pub binary: bool,
    /// How many bytes it printed.
    pub bytes: u64,
    /// The file with the whole output, if it was long enough to need one.
    pub spilled: Option<Spilled>,
    /// What the terminal showed in the end, and some lines above, if the command had one.
    pub lines: Option<AnsiOutput>,
    /// It was waiting for input when it was ended.
    pub awaited: Option<AwaitedInput>,
}

impl Outcome {
    /// The output as [`Output::text`] gives it, or [`BINARY_NOTICE`].
    pub fn text(&self) -> String {
        if self.binary { BINARY_NOTICE.to_owned() } else { self.output.text() }
    }
}

/// The signal that ended a process.
#[cfg(unix)]
pub(crate) fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

/// There are no signals.
#[cfg(not(unix))]
pub(crate) fn signal(_status: ExitStatus) -> Option<i32> {
    None
}
