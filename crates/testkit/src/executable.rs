//! Files that a test executes.
//!
//! Another process writes them. Linux refuses to execute a file that is open for writing ("Text
//! file busy"), and a file that the test writes itself may be open in a child of another thread,
//! which inherits it between `fork` and `exec`.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a script and makes it executable. It needs a first line such as `#!/bin/sh`.
pub fn write_executable(path: impl AsRef<Path>, script: &str) {
    let mut writer = Command::new("sh")
        .args(["-c", "cat > \"$1\" && chmod 755 \"$1\"", "sh"])
        .arg(path.as_ref())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    writer.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success(), "cannot write {}", path.as_ref().display());
}

/// Copies a program with its permissions.
pub fn copy_executable(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let copied = Command::new("cp").arg(from.as_ref()).arg(to.as_ref()).status().unwrap();
    assert!(copied.success(), "cannot copy {}", from.as_ref().display());
}
