//! Breaks of a line into rows of limited width. Pure.

use std::ops::Range;

use pollux_input::text_width;
use unicode_segmentation::UnicodeSegmentation;

use crate::row::{Look, Row};

/// Places at which a line may break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Breaks {
    /// Between words; the blanks at the break are dropped. A word that is wider than a row breaks
    /// anywhere.
    Words,
    /// Anywhere; no character is dropped.
    Anywhere,
}

/// Room for a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// Width of a row, in cells.
    pub(crate) cells: usize,
    /// Number of blanks before the first row.
    pub(crate) first: usize,
    /// Number of blanks before further rows.
    pub(crate) further: usize,
}

impl Room {
    /// Returns the room for a line without indents.
    pub(crate) fn new(cells: usize) -> Self {
        Self { cells, first: 0, further: 0 }
    }

    /// Indents all rows by this number of cells.
    pub(crate) fn indented(self, by: usize) -> Self {
        Self { first: self.first + by, further: self.further + by, ..self }
    }

    /// Indents further rows by this number of cells.
    pub(crate) fn hanging(self, by: usize) -> Self {
        Self { further: self.further + by, ..self }
    }

    /// Returns the number of blanks before the row with this index.
    fn indent(self, row: usize) -> usize {
        let indent = if row == 0 { self.first } else { self.further };
        // A wide character always has room.
        indent.min(self.cells / 2).min(self.cells.saturating_sub(2))
    }
}

/// Returns the rows of a line, at least one. Indents take at most half of a row.
pub(crate) fn fold(line: &Row, room: Room, breaks: Breaks) -> Vec<Row> {
    let ranges = row_ranges(&line.text(), room, breaks);
    let mut rows = line.parts(&ranges);
    for (index, row) in rows.iter_mut().enumerate() {
        let indent = room.indent(index);
        if indent > 0 {
            let mut indented = Row::plain(" ".repeat(indent));
            indented.append(row);
            *row = indented;
        }
    }
    rows
}

/// A character of a line, as the user sees it.
struct Cell {
    /// Position in the text, in bytes.
    at: usize,
    width: usize,
    kind: CellKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellKind {
    Blank,
    /// Character of a script without blanks between words.
    Wide,
    /// Other wide character that cannot begin a row.
    Closing,
    Other,
}

/// Characters of wide scripts that belong to what precedes them.
const CLOSING: &str = "\u{3001}\u{3002}\u{ff0c}\u{ff0e}\u{ff1a}\u{ff1b}\u{ff01}\u{ff1f}\u{ff09}\u{3009}\u{300b}\u{300d}\u{300f}\u{3011}\u{30fc}";

impl Cell {
    /// Returns a printable ASCII character.
    fn of_ascii((at, byte): (usize, u8)) -> Self {
        Self { at, width: 1, kind: if byte == b' ' { CellKind::Blank } else { CellKind::Other } }
    }

    fn new((at, text): (usize, &str)) -> Self {
        if let [byte] = text.as_bytes() {
            return Self::of_ascii((at, *byte));
        }
        let width = text_width(text);
        let kind = match width {
            2.. if text.starts_with(|letter| CLOSING.contains(letter)) => CellKind::Closing,
            2.. => CellKind::Wide,
            _ => CellKind::Other,
        };
        Self { at, width, kind }
    }

