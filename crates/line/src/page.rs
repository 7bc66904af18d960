//! What is printed: lines that come one after the other, and below them the line that is being typed.
//!
//! Only printable characters, line ends, carriage returns and backspaces are used: no cursor is
//! addressed, and what is printed once is never changed but for the input line. Pure: it fills a buffer.

use unicode_segmentation::UnicodeSegmentation;

use crate::editor::tail;
use crate::width::width;
use pollux_protocol::plain_text::{AnsiStripper, acts_on_terminal, for_terminal};

/// The part of the typed line that can come to be shown, in bytes.
const NEAR: usize = 8 << 10;
/// A terminal that tells no width, or a strange one.
const NARROWEST: usize = 20;

/// The page and what stands on it.
#[derive(Debug)]
pub(super) struct Page {
    buffer: Vec<u8>,
    columns: usize,
    /// The terminal shows by itself what is typed: the input line is its own.
    echoing: bool,
    /// The last line has no end yet.
    mid_line: bool,
    /// The input line, when it is shown.
    row: Option<Row>,
    filter: Option<AnsiStripper>,
}

/// The input line as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    text: String,
    /// Cells of the text.
    width: usize,
    /// Cells left of the cursor.
    cursor: usize,
}

impl Page {
    /// An empty page. `echoing`: the terminal shows by itself what is typed. `raw`: the model's escape
    /// sequences are left alone.
    pub(super) fn new(columns: usize, echoing: bool, raw: bool) -> Self {
        Self {
            buffer: Vec::new(),
            columns: columns.max(NARROWEST),
            echoing,
            mid_line: false,
            row: None,
            filter: (!raw).then(AnsiStripper::default),
        }
    }

    /// The bytes for the terminal since the last call.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    /// More of the answer, as it comes.
    pub(super) fn stream(&mut self, text: &str) {
        let text = match &mut self.filter {
            Some(filter) => for_terminal(&filter.strip(text)).into_owned(),
            None => text.to_owned(),
        };
        if let Some(last) = text.as_bytes().last() {
            self.hide();
            self.push(&text);
            self.mid_line = *last != b'\n';
        }
    }

    /// One line or several, on lines of their own.
    pub(super) fn line(&mut self, text: &str) {
        self.end_stream();
        self.hide();
        self.push(&for_terminal(text));
        self.push("\n");
    }

    /// Ends a line that has no end yet.
    pub(super) fn end_stream(&mut self) {
        if std::mem::take(&mut self.mid_line) {
            self.push("\n");
        }
    }

    /// The terminal shows by itself what is typed.
    pub(super) fn is_echoing(&self) -> bool {
        self.echoing
    }

    /// Shows the input line, or what has changed in it.
    pub(super) fn show(&mut self, label: &str, before: &str, after: &str) {
        if self.mid_line || (self.echoing && self.row.is_some()) {
            return;
        }
        let row = if self.echoing {
            Row { text: label.to_owned(), width: label.len(), cursor: label.len() }
        } else {
            Row::fit(label, before, after, self.columns)
        };
        let old = self.row.take().unwrap_or(Row { text: String::new(), width: 0, cursor: 0 });
        self.redraw(&old, &row);
        self.row = Some(row);
    }

    /// The input line becomes an ordinary line: what was typed stays.
    pub(super) fn keep_row(&mut self) {
        if self.row.take().is_some() && !self.echoing {
            self.push("\n");
        }
    }

    /// Takes the input line away. A terminal that echoes cannot; there the line ends.
    pub(super) fn hide(&mut self) {
        let Some(row) = self.row.take() else { return };
        if self.echoing {
            self.push("\n");
        } else {
            self.push("\r");
            self.push(&" ".repeat(row.width));
            self.push("\r");
        }
    }

    /// The terminal has a new width. Where a longer line has wrapped cannot be known: a new one begins.
    pub(super) fn resize(&mut self, columns: usize) {
        self.columns = columns.max(NARROWEST);
        self.begin_anew();
    }

    /// Something else may have been printed: the input line is shown once more, below it.
    pub(super) fn begin_anew(&mut self) {
        if self.row.take().is_some() {
            self.push("\n");
        }
    }

    fn redraw(&mut self, old: &Row, new: &Row) {
        if old == new {
            return;
        }
        let at_ends = old.cursor == old.width && new.cursor == new.width;
        if at_ends && let Some(added) = new.text.strip_prefix(&old.text) {
            self.push(added);
        } else if at_ends && old.text.starts_with(&new.text) {
            let cells = old.width - new.width;
            for piece in ["\u{8}", " ", "\u{8}"] {
                self.push(&piece.repeat(cells));
            }
        } else {
            let left_over = old.width.saturating_sub(new.width);
            self.push("\r");
            self.push(&new.text);
            self.push(&" ".repeat(left_over));
            self.push(&"\u{8}".repeat(left_over + new.width - new.cursor));
        }
    }

    fn push(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
    }
}

impl Row {
    /// The label and as much of the typed line around the cursor as fits on one row. The last column stays
    /// free: a character there would wrap on some terminals.
    fn fit(label: &str, before: &str, after: &str, columns: usize) -> Self {
        let label_cells: usize = label.graphemes(true).map(width).sum();
        let room = columns.saturating_sub(1 + label_cells);
        let after_head = blank(&after[..after.floor_char_boundary(NEAR)]);
        let after_cells: usize = after_head.graphemes(true).map(width).sum();
        // Some of what follows the cursor is always in sight.
        let before_room = room - after_cells.min(room / 3);
        let before_tail = blank(tail(before, NEAR));
        let (mut start, mut cells) = (before_tail.len(), 0);
        for (index, cluster) in before_tail.grapheme_indices(true).rev() {
            if cells + width(cluster) > before_room {
                break;
            }
            (start, cells) = (index, cells + width(cluster));
        }
        let cursor = label_cells + cells;
        let mut text = format!("{label}{}", &before_tail[start..]);
        for cluster in after_head.graphemes(true) {
            if cells + width(cluster) > room {
                break;
            }
            text.push_str(cluster);
            cells += width(cluster);
        }
        Self { text, width: label_cells + cells, cursor }
    }
}

/// The text as it can stand on one row: line ends, tabs and other controls (of direction, too) are blanks.
fn blank(text: &str) -> String {
    text.replace(|letter: char| letter.is_control() || acts_on_terminal(letter), " ")
}

#[cfg(test)]
mod tests;
