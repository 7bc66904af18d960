//! A row of the screen: pieces of text with their looks.

use std::borrow::Cow;
use std::ops::Range;

use pollux_input::{Tone, text_width};
use pollux_protocol::plain_text::for_terminal;
use unicode_segmentation::UnicodeSegmentation;

use crate::link::Address;
use crate::palette::Palette;

/// Look of a piece of text: its meaning, for which a [`Palette`] has a colour (see STYLE.md).
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
    /// Weak emphasis in an answer.
    Italic,
    /// Both kinds of emphasis.
    BoldItalic,
    /// Title of an answer.
    Title,
    /// Text or address of a link.
    Link,
    /// Keyword in code.
    Keyword,
    /// Name of a type in code.
    TypeName,
    /// Name of a function in code.
    Function,
    /// Text in quotes in code.
    StringText,
    /// Number or other constant in code.
    Number,
    /// Comment in code.
    Comment,
    /// Changed part of a removed line.
    RemovedPart,
    /// Changed part of an added line.
    AddedPart,
    /// Text that was searched.
    Found,
}

impl Look {
    /// All looks, in their order.
    pub(crate) const ALL: [Self; 20] = [
        Self::Plain,
        Self::Bold,
        Self::Dim,
        Self::Red,
        Self::Yellow,
        Self::Green,
        Self::Cyan,
        Self::Italic,
        Self::BoldItalic,
        Self::Title,
        Self::Link,
        Self::Keyword,
        Self::TypeName,
        Self::Function,
        Self::StringText,
        Self::Number,
        Self::Comment,
        Self::RemovedPart,
        Self::AddedPart,
        Self::Found,
    ];
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
    pieces: Vec<Piece>,
}

