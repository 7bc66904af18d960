//! Decoder from a terminal's bytes to keys. Pure; chunks may be split anywhere and hold any bytes.

mod reports;
mod shortcuts;

pub use reports::{BACKGROUND_QUERY, TerminalReport};
pub use shortcuts::{SHORTCUTS, SIGNAL_KEYS, Shortcut};

use reports::{REPORT_START, control_string_report};

/// First byte of an escape sequence, and the byte of the Esc key.
const ESC: u8 = 0x1b;
/// Maximum length of an escape sequence, in bytes; longer input is not a sequence.
const LONGEST_SEQUENCE: usize = 64;
/// Byte that ends a control string, and that of Ctrl-G.
const BEL: u8 = 0x07;
/// Maximum length of a control string, in bytes; longer input is dropped as far as it was read.
const LONGEST_STRING: usize = 4096;
/// Maximum number of reports that are kept until they are taken.
const MOST_REPORTS: usize = 16;
/// First key of Ctrl-X Ctrl-E, and the second.
const CTRL_X: u8 = 0x18;
const CTRL_E: u8 = 0x05;

/// A key press, or pasted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPress {
    /// Characters to insert. Pasted text may contain line ends.
    Text(String),
    /// Enter key.
    Enter,
    /// Line end inside a prompt: Alt, Shift or Ctrl with Enter, or Ctrl-J.
    Newline,
    /// Esc key.
    Escape,
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
    /// Deletes the word left of the cursor, up to white space.
    KillWord,
    /// Deletes the word left of the cursor, up to white space or punctuation.
    KillWordLeft,
    /// Deletes the word right of the cursor.
    KillWordRight,
    /// Inserts the text that was deleted last.
    Yank,
    /// Undoes the last change.
    Undo,
    /// Searches the history backwards.
    Search,
    /// Clears the screen.
    ClearScreen,
    /// Opens the line in the external editor; ends a search.
    ExternalEditor,
    /// Ctrl-D: ends the input, or deletes the character right of the cursor.
    EndOfInput,
    /// Shift-Tab: the next approval mode.
    CycleMode,
    /// Alt-Up: chooses an earlier item of the queue.
    AltUp,
    /// Alt-Down: chooses a later item of the queue.
    AltDown,
    /// Shift-Up: moves the chosen item of the queue.
    ShiftUp,
    /// Shift-Down: moves the chosen item of the queue.
    ShiftDown,
    /// Ctrl-B: the commands in the background.
    Background,
    /// Ctrl-T: the to-do list.
    Todos,
    /// Ctrl-O: the transcript of the session.
    Transcript,
    /// Page Up key.
    PageUp,
    /// Page Down key.
    PageDown,
    /// Begin of pasted text, which follows as one or more texts.
    PasteBegin,
    /// End of pasted text.
    PasteEnd,
}

/// Mode of the terminal at the time at which bytes were typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputMode {
    /// The terminal edits the lines itself and sends a line feed for the Enter key.
    Canonical,
    /// Each key arrives by itself: a line feed is Ctrl-J.
    Raw,
}

/// Decoder of keys. Keeps an incomplete character or escape sequence until the next chunk.
#[derive(Debug, Default)]
pub struct KeyDecoder {
    held: Vec<u8>,
    pasting: bool,
    /// Reports of the terminal that were not taken.
    reports: Vec<TerminalReport>,
}

/// Meaning of an escape sequence.
enum Meaning {
    Nothing,
    Pressed(KeyPress),
    Reported(TerminalReport),
    PasteBegins,
    PasteEnds,
}

