//! Standard error: messages for a person, never payload.

use std::io::{IsTerminal, Write};

use pollux_protocol::plain_text::{for_terminal, harmless};

/// Why a run ended, on standard error: in red where that can be seen and nobody minds.
pub(crate) fn stderr_failure(text: &str) {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
    if !std::io::stderr().is_terminal() || is_set("NO_COLOR") || is_dumb {
        return stderr_line(text);
    }
    let red = format!("\u{1b}[31m{}\u{1b}[0m\n", for_terminal(text));
    drop(std::io::stderr().lock().write_all(red.as_bytes()));
}

/// One line on standard error, without anything that could move the cursor. A closed standard error is
/// nobody's loss.
pub(crate) fn stderr_line(text: &str) {
    let is_terminal = std::io::stderr().is_terminal();
    let line = if is_terminal { for_terminal(text) } else { harmless(text) }.into_owned() + "\n";
    drop(std::io::stderr().lock().write_all(line.as_bytes()));
}

/// Prints text with its line ends to standard error.
pub(crate) fn print_once(text: &str) {
    let text = if std::io::stderr().is_terminal() { for_terminal(text) } else { text.into() };
    drop(std::io::stderr().lock().write_all(text.as_bytes()));
}
