//! Standard error: messages for a person, never payload.

use std::io::{IsTerminal, Write};

use pollux_protocol::plain_text::harmless;

/// Why a run ended, on standard error: in red where that can be seen and nobody minds.
pub(crate) fn stderr_failure(text: &str) {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
    if !std::io::stderr().is_terminal() || is_set("NO_COLOR") || is_dumb {
        return stderr_line(text);
    }
    let red = format!("\u{1b}[31m{}\u{1b}[0m\n", harmless(text));
    drop(std::io::stderr().lock().write_all(red.as_bytes()));
}

/// One line on standard error, without anything that could move the cursor. A closed standard error is
/// nobody's loss.
pub(crate) fn stderr_line(text: &str) {
    let line = harmless(text).into_owned() + "\n";
    drop(std::io::stderr().lock().write_all(line.as_bytes()));
}

/// Prints bytes to standard error as they are.
pub(crate) fn print_once(bytes: &[u8]) {
    drop(std::io::stderr().lock().write_all(bytes));
}
