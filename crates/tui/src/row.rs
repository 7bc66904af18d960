//! A row of the screen: pieces of text with their looks.

use std::borrow::Cow;

use pollux_input::{Tone, text_width};
use pollux_protocol::plain_text::for_terminal;
use unicode_segmentation::UnicodeSegmentation;

/// Look of a piece of text (see STYLE.md).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Look {
    /// The terminal's own foreground.
    #[default]
    Plain,
    /// Emphasis.
    Bold,
    /// Secondary: times, counts, hints.
    Dim,
    /// Error, removed line.
    Red,
    /// Warning, needs a decision.
    Yellow,
    /// Added line.
    Green,
    /// Path, command, name.
    Cyan,
}

impl Look {
    /// Returns the parameter of the SGR sequence; `None` for plain text.
    fn code(self) -> Option<u8> {
        match self {
            Self::Plain => None,
            Self::Bold => Some(1),
            Self::Dim => Some(2),
            Self::Red => Some(31),
            Self::Green => Some(32),
            Self::Yellow => Some(33),
            Self::Cyan => Some(36),
        }
    }
}

impl From<Tone> for Look {
    fn from(tone: Tone) -> Self {
        match tone {
            Tone::Plain => Self::Plain,
            Tone::Secondary => Self::Dim,
            Tone::Error | Tone::Removed => Self::Red,
            Tone::Warning => Self::Yellow,
            Tone::Added => Self::Green,
        }
    }
}

/// A row of the screen. Characters that act on a terminal are removed from its text, and line ends
/// and tabs become blanks, wherever the text comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pieces: Vec<(Look, String)>,
}

impl Row {
    /// Creates a row with one piece.
    pub(crate) fn new(look: Look, text: impl Into<String>) -> Self {
        let mut row = Self::default();
        row.push(look, &text.into());
        row
    }

    /// Creates a row of plain text.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::new(Look::Plain, text)
    }

    /// Appends a piece.
    pub(crate) fn push(&mut self, look: Look, text: &str) {
        let text = harmless_row(text);
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some((last, end)) if *last == look => end.push_str(&text),
            _ => self.pieces.push((look, text.into_owned())),
        }
    }

    /// Appends a piece and returns the row.
    #[must_use]
    pub(crate) fn with(mut self, look: Look, text: &str) -> Self {
        self.push(look, text);
        self
    }

    /// Returns the pieces.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Look, &str)> {
        self.pieces.iter().map(|(look, text)| (*look, text.as_str()))
    }

    /// Returns the width in cells.
    pub(crate) fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| text_width(text)).sum()
    }

    /// Removes what is beyond this width.
    pub(crate) fn cut(&mut self, cells: usize) {
        if self.width() <= cells {
            return;
        }
        let mut room = cells;
        for (_, text) in &mut self.pieces {
            let fits = |part: &&str| {
                let width = text_width(part);
                let has_room = width <= room;
                room = if has_room { room - width } else { 0 };
                has_room
            };
            let length = text.graphemes(true).take_while(fits).map(str::len).sum();
            text.truncate(length);
        }
        self.pieces.retain(|(_, text)| !text.is_empty());
    }

    /// Returns the text without its looks.
    pub(crate) fn into_text(self) -> String {
        self.pieces.into_iter().map(|(_, text)| text).collect()
    }

    /// Returns the text without its looks.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.pieces.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// Appends the row as bytes for the terminal.
    pub(crate) fn encode(&self, is_coloured: bool, bytes: &mut Vec<u8>) {
        for (look, text) in &self.pieces {
            match look.code().filter(|_| is_coloured) {
                Some(code) => {
                    bytes.extend_from_slice(format!("\x1b[{code}m{text}\x1b[0m").as_bytes());
                }
                None => bytes.extend_from_slice(text.as_bytes()),
            }
        }
    }
}

/// Returns a text without line ends, tabs and characters that act on a terminal.
fn harmless_row(text: &str) -> Cow<'_, str> {
    let text = for_terminal(text);
    if text.contains(['\n', '\t']) { text.replace(['\n', '\t'], " ").into() } else { text }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_row_is_encoded_with_and_without_colour() {
        let row = Row::plain("> ").with(Look::Dim, "a").with(Look::Dim, "b").with(Look::Bold, "");
        for (is_coloured, expected) in [(true, "> \x1b[2mab\x1b[0m"), (false, "> ab")] {
            let mut bytes = Vec::new();
            row.encode(is_coloured, &mut bytes);
            assert_eq!(String::from_utf8(bytes).unwrap(), expected);
        }
        assert_eq!(row.width(), 4);
    }

    #[test]
    fn a_row_can_be_cut() {
        for (cells, text) in [(9, "ab漢cd"), (6, "ab漢cd"), (5, "ab漢c"), (3, "ab"), (0, "")] {
            let mut row = Row::plain("ab").with(Look::Dim, "漢cd");
            row.cut(cells);
            assert_eq!(row.text(), text, "{cells}");
        }
    }

    #[test]
    fn no_text_acts_on_the_terminal() {
        let row =
            Row::plain("a\x1b[2Jb\x07\n\tc\u{9b}1m\u{202e}d").with(Look::Red, "\x1b]0;x\x07e");
        let mut bytes = Vec::new();
        row.encode(false, &mut bytes);
        assert_eq!(String::from_utf8(bytes).unwrap(), "ab  cde");
    }
}
