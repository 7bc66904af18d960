//! A program that has the terminal to itself for a while: an editor.

use crate::child::ChildProcess;
use crate::command::signal;
use crate::error::ShellError;
use crate::sessions::Leftovers;
use crate::spec::{ChildSpec, ChildStdio};

/// Runs a program with the standard streams and the terminal of this program, and returns its exit
/// code, or `None` when a signal ended it. The terminal sends keys and signals to both, so the
/// caller must not read meanwhile.
///
/// When the future is dropped, the program and its descendants are ended. Processes that it leaves
/// running go on, also after the end of this program.
///
/// # Errors
/// It could not be started, or its end could not be observed.
pub async fn run_in_foreground(spec: &ChildSpec) -> Result<Option<i32>, ShellError> {
    Ok(status_in_foreground(spec).await?.code)
}

/// End of a program that had the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForegroundEnd {
    /// Exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
}

/// Runs a program as [`run_in_foreground`] does, and returns its exit code or signal.
///
/// # Errors
/// It could not be started, or its end could not be observed.
pub async fn status_in_foreground(spec: &ChildSpec) -> Result<ForegroundEnd, ShellError> {
    let mut child = ChildProcess::start(spec, ChildStdio::Inherited, Leftovers::Keep)?;
    let status = child.process.wait().await.map_err(ShellError::Wait)?;
    child.session.release();
    Ok(ForegroundEnd { code: status.code(), signal: signal(status) })
}
