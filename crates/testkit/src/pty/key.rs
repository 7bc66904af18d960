//! Keys, and the bytes that terminals of the xterm family send for them.

/// A key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// Enter (Return).
    Enter,
    /// Escape.
    Escape,
    /// Tab.
    Tab,
    /// Shift+Tab.
    BackTab,
    /// Key that deletes to the left.
    Backspace,
    /// Key that deletes to the right.
    Delete,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow right.
    Right,
    /// Arrow left.
    Left,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// A function key, 1 to 12.
    Function(u8),
    /// Ctrl and an ASCII letter (or one of `@ [ \ ] ^ _`), e.g. `Ctrl('c')`.
    Ctrl(char),
    /// Alt and a character.
    Alt(char),
}

impl Key {
    /// Returns the bytes of the key; `application` is the cursor key mode that a program can set
    /// (DECCKM).
    pub(super) fn sequence(self, application: bool) -> String {
        let cursor = |last: char| {
            if application { format!("\x1bO{last}") } else { format!("\x1b[{last}") }
        };
        match self {
            Self::Enter => "\r".to_owned(),
            Self::Escape => "\x1b".to_owned(),
            Self::Tab => "\t".to_owned(),
            Self::BackTab => "\x1b[Z".to_owned(),
            Self::Backspace => "\x7f".to_owned(),
            Self::Delete => "\x1b[3~".to_owned(),
            Self::Up => cursor('A'),
            Self::Down => cursor('B'),
            Self::Right => cursor('C'),
            Self::Left => cursor('D'),
            Self::Home => cursor('H'),
            Self::End => cursor('F'),
            Self::PageUp => "\x1b[5~".to_owned(),
            Self::PageDown => "\x1b[6~".to_owned(),
            Self::Function(number) => function(number),
            Self::Ctrl(letter) => char::from(letter.to_ascii_uppercase() as u8 & 0x1f).to_string(),
            Self::Alt(character) => format!("\x1b{character}"),
        }
    }
}

fn function(number: u8) -> String {
    match number {
        1..=4 => format!("\x1bO{}", char::from(b'P' + number - 1)),
        5 => "\x1b[15~".to_owned(),
        6..=10 => format!("\x1b[{}~", number + 11),
        11 | 12 => format!("\x1b[{}~", number + 12),
        _ => panic!("there is no key F{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn keys_are_what_xterm_sends() {
        let table = [
            (Key::Ctrl('c'), "\x03"),
            (Key::Ctrl('['), "\x1b"),
            (Key::Up, "\x1b[A"),
            (Key::Alt('x'), "\x1bx"),
            (Key::Function(1), "\x1bOP"),
            (Key::Function(5), "\x1b[15~"),
            (Key::Function(6), "\x1b[17~"),
            (Key::Function(10), "\x1b[21~"),
            (Key::Function(11), "\x1b[23~"),
            (Key::Function(12), "\x1b[24~"),
        ];
        for (key, bytes) in table {
            assert_eq!(key.sequence(false), bytes, "{key:?}");
        }
        assert_eq!(Key::Up.sequence(true), "\x1bOA");
    }
}