    fn is_blank(&self) -> bool {
        self.kind == CellKind::Blank
    }
}

/// Returns the positions in a line, in bytes, of the text of its rows.
fn row_ranges(text: &str, room: Room, breaks: Breaks) -> Vec<Range<usize>> {
    let cells: Vec<Cell> = if text.is_ascii() {
        text.bytes().enumerate().map(Cell::of_ascii).collect()
    } else {
        text.grapheme_indices(true).map(Cell::new).collect()
    };
    let position = |cell: usize| cells.get(cell).map_or(text.len(), |cell| cell.at);
    let (mut rows, mut start) = (Vec::new(), 0);
    loop {
        let (mut end, mut width) = (start, room.indent(rows.len()));
        while end < cells.len() && (width + cells[end].width <= room.cells || end == start) {
            width += cells[end].width;
            end += 1;
        }
        let mut next = end;
        if end < cells.len() && breaks == Breaks::Words {
            (end, next) = word_break(&cells, start, end);
        }
        rows.push(position(start)..position(end));
        if next == cells.len() {
            return rows;
        }
        start = next;
    }
}

/// Returns the end of a row and the start of the next one, so that the row, which has no room for
/// the character at `full`, ends between words.
fn word_break(cells: &[Cell], start: usize, full: usize) -> (usize, usize) {
    let Some(word) = (start..full).find(|at| !cells[*at].is_blank()) else { return (full, full) };
    let is_break = |at: &usize| {
        let (before, after) = (cells[*at - 1].kind, cells[*at].kind);
        match after {
            CellKind::Blank | CellKind::Wide => true,
            CellKind::Closing => false,
            CellKind::Other => matches!(before, CellKind::Wide | CellKind::Closing),
        }
    };
    let Some(at) = (word + 1..=full).rev().find(is_break) else { return (full, full) };
    let end = (start..at).rev().find(|at| !cells[*at].is_blank()).map_or(at, |last| last + 1);
    let next = (at..cells.len()).find(|at| !cells[*at].is_blank()).unwrap_or(cells.len());
    (end, next)
}

/// Returns a row cut to this width, with a mark if something is cut.
pub(crate) fn cut_row(mut row: Row, cells: usize) -> Row {
    if row.width() > cells {
        let mark = if cells > 6 { "..." } else { "" };
        row.cut(cells - mark.len());
        row.push(Look::Dim, mark);
    }
    row
}

/// Returns the end of a text in this width, with a mark if its start is cut.
pub(crate) fn cut_start(text: &str, cells: usize) -> String {
    if text_width(text) <= cells {
        return text.to_owned();
    }
    let mark = if cells > 6 { "..." } else { "" };
    let mut width = mark.len();
    let fits = |part: &&str| {
        width += text_width(part);
        width <= cells
    };
    let end: usize = text.graphemes(true).rev().take_while(fits).map(str::len).sum();
    format!("{mark}{}", &text[text.len() - end..])
}

/// Returns a text cut to this width, with a mark if something is cut.
pub(crate) fn cut_to(text: &str, cells: usize) -> String {
    if text_width(text) <= cells {
        return text.to_owned();
    }
    let mark = if cells > 6 { "..." } else { "" };
    let mut shown = String::new();
    let mut width = mark.len();
    for part in text.graphemes(true) {
        width += text_width(part);
        if width > cells {
            break;
        }
        shown.push_str(part);
    }
    shown + mark
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn folded(text: &str, room: Room, breaks: Breaks) -> Vec<String> {
        fold(&Row::plain(text), room, breaks).iter().map(Row::text).collect()
    }

    #[test]
    fn lines_break_between_words() {
        let room = Room::new(10);
        for (text, expected) in [
            ("one two three", &["one two", "three"][..]),
            ("0123456789", &["0123456789"]),
            ("0123456789a bc", &["0123456789", "a bc"]),
            ("one two   three", &["one two", "three"]),
            ("漢漢 漢漢 漢", &["漢漢 漢漢", "漢"]),
            ("ab 漢漢漢漢", &["ab 漢漢漢", "漢"]),
            ("漢漢漢漢漢\u{3002}漢", &["漢漢漢漢", "漢\u{3002}漢"]),
            ("漢漢漢漢abcd", &["漢漢漢漢", "abcd"]),
            ("", &[""]),
            ("   ", &["   "]),
            ("  0123456789", &["  01234567", "89"]),
        ] {
            assert_eq!(folded(text, room, Breaks::Words), expected, "{text:?}");
        }
        let room = room.hanging(2);
        assert_eq!(folded("- one two three", room, Breaks::Words), ["- one two", "  three"]);
        assert_eq!(folded("0123456789ab", room, Breaks::Anywhere), ["0123456789", "  ab"]);
        assert_eq!(folded("ab", Room::new(20).indented(4), Breaks::Words), ["    ab"]);
    }

    #[test]
    fn the_end_of_a_text_stays() {
        for (cells, expected) in
            [(12, "src/main.rs"), (11, "src/main.rs"), (10, "...main.rs"), (4, "n.rs"), (0, "")]
        {
            assert_eq!(cut_start("src/main.rs", cells), expected);
        }
        assert_eq!(cut_start("a漢字漢字", 8), "...漢字");
    }

    #[test]
    fn a_cut_text_is_marked() {
        assert_eq!(cut_to("0123456789", 10), "0123456789");
        assert_eq!(cut_to("0123456789a", 10), "0123456...");
        assert_eq!(cut_to("漢漢漢漢", 7), "漢漢...");
        assert_eq!(cut_to("0123456789", 3), "012");
    }

    proptest! {
        #[test]
        fn rows_fit_and_keep_the_text(
            text in "([a-z漢\u{301}👩]{0,12} {0,3}){0,8}",
            cells in 3..30_usize,
            further in 0..6_usize,
        ) {
            let room = Room::new(cells).hanging(further);
            let line = Row::plain(text.as_str());
            let rows = fold(&line, room, Breaks::Anywhere);
            let indent = further.min(cells / 2);
            let mut joined = String::new();
            for (index, row) in rows.iter().enumerate() {
                prop_assert!(row.width() <= cells);
                joined.push_str(&row.text()[if index == 0 { 0 } else { indent }..]);
            }
            prop_assert_eq!(&joined, &text);
            let words = |text: &str| text.split_whitespace().collect::<String>();
            let rows = fold(&line, room, Breaks::Words);
            let all: String = rows.iter().map(Row::text).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(words(&all), words(&text));
            prop_assert!(rows.iter().all(|row| row.width() <= cells));
        }
    }
}