impl KeyDecoder {
    /// Returns the keys that `bytes`, which were typed in this mode, complete. Bytes that are not
    /// UTF-8 become U+FFFD.
    pub fn decode(&mut self, bytes: &[u8], mode: InputMode) -> Vec<KeyPress> {
        let mut input = std::mem::take(&mut self.held);
        input.extend_from_slice(bytes);
        let mut keys = Vec::new();
        let mut rest = input.as_slice();
        while let Some(&first) = rest.first() {
            let taken = match first {
                ESC => {
                    let Some((length, meaning)) = escape(rest) else { break };
                    self.escaped(meaning, &mut keys);
                    length
                }
                CTRL_X if !self.pasting => {
                    let Some(second) = rest.get(1) else { break };
                    if *second == CTRL_E {
                        keys.push(KeyPress::ExternalEditor);
                    }
                    if *second == CTRL_E { 2 } else { 1 }
                }
                0..0x20 | 0x7f => {
                    self.control(first, mode, &mut keys);
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

    /// Returns true if the input ends with an ESC that is either the Esc key or the start of an
    /// unfinished escape sequence. Only the time until the next byte tells which one. Pasted text
    /// contains no keys, however slowly it arrives.
    pub fn is_unsure(&self) -> bool {
        !self.pasting && self.held.first() == Some(&ESC)
    }

    /// Returns true if the unfinished sequence is a report of the terminal, and no key.
    pub fn is_report(&self) -> bool {
        self.held.starts_with(REPORT_START)
    }

    /// Ends the wait for the rest of an escape sequence. The ESC was the Esc key; the held bytes
    /// after it are ordinary input. A begun control string is no key: it is dropped.
    pub fn end_escape(&mut self) -> Vec<KeyPress> {
        let held = std::mem::take(&mut self.held);
        if matches!(held.as_slice(), [ESC, b']' | b'P' | b'_' | b'^', _, ..]) {
            return Vec::new();
        }
        let mut keys = vec![KeyPress::Escape];
        let rest = held.strip_prefix(&[ESC]).unwrap_or(&held);
        // An unfinished sequence contains no line feed, so the mode makes no difference.
        keys.extend(self.decode(rest, InputMode::Raw));
        keys
    }

    fn escaped(&mut self, meaning: Meaning, keys: &mut Vec<KeyPress>) {
        match meaning {
            Meaning::PasteBegins if !self.pasting => {
                self.pasting = true;
                keys.push(KeyPress::PasteBegin);
            }
            Meaning::PasteEnds if self.pasting => {
                self.pasting = false;
                keys.push(KeyPress::PasteEnd);
            }
            Meaning::Pressed(key) if !self.pasting => keys.push(key),
            Meaning::Reported(report) if !self.pasting && self.reports.len() < MOST_REPORTS => {
                self.reports.push(report);
            }
            Meaning::PasteBegins
            | Meaning::PasteEnds
            | Meaning::Pressed(_)
            | Meaning::Reported(_)
            | Meaning::Nothing => {}
        }
    }

    fn control(&self, byte: u8, mode: InputMode, keys: &mut Vec<KeyPress>) {
        match byte {
            b'\r' | b'\n' if self.pasting => return add_text(keys, "\n"),
            b'\t' if self.pasting => return add_text(keys, "\t"),
            _ if self.pasting => return,
            _ => {}
        }
        keys.extend(control_key(byte, mode));
    }

    /// Takes the reports of the terminal that came among the keys.
    pub fn take_reports(&mut self) -> Vec<TerminalReport> {
        std::mem::take(&mut self.reports)
    }

    /// Leaves the paste mode: the end marker may have been lost.
    pub fn end_paste(&mut self) {
        self.pasting = false;
    }
}

/// Returns the key of a control character.
fn control_key(byte: u8, mode: InputMode) -> Option<KeyPress> {
    Some(match byte {
        0x01 => KeyPress::Home,
        0x02 => KeyPress::Background,
        0x04 => KeyPress::EndOfInput,
        0x05 => KeyPress::End,
        0x06 => KeyPress::Right,
        0x07 => KeyPress::ExternalEditor,
        0x08 | 0x7f => KeyPress::Backspace,
        b'\t' => KeyPress::Tab,
        b'\n' if mode == InputMode::Raw => KeyPress::Newline,
        b'\r' | b'\n' => KeyPress::Enter,
        0x0b => KeyPress::KillRight,
        0x0c => KeyPress::ClearScreen,
        0x0e => KeyPress::Down,
        0x0f => KeyPress::Transcript,
        0x10 => KeyPress::Up,
        0x12 => KeyPress::Search,
        0x14 => KeyPress::Todos,
        0x15 => KeyPress::KillLeft,
        0x17 => KeyPress::KillWord,
        0x19 => KeyPress::Yank,
        0x1f => KeyPress::Undo,
        _ => return None,
    })
}

/// Appends text; adjacent pieces are joined.
fn add_text(keys: &mut Vec<KeyPress>, text: &str) {
    if let Some(KeyPress::Text(last)) = keys.last_mut() {
        last.push_str(text);
    } else {
        keys.push(KeyPress::Text(text.to_owned()));
    }
}

/// Returns the number of bytes of text at the start of `input`, without an incomplete character at
/// the end.
fn text_length(input: &[u8]) -> usize {
    if let Some(end) = input.iter().position(u8::is_ascii_control) {
        return end;
    }
    let last = input.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
    let is_cut = std::str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    input.len() - if is_cut { last.len() } else { 0 }
}

/// Parses an escape sequence; `input` begins with ESC. Returns the length and the meaning of the
/// sequence; `None` if it is unfinished.
fn escape(input: &[u8]) -> Option<(usize, Meaning)> {
    Some(match input.get(1..)? {
        [] | [b'O'] => return None,
        [b'[', body @ ..] => return control_sequence(body),
        [introducer @ (b']' | b'P' | b'_' | b'^'), body @ ..] => {
            let (length, text) = control_string(body)?;
            let report = text.and_then(|text| control_string_report(*introducer, text));
            (length + 2, report.map_or(Meaning::Nothing, Meaning::Reported))
        }
        [b'O', b'M', ..] => (3, Meaning::Pressed(KeyPress::Enter)),
        [b'O', last @ b'@'..=b'~', ..] => (3, cursor_key(*last, false)),
        [b'b', ..] => (2, Meaning::Pressed(KeyPress::WordLeft)),
        [b'f', ..] => (2, Meaning::Pressed(KeyPress::WordRight)),
        [b'd', ..] => (2, Meaning::Pressed(KeyPress::KillWordRight)),
        [b'z', ..] => (2, Meaning::Pressed(KeyPress::Undo)),
        [0x08 | 0x7f, ..] => (2, Meaning::Pressed(KeyPress::KillWordLeft)),
        [b'\r' | b'\n', ..] => (2, Meaning::Pressed(KeyPress::Newline)),
        // An Esc key. The bytes after it are ordinary input.
        _ => (1, Meaning::Nothing),
    })
}

/// Returns the length of a control string and its end mark, and its text if it is complete; `body`
/// follows the introducer. Such strings are answers of the terminal, for example to a query for its
/// background colour. Returns `None` if the string is unfinished. The byte that interrupts it is
/// kept as input.
fn control_string(body: &[u8]) -> Option<(usize, Option<&[u8]>)> {
    let Some(end) = body.iter().position(u8::is_ascii_control) else {
        return (body.len() >= LONGEST_STRING).then_some((body.len(), None));
    };
    match &body[end..] {
        [BEL, ..] => Some((end + 1, Some(&body[..end]))),
        [ESC, b'\\', ..] => Some((end + 2, Some(&body[..end]))),
        [ESC] => None,
        _ => Some((end, None)),
    }
}

/// Parses a control sequence; `body` follows `ESC [`.
fn control_sequence(body: &[u8]) -> Option<(usize, Meaning)> {
    let Some(end) = body.iter().position(|byte| !(0x20..0x40).contains(byte)) else {
        return (body.len() + 2 >= LONGEST_SEQUENCE).then_some((body.len() + 2, Meaning::Nothing));
    };
    let meaning = match (&body[..end], body[end]) {
        (b"200", b'~') => Meaning::PasteBegins,
        (b"201", b'~') => Meaning::PasteEnds,
        (b"1" | b"7", b'~') => Meaning::Pressed(KeyPress::Home),
        (b"4" | b"8", b'~') => Meaning::Pressed(KeyPress::End),
        (b"3", b'~') => Meaning::Pressed(KeyPress::Delete),
        (b"3;3" | b"3;5", b'~') => Meaning::Pressed(KeyPress::KillWordRight),
        (b"", b'Z') | (b"9;2", b'u') => Meaning::Pressed(KeyPress::CycleMode),
        (b"", last @ (b'I' | b'O')) => Meaning::Reported(TerminalReport::Focus(last == b'I')),
        (b"5", b'~') => Meaning::Pressed(KeyPress::PageUp),
        (b"6", b'~') => Meaning::Pressed(KeyPress::PageDown),
        // The Enter key of the kitty protocol, and of xterm's modifyOtherKeys.
        (b"13" | b"13;1", b'u') | (b"27;1;13", b'~') => Meaning::Pressed(KeyPress::Enter),
        // The Esc key of the kitty protocol.
        (b"27" | b"27;1", b'u') => Meaning::Pressed(KeyPress::Escape),
        (parameters, b'u') if parameters.starts_with(b"13;") => Meaning::Pressed(KeyPress::Newline),
        (parameters, b'~') if is_modified_enter(parameters) => Meaning::Pressed(KeyPress::Newline),
        (parameters, last @ (b'u' | b'~')) => {
            reported(parameters, last).map_or(Meaning::Nothing, Meaning::Pressed)
        }
        (b"1;3", b'A') => Meaning::Pressed(KeyPress::AltUp),
        (b"1;3", b'B') => Meaning::Pressed(KeyPress::AltDown),
        (b"1;2", b'A') => Meaning::Pressed(KeyPress::ShiftUp),
        (b"1;2", b'B') => Meaning::Pressed(KeyPress::ShiftDown),
        (b"1;3" | b"1;5", last) => cursor_key(last, true),
        (b"", last) => cursor_key(last, false),
        _ => Meaning::Nothing,
    };
    // The byte that interrupts an incomplete sequence is kept as input.
    let last = usize::from((0x40..0x7f).contains(&body[end]));
    Some((2 + end + last, meaning))
}

/// Returns the key that a terminal reports as a number: `CODE;MODIFIERS` and `u` in the kitty
/// protocol, `27;MODIFIERS;CODE` and `~` with modifyOtherKeys. Further parameters of the kitty
/// protocol, after a colon, are of no interest.
fn reported(parameters: &[u8], last: u8) -> Option<KeyPress> {
    let number = |text: &str| text.split(':').next()?.parse::<u32>().ok();
    let parameters: Vec<&str> = std::str::from_utf8(parameters).ok()?.split(';').collect();
    match (&parameters[..], last) {
        (["27", modifiers, code], b'~') | ([code, modifiers, ..], b'u') => {
            modified_key(number(code)?, number(modifiers)?)
        }
        ([code], b'u') => modified_key(number(code)?, 1),
        _ => None,
    }
}

/// Returns the key with this code and these modifiers: one more than the sum of Shift (1), Alt (2)
/// and Ctrl (4).
fn modified_key(code: u32, modifiers: u32) -> Option<KeyPress> {
    let bits = modifiers.checked_sub(1)?;
    let (is_alt, is_ctrl) = (bits & 2 != 0, bits & 4 != 0);
    let letter = char::from_u32(code)?;
    match (letter.to_ascii_lowercase(), is_ctrl, is_alt) {
        ('\u{7f}', false, false) => Some(KeyPress::Backspace),
        ('\u{7f}', _, _) => Some(KeyPress::KillWordLeft),
        ('\t', false, false) => Some(KeyPress::Tab),
        ('b', false, true) => Some(KeyPress::WordLeft),
        ('f', false, true) => Some(KeyPress::WordRight),
        ('d', false, true) => Some(KeyPress::KillWordRight),
        (letter @ ('a'..='z' | '_'), true, false) => {
            control_key(u8::try_from(letter).ok()? & 0x1f, InputMode::Raw)
        }
        // The kitty protocol has private characters for keys without a character.
        (_, false, false)
            if !letter.is_control() && !('\u{e000}'..='\u{f8ff}').contains(&letter) =>
        {
            Some(KeyPress::Text(letter.to_string()))
        }
        _ => None,
    }
}

/// Returns true for the parameters of modifyOtherKeys for the Enter key with a modifier.
fn is_modified_enter(parameters: &[u8]) -> bool {
    parameters.starts_with(b"27;") && parameters.ends_with(b";13")
}

fn cursor_key(last: u8, by_word: bool) -> Meaning {
    Meaning::Pressed(match (last, by_word) {
        (b'A', _) => KeyPress::Up,
        (b'B', _) => KeyPress::Down,
        (b'C', false) => KeyPress::Right,
        (b'C', true) => KeyPress::WordRight,
        (b'D', false) => KeyPress::Left,
        (b'D', true) => KeyPress::WordLeft,
        (b'H', _) => KeyPress::Home,
        (b'F', _) => KeyPress::End,
        _ => return Meaning::Nothing,
    })
}

#[cfg(test)]
mod tests;
