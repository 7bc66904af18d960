//! A program that has the terminal to itself for a while: an editor.

use std::path::Path;
use std::process::Stdio;

use crate::error::ShellError;
use crate::shell::Shell;

/// Runs a script in the user's shell with the streams, the environment and the terminal of this program, and returns its
/// exit code; none when a signal ended it. What the terminal sends, keys and signals, reaches both: who calls this
/// reads nothing meanwhile. When the future is dropped the shell is ended.
///
/// # Errors
/// It could not be started, or its end could not be observed.
pub async fn run_in_foreground(script: &str, cwd: &Path) -> Result<Option<i32>, ShellError> {
    if script.contains('\0') {
        return Err(ShellError::NulCharacter);
    }
    let shell = Shell::current()?;
    let mut process = tokio::process::Command::new(&shell.program);
    process
        .args(shell.arguments(script))
        .current_dir(cwd)
        .stdin(Stdio::inherit())
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit())
        .kill_on_drop(true);
    let child = process.spawn();
    let mut child =
        child.map_err(|source| ShellError::Spawn { program: shell.program.clone(), source })?;
    let status = child.wait().await.map_err(ShellError::Wait)?;
    Ok(status.code())
}
