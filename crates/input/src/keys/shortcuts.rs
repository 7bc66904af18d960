//! The keys of the line editor, for the user.

use super::KeyPress;

/// Keys with the same effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortcut {
    /// Names of the keys, each with the bytes that a terminal sends for it.
    pub keys: &'static [(&'static str, &'static [u8])],
    /// Key press that the decoder returns for all of them.
    pub press: KeyPress,
    /// Effect in a few words, as a verb in the third person.
    pub effect: &'static str,
}

impl Shortcut {
    /// Returns the names of the keys: `Ctrl-A, Home`.
    pub fn names(&self) -> String {
        self.keys.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }
}

/// All keys except those that insert text, in the order in which they are listed.
pub const SHORTCUTS: &[Shortcut] = &[
    key(&[("Enter", b"\r")], KeyPress::Enter, "sends the prompt"),
    key(
        &[
            ("Alt-Enter", b"\x1b\r"),
            ("Shift-Enter", b"\x1b[13;2u"),
            ("Ctrl-Enter", b"\x1b[13;5u"),
            ("Ctrl-J", b"\n"),
        ],
        KeyPress::Newline,
        "begins a new line in the prompt",
    ),
    key(&[("Tab", b"\t")], KeyPress::Tab, "completes a command or an @path"),
    key(&[("Esc", b"\x1b[27u")], KeyPress::Escape, "stops the work; says no to a question"),
    key(&[("Up", b"\x1b[A"), ("Ctrl-P", b"\x10")], KeyPress::Up, "shows an earlier prompt"),
    key(&[("Down", b"\x1b[B"), ("Ctrl-N", b"\x0e")], KeyPress::Down, "shows a later prompt"),
    key(&[("Ctrl-R", b"\x12")], KeyPress::Search, "searches earlier prompts"),
    key(&[("Left", b"\x1b[D")], KeyPress::Left, "moves by a character"),
    key(
        &[("Ctrl-B", b"\x02")],
        KeyPress::Background,
        "moves to the left; on the screen: background commands",
    ),
    key(&[("Right", b"\x1b[C"), ("Ctrl-F", b"\x06")], KeyPress::Right, "moves by a character"),
    key(
        &[("Alt-B", b"\x1bb"), ("Ctrl-Left", b"\x1b[1;5D")],
        KeyPress::WordLeft,
        "moves to the previous word",
    ),
    key(
        &[("Alt-F", b"\x1bf"), ("Ctrl-Right", b"\x1b[1;5C")],
        KeyPress::WordRight,
        "moves to the next word",
    ),
    key(
        &[("Ctrl-A", b"\x01"), ("Home", b"\x1b[H")],
        KeyPress::Home,
        "moves to the start of the line",
    ),
    key(&[("Ctrl-E", b"\x05"), ("End", b"\x1b[F")], KeyPress::End, "moves to the end of the line"),
    key(
        &[("Backspace", b"\x7f"), ("Ctrl-H", b"\x08")],
        KeyPress::Backspace,
        "deletes the character before the cursor",
    ),
    key(&[("Delete", b"\x1b[3~")], KeyPress::Delete, "deletes the character after the cursor"),
    key(
        &[("Ctrl-W", b"\x17")],
        KeyPress::KillWord,
        "deletes the word before the cursor, up to a blank",
    ),
    key(
        &[("Alt-Backspace", b"\x1b\x7f")],
        KeyPress::KillWordLeft,
        "deletes the word before the cursor",
    ),
    key(
        &[("Alt-D", b"\x1bd"), ("Ctrl-Delete", b"\x1b[3;5~")],
        KeyPress::KillWordRight,
        "deletes the word after the cursor",
    ),
    key(&[("Ctrl-U", b"\x15")], KeyPress::KillLeft, "deletes the line before the cursor"),
    key(&[("Ctrl-K", b"\x0b")], KeyPress::KillRight, "deletes the line after the cursor"),
    key(&[("Ctrl-Y", b"\x19")], KeyPress::Yank, "inserts the text that was deleted last"),
    key(&[("Ctrl-_", b"\x1f"), ("Alt-Z", b"\x1bz")], KeyPress::Undo, "undoes the last change"),
    key(
        &[("Ctrl-G", b"\x07"), ("Ctrl-X Ctrl-E", b"\x18\x05")],
        KeyPress::ExternalEditor,
        "opens the prompt in $VISUAL or $EDITOR",
    ),
    key(
        &[("Ctrl-O", b"\x0f")],
        KeyPress::Transcript,
        "on the screen: shows the whole conversation",
    ),
    key(&[("Ctrl-T", b"\x14")], KeyPress::Todos, "on the screen: shows the whole to-do list"),
    key(&[("Alt-Up", b"\x1b[1;3A")], KeyPress::AltUp, "on the screen: chooses a queued prompt"),
    key(
        &[("Alt-Down", b"\x1b[1;3B")],
        KeyPress::AltDown,
        "on the screen: chooses the next queued prompt",
    ),
    key(
        &[("Shift-Up", b"\x1b[1;2A")],
        KeyPress::ShiftUp,
        "on the screen: moves the chosen prompt up",
    ),
    key(
        &[("Shift-Down", b"\x1b[1;2B")],
        KeyPress::ShiftDown,
        "on the screen: moves the chosen prompt down",
    ),
    key(&[("Ctrl-L", b"\x0c")], KeyPress::ClearScreen, "clears the screen"),
    key(&[("Ctrl-D", b"\x04")], KeyPress::EndOfInput, "quits, if the line is empty"),
];

/// Keys that the terminal turns into signals.
pub const SIGNAL_KEYS: [(&str, &str); 2] = [
    ("Ctrl-C", "stops the work, or clears the line; twice: quits"),
    ("Ctrl-Z", "stops the program; `fg` continues it"),
];

const fn key(
    keys: &'static [(&'static str, &'static [u8])],
    press: KeyPress,
    effect: &'static str,
) -> Shortcut {
    Shortcut { keys, press, effect }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pretty_assertions::assert_eq;

    use super::super::{InputMode, KeyDecoder};
    use super::*;

    #[test]
    fn every_listed_key_has_its_effect() {
        for shortcut in SHORTCUTS {
            for (name, bytes) in shortcut.keys {
                let presses = KeyDecoder::default().decode(bytes, InputMode::Raw);
                assert_eq!(presses, std::slice::from_ref(&shortcut.press), "{name}");
            }
        }
    }

    #[test]
    fn every_key_of_one_byte_is_listed() {
        let listed: BTreeSet<String> =
            SHORTCUTS.iter().map(|shortcut| format!("{:?}", shortcut.press)).collect();
        assert_eq!(listed.len(), SHORTCUTS.len(), "an effect is listed twice");
        for byte in (0..0x20).chain([0x7f]) {
            for press in KeyDecoder::default().decode(&[byte], InputMode::Raw) {
                assert!(listed.contains(&format!("{press:?}")), "{byte:#04x}: {press:?}");
            }
        }
    }
}
