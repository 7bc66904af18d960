//! Standard output of commands that print one text and end.

use std::io::Write;

/// Prints to standard output. A closed pipe ends quietly.
pub(crate) fn print_once(bytes: &[u8]) {
    drop(std::io::stdout().lock().write_all(bytes));
}
