//! Errors before a command runs. Once the command runs, its end is an
//! [`ShellOutcome`](crate::ShellOutcome), whatever its exit code.

use std::io;
use std::path::PathBuf;

use pollux_protocol::ConfinementLevel;

/// Reason for which a command could not be started or waited for.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    /// The cancellation token had already fired; nothing was started.
    #[error("the command was cancelled before it could start")]
    CancelledBeforeStart,
    /// No shell was found on `PATH`.
    #[error("no shell found on PATH (looked for {0})")]
    NoShell(&'static str),
    /// The working directory is missing or is not a directory.
    #[error("cannot run in {}: not a folder", .0.display())]
    WorkingDirectory(PathBuf),
    /// The command contains a NUL character, which no operating system can pass to a program.
    #[error("the command contains a NUL character")]
    NulCharacter,
    /// The operating system refused to start the shell, or the program itself.
    #[error("cannot start {}: {source}", program.display())]
    Spawn {
        /// Path of the program.
        program: PathBuf,
        /// Reason given by the operating system; `E2BIG` for a command longer than about 128 KiB on
        /// Linux.
        source: io::Error,
    },
    /// The operating system could not confine the command; it was not started.
    #[error("cannot confine the command at {}: {reason}", level.as_str())]
    Confinement {
        /// Requested level.
        level: ConfinementLevel,
        /// Reason.
        reason: String,
    },
    /// A pipe or a terminal for the standard streams could not be created.
    #[error("cannot create a pipe for the output: {0}")]
    Streams(#[source] io::Error),
    /// The command was started, but waiting for its end failed. The command has been ended.
    #[error("cannot wait for the command: {0}")]
    Wait(#[source] io::Error),
}
