//! The model's answer as it arrives: finished rows, and the row in progress. Pure.
//!
//! The text stays as the model wrote it. Headings, code fences and text between double asterisks or
//! backticks get a look, and further rows of a list item are indented like its text. The look of a
//! character depends only on what precedes it in its line, so a finished row never changes.

use pollux_protocol::plain_text::{AnsiStripper, for_terminal};

use crate::fold::{Breaks, FoldedRow, Room, fold_with_ends};
use crate::row::{Look, Row};

/// Maximum number of blank lines in a row.
const BLANK_LINES: usize = 1;
/// Width of a tab, in cells.
const TAB: &str = "    ";
/// Maximum length of the beginning of a line that decides its kind, in bytes.
const HEAD: usize = 24;
/// Maximum size of the text in progress, in bytes, of which the rows are computed for each frame.
const LONGEST: usize = 64 << 10;

/// An answer in progress.
#[derive(Debug, Default)]
pub(crate) struct TextFlow {
    filter: AnsiStripper,
    /// Beginning of the last line, which decides its kind.
    head: String,
    /// Length of the last line, in bytes.
    length: usize,
    /// The part of the last line whose rows are not finished.
    line: String,
    /// Kind of the last line; `None` until one of its rows is finished.
    kind: Option<LineKind>,
    marks: Marks,
    fence: Option<Fence>,
    /// Number of blank lines that are not written yet.
    blank_lines: usize,
    /// True if a row of this answer is finished.
    has_rows: bool,
}

/// Returns the rows of an answer that arrives in these pieces, as text, on a screen whose rows have
/// this number of cells. For checks of what a model can do to a terminal.
pub fn answer_rows<'a>(pieces: impl IntoIterator<Item = &'a str>, cells: usize) -> Vec<String> {
    let mut flow = TextFlow::default();
    let mut rows = Vec::new();
    for piece in pieces {
        rows.extend(flow.push(piece, cells));
    }
    rows.extend(flow.end(cells));
    rows.into_iter().map(Row::into_text).collect()
}

/// Kind of a line, which decides its look and its breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    /// Words, with further rows indented by this number of cells.
    Words(usize),
    Heading,
    Fence,
    Code,
}

/// Fence of a code block: its character and length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence(char, usize);

/// Marks inside a line that are open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Marks {
    is_bold: bool,
    is_code: bool,
    /// True in the middle of the mark of bold text.
    is_half: bool,
}

/// Mark of bold text.
const MARK: &str = "**";

impl TextFlow {
    /// Takes a piece of the answer; returns the rows that it finishes.
    pub(crate) fn push(&mut self, text: &str, cells: usize) -> Vec<Row> {
        let text = for_terminal(&self.filter.strip(text)).replace('\t', TAB);
        let mut rows = Vec::new();
        for piece in text.split_inclusive('\n') {
            self.extend_line(piece.trim_end_matches('\n'));
            if piece.ends_with('\n') {
                self.end_line(cells, &mut rows);
            } else if self.line.len() > LONGEST {
                self.finish_rows(cells, &mut rows);
            }
        }
        self.finish_rows(cells, &mut rows);
        rows
    }

    fn extend_line(&mut self, text: &str) {
        if self.head.len() == self.length {
            let room = HEAD - self.head.len();
            self.head.push_str(&text[..text.floor_char_boundary(room)]);
        }
        self.length += text.len();
        self.line.push_str(text);
    }

    /// Ends the answer; returns its last rows.
    pub(crate) fn end(&mut self, cells: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        if !self.line.is_empty() {
            self.end_line(cells, &mut rows);
        }
        *self = Self::default();
        rows
    }

    /// Returns true if there is no text in progress.
    pub(crate) fn is_empty(&self) -> bool {
        self.line.trim().is_empty()
    }

    /// Returns the rows in progress, usually one.
    pub(crate) fn rows(&self, cells: usize) -> Vec<Row> {
        if self.is_empty() {
            return Vec::new();
        }
        let blank = self.blank_rows();
        blank.chain(self.folded(cells).into_iter().map(|folded| folded.row)).collect()
    }

    fn blank_rows(&self) -> impl Iterator<Item = Row> + use<> {
        std::iter::repeat_n(Row::default(), self.blank_lines)
    }

    /// Finishes all rows of the last line but the last one, which may still change.
    fn finish_rows(&mut self, cells: usize, rows: &mut Vec<Row>) {
        let mut folded = self.folded(cells);
        folded.pop();
        let Some(end) = folded.last().map(|last| last.end) else { return };
        self.take_rows(folded, rows);
        self.marks = self.marks_at(end);
        self.kind = Some(self.line_kind(cells));
        self.line.drain(..end);
    }

