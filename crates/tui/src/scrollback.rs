//! The rows of the conversation above the live rows, for a screen that keeps none itself. Pure.

use std::collections::VecDeque;

use crate::fold::{Breaks, Room, cut_to, fold};
use crate::row::{Look, Row};
use crate::surface::Frame;

/// Maximum number of rows that are kept.
const MOST: usize = 10_000;
/// Number of rows that remain in the terminal's own text at the end.
const LEFT: usize = 1000;
/// Number of rows of a step of the mouse wheel.
const WHEEL: usize = 3;
/// Message about the rows before those that remain.
const EARLIER: &str = "[the beginning of the conversation is not shown]";

/// Movement through the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scroll {
    LineUp,
    LineDown,
    WheelUp,
    WheelDown,
    PageUp,
    PageDown,
    Start,
    End,
}

/// A row of the conversation. A row that is too wide for the screen is shown as several; the first
/// of them keeps it whole for a wider screen.
#[derive(Debug, Clone)]
struct KeptRow {
    shown: Row,
    piece: Piece,
}

#[derive(Debug, Clone)]
enum Piece {
    /// The whole row.
    Whole,
    /// The first piece of this row.
    First(Row),
    /// A further piece.
    Further,
}

impl KeptRow {
    /// Returns the rows that show a row in this number of cells.
    fn broken(row: Row, cells: usize) -> Vec<Self> {
        if row.width() <= cells {
            return vec![Self { shown: row, piece: Piece::Whole }];
        }
        let text = row.text();
        let indent = text.len() - text.trim_start_matches(' ').len();
        let room = Room::new(cells).hanging(indent);
        let mut whole = Some(row.clone());
        let pieces = fold(&row, room, Breaks::Words).into_iter();
        let piece = |shown| {
            let piece = whole.take().map_or(Piece::Further, Piece::First);
            Self { shown, piece }
        };
        pieces.map(piece).collect()
    }

    /// Returns the row as it was added; `None` for a further piece of one.
    fn into_whole(self) -> Option<Row> {
        match self.piece {
            Piece::Whole => Some(self.shown),
            Piece::First(row) => Some(row),
            Piece::Further => None,
        }
    }
}

/// Finished rows of the conversation, and the part of them that is on the screen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scrollback {
    rows: VecDeque<KeptRow>,
    /// True if the first rows were dropped.
    is_cut: bool,
    /// Number of rows below those on the screen, the rows in progress included.
    below: usize,
    /// Number of rows at the last frame, those in progress included.
    count: usize,
    /// Number of rows for the conversation on the screen at the last frame.
    room: usize,
    /// Number of first rows that the user has moved out of the screen.
    cleared: usize,
}

impl Scrollback {
    /// Adds finished rows.
    pub(crate) fn push(&mut self, rows: Vec<Row>) {
        // The rows are made for the width of the screen.
        self.rows.extend(rows.into_iter().map(|shown| KeptRow { shown, piece: Piece::Whole }));
        let dropped = self.rows.len().saturating_sub(MOST);
        if dropped > 0 {
            self.rows.drain(..dropped);
            self.is_cut = true;
            self.cleared = self.cleared.saturating_sub(dropped);
            self.count = self.count.saturating_sub(dropped);
        }
    }

    /// Breaks the rows that are wider than this number of cells, between words.
    pub(crate) fn resize(&mut self, cells: usize) {
        let rows = std::mem::take(&mut self.rows).into_iter().filter_map(KeptRow::into_whole);
        self.rows = rows.flat_map(|row| KeptRow::broken(row, cells)).collect();
        self.cleared = 0;
    }

    /// Moves everything above the live rows out of the screen, until the user goes back to it.
    pub(crate) fn clear(&mut self) {
        (self.cleared, self.below) = (self.rows.len(), 0);
    }

    /// Moves through the conversation.
    pub(crate) fn scroll(&mut self, scroll: Scroll) {
        let page = self.room.saturating_sub(2).max(1);
        let (up, down) = match scroll {
            Scroll::LineUp => (1, 0),
            Scroll::LineDown => (0, 1),
            Scroll::WheelUp => (WHEEL, 0),
            Scroll::WheelDown => (0, WHEEL),
            Scroll::PageUp => (page, 0),
            Scroll::PageDown => (0, page),
            Scroll::Start => (self.count, 0),
            Scroll::End => (0, self.count),
        };
        self.below = (self.below + up).saturating_sub(down).min(self.most_below(self.count));
    }

