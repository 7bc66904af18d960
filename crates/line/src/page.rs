//! Output of the conversation: lines in order, and below them the input line.
//!
//! The output uses only printable characters, colours, line ends, carriage returns and backspaces:
//! it never positions the cursor, and printed text never changes, except for the input line and a
//! screen that the user clears. Pure: the output goes to a buffer.

use pollux_input::{Tone, TonedLine};
use pollux_protocol::plain_text::{AnsiStripper, acts_on_terminal, for_terminal};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::colour::paint;
use crate::wrap::WordWrap;

/// Maximum number of bytes on either side of the cursor that are considered for display.
const NEAR: usize = 8 << 10;
/// Minimum width for terminals that report no width or an implausible one.
const NARROWEST: usize = 20;

/// The page and its current content.
#[derive(Debug)]
pub(super) struct Page {
    buffer: Vec<u8>,
    columns: usize,
    look: PageLook,
    /// True if the last line has no end yet.
    mid_line: bool,
    /// Input line; `None` while it is hidden.
    row: Option<Row>,
    /// True if the row is a status, which does not stay on the page.
    is_status: bool,
    filter: Option<AnsiStripper>,
    wrap: WordWrap,
}

/// Properties of the output, apart from its width.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PageLook {
    /// True if the terminal itself shows and edits the input line.
    pub(super) echoing: bool,
    /// True if the model's escape sequences are printed unchanged.
    pub(super) raw: bool,
    /// True if lines are coloured by their meaning.
    pub(super) coloured: bool,
}

/// Input line as it is shown.
#[derive(Debug, Default, PartialEq, Eq)]
struct Row {
    text: String,
    /// Width of the text, in cells.
    width: usize,
    /// Number of cells left of the cursor.
    cursor: usize,
}

impl Page {
    /// Creates an empty page.
    pub(super) fn new(columns: usize, look: PageLook) -> Self {
        Self {
            buffer: Vec::new(),
            columns: columns.max(NARROWEST),
            look,
            mid_line: false,
            row: None,
            is_status: false,
            filter: (!look.raw).then(AnsiStripper::default),
            wrap: WordWrap::default(),
        }
    }

    /// Returns the bytes for the terminal since the last call.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    /// Prints a further piece of the model's text.
    pub(super) fn stream(&mut self, text: &str) {
        let text = match &mut self.filter {
            Some(filter) => self.wrap.push(&for_terminal(&filter.strip(text)), self.columns),
            None => text.to_owned(),
        };
        self.print_text(&text);
    }

    /// Prints the last word of the model's text, which may continue.
    pub(super) fn flush_word(&mut self) {
        let word = self.wrap.flush(self.columns);
        self.print_text(&word);
    }

    fn print_text(&mut self, text: &str) {
        if let Some(last) = text.as_bytes().last() {
            self.hide();
            self.push(text);
            self.mid_line = *last != b'\n';
        }
    }

    /// Prints one or more whole lines.
    pub(super) fn line(&mut self, text: &str) {
        self.toned(Tone::Plain, text);
    }

    /// Prints one or more whole lines with the same meaning.
    pub(super) fn toned(&mut self, tone: Tone, text: &str) {
        self.end_stream();
        self.hide();
        let tone = if self.look.coloured { tone } else { Tone::Plain };
        let text = for_terminal(text);
        for line in text.split('\n') {
            // Indented lines are code, changes and output.
            let mut wrap = WordWrap::default();
            let wrapped = if line.starts_with(' ') {
                line.to_owned()
            } else {
                wrap.push(line, self.columns) + &wrap.flush(self.columns)
            };
            for row in wrapped.split('\n') {
                self.push(&paint(tone, row));
                self.push("\n");
            }
        }
    }

    /// Prints lines, each with its meaning.
    pub(super) fn lines(&mut self, lines: &[TonedLine]) {
        for TonedLine { tone, text } in lines {
            self.toned(*tone, text);
        }
    }

    /// Ends a line that has no end yet.
    pub(super) fn end_stream(&mut self) {
        self.flush_word();
        self.wrap.reset();
        if std::mem::take(&mut self.mid_line) {
            self.push("\n");
        }
    }

