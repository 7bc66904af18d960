//! A program, such as an editor, that has exclusive use of the terminal for a while.

use crate::child::ChildProcess;
use crate::command::signal;
use crate::error::ShellError;
use crate::sessions::Leftovers;
use crate::spec::{ChildSpec, ChildStdio};

/// Runs a program with the standard streams and the terminal of Pollux, and returns its exit code,
/// or `None` if a signal ended it. The terminal sends keys and signals to both programs, so the
/// caller must not read meanwhile.
///
/// The program and its descendants are ended if the future is dropped. Processes that the program
/// leaves running continue, even after the end of Pollux.
///
/// # Errors
/// Fails if the program cannot be started or if waiting for its end fails.
pub async fn run_in_foreground(spec: &ChildSpec) -> Result<Option<i32>, ShellError> {
    Ok(status_in_foreground(spec).await?.code)
}

/// End of a program that had exclusive use of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForegroundEnd {
    /// Exit code, unless a signal ended the program.
    pub code: Option<i32>,
    /// Signal that ended the program.
    pub signal: Option<i32>,
}

/// Runs a program as [`run_in_foreground`] does, and returns its exit code or signal.
///
/// # Errors
/// Fails if the program cannot be started or if waiting for its end fails.
pub async fn status_in_foreground(spec: &ChildSpec) -> Result<ForegroundEnd, ShellError> {
    let mut child = ChildProcess::start(spec, ChildStdio::Inherited, Leftovers::Keep)?;
    let status = child.process.wait().await.map_err(ShellError::Wait)?;
    child.session.release();
    Ok(ForegroundEnd { code: status.code(), signal: signal(status) })
}