    /// Returns the number of rows below the screen at the start of the conversation.
    fn most_below(&self, count: usize) -> usize {
        // The message about the rows below takes a row itself.
        if count <= self.room || self.room == 0 { 0 } else { count + 1 - self.room }
    }

    /// Returns the frame of a screen of this height: rows of the conversation, whose last ones are
    /// in progress, and `below` them what stays on the screen.
    pub(crate) fn frame(
        &mut self,
        live: Vec<Row>,
        below: Frame,
        (cells, height): (usize, usize),
    ) -> Frame {
        let count = self.rows.len() + live.len();
        self.room = height.saturating_sub(below.rows.len());
        if self.below > 0 {
            // The rows on the screen stay where they are.
            self.below = (self.below + count).saturating_sub(self.count).max(1);
        }
        self.count = count;
        self.below = self.below.min(self.most_below(count));
        let end = count - self.below;
        let shown = self.room.saturating_sub(usize::from(self.below > 0));
        let first = if self.below > 0 { 0 } else { self.cleared.min(self.rows.len()) };
        let start = end.saturating_sub(shown).max(first);
        let (finished, progress) = (self.rows.len(), live.into_iter());
        let kept = self.rows.range(start.min(finished)..end.min(finished));
        let kept = kept.map(|row| row.shown.clone());
        let progress = progress.skip(start.saturating_sub(finished));
        let mut rows: Vec<Row> = kept.chain(progress).take(end - start).collect();
        if self.below > 0 && self.room > 0 {
            let text = format!("{} more rows below \u{b7} Ctrl+End goes there", self.below);
            rows.push(Row::new(Look::Dim, cut_to(&text, cells)));
        }
        let cursor = (rows.len() + below.cursor.0, below.cursor.1);
        rows.extend(below.rows);
        Frame { rows, cursor }
    }

