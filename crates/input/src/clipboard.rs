//! The clipboard of the user's terminal.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Returns the sequence that asks a terminal to put a text into the clipboard (OSC 52). It shows
/// nothing; terminals that do not know it, or do not allow it, ignore it.
pub fn clipboard_sequence(text: &str) -> String {
    format!("\u{1b}]52;c;{}\u{7}", BASE64_STANDARD.encode(text))
}
