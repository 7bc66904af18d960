//! Standard output. Text on a terminal is made harmless; a pipe or a file gets every byte.

#![expect(clippy::disallowed_methods, reason = "prints the output of subcommands")]

use std::borrow::Cow;
use std::io::{IsTerminal, Write};

use pollux_protocol::plain_text::{for_terminal, json_for_terminal};

/// Returns true if standard output is a terminal.
pub(crate) fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Returns `text` in the form that standard output needs.
pub(crate) fn text_for_stdout(text: &str) -> Cow<'_, str> {
    if is_terminal() { for_terminal(text) } else { text.into() }
}

/// Returns serialised JSON in the form that standard output needs.
pub(crate) fn json_for_stdout(json: &str) -> Cow<'_, str> {
    if is_terminal() { json_for_terminal(json) } else { json.into() }
}

/// Prints a question whose answer is typed in the same line.
pub(crate) fn print_unfinished(text: &str) {
    let mut out = std::io::stdout().lock();
    drop(out.write_all(text_for_stdout(text).as_bytes()).and_then(|()| out.flush()));
}

/// Prints the only text of a command. A closed pipe is not an error.
pub(crate) fn print_once(text: &str) {
    drop(std::io::stdout().lock().write_all(text_for_stdout(text).as_bytes()));
}
