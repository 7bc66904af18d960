//! Standard error: messages for the user, never payload.

#![expect(clippy::disallowed_methods, reason = "prints messages")]

use std::io::{IsTerminal, Write};

use pollux_protocol::plain_text::{for_terminal, harmless};

/// Prints the reason why a run failed; in red on a terminal, unless `NO_COLOR` is set or `TERM` is
/// `dumb`.
pub(crate) fn stderr_failure(text: &str) {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
    if !std::io::stderr().is_terminal() || is_set("NO_COLOR") || is_dumb {
        return stderr_line(text);
    }
    let red = format!("\u{1b}[31m{}\u{1b}[0m\n", for_terminal(text));
    drop(std::io::stderr().lock().write_all(red.as_bytes()));
}

/// Prints one line to standard error, without characters that could move the cursor. Errors are
/// ignored, because a closed standard error does no harm.
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
