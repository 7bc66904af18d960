//! Standard error: messages for the user, never payload.

#![expect(clippy::disallowed_methods, reason = "prints messages")]

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::sync::Arc;

use pollux_input::{Tone, TonedLine};
use pollux_input::{columns, rows_of};
use pollux_line::paint;
use pollux_protocol::plain_text::{for_terminal, harmless};
use pollux_protocol::{Notices, Severity};

/// Returns true if standard error is a terminal that shows colours, and the user wants them.
fn is_coloured() -> bool {
    std::io::stderr().is_terminal() && wants_colour(|name| std::env::var_os(name))
}

/// Returns true if standard error is a terminal that can show a [`StatusLine`].
pub(crate) fn can_show_status() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|name| name != "dumb")
}

/// Returns true unless `NO_COLOR` is set or `TERM` is `dumb`.
pub(crate) fn wants_colour(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let is_off = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_off && variable("TERM").is_none_or(|name| name != "dumb")
}

/// Prints the reason why a run failed; in red on a terminal with colours.
pub(crate) fn stderr_failure(text: &str) {
    stderr_toned(&TonedLine::new(Tone::Error, text));
}

/// Prints one line to standard error. On a terminal it has the colour of its meaning and breaks
/// between words; characters that could move the cursor are removed. Errors are ignored, because a
/// closed standard error does no harm.
pub(crate) fn stderr_toned(line: &TonedLine) {
    let text = if std::io::stderr().is_terminal() {
        let tone = if is_coloured() { line.tone } else { Tone::Plain };
        let rows = rows_of(line, columns());
        rows.split('\n').map(|row| paint(tone, row) + "\n").collect()
    } else {
        harmless(&line.text).into_owned() + "\n"
    };
    drop(std::io::stderr().lock().write_all(text.as_bytes()));
}

/// Line on a terminal that says what is awaited. It is removed before other text is printed.
#[derive(Debug, Default)]
pub(crate) struct StatusLine {
    /// Width of the text that is shown; 0 if there is none. The text is ASCII.
    width: usize,
}

impl StatusLine {
    /// Shows a text, or nothing for `None`.
    pub(crate) fn show(&mut self, text: Option<&str>) {
        let text = text.unwrap_or_default();
        let rest = self.width.saturating_sub(text.len());
        if self.width > 0 || !text.is_empty() {
            let end = if text.is_empty() { "\r" } else { "" };
            let bytes = format!("\r{text}{}{}{end}", " ".repeat(rest), "\u{8}".repeat(rest));
            drop(std::io::stderr().lock().write_all(bytes.as_bytes()));
        }
        self.width = text.len();
    }
}

/// Prints one line to standard error, as [`stderr_toned`] does.
pub(crate) fn stderr_line(text: &str) {
    stderr_toned(&TonedLine::new(Tone::Plain, text));
}

/// Returns a sink that prints messages to standard error.
pub(crate) fn notices() -> Arc<dyn Notices> {
    Arc::new(|_: Severity, text: &str| stderr_line(text))
}

/// Prints text with its line ends to standard error.
pub(crate) fn print_once(text: &str) {
    let text = if std::io::stderr().is_terminal() { for_terminal(text) } else { text.into() };
    drop(std::io::stderr().lock().write_all(text.as_bytes()));
}