    fn end_line(&mut self, cells: usize, rows: &mut Vec<Row>) {
        let is_blank = self.kind.is_none() && self.line.trim().is_empty();
        if is_blank && self.fence.is_none() {
            let is_wanted = self.has_rows && self.blank_lines < BLANK_LINES;
            self.blank_lines += usize::from(is_wanted);
        } else {
            let folded = self.folded(cells);
            self.take_rows(folded, rows);
            let is_whole = self.head.len() == self.length;
            self.fence = after_line(&self.head, is_whole, self.fence);
        }
        self.line.clear();
        self.head.clear();
        (self.length, self.kind, self.marks) = (0, None, Marks::default());
    }

    fn take_rows(&mut self, folded: Vec<FoldedRow>, rows: &mut Vec<Row>) {
        rows.extend(self.blank_rows());
        rows.extend(folded.into_iter().map(|folded| folded.row));
        (self.blank_lines, self.has_rows) = (0, true);
    }

    /// Returns the kind of the last line. Only the text that is known when its first row is
    /// finished decides, so that the kind does not depend on when the rest arrives.
    fn line_kind(&self, cells: usize) -> LineKind {
        let head = &self.head[..self.head.floor_char_boundary(cells)];
        self.kind.unwrap_or_else(|| kind_of(head, self.fence))
    }

    /// Returns the rows of the part of the last line that is not finished.
    fn folded(&self, cells: usize) -> Vec<FoldedRow> {
        let kind = self.line_kind(cells);
        let is_start = self.kind.is_none();
        match kind {
            LineKind::Code => {
                fold_with_ends(&Row::plain(&self.line), Room::new(cells), Breaks::Anywhere)
            }
            LineKind::Fence => {
                fold_with_ends(&Row::new(Look::Dim, &self.line), Room::new(cells), Breaks::Words)
            }
            LineKind::Heading => {
                fold_with_ends(&Row::new(Look::Bold, &self.line), Room::new(cells), Breaks::Words)
            }
            LineKind::Words(indent) => {
                let first = if is_start { 0 } else { indent };
                let room = Room { cells, first, further: indent };
                fold_with_ends(&self.marked(), room, Breaks::Words)
            }
        }
    }

    /// Returns the marks that are open at this position of the text in progress.
    fn marks_at(&self, end: usize) -> Marks {
        let (mut marks, mut position) = (self.marks, 0);
        for piece in self.pieces() {
            position += piece.len();
            if position > end {
                marks.is_half = piece == MARK && position - 1 == end;
                break;
            }
            marks.pass(piece);
        }
        marks
    }

    /// Returns the pieces of the text in progress. The first one may be the second half of a mark.
    fn pieces(&self) -> impl Iterator<Item = &str> {
        let (half, rest) = self.line.split_at(usize::from(self.marks.is_half));
        Some(half).filter(|half| !half.is_empty()).into_iter().chain(Pieces(rest))
    }

    /// Returns the text in progress with the looks of its marks. The marks stay visible.
    fn marked(&self) -> Row {
        let (mut row, mut marks) = (Row::default(), self.marks);
        for piece in self.pieces() {
            let before = marks;
            marks.pass(piece);
            let look = match (before.is_code || marks.is_code, before.is_bold || marks.is_bold) {
                (true, _) => Look::Cyan,
                (false, true) => Look::Bold,
                (false, false) => Look::Plain,
            };
            row.push(look, piece);
        }
        row
    }
}

impl Marks {
    /// Passes a mark, or other text.
    fn pass(&mut self, piece: &str) {
        match piece {
            "`" => self.is_code = !self.is_code,
            MARK if !self.is_code => self.is_bold = !self.is_bold,
            _ if self.is_half && !self.is_code => self.is_bold = !self.is_bold,
            _ => {}
        }
        self.is_half = false;
    }
}

/// Pieces of a line: marks, and the text between them.
struct Pieces<'a>(&'a str);

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.0;
        let length = if text.starts_with(MARK) {
            2
        } else if text.starts_with('`') {
            1
        } else {
            let marks = [text.find(MARK), text.find('`')];
            marks.into_iter().flatten().min().unwrap_or(text.len())
        };
        let (piece, rest) = text.split_at(length);
        self.0 = rest;
        (!piece.is_empty()).then_some(piece)
    }
}

/// Returns the kind of a line that begins with this text.
fn kind_of(line: &str, fence: Option<Fence>) -> LineKind {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    if fence_of(line).is_some() {
        return LineKind::Fence;
    }
    if fence.is_some() || text.starts_with('|') {
        return LineKind::Code;
    }
    let marks = text.len() - text.trim_start_matches('#').len();
    if (1..=6).contains(&marks) && text[marks..].starts_with(' ') {
        return LineKind::Heading;
    }
    match text.split_once(' ') {
        Some((mark, _)) if is_list_mark(mark) => LineKind::Words(indent + mark.len() + 1),
        _ if indent >= 4 => LineKind::Code,
        _ => LineKind::Words(indent),
    }
}

