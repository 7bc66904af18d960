//! A command as it is asked for, and what it did.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use pollux_protocol::{AnsiOutput, AwaitedInput};

use crate::capture::BINARY_NOTICE;
use crate::output::{Limits, Output};
use crate::spill::{Spill, Spilled};
use crate::terminal::TerminalSize;

/// A command line to run, and the bounds it runs in.
#[derive(Debug, Clone)]
pub struct ShellCommand {
    /// The command line, in the language of the shell. A needless `bash -c '…'` around it is taken
    /// off, see [`strip_wrapper`].
    pub command: String,
    /// The folder to run in.
    pub cwd: PathBuf,
    /// The whole environment of the command, see [`child_environment`](crate::child_environment).
    pub environment: Vec<(OsString, OsString)>,
    /// How long the command may take in all; `None` is for ever.
    pub timeout: Option<Duration>,
    /// How long the command may print nothing; `None` is for ever.
    pub inactivity: Option<Duration>,
    /// How much output stays in memory.
    pub limits: Limits,
    /// Where output goes that is too long; `None` is nowhere.
    pub spill: Option<Spill>,
    /// The terminal that the command runs in; `None` is plain pipes, with standard input closed. Where no terminal can be
    /// had, plain pipes it is.
    pub terminal: Option<TerminalSize>,
    /// The colours of the terminal are told.
    pub colour: bool,
    /// Somebody may type, see [`Wish::Type`]. Without, a command that waits for input is ended after some seconds.
    pub attended: bool,
}

impl ShellCommand {
    /// A command without environment and time limits.
    pub fn new(command: impl Into<String>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            command: command.into(),
            cwd: cwd.into(),
            environment: Vec::new(),
            timeout: None,
            inactivity: None,
            limits: Limits::default(),
            spill: None,
            terminal: None,
            colour: true,
            attended: false,
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
