//! Conversion of a child's bytes to text: decoding that never splits a character, and transcripts
//! of terminals. Pure, and linear in the length of the input.

use std::borrow::Cow;

use pollux_protocol::plain_text::AnsiStripper;

/// Converter of terminal output to plain text for a file. It removes escape sequences, and the
/// carriage return that terminals need at a line end. The input may be split at any byte.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    decoder: Decoder,
    stripper: AnsiStripper,
    /// True if the last piece ended with a carriage return.
    returned: bool,
}

impl Transcript {
    /// Returns the plain text that is complete after `bytes`.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> String {
        let text = self.decoder.decode(bytes);
        let plain = self.stripper.strip(&text);
        let mut lines = String::with_capacity(plain.len() + 1);
        for piece in plain.split_inclusive('\r') {
            // For a `\r\n` that a program prints itself, the terminal is sent two carriage returns.
            if std::mem::take(&mut self.returned) && !piece.starts_with(['\n', '\r']) {
                lines.push('\r');
            }
            self.returned = piece.ends_with('\r');
            lines.push_str(piece.strip_suffix('\r').unwrap_or(piece));
        }
        lines
    }
}

/// Decoder from chunks of bytes to chunks of text. It holds back an incomplete character at the
/// end.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// Beginning of a character, at most three bytes.
    held: Vec<u8>,
}

impl Decoder {
    /// Returns the text that is complete after `bytes`. Text that is not UTF-8 is decoded like that
    /// of a file; bytes that are no characters become U+FFFD.
    pub(crate) fn decode<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, str> {
        if self.held.is_empty() {
            let (whole, partial) = bytes.split_at(whole_length(bytes));
            self.held.extend_from_slice(partial);
            return decoded(whole);
        }
        let mut joined = std::mem::take(&mut self.held);
        joined.extend_from_slice(bytes);
        self.held = joined.split_off(whole_length(&joined));
        Cow::Owned(decoded(&joined).into_owned())
    }

    /// Returns the text for the bytes still held back: empty, or one U+FFFD.
    pub(crate) fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.held)).into_owned()
    }
}

fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    // A mark of UTF-16 would apply to this chunk only.
    let is_marked = [b"\xFF\xFE", b"\xFE\xFF"].iter().any(|mark| bytes.starts_with(*mark));
    match String::from_utf8_lossy(bytes) {
        Cow::Owned(_) if !is_marked => Cow::Owned(pollux_fs::decode(bytes).0),
        text => text,
    }
}

/// Returns the number of bytes without an incomplete character at the end.
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
