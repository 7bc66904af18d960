//! Tests that need a separate process: this test program runs itself to do one task.

use std::path::Path;
use std::process::{Command, Stdio};

/// Environment variable that makes the process a child; its value is the folder to work in.
const TASK: &str = "POLLUX_FS_TEST_FOLDER";

/// Returns the folder given to this process if it is the child for a task.
pub(super) fn folder() -> Option<std::path::PathBuf> {
    std::env::var_os(TASK).map(Into::into)
}

/// Returns a command that runs the ignored test `test` in `folder`, started by `wrapper` (a program
/// and its arguments).
pub(super) fn command(wrapper: &[&str], test: &str, folder: &Path) -> Command {
    let program = std::env::current_exe().unwrap();
    let program = program.to_str().unwrap();
    let words: Vec<&str> = wrapper.iter().copied().chain([program]).collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args([
        "--exact",
        test,
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ]);
    command.env(TASK, folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}
