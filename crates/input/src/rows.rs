//! Layout of the input: the label and the typed text on rows of the terminal. Pure.

use std::borrow::Cow;

use pollux_protocol::plain_text::acts_on_terminal;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Maximum number of bytes on either side of the cursor that are considered for display.
const NEAR: usize = 8 << 10;
/// Maximum size, in bytes and in lines, of a prompt that stays whole on the page.
const KEPT_BYTES: usize = 64 << 10;
const KEPT_LINES: usize = 1000;
/// Texts before the rows of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLabels<'a> {
    /// Label of the first row.
    pub first: &'a str,
    /// Label of a further line.
    pub continued: &'static str,
    /// Indent of a row that continues the row above.
    pub folded: &'static str,
}

impl<'a> RowLabels<'a> {
    /// Returns labels without indents.
    pub fn new(first: &'a str) -> Self {
        Self { first, continued: CONTINUED_LABEL, folded: "" }
    }
}

/// Label of a further line of a prompt.
pub const CONTINUED_LABEL: &str = ". ";
/// Mark of rows that are not shown.
const MARK: &str = "[...]";

/// The input as it is shown. The last column stays free: a character there would wrap on some
/// terminals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputRows {
    /// Rows from the top.
    pub rows: Vec<String>,
    /// Row of the cursor, from the first.
    pub cursor_row: usize,
    /// Position of the cursor in its row, in bytes.
    pub cursor: usize,
}

impl Default for InputRows {
    fn default() -> Self {
        Self { rows: vec![String::new()], cursor_row: 0, cursor: 0 }
    }
}

impl InputRows {
    /// Returns one row with the label and as much of the text around the cursor as fits.
    pub fn single(label: &str, before: &str, after: &str, columns: usize) -> Self {
        let room = columns.saturating_sub(1 + text_width(label));
        let (before, after) = near(before, after);
        let (before, after) = (blank(before), blank(after));
        // Some of the text right of the cursor is always visible.
        let before_room = room - text_width(&after).min(room / 3);
        let (before_length, before_cells) = fitting(before.graphemes(true).rev(), before_room);
        let (after_length, _) = fitting(after.graphemes(true), room - before_cells);
        let start = before.len() - before_length;
        let row = format!("{label}{}{}", &before[start..], &after[..after_length]);
        Self { rows: vec![row], cursor_row: 0, cursor: label.len() + before_length }
    }

    /// Returns all lines of the text, broken between words, on at most `height` rows around the
    /// cursor.
    pub fn wrapped(
        labels: RowLabels<'_>,
        before: &str,
        after: &str,
        (columns, height): (usize, usize),
    ) -> Self {
        Layout::around_cursor(labels, before, after, columns).rows.around_cursor(height.max(3))
    }

    /// Returns the position of the cursor in the text, in bytes, after a move to the row above or
    /// below, in the column that is nearest; `None` if there is no such row. The rows are those of
    /// [`Self::wrapped`].
    pub fn moved(
        labels: RowLabels<'_>,
        before: &str,
        after: &str,
        columns: usize,
        is_down: bool,
    ) -> Option<usize> {
        let layout = Layout::around_cursor(labels, before, after, columns);
        let from = layout.rows.cursor_row;
        let row = if is_down { from + 1 } else { from.checked_sub(1)? };
        let column = text_width(layout.rows.left_of_cursor());
        let (near_before, near_after) = near(before, after);
        let place = layout.place(&[near_before, near_after].concat(), row, column)?;
        Some(before.len() - near_before.len() + place)
    }

    /// Returns the rows of a prompt that stays on the page.
    pub fn kept(label: &str, text: &str, columns: usize) -> Self {
        let mut layout = Layout::new(RowLabels::new(label), columns);
        layout.add(&kept_text(text));
        layout.mark_cursor();
        layout.rows
    }

    /// Keeps `height` rows around the cursor, with marks for the others.
    fn around_cursor(mut self, height: usize) -> Self {
        let count = self.rows.len();
        if count > height {
            let start = self.cursor_row.saturating_sub(height - 2).min(count - height);
            self.rows.truncate(start + height);
            self.rows.drain(..start);
            self.cursor_row -= start;
            if start > 0 {
                MARK.clone_into(&mut self.rows[0]);
            }
            if start + height < count {
                MARK.clone_into(&mut self.rows[height - 1]);
            }
        }
        self
    }

    /// Returns the index of the last row.
    pub fn last(&self) -> usize {
        self.rows.len() - 1
    }

    /// Returns the text left of the cursor in its row.
    pub fn left_of_cursor(&self) -> &str {
        &self.rows[self.cursor_row][..self.cursor]
    }

    /// Returns true if the cursor is at the end of the last row.
    pub fn is_at_end(&self) -> bool {
        self.cursor_row == self.last() && self.cursor == self.rows[self.cursor_row].len()
    }

    /// Returns the width of the widest row, in cells.
    pub fn width(&self) -> usize {
        self.rows.iter().map(|row| text_width(row)).max().unwrap_or_default()
    }
}

/// Rows in progress.
struct Layout {
    rows: InputRows,
    continued: &'static str,
    folded: &'static str,
    columns: usize,
    /// Length of the label of the last row, in bytes.
    label: usize,
    /// Number of bytes of the text that are laid out.
    read: usize,
    /// Position in the text at which each row begins, and the width of its label, in cells.
    starts: Vec<(usize, usize)>,
    /// Position in the text at which the last word begins.
    word: usize,
    /// Position of the cursor in the text.
    cursor: Option<usize>,
    /// Width of the last row, in cells.
    width: usize,
    /// True after a blank that has no room in the row: the next character begins a new row.
    is_full: bool,
}

