//! Breaks of a line into rows of limited width. Pure.

use pollux_input::text_width;
use unicode_segmentation::UnicodeSegmentation;

use crate::row::Row;

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
}

/// A row of a broken line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoldedRow {
    /// The row, with its indent.
    pub(crate) row: Row,
    /// Position in the text of the line at which the next row begins, in bytes.
    pub(crate) end: usize,
}

/// Returns the rows of a line, at least one. Indents take at most half of a row.
pub(crate) fn fold(line: &Row, room: Room, breaks: Breaks) -> Vec<Row> {
    fold_with_ends(line, room, breaks).into_iter().map(|folded| folded.row).collect()
}

/// Returns the rows of a line like [`fold`], with the positions of the breaks.
pub(crate) fn fold_with_ends(line: &Row, room: Room, breaks: Breaks) -> Vec<FoldedRow> {
    let characters: Vec<_> = line
        .pieces()
        .flat_map(|(look, text)| text.graphemes(true).map(move |part| (look, part)))
        .collect();
    let widths: Vec<usize> = characters.iter().map(|(_, text)| text_width(text)).collect();
    let is_blank = |at: usize| characters[at].1 == " ";
    let (mut rows, mut start, mut position) = (Vec::new(), 0, 0);
    loop {
        let indent = if rows.is_empty() { room.first } else { room.further };
        let indent = indent.min(room.cells / 2);
        let (mut end, mut width) = (start, indent);
        while end < characters.len() && (width + widths[end] <= room.cells || end == start) {
            width += widths[end];
            end += 1;
        }
        let mut next = end;
        if end < characters.len() && breaks == Breaks::Words {
            (end, next) = word_break(start, end, characters.len(), is_blank);
        }
        let mut row = Row::plain(" ".repeat(indent));
        for (look, text) in &characters[start..end] {
            row.push(*look, text);
        }
        position += characters[start..next].iter().map(|(_, text)| text.len()).sum::<usize>();
        rows.push(FoldedRow { row, end: position });
        if next == characters.len() {
            return rows;
        }
        start = next;
    }
}

/// Returns the end of a row and the start of the next one, so that the row, which has no room for
/// the character at `full`, ends between words.
fn word_break(
    start: usize,
    full: usize,
    length: usize,
    is_blank: impl Fn(usize) -> bool,
) -> (usize, usize) {
    let is_inside = |at: usize| (start..at).any(|before| !is_blank(before));
    let Some(blank) = (start..=full).rev().find(|at| is_blank(*at)).filter(|at| is_inside(*at))
    else {
        return (full, full);
    };
    let end = (start..blank).rev().find(|at| !is_blank(*at)).map_or(blank, |last| last + 1);
    let next = (blank..length).find(|at| !is_blank(*at)).unwrap_or(length);
    (end, next)
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
            let rows = fold_with_ends(&line, room, Breaks::Anywhere);
            let indent = further.min(cells / 2);
            let mut joined = String::new();
            for (index, folded) in rows.iter().enumerate() {
                prop_assert!(folded.row.width() <= cells);
                joined.push_str(&folded.row.text()[if index == 0 { 0 } else { indent }..]);
                prop_assert_eq!(folded.end, joined.len());
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
