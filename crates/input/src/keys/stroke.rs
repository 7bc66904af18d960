//! A stroke: a key of the keyboard with its modifiers.

use std::fmt;

/// Key of the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyCode {
    /// Character without modifiers; a letter is small.
    Char(char),
    /// Enter.
    Enter,
    /// Esc.
    Escape,
    /// Tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Insert.
    Insert,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow to the left.
    Left,
    /// Arrow to the right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page Up.
    PageUp,
    /// Page Down.
    PageDown,
    /// Function key with this number.
    Function(u8),
}

/// Names of keys in a file of key bindings, and as they are shown.
const NAMES: [(&str, KeyCode, &str); 24] = [
    ("enter", KeyCode::Enter, "Enter"),
    ("return", KeyCode::Enter, "Enter"),
    ("escape", KeyCode::Escape, "Esc"),
    ("esc", KeyCode::Escape, "Esc"),
    ("tab", KeyCode::Tab, "Tab"),
    ("space", KeyCode::Char(' '), "Space"),
    ("backspace", KeyCode::Backspace, "Backspace"),
    ("delete", KeyCode::Delete, "Delete"),
    ("del", KeyCode::Delete, "Delete"),
    ("insert", KeyCode::Insert, "Insert"),
    ("up", KeyCode::Up, "Up"),
    ("down", KeyCode::Down, "Down"),
    ("left", KeyCode::Left, "Left"),
    ("right", KeyCode::Right, "Right"),
    ("home", KeyCode::Home, "Home"),
    ("end", KeyCode::End, "End"),
    ("pageup", KeyCode::PageUp, "Page Up"),
    ("pagedown", KeyCode::PageDown, "Page Down"),
    ("numpad_add", KeyCode::Char('+'), "+"),
    ("numpad_subtract", KeyCode::Char('-'), "-"),
    ("numpad_multiply", KeyCode::Char('*'), "*"),
    ("numpad_divide", KeyCode::Char('/'), "/"),
    ("numpad_decimal", KeyCode::Char('.'), "."),
    ("numpad_enter", KeyCode::Enter, "Enter"),
];

/// Bits of the modifiers, as terminals report them: one less than the number in a sequence.
pub(super) const SHIFT: u8 = 1;
pub(super) const ALT: u8 = 2;
pub(super) const CTRL: u8 = 4;
pub(super) const CMD: u8 = 8;

/// Names of the modifiers in a file, their bits, and how they are shown.
const MODIFIERS: [(&str, u8, &str); 8] = [
    ("ctrl", CTRL, "Ctrl"),
    ("control", CTRL, "Ctrl"),
    ("alt", ALT, "Alt"),
    ("opt", ALT, "Alt"),
    ("option", ALT, "Alt"),
    ("shift", SHIFT, "Shift"),
    ("cmd", CMD, "Cmd"),
    ("meta", CMD, "Cmd"),
];

/// A key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stroke {
    /// Key.
    pub code: KeyCode,
    /// Bits of the modifiers.
    pub(super) modifiers: u8,
}

impl Stroke {
    /// Returns a key with modifiers. A capital letter is a small one with Shift.
    pub(super) fn new(code: KeyCode, modifiers: u8) -> Self {
        match code {
            KeyCode::Char(letter) if letter.is_ascii_uppercase() => {
                let code = KeyCode::Char(letter.to_ascii_lowercase());
                Self { code, modifiers: modifiers | SHIFT }
            }
            code => Self { code, modifiers },
        }
    }

    /// Returns a key without modifiers.
    pub(super) fn plain(code: KeyCode) -> Self {
        Self::new(code, 0)
    }