fn is_list_mark(mark: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    matches!(mark, "-" | "*" | "+" | ">") || mark.strip_suffix(['.', ')']).is_some_and(is_number)
}

/// Returns the fence that a line begins with.
fn fence_of(line: &str) -> Option<Fence> {
    let text = line.trim_start_matches(' ');
    let first = text.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let length = text.len() - text.trim_start_matches(first).len();
    (length >= 3).then_some(Fence(first, length))
}

/// Returns the fence that is open after a line with this beginning, which may be the whole line.
fn after_line(head: &str, is_whole: bool, open: Option<Fence>) -> Option<Fence> {
    let (Some(fence), Some(Fence(first, length))) = (fence_of(head), open) else {
        return open.or(fence_of(head));
    };
    let is_end = is_whole && head.trim().chars().all(|letter| letter == first);
    let closes = fence.0 == first && fence.1 >= length && is_end;
    (!closes).then_some(Fence(first, length))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn flowed(pieces: &[&str], cells: usize) -> Vec<Row> {
        let mut flow = TextFlow::default();
        let mut rows: Vec<Row> = pieces.iter().flat_map(|piece| flow.push(piece, cells)).collect();
        rows.extend(flow.end(cells));
        rows
    }

    fn texts(rows: &[Row]) -> Vec<String> {
        rows.iter().map(Row::text).collect()
    }

    #[test]
    fn lines_are_broken_as_their_kind_requires() {
        for (text, expected) in [
            ("one two three", &["one two", "three"][..]),
            ("- one two three", &["- one two", "  three"]),
            ("12. one two", &["12. one", "    two"]),
            ("  * one two", &["  * one", "    two"]),
            ("    let code;", &["    let co", "de;"]),
            ("| a | b | c |", &["| a | b | ", "c |"]),
            (
                "```\nlet code = 1;\n```\nnot it now",
                &["```", "let code =", " 1;", "```", "not it now"],
            ),
            ("\n\none\n\n\n\ntwo\n\n", &["one", "", "two"]),
            ("a\tb", &["a    b"]),
            ("\x1b[31mred\x1b[0m \u{202e}x\x07", &["red x"]),
        ] {
            assert_eq!(texts(&flowed(&[text], 10)), expected, "{text:?}");
        }
    }

    #[test]
    fn the_kind_of_a_line_does_not_depend_on_its_pieces() {
        for text in ["123456789. a", "``` rust title\nlet a;\n```\nx y", "- \u{e9}\u{e9}\u{e9} b"] {
            for cells in 4..12 {
                let letters: Vec<String> = text.chars().map(String::from).collect();
                let pieces: Vec<&str> = letters.iter().map(String::as_str).collect();
                assert_eq!(flowed(&pieces, cells), flowed(&[text], cells), "{text:?} {cells}");
            }
        }
    }

    #[test]
    fn marks_give_a_look_and_stay() {
        let row = &flowed(&["a **b** `c` d"], 40)[0];
        let pieces: Vec<_> = row.pieces().collect();
        assert_eq!(
            pieces,
            [
                (Look::Plain, "a "),
                (Look::Bold, "**b**"),
                (Look::Plain, " "),
                (Look::Cyan, "`c`"),
                (Look::Plain, " d")
            ]
        );
        assert_eq!(flowed(&["## Head"], 40), [Row::new(Look::Bold, "## Head")]);
    }

    #[test]
    fn a_row_in_progress_becomes_the_finished_row() {
        let mut flow = TextFlow::default();
        assert_eq!(flow.push("one two", 10), []);
        assert_eq!(texts(&flow.rows(10)), ["one two"]);
        assert_eq!(texts(&flow.push(" three", 10)), ["one two"]);
        assert_eq!(texts(&flow.rows(10)), ["three"]);
        assert_eq!(texts(&flow.push("\n\n", 10)), ["three"]);
        assert_eq!(flow.rows(10), []);
        flow.push("four", 10);
        assert_eq!(texts(&flow.rows(10)), ["", "four"]);
        assert_eq!(texts(&flow.end(10)), ["", "four"]);
    }

    proptest! {
        /// The rows do not depend on how the text is split into pieces.
        #[test]
        fn pieces_make_no_difference(
            text in "([a-c漢`*#|>-]{0,9}[ \n]{1,2}){0,14}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
            cells in 4..20_usize,
        ) {
            let end = |cut: &prop::sample::Index| {
                text.floor_char_boundary(cut.index(text.len() + 1))
            };
            let mut ends: Vec<usize> = cuts.iter().map(end).collect();
            ends.extend([0, text.len()]);
            ends.sort_unstable();
            let pieces: Vec<&str> = ends.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            let rows = flowed(&pieces, cells);
            prop_assert_eq!(&rows, &flowed(&[&text], cells));
            prop_assert!(rows.iter().all(|row| row.width() <= cells));
        }
    }
}