    /// Returns the width of the terminal, in cells.
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Returns true if the terminal itself shows the typed text.
    pub(super) fn is_echoing(&self) -> bool {
        self.look.echoing
    }

    /// Shows the input line, or updates it.
    pub(super) fn show(&mut self, label: &str, before: &str, after: &str) {
        if self.mid_line || (self.look.echoing && self.row.is_some()) {
            return;
        }
        self.is_status = false;
        let row = if self.look.echoing {
            Row { text: label.to_owned(), width: label.len(), cursor: label.len() }
        } else {
            Row::fit(label, before, after, self.columns)
        };
        self.replace(row);
    }

    /// Shows a status in place of the input line. A terminal that echoes could not remove it.
    pub(super) fn show_status(&mut self, text: &str) {
        if self.look.echoing {
            self.hide();
        } else if !self.mid_line {
            self.replace(Row::fit("", text, "", self.columns));
            self.is_status = true;
        }
    }

    fn replace(&mut self, row: Row) {
        let old = self.row.take().unwrap_or_default();
        self.redraw(&old, &row);
        self.row = Some(row);
    }

    /// Clears the screen; the input line follows at the top.
    pub(super) fn clear_screen(&mut self) {
        self.row = None;
        self.push("\u{1b}[H\u{1b}[2J");
    }

    /// Turns the input line into an ordinary line: the typed text stays on the page.
    pub(super) fn keep_row(&mut self) {
        self.hide_status();
        if self.row.take().is_some() && !self.look.echoing {
            self.push("\n");
        }
    }

    fn hide_status(&mut self) {
        if self.is_status {
            self.hide();
        }
    }

    /// Removes the input line. A terminal that echoes cannot remove it; there the line is ended.
    pub(super) fn hide(&mut self) {
        self.is_status = false;
        match self.row.take() {
            None => {}
            Some(_) if self.look.echoing => self.push("\n"),
            Some(row) => self.push(&format!("\r{}\r", " ".repeat(row.width))),
        }
    }

    /// Sets a new width. The position of a wrapped input line is unknown, so a new line is started.
    pub(super) fn resize(&mut self, columns: usize) {
        self.columns = columns.max(NARROWEST);
        self.restart_input_line();
    }

    /// Starts a new line for the input line, because other programs may have printed text.
    pub(super) fn restart_input_line(&mut self) {
        self.hide_status();
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
    /// Returns the label and as much of the typed line around the cursor as fits on one row. The
    /// last column stays free: a character there would wrap on some terminals.
    fn fit(label: &str, before: &str, after: &str, columns: usize) -> Self {
        let room = columns.saturating_sub(1 + label.width());
        let before =
            blank(&before[before.floor_char_boundary(before.len().saturating_sub(NEAR))..]);
        let after = blank(&after[..after.floor_char_boundary(NEAR)]);
        // Some of the text right of the cursor is always visible.
        let before_room = room - after.width().min(room / 3);
        let (before_length, before_cells) = fitting(before.graphemes(true).rev(), before_room);
        let (after_length, after_cells) = fitting(after.graphemes(true), room - before_cells);
        let start = before.len() - before_length;
        let text = format!("{label}{}{}", &before[start..], &after[..after_length]);
        let cursor = label.width() + before_cells;
        Self { text, width: cursor + after_cells, cursor }
    }
}

/// Returns the length in bytes, and in cells, of the first characters that fit into `room` cells.
fn fitting<'a>(characters: impl Iterator<Item = &'a str>, room: usize) -> (usize, usize) {
    let (mut length, mut cells) = (0, 0);
    for character in characters {
        if cells + character.width() > room {
            break;
        }
        (length, cells) = (length + character.len(), cells + character.width());
    }
    (length, cells)
}

/// Replaces line ends, tabs and other control characters, including those of writing direction, by
/// blanks, so that the text fits on one row.
fn blank(text: &str) -> String {
    text.replace(|letter: char| letter.is_control() || acts_on_terminal(letter), " ")
}

#[cfg(test)]
mod tests;