    /// Parses the name of a key: `ctrl+shift+a`. The case makes no difference.
    ///
    /// # Errors
    /// The part that is not known.
    pub fn parse(name: &str) -> Result<Self, String> {
        let name = name.trim().to_lowercase();
        let (mut modifiers, mut rest) = (0, name.as_str());
        // The key itself may be a plus sign.
        while let Some((first, next)) = rest.split_once('+').filter(|(_, next)| !next.is_empty()) {
            let found = MODIFIERS.iter().find(|(name, ..)| *name == first.trim());
            let Some((_, bit, _)) = found else { return Err(first.trim().to_owned()) };
            (modifiers, rest) = (modifiers | bit, next);
        }
        let key = rest.trim();
        let named = NAMES.iter().find(|(name, ..)| *name == key).map(|(_, code, _)| *code);
        let function =
            || key.strip_prefix('f')?.parse().ok().filter(|number| (1..=35).contains(number));
        let numpad = || key.strip_prefix("numpad").filter(|digit| digit.len() == 1);
        let single = |text: &str| {
            let mut letters = text.chars();
            letters.next().filter(|letter| letters.next().is_none() && !letter.is_control())
        };
        let code = named
            .or_else(|| single(key).map(KeyCode::Char))
            .or_else(|| function().map(KeyCode::Function))
            .or_else(|| numpad().and_then(single).map(KeyCode::Char))
            .ok_or_else(|| key.to_owned())?;
        Ok(Self::new(code, modifiers))
    }

    /// Returns the text that the key types; `None` if it types none.
    pub(super) fn text(self) -> Option<char> {
        match self.code {
            // The kitty protocol has private characters for keys without a character.
            KeyCode::Char(letter)
                if self.modifiers & !SHIFT == 0
                    && !letter.is_control()
                    && !('\u{e000}'..='\u{f8ff}').contains(&letter) =>
            {
                let is_shifted = self.modifiers & SHIFT != 0;
                Some(if is_shifted { letter.to_ascii_uppercase() } else { letter })
            }
            _ => None,
        }
    }

    /// Returns the same key without Shift.
    pub(super) fn without_shift(self) -> Self {
        Self { modifiers: self.modifiers & !SHIFT, ..self }
    }
}

impl fmt::Display for Stroke {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (bit, name) in [(CTRL, "Ctrl"), (CMD, "Cmd"), (ALT, "Alt"), (SHIFT, "Shift")] {
            if self.modifiers & bit != 0 {
                write!(formatter, "{name}-")?;
            }
        }
        let named = NAMES.iter().find(|(_, code, _)| *code == self.code);
        match (self.code, named) {
            (_, Some((.., name))) => formatter.write_str(name),
            (KeyCode::Char(letter), None) => write!(formatter, "{}", letter.to_ascii_uppercase()),
            (KeyCode::Function(number), None) => write!(formatter, "F{number}"),
            (code, None) => write!(formatter, "{code:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn names_of_keys_are_parsed_and_shown() {
        for (name, shown) in [
            ("ctrl+a", Ok("Ctrl-A")),
            ("Shift+Ctrl+A", Ok("Ctrl-Shift-A")),
            ("A", Ok("Shift-A")),
            ("ctrl++", Ok("Ctrl-+")),
            ("+", Ok("+")),
            ("opt+left", Ok("Alt-Left")),
            ("meta+enter", Ok("Cmd-Enter")),
            ("f12", Ok("F12")),
            ("numpad7", Ok("7")),
            ("ctrl+[", Ok("Ctrl-[")),
            (" ctrl + pagedown ", Ok("Ctrl-Page Down")),
            ("hyper+a", Err("hyper")),
            ("ctrl+foo", Err("foo")),
            ("f36", Err("f36")),
            ("", Err("")),
            ("ctrl+\u{1b}", Err("\u{1b}")),
        ] {
            let parsed = Stroke::parse(name).map(|stroke| stroke.to_string());
            let lower = if name == "A" {
                Ok("A".to_owned())
            } else {
                shown.map(str::to_owned).map_err(str::to_owned)
            };
            assert_eq!(parsed, lower, "{name}");
        }
    }
}
