//! From a child's bytes to text: decoding that never splits a character, and escape sequences out.
//! Pure, and linear in the length of the input.

use std::borrow::Cow;

/// `text` without terminal escape sequences: CSI (colours, cursor), OSC (titles, links), DCS and the
/// other control strings, two-character escapes, and all C1 controls (ECMA-48, 5th edition).
///
/// The result holds neither ESC nor a C1 control. A control string that is never closed loses its
/// introducer only, so that a stray one cannot swallow what follows. Other control characters
/// (carriage return, backspace, bell) stay.
pub fn strip_ansi(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_introducer) else { return Cow::Borrowed(text) };
    let mut plain = String::with_capacity(text.len());
    let (before, mut rest) = text.split_at(first);
    plain.push_str(before);
    while let Some(at) = rest.find(is_introducer) {
        plain.push_str(&rest[..at]);
        rest = after_sequence(&rest[at..]);
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

fn is_introducer(letter: char) -> bool {
    letter == '\x1b' || is_c1(letter)
}

fn is_c1(letter: char) -> bool {
    ('\u{80}'..='\u{9f}').contains(&letter)
}

/// What follows the sequence that `text` begins with. `text` begins with ESC or a C1 control.
fn after_sequence(text: &str) -> &str {
    let mut letters = text.chars();
    match letters.next() {
        Some('\x1b') => after_escape(letters.as_str()),
        Some('\u{9b}') => after_csi(letters.as_str()),
        Some('\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}') => {
            after_control_string(letters.as_str())
        }
        _ => letters.as_str(),
    }
}

/// `text` is what stands behind an ESC.
fn after_escape(text: &str) -> &str {
    let mut letters = text.chars();
    match letters.next() {
        Some('[') => after_csi(letters.as_str()),
        Some(']' | 'P' | 'X' | '^' | '_') => after_control_string(letters.as_str()),
        _ => {
            let body = text.trim_start_matches(|letter| matches!(letter, ' '..='/'));
            body.strip_prefix(|letter| matches!(letter, '0'..='~')).unwrap_or(body)
        }
    }
}

/// Parameters, intermediates, one final character. A malformed sequence ends where it breaks.
fn after_csi(text: &str) -> &str {
    let body = text
        .trim_start_matches(|letter| matches!(letter, '0'..='?'))
        .trim_start_matches(|letter| matches!(letter, ' '..='/'));
    body.strip_prefix(|letter| matches!(letter, '@'..='~')).unwrap_or(body)
}

/// Up to BEL, `ESC \` or ST. Any other escape or C1 control means that the string was never closed;
/// stopping there also keeps the search linear over many unclosed strings.
fn after_control_string(text: &str) -> &str {
    let stop = |letter| matches!(letter, '\x07' | '\x18' | '\x1a') || is_introducer(letter);
    let Some(at) = text.find(stop) else { return text };
    let end = &text[at..];
    ["\x07", "\x1b\\", "\u{9c}"].iter().find_map(|close| end.strip_prefix(close)).unwrap_or(text)
}

/// What is held back of a sequence that does not end; a longer one is taken for text.
const LONGEST_HELD: usize = 4096;

/// Takes escape sequences out of text that comes in pieces, wherever these end.
#[derive(Debug, Default)]
pub(crate) struct Stripper {
    /// The beginning of a sequence.
    held: String,
}

impl Stripper {
    /// The plain text that `text` completes.
    pub(crate) fn strip<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        if self.held.is_empty() && !text.contains(is_introducer) {
            return Cow::Borrowed(text);
        }
        let mut joined = std::mem::take(&mut self.held);
        joined.push_str(text);
        let whole = whole_sequences(&joined);
        if joined.len() - whole <= LONGEST_HELD {
            self.held = joined.split_off(whole);
        }
        Cow::Owned(strip_ansi(&joined).into_owned())
    }
}

/// How much of `text` stands before a sequence that more text may continue.
fn whole_sequences(text: &str) -> usize {
    let mut rest = text;
    while let Some(at) = rest.find(is_introducer) {
        let sequence = &rest[at..];
        if is_open(sequence) {
            return text.len() - sequence.len();
        }
        rest = after_sequence(sequence);
    }
    text.len()
}

/// Whether the sequence that `text` begins with may go on behind its end.
fn is_open(text: &str) -> bool {
    let mut letters = text.chars();
    match letters.next() {
        Some('\x1b') => {
            let body = letters.as_str();
            match letters.next() {
                Some('[') => is_open_csi(letters.as_str()),
                Some(']' | 'P' | 'X' | '^' | '_') => is_open_string(letters.as_str()),
                _ => body.trim_start_matches(|letter| matches!(letter, ' '..='/')).is_empty(),
            }
        }
        Some('\u{9b}') => is_open_csi(letters.as_str()),
        Some('\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}') => {
            is_open_string(letters.as_str())
        }
        _ => false,
    }
}

fn is_open_csi(text: &str) -> bool {
    text.chars().all(|letter| matches!(letter, ' '..='?'))
}

fn is_open_string(text: &str) -> bool {
    let stop = |letter| matches!(letter, '\x07' | '\x18' | '\x1a') || is_introducer(letter);
    text.find(stop).is_none_or(|at| &text[at..] == "\x1b")
}

/// What a terminal was sent, as plain text for a file: escape sequences out, and line ends without the carriage return
/// that terminals need. Comes in pieces, wherever these end.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    decoder: Decoder,
    stripper: Stripper,
    /// The last piece ended with a carriage return.
    returned: bool,
}

impl Transcript {
    /// The plain text that `bytes` complete.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> String {
        let text = self.decoder.decode(bytes);
        let plain = self.stripper.strip(&text);
        let mut lines = String::with_capacity(plain.len() + 1);
        for piece in plain.split_inclusive('\r') {
            // A program that returns by itself is sent to the terminal with two.
            if std::mem::take(&mut self.returned) && !piece.starts_with(['\n', '\r']) {
                lines.push('\r');
            }
            self.returned = piece.ends_with('\r');
            lines.push_str(piece.strip_suffix('\r').unwrap_or(piece));
        }
        lines
    }
}

/// Turns chunks of bytes into chunks of text, holding back a character whose end has not arrived.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// At most three bytes: the beginning of a character.
    held: Vec<u8>,
}

impl Decoder {
    /// The text that `bytes` completes. Bytes that are no UTF-8 become U+FFFD.
    pub(crate) fn decode<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, str> {
        if self.held.is_empty() {
            let (whole, partial) = bytes.split_at(whole_length(bytes));
            self.held.extend_from_slice(partial);
            return String::from_utf8_lossy(whole);
        }
        let mut joined = std::mem::take(&mut self.held);
        joined.extend_from_slice(bytes);
        self.held = joined.split_off(whole_length(&joined));
        Cow::Owned(String::from_utf8_lossy(&joined).into_owned())
    }

    /// The text for what is still held back: nothing, or one U+FFFD.
    pub(crate) fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.held)).into_owned()
    }
}

/// How many bytes are left when the unfinished character at the end, if any, is taken off.
pub(crate) fn whole_length(bytes: &[u8]) -> usize {
    let is_continuation = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
    for back in 1..=bytes.len().min(3) {
        let start = bytes.len() - back;
        if is_continuation(bytes[start]) {
            continue;
        }
        let unfinished = std::str::from_utf8(&bytes[start..])
            .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none());
        return if unfinished { start } else { bytes.len() };
    }
    bytes.len()
}

#[cfg(test)]
mod tests;
