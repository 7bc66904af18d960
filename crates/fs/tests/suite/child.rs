//! Tests that need a process of their own: this test program run again, doing one thing.

use std::path::Path;
use std::process::{Command, Stdio};

/// Names the task in the child's environment; the value is the folder to work in.
const TASK: &str = "POLLUX_FS_TEST_FOLDER";

/// The folder given to this process, if it is the child for a task.
pub(super) fn folder() -> Option<std::path::PathBuf> {
    std::env::var_os(TASK).map(Into::into)
}

/// A command that runs the ignored test `test` in `folder`, with `wrapper` (a program and its arguments) in front.
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