/// Piece of a row: text with one look, which may be a link.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    look: Look,
    link: Option<Address>,
    text: String,
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
        self.push_harmless(look, None, &harmless_row(text));
    }

    /// Appends a piece that leads to an address.
    pub(crate) fn push_link(&mut self, look: Look, address: Option<&Address>, text: &str) {
        self.push_harmless(look, address, &harmless_row(text));
    }

    fn push_harmless(&mut self, look: Look, link: Option<&Address>, text: &str) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.look == look && last.link.as_ref() == link => {
                last.text.push_str(text);
            }
            _ => self.pieces.push(Piece { look, link: link.cloned(), text: text.to_owned() }),
        }
    }

    /// Appends a piece and returns the row.
    #[must_use]
    pub(crate) fn with(mut self, look: Look, text: &str) -> Self {
        self.push(look, text);
        self
    }

    /// Appends the pieces of another row.
    pub(crate) fn append(&mut self, row: &Self) {
        for Piece { look, link, text } in &row.pieces {
            self.push_harmless(*look, link.as_ref(), text);
        }
    }

    /// Returns the parts of the row at these positions of its text, in bytes. The ranges ascend.
    pub(crate) fn parts(&self, ranges: &[Range<usize>]) -> Vec<Self> {
        let (mut parts, mut at, mut start) = (Vec::with_capacity(ranges.len()), 0, 0);
        for range in ranges {
            let mut part = Self::default();
            while let Some(Piece { look, link, text }) = self.pieces.get(at) {
                let end = start + text.len();
                let inside = range.start.max(start)..range.end.min(end);
                if inside.start < inside.end {
                    let text = &text[inside.start - start..inside.end - start];
                    part.push_harmless(*look, link.as_ref(), text);
                }
                if end > range.end {
                    break;
                }
                (at, start) = (at + 1, end);
            }
            parts.push(part);
        }
        parts
    }

    /// Lets the text at this position, in bytes, lead to an address, except for what leads to
    /// another one.
    pub(crate) fn link(&mut self, range: Range<usize>, address: &Address) {
        let end = range.end.max(range.start);
        let parts = self.parts(&[0..range.start, range.start..end, end..usize::MAX]);
        let mut linked = Self::default();
        for (index, part) in parts.iter().enumerate() {
            for Piece { look, link, text } in &part.pieces {
                let added = (index == 1).then_some(address);
                linked.push_harmless(*look, link.as_ref().or(added), text);
            }
        }
        *self = linked;
    }

    /// Returns the pieces.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Look, &str)> {
        self.pieces.iter().map(|piece| (piece.look, piece.text.as_str()))
    }

    /// Returns true if the row has no text.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns the width in cells.
    pub(crate) fn width(&self) -> usize {
        self.pieces.iter().map(|piece| text_width(&piece.text)).sum()
    }

    /// Removes what is beyond this width.
    pub(crate) fn cut(&mut self, cells: usize) {
        if self.width() <= cells {
            return;
        }
        let mut room = cells;
        for Piece { text, .. } in &mut self.pieces {
            let fits = |part: &&str| {
                let width = text_width(part);
                let has_room = width <= room;
                room = if has_room { room - width } else { 0 };
                has_room
            };
            let length = text.graphemes(true).take_while(fits).map(str::len).sum();
            text.truncate(length);
        }
        self.pieces.retain(|piece| !piece.text.is_empty());
    }

    /// Removes the blanks at the end.
    pub(crate) fn trim_end(&mut self) {
        while let Some(last) = self.pieces.last_mut() {
            last.text.truncate(last.text.trim_end_matches(' ').len());
            if !last.text.is_empty() {
                return;
            }
            self.pieces.pop();
        }
    }

    /// Returns the text without its looks.
    pub(crate) fn into_text(self) -> String {
        self.pieces.into_iter().map(|piece| piece.text).collect()
    }

    /// Returns the text without its looks.
    pub(crate) fn text(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// Appends the row as bytes for the terminal.
    pub(crate) fn encode(&self, palette: &Palette, bytes: &mut Vec<u8>) {
        for Piece { look, link, text } in &self.pieces {
            let link = link.as_ref().filter(|_| palette.has_links());
            if let Some(link) = link {
                bytes.extend_from_slice(format!("\x1b]8;;{link}\x1b\\").as_bytes());
            }
            match palette.code(*look) {
                Some(code) => {
                    bytes.extend_from_slice(format!("\x1b[{code}m{text}\x1b[0m").as_bytes());
                }
                None => bytes.extend_from_slice(text.as_bytes()),
            }
            if link.is_some() {
                bytes.extend_from_slice(b"\x1b]8;;\x1b\\");
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
        let table = [(Palette::sixteen(), "> \x1b[2mab\x1b[0m"), (Palette::none(), "> ab")];
        for (palette, expected) in table {
            let mut bytes = Vec::new();
            row.encode(&palette, &mut bytes);
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
    fn parts_keep_looks_and_links() {
        let address = Address::web("https://a.b/c").unwrap();
        let mut row = Row::plain("one ").with(Look::Bold, "two");
        row.push_link(Look::Link, Some(&address), "three");
        let parts = row.parts(&[0..3, 4..5, 6..12]);
        assert_eq!(parts[0], Row::plain("one"));
        assert_eq!(parts[1], Row::new(Look::Bold, "t"));
        let mut last = Row::new(Look::Bold, "o");
        last.push_link(Look::Link, Some(&address), "three");
        assert_eq!(parts[2], last);
        let mut bytes = Vec::new();
        last.encode(&Palette::sixteen(), &mut bytes);
        let expected =
            "\x1b[1mo\x1b[0m\x1b]8;;https://a.b/c\x1b\\\x1b[4mthree\x1b[0m\x1b]8;;\x1b\\";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn no_text_acts_on_the_terminal() {
        let row =
            Row::plain("a\x1b[2Jb\x07\n\tc\u{9b}1m\u{202e}d").with(Look::Red, "\x1b]0;x\x07e");
        let mut bytes = Vec::new();
        row.encode(&Palette::none(), &mut bytes);
        assert_eq!(String::from_utf8(bytes).unwrap(), "ab  cde");
    }
}
