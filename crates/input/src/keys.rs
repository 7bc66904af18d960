//! Decoder from a terminal's bytes to keys. Pure; chunks may be split anywhere and hold any bytes.

use std::sync::Arc;

mod commands;
mod key_map;
mod reports;
mod sequences;
mod stroke;

pub use commands::{KEY_COMMANDS, KeyCommand, SIGNAL_KEYS};
pub use key_map::KeyMap;
pub use reports::{BACKGROUND_QUERY, TerminalReport};
pub use stroke::{KeyCode, Stroke};

use reports::REPORT_START;
use sequences::{ESC, Meaning, escape};
use stroke::CTRL;

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
    /// Inserts what is in the clipboard of the desktop.
    Paste,
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
    /// Goes to the start of the conversation on the alternate screen; elsewhere moves to the start
    /// of the line.
    ScrollStart,
    /// Goes to the end of the conversation on the alternate screen; elsewhere moves to the end of
    /// the line.
    ScrollEnd,
    /// Step of the mouse wheel away from the user.
    WheelUp,
    /// Step of the mouse wheel towards the user.
    WheelDown,
    /// Begin of pasted text, which follows as one or more texts.
    PasteBegin,
    /// End of pasted text.
    PasteEnd,
    /// Key that is a signal, from a terminal that reports it as a sequence.
    Signal(KeySignal),
    /// The terminal has said that it knows this protocol.
    Knows(KeyProtocol),
}

/// Signal of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySignal {
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-Z.
    Suspend,
}

/// Protocol by which a terminal tells keys with modifiers apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyProtocol {
    /// Protocol of kitty.
    Kitty,
    /// Protocol of xterm: modifyOtherKeys.
    OtherKeys,
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
#[derive(Debug)]
pub struct KeyDecoder {
    held: Vec<u8>,
    pasting: bool,
    /// Reports of the terminal that were not taken.
    reports: Vec<TerminalReport>,
    map: Arc<KeyMap>,
}

impl Default for KeyDecoder {
    fn default() -> Self {
        Self::new(KeyMap::usual())
    }
}

impl KeyDecoder {
    /// Creates a decoder for these keys.
    pub fn new(map: Arc<KeyMap>) -> Self {
        Self { held: Vec::new(), pasting: false, reports: Vec::new(), map }
    }

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
                    self.escaped(length, meaning, &mut keys)
                }
                CTRL_X if !self.pasting && !self.has_ctrl_x() => {
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

    /// Takes an escape sequence of this length; returns the number of bytes that it takes.
    fn escaped(&mut self, length: usize, meaning: Meaning, keys: &mut Vec<KeyPress>) -> usize {
        match meaning {
            Meaning::PasteBegins if !self.pasting => {
                self.pasting = true;
                keys.push(KeyPress::PasteBegin);
            }
            Meaning::PasteEnds if self.pasting => {
                self.pasting = false;
                keys.push(KeyPress::PasteEnd);
            }
            Meaning::WithAlt(stroke) => match self.map.bound(stroke).filter(|_| !self.pasting) {
                Some(key) => keys.push(key),
                // An Esc key. The byte after it is ordinary input.
                None => return 1,
            },
            _ if self.pasting => {}
            Meaning::Pressed(stroke) => self.press(stroke, keys),
            Meaning::Reported(report) if self.reports.len() < MOST_REPORTS => {
                self.reports.push(report);
            }
            Meaning::Knows(protocol) => keys.push(KeyPress::Knows(protocol)),
            Meaning::WheelMoves { is_up: true } => keys.push(KeyPress::WheelUp),
            Meaning::WheelMoves { is_up: false } => keys.push(KeyPress::WheelDown),
            Meaning::PasteBegins | Meaning::PasteEnds | Meaning::Reported(_) | Meaning::Nothing => {
            }
        }
        length
    }

    fn press(&self, stroke: Stroke, keys: &mut Vec<KeyPress>) {
        match self.map.press(stroke) {
            Some(KeyPress::Text(text)) => add_text(keys, &text),
            key => keys.extend(key),
        }
    }

    fn has_ctrl_x(&self) -> bool {
        self.map.bound(Stroke::new(KeyCode::Char('x'), CTRL)).is_some()
    }

    fn control(&self, byte: u8, mode: InputMode, keys: &mut Vec<KeyPress>) {
        match byte {
            b'\r' | b'\n' if self.pasting => add_text(keys, "\n"),
            b'\t' if self.pasting => add_text(keys, "\t"),
            _ if self.pasting => {}
            _ => self.press(control_stroke(byte, mode), keys),
        }
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
fn control_stroke(byte: u8, mode: InputMode) -> Stroke {
    match byte {
        b'\t' => Stroke::plain(KeyCode::Tab),
        b'\r' => Stroke::plain(KeyCode::Enter),
        b'\n' if mode == InputMode::Canonical => Stroke::plain(KeyCode::Enter),
        0x7f => Stroke::plain(KeyCode::Backspace),
        // The terminal has 32 control characters: Ctrl with the characters from `@` to `_`.
        byte => Stroke::new(KeyCode::Char(char::from(byte | 0x40).to_ascii_lowercase()), CTRL),
    }
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

#[cfg(test)]
mod tests;
