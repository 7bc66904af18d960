//! Decoder from a terminal's bytes to keys. Pure; chunks may be split anywhere and hold any bytes.

/// Maximum length of an escape sequence, in bytes; longer input is not a sequence.
const LONGEST_SEQUENCE: usize = 64;

/// A key press, or pasted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    /// Characters to insert. Pasted text may contain line ends.
    Text(String),
    /// Enter key.
    Enter,
    /// Completes a command; inserts a tab elsewhere.
    Tab,
    /// Deletes the character left of the cursor.
    Backspace,
    /// Deletes the character right of the cursor.
    Delete,
    /// Moves one character to the left.
    Left,
    /// Moves one character to the right.
    Right,
    /// Moves one word to the left.
    WordLeft,
    /// Moves one word to the right.
    WordRight,
    /// Moves to the start of the line.
    Home,
    /// Moves to the end of the line.
    End,
    /// Shows the previous line of the history.
    Up,
    /// Shows the next line of the history.
    Down,
    /// Deletes all text left of the cursor.
    KillLeft,
    /// Deletes all text right of the cursor.
    KillRight,
    /// Deletes the word left of the cursor.
    KillWord,
    /// Ctrl-D: ends the input, or deletes the character right of the cursor.
    EndOfInput,
}

/// Decoder of keys. Keeps an incomplete character or escape sequence until the next chunk.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    held: Vec<u8>,
    pasting: bool,
}

/// Result of parsing input that begins with ESC.
enum Escape {
    Unfinished,
    Sequence { length: usize, meaning: Meaning },
}

enum Meaning {
    Nothing,
    Pressed(Key),
    PasteBegins,
    PasteEnds,
}

impl Decoder {
    /// Returns the keys that `bytes` complete. Bytes that are not UTF-8 become U+FFFD.
    pub(super) fn decode(&mut self, bytes: &[u8]) -> Vec<Key> {
        let mut input = std::mem::take(&mut self.held);
        input.extend_from_slice(bytes);
        let mut keys = Vec::new();
        let mut rest = input.as_slice();
        while let Some(&first) = rest.first() {
            let taken = match first {
                0x1b => match escape(rest) {
                    Escape::Unfinished => break,
                    Escape::Sequence { length, meaning } => {
                        self.escaped(meaning, &mut keys);
                        length
                    }
                },
                0..0x20 | 0x7f => {
                    self.control(first, &mut keys);
                    1
                }
                _ => {
                    let length = text_length(rest);
                    if length == 0 {
                        break;
                    }
                    add_text(&mut keys, &String::from_utf8_lossy(&rest[..length]));
                    length
                }
            };
            rest = &rest[taken..];
        }
        self.held = rest.to_vec();
        keys
    }

    fn escaped(&mut self, meaning: Meaning, keys: &mut Vec<Key>) {
        match meaning {
            Meaning::PasteBegins => self.pasting = true,
            Meaning::PasteEnds => self.pasting = false,
            Meaning::Pressed(key) if !self.pasting => keys.push(key),
            Meaning::Pressed(_) | Meaning::Nothing => {}
        }
    }

    fn control(&self, byte: u8, keys: &mut Vec<Key>) {
        match byte {
            b'\r' | b'\n' if self.pasting => return add_text(keys, "\n"),
            b'\t' if self.pasting => return add_text(keys, "\t"),
            _ if self.pasting => return,
            _ => {}
        }
        keys.push(match byte {
            0x01 => Key::Home,
            0x02 => Key::Left,
            0x04 => Key::EndOfInput,
            0x05 => Key::End,
            0x06 => Key::Right,
            0x08 | 0x7f => Key::Backspace,
            b'\t' => Key::Tab,
            b'\r' | b'\n' => Key::Enter,
            0x0b => Key::KillRight,
            0x0e => Key::Down,
            0x10 => Key::Up,
            0x15 => Key::KillLeft,
            0x17 => Key::KillWord,
            _ => return,
        });
    }

    /// Leaves the paste mode: the end marker may have been lost.
    pub(super) fn end_paste(&mut self) {
        self.pasting = false;
    }
}

/// Appends text; adjacent pieces are joined.
fn add_text(keys: &mut Vec<Key>, text: &str) {
    if let Some(Key::Text(last)) = keys.last_mut() {
        last.push_str(text);
    } else {
        keys.push(Key::Text(text.to_owned()));
    }
}

/// Returns the number of bytes of text at the start of `input`, without an incomplete character at
/// the end.
fn text_length(input: &[u8]) -> usize {
    let end = input.iter().position(|byte| *byte < 0x20 || *byte == 0x7f);
    let Some(end) = end else {
        let tail = input.len().saturating_sub(3);
        let start = (tail..input.len()).find(|index| is_cut(&input[*index..]));
        return start.unwrap_or(input.len());
    };
    end
}

/// Returns true if the whole slice is the beginning of a character.
fn is_cut(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes)
        .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

/// Parses an escape sequence; `input` begins with ESC.
fn escape(input: &[u8]) -> Escape {
    let sequence = |length, meaning| Escape::Sequence { length, meaning };
    let pressed = |length, key| sequence(length, Meaning::Pressed(key));
    match input.get(1) {
        None => Escape::Unfinished,
        Some(b'[') => control_sequence(input),
        Some(b'O') => match input.get(2) {
            None => Escape::Unfinished,
            Some(last) => sequence(3, cursor_key(*last, false)),
        },
        Some(b'b') => pressed(2, Key::WordLeft),
        Some(b'f') => pressed(2, Key::WordRight),
        Some(0x08 | 0x7f) => pressed(2, Key::KillWord),
        Some(0x20..0x7f) => sequence(2, Meaning::Nothing),
        // The bytes after the ESC are ordinary input.
        Some(_) => sequence(1, Meaning::Nothing),
    }
}

/// Parses a control sequence; `input` begins with `ESC [`.
fn control_sequence(input: &[u8]) -> Escape {
    let body = &input[2..];
    let Some(end) = body.iter().position(|byte| !(0x20..0x40).contains(byte)) else {
        if input.len() < LONGEST_SEQUENCE {
            return Escape::Unfinished;
        }
        return Escape::Sequence { length: input.len(), meaning: Meaning::Nothing };
    };
    let parameters = &body[..end];
    let meaning = match (parameters, body[end]) {
        (b"200", b'~') => Meaning::PasteBegins,
        (b"201", b'~') => Meaning::PasteEnds,
        (b"1" | b"7", b'~') => Meaning::Pressed(Key::Home),
        (b"4" | b"8", b'~') => Meaning::Pressed(Key::End),
        (b"3", b'~') => Meaning::Pressed(Key::Delete),
        (b"1;3" | b"1;5", last) => cursor_key(last, true),
        (b"", last) => cursor_key(last, false),
        _ => Meaning::Nothing,
    };
    // The byte that interrupts an incomplete sequence is kept as input.
    let last = usize::from((0x40..0x7f).contains(&body[end]));
    Escape::Sequence { length: 2 + end + last, meaning }
}

fn cursor_key(last: u8, by_word: bool) -> Meaning {
    Meaning::Pressed(match (last, by_word) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'C', false) => Key::Right,
        (b'C', true) => Key::WordRight,
        (b'D', false) => Key::Left,
        (b'D', true) => Key::WordLeft,
        (b'H', _) => Key::Home,
        (b'F', _) => Key::End,
        _ => return Meaning::Nothing,
    })
}

#[cfg(test)]
mod tests;