impl Layout {
    fn new(labels: RowLabels<'_>, columns: usize) -> Self {
        let RowLabels { first, continued, folded } = labels;
        let rows = InputRows { rows: vec![first.to_owned()], ..InputRows::default() };
        let (label, width) = (first.len(), text_width(first));
        let (read, starts, word) = (0, vec![(0, width)], 0);
        let (cursor, is_full) = (None, false);
        Self { rows, continued, folded, columns, label, read, starts, word, cursor, width, is_full }
    }

    /// Lays out the text on either side of the cursor, as far as it is considered for display.
    fn around_cursor(labels: RowLabels<'_>, before: &str, after: &str, columns: usize) -> Self {
        let (near_before, near_after) = near(before, after);
        let first = if near_before.len() < before.len() { MARK } else { labels.first };
        let mut layout = Self::new(RowLabels { first, ..labels }, columns);
        layout.add(near_before);
        layout.mark_cursor();
        layout.add(near_after);
        layout
    }

    fn add(&mut self, text: &str) {
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.read += 1;
                self.begin_row(self.continued, "", self.read);
            }
            for character in line.graphemes(true) {
                let shown = blank(character);
                self.add_character(&shown);
                self.read += character.len();
                if shown == " " {
                    self.word = self.read;
                }
            }
        }
    }

    fn add_character(&mut self, character: &str) {
        let cells = character.width();
        let overflows = self.width + cells >= self.columns;
        if overflows && character == " " {
            self.is_full = true;
            return;
        }
        if self.is_full {
            self.begin_row(self.folded, "", self.read);
        } else if overflows {
            self.move_word();
        }
        let row = self.row();
        self.rows.rows[row].push_str(character);
        self.width += cells;
    }

    /// Moves the last word of the row to a new row. A word that fills its row is broken.
    fn move_word(&mut self) {
        let row = self.row();
        let start = self.rows.rows[row][self.label..].rfind(' ').map_or(0, |blank| blank + 1);
        if start == 0 {
            return self.begin_row(self.folded, "", self.read);
        }
        let start = self.label + start;
        let word = self.rows.rows[row].split_off(start);
        self.begin_row(self.folded, &word, self.word);
        if self.cursor.is_some() && self.rows.cursor_row == row && self.rows.cursor >= start {
            self.rows.cursor_row += 1;
            self.rows.cursor = self.rows.cursor - start + self.folded.len();
        }
    }

    /// Begins a row with the text from the position `start` on.
    fn begin_row(&mut self, label: &str, text: &str, start: usize) {
        let row = format!("{label}{text}");
        (self.width, self.label, self.is_full) = (text_width(&row), label.len(), false);
        self.rows.rows.push(row);
        self.starts.push((start, text_width(label)));
        if self.cursor == Some(start) {
            // The cursor is where a typed character would be.
            (self.rows.cursor_row, self.rows.cursor) = (self.row(), label.len());
        }
    }

    /// Returns the position in the text that is shown in this column of a row, or as near as the
    /// row has one; `None` if there is no such row.
    fn place(&self, text: &str, row: usize, column: usize) -> Option<usize> {
        let (mut place, mut width) = *self.starts.get(row)?;
        let next = self.starts.get(row + 1).map(|(start, _)| *start);
        for character in text[place..next.unwrap_or(text.len())].graphemes(true) {
            width += blank(character).width();
            let is_end = character.ends_with('\n') || next == Some(place + character.len());
            if is_end || width > column {
                break;
            }
            place += character.len();
        }
        Some(place)
    }

    fn mark_cursor(&mut self) {
        self.cursor = Some(self.read);
        self.rows.cursor_row = self.row();
        self.rows.cursor = self.rows.rows[self.row()].len();
    }

    fn row(&self) -> usize {
        self.rows.last()
    }
}

/// Returns the width of a text, in cells.
pub fn text_width(text: &str) -> usize {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.len();
    }
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// Returns the parts of a text on either side of the cursor that are considered for display.
fn near<'a>(before: &'a str, after: &'a str) -> (&'a str, &'a str) {
    let start = before.floor_char_boundary(before.len().saturating_sub(NEAR));
    (&before[start..], &after[..after.floor_char_boundary(NEAR)])
}

/// Returns the beginning of a prompt that is too long to stay whole on the page, with a note.
fn kept_text(text: &str) -> Cow<'_, str> {
    let line = text.match_indices('\n').nth(KEPT_LINES - 1).map_or(text.len(), |(at, _)| at);
    let end = text.floor_char_boundary(line.min(KEPT_BYTES));
    let (shown, hidden) = text.split_at(end);
    if hidden.is_empty() {
        return text.into();
    }
    format!("{shown}\n[Not shown: characters {}.]", hidden.chars().count()).into()
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
fn blank(text: &str) -> Cow<'_, str> {
    let is_blank = |letter: char| letter.is_control() || acts_on_terminal(letter);
    if text.contains(is_blank) { text.replace(is_blank, " ").into() } else { text.into() }
}

#[cfg(test)]
mod tests;