    /// Returns the end of the conversation, for the terminal's own text.
    pub(crate) fn take_end(&mut self) -> Vec<Row> {
        let dropped = self.rows.len().saturating_sub(LEFT);
        let is_cut = self.is_cut || dropped > 0;
        let note = is_cut.then(|| Row::new(Look::Dim, EARLIER));
        let rows = std::mem::take(&mut self.rows).into_iter().skip(dropped);
        note.into_iter().chain(rows.map(|row| row.shown)).collect()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn numbered(range: std::ops::Range<usize>) -> Vec<Row> {
        range.map(|number| Row::plain(format!("row {number}"))).collect()
    }

    fn below() -> Frame {
        Frame { rows: vec![Row::plain("input"), Row::plain("state")], cursor: (0, 5) }
    }

    fn shown(scrollback: &mut Scrollback, live: Vec<Row>) -> (String, (usize, usize)) {
        let frame = scrollback.frame(live, below(), (40, 7));
        let texts: Vec<String> = frame.rows.iter().map(Row::text).collect();
        let texts = texts.join("|");
        (texts.replace(" more rows below \u{b7} Ctrl+End goes there", " below"), frame.cursor)
    }

    #[test]
    fn a_short_conversation_begins_at_the_top() {
        let mut scrollback = Scrollback::default();
        scrollback.push(numbered(0..2));
        let short = ("row 0|row 1|live|input|state".to_owned(), (3, 5));
        assert_eq!(shown(&mut scrollback, vec![Row::plain("live")]), short);
        for scroll in [Scroll::PageUp, Scroll::LineUp, Scroll::Start, Scroll::End] {
            scrollback.scroll(scroll);
            assert_eq!(shown(&mut scrollback, vec![Row::plain("live")]), short, "{scroll:?}");
        }
    }

    #[test]
    fn the_user_moves_through_the_conversation() {
        let mut scrollback = Scrollback::default();
        scrollback.push(numbered(0..20));
        let mut step = |scroll| {
            scrollback.scroll(scroll);
            shown(&mut scrollback, Vec::new()).0
        };
        let end = "row 15|row 16|row 17|row 18|row 19|input|state";
        for (scroll, expected) in [
            (Scroll::End, end),
            (Scroll::LineUp, "row 15|row 16|row 17|row 18|1 below|input|state"),
            (Scroll::LineUp, "row 14|row 15|row 16|row 17|2 below|input|state"),
            (Scroll::PageUp, "row 11|row 12|row 13|row 14|5 below|input|state"),
            (Scroll::WheelUp, "row 8|row 9|row 10|row 11|8 below|input|state"),
            (Scroll::Start, "row 0|row 1|row 2|row 3|16 below|input|state"),
            (Scroll::PageUp, "row 0|row 1|row 2|row 3|16 below|input|state"),
            (Scroll::WheelDown, "row 3|row 4|row 5|row 6|13 below|input|state"),
            (Scroll::PageDown, "row 6|row 7|row 8|row 9|10 below|input|state"),
            (Scroll::LineDown, "row 7|row 8|row 9|row 10|9 below|input|state"),
            (Scroll::End, end),
            (Scroll::LineDown, end),
        ] {
            assert_eq!(step(scroll), expected, "{scroll:?}");
        }
    }

    #[test]
    fn rows_that_are_read_stay_while_others_come() {
        let mut scrollback = Scrollback::default();
        scrollback.push(numbered(0..20));
        shown(&mut scrollback, Vec::new());
        scrollback.scroll(Scroll::Start);
        let read = "row 0|row 1|row 2|row 3|";
        assert_eq!(
            shown(&mut scrollback, numbered(20..22)).0,
            format!("{read}18 below|input|state")
        );
        scrollback.push(numbered(20..25));
        assert_eq!(shown(&mut scrollback, Vec::new()).0, format!("{read}21 below|input|state"));
        scrollback.scroll(Scroll::End);
        let live = shown(&mut scrollback, vec![Row::plain("live")]).0;
        assert_eq!(live, "row 21|row 22|row 23|row 24|live|input|state");
    }

    #[test]
    fn cleared_rows_are_above() {
        let mut scrollback = Scrollback::default();
        scrollback.push(numbered(0..20));
        shown(&mut scrollback, Vec::new());
        scrollback.clear();
        assert_eq!(shown(&mut scrollback, Vec::new()).0, "input|state");
        scrollback.push(numbered(20..21));
        assert_eq!(shown(&mut scrollback, Vec::new()).0, "row 20|input|state");
        scrollback.scroll(Scroll::LineUp);
        assert_eq!(
            shown(&mut scrollback, Vec::new()).0,
            "row 16|row 17|row 18|row 19|1 below|input|state"
        );
    }

    #[test]
    fn a_row_is_whole_again_on_a_wider_screen() {
        let mut scrollback = Scrollback::default();
        scrollback.push(vec![Row::plain("  one two three"), Row::plain("four")]);
        for (cells, expected) in [
            (11, "  one two|  three|four"),
            (7, "  one|  two|  three|four"),
            (15, "  one two three|four"),
        ] {
            scrollback.resize(cells);
            let frame = scrollback.frame(Vec::new(), below(), (cells, 20));
            let rows: Vec<String> = frame.rows.iter().map(Row::text).collect();
            assert_eq!(rows.join("|"), format!("{expected}|input|state"));
        }
        scrollback.resize(7);
        assert_eq!(scrollback.take_end().len(), 4);
    }

    #[test]
    fn wide_rows_are_broken_and_old_ones_are_dropped() {
        let mut scrollback = Scrollback::default();
        scrollback.push(vec![Row::plain("0123456789")]);
        scrollback.resize(4);
        let texts = |rows: &[Row]| rows.iter().map(Row::text).collect::<Vec<_>>();
        assert_eq!(texts(&scrollback.take_end()), ["0123", "4567", "89"]);
        for _ in 0..MOST / 10 + 5 {
            scrollback.push(numbered(0..10));
        }
        assert_eq!(scrollback.rows.len(), MOST);
        let end = scrollback.take_end();
        assert_eq!((end.len(), end[0].text().as_str()), (LEFT + 1, EARLIER));
        for height in 0..5 {
            scrollback.push(numbered(0..30));
            scrollback.scroll(Scroll::Start);
            let frame = scrollback.frame(Vec::new(), below(), (40, height));
            assert!(frame.rows.len() <= height.max(2), "{height}: {}", frame.rows.len());
        }
    }
}
