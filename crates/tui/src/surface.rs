//! The part of the screen that changes: the live rows at the end of the terminal's own text.
//!
//! Finished rows are written once, above the live rows, and belong to the terminal from then on: it
//! scrolls them, searches them and folds them when its width changes. The live rows are compared
//! with those on the screen, and each row that differs is written whole, from its first column. No
//! row reaches the last column, and nothing outside of the live rows is ever erased. Pure: the
//! result is bytes.

use crate::palette::Palette;
use crate::row::Row;

/// Begin and end of a synchronised update, which a terminal shows at once.
const BEGIN: &[u8] = b"\x1b[?2026h";
const END: &[u8] = b"\x1b[?2026l";

/// The live rows, and the position of the cursor in them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) rows: Vec<Row>,
    /// Row and column of the cursor.
    pub(crate) cursor: (usize, usize),
}

/// Reaction of a terminal to a smaller width.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Narrowing {
    /// Rows that are too wide continue on the next row.
    #[default]
    Folds,
    /// Rows that are too wide are cut.
    Cuts,
}

/// The live rows on the screen.
#[derive(Debug)]
pub(crate) struct Surface {
    columns: usize,
    height: usize,
    palette: Palette,
    narrowing: Narrowing,
    /// Rows on the screen, at least one.
    shown: Vec<Row>,
    /// Row and column of the cursor.
    cursor: (usize, usize),
    /// Bytes that must precede the next frame.
    pending: Vec<u8>,
}

impl Surface {
    /// Creates a surface that begins at the row of the cursor, which is empty.
    pub(crate) fn new(
        (columns, height): (usize, usize),
        palette: Palette,
        narrowing: Narrowing,
    ) -> Self {
        Self {
            columns: columns.max(2),
            height: height.max(1),
            palette,
            narrowing,
            shown: vec![Row::default()],
            cursor: (0, 0),
            pending: Vec::new(),
        }
    }

    /// Returns the bytes that write the finished rows and show the frame. A frame that is higher
    /// than the screen loses its first rows.
    pub(crate) fn draw(&mut self, finished: Vec<Row>, mut frame: Frame) -> Vec<u8> {
        let hidden = frame.rows.len().saturating_sub(self.height);
        frame.rows.drain(..hidden);
        frame.cursor.0 = frame.cursor.0.saturating_sub(hidden);
        let above = finished.len();
        let mut rows = finished;
        rows.append(&mut frame.rows);
        for row in &mut rows {
            row.cut(self.columns - 1);
        }
        if rows.is_empty() {
            rows.push(Row::default());
        }
        let cursor = (above + frame.cursor.0, frame.cursor.1);
        let pending = std::mem::take(&mut self.pending);
        let mut writer = Writer::new(self);
        if rows.len() > self.height {
            writer.write_all(&rows);
        } else {
            writer.update(&rows);
        }
        writer.place_cursor(cursor);
        let bytes = writer.finish(pending);
        rows.drain(..above.min(rows.len() - 1));
        self.shown = rows;
        self.cursor = frame.cursor;
        bytes
    }

    /// Returns the bytes that show a frame on a screen with nothing else. Rows that have moved up
    /// are scrolled.
    pub(crate) fn draw_whole(&mut self, frame: Frame) -> Vec<u8> {
        let moved = self.moved_up(&frame.rows);
        if moved > 0 {
            // A line feed in the last row scrolls.
            let down = self.height - 1 - self.cursor.0 + moved;
            self.pending.extend(std::iter::repeat_n(b'\n', down));
            self.cursor = (self.height - 1, 0);
            self.shown.drain(..moved);
            self.shown.extend(std::iter::repeat_n(Row::default(), moved));
        }
        self.draw(Vec::new(), frame)
    }

    /// Returns the number of rows by which most rows of a full screen have moved up.
    fn moved_up(&self, rows: &[Row]) -> usize {
        let is_full = self.shown.len() == self.height && rows.len() == self.height;
        if !is_full || self.shown[0] == rows[0] {
            return 0;
        }
        let has_moved = |by: &usize| {
            let moved = self.shown[*by..].iter().zip(rows);
            moved.take_while(|(old, new)| old == new).count() > self.height / 2
        };
        (1..self.height).find(has_moved).unwrap_or(0)
    }

    /// Begins at the first row of a screen of this size, which is empty.
    pub(crate) fn restart(&mut self, (columns, height): (usize, usize)) {
        (self.columns, self.height) = (columns.max(2), height.max(1));
        self.forget();
    }

    /// Returns and removes the sequences for the next frame.
    pub(crate) fn take_pending(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.pending)
    }

    /// Sets a new size. The live rows are erased, as many as they occupy at the new width.
    pub(crate) fn resize(&mut self, (columns, height): (usize, usize)) {
        let height = height.max(1);
        if (columns, height) == (self.columns, self.height) {
            return;
        }
        let columns = columns.max(2);
        let rows = |row: &Row| match self.narrowing {
            Narrowing::Folds => row.width().div_ceil(columns).max(1),
            Narrowing::Cuts => 1,
        };
        let above: usize = self.shown[..self.cursor.0].iter().map(rows).sum();
        let inside = match self.narrowing {
            Narrowing::Folds => self.cursor.1 / columns,
            Narrowing::Cuts => 0,
        };
        (self.columns, self.height) = (columns, height);
        self.erase(above + inside);
    }

    /// Erases the live rows and everything below.
    fn erase(&mut self, rows_above_cursor: usize) {
        let mut bytes = Vec::new();
        if rows_above_cursor > 0 {
            bytes.extend_from_slice(sequence(rows_above_cursor, 'A').as_bytes());
        }
        bytes.extend_from_slice(b"\r\x1b[J");
        self.pending.extend_from_slice(&bytes);
        self.forget();
    }

    /// Removes the live rows; returns the bytes. The cursor is at the start of an empty row.
    pub(crate) fn remove(&mut self) -> Vec<u8> {
        self.erase(self.cursor.0);
        std::mem::take(&mut self.pending)
    }

    /// Begins at the row of the cursor, because other programs have printed text.
    pub(crate) fn forget(&mut self) {
        self.shown = vec![Row::default()];
        self.cursor = (0, 0);
    }

    /// Sets the colours. The live rows are drawn again with them.
    pub(crate) fn set_palette(&mut self, palette: Palette) {
        if palette != self.palette {
            self.palette = palette;
            self.erase(self.cursor.0);
        }
    }

    /// Returns the colours.
    pub(crate) fn palette(&self) -> &Palette {
        &self.palette
    }

    /// Sends a sequence that shows nothing, before the next frame.
    pub(crate) fn send(&mut self, sequence: &str) {
        self.pending.extend_from_slice(sequence.as_bytes());
    }

    /// Moves everything above the live rows out of the visible screen, for a user who has asked for
    /// that. Nothing is erased: the rows scroll, and stay above the screen.
    pub(crate) fn clear_screen(&mut self) {
        self.erase(self.cursor.0);
        let rows = self.height - 1;
        if rows > 0 {
            self.pending.extend(std::iter::repeat_n(b'\n', rows));
            self.pending.extend_from_slice(sequence(rows, 'A').as_bytes());
        }
    }
}

/// Writer of one frame. Rows are counted from the first live row on the screen.
struct Writer<'a> {
    shown: &'a [Row],
    palette: &'a Palette,
    bytes: Vec<u8>,
    /// Row of the cursor.
    row: usize,
    /// Column of the cursor; `None` if it is somewhere in its row.
    column: Option<usize>,
    /// Number of rows that were written.
    written: usize,
}

impl<'a> Writer<'a> {
    fn new(surface: &'a Surface) -> Self {
        Self {
            shown: &surface.shown,
            palette: &surface.palette,
            bytes: Vec::new(),
            row: surface.cursor.0,
            column: Some(surface.cursor.1),
            written: 0,
        }
    }

    /// Writes all rows one below the other; the screen scrolls as often as necessary.
    fn write_all(&mut self, rows: &[Row]) {
        self.move_to(0);
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                self.next_row();
            }
            self.write(row, usize::MAX);
        }
    }

    /// Changes the rows that differ. All of them fit on the screen.
    fn update(&mut self, rows: &[Row]) {
        let old = self.shown;
        let shared = old.len().min(rows.len());
        let head = old.iter().zip(rows).take_while(|(old, new)| old == new).count();
        let tail = old.iter().rev().zip(rows.iter().rev());
        let tail = tail.take_while(|(old, new)| old == new).count().min(shared - head);
        // Widths of what is on the screen at the place of each row.
        let mut there: Vec<usize> = old.iter().map(Row::width).collect();
        if tail > 0 && rows.len() > old.len() {
            let grown = rows.len() - old.len();
            self.move_to(old.len() - 1);
            self.down(grown);
            self.move_to(old.len() - tail);
            self.push(&sequence(grown, 'L'));
            there.splice(old.len() - tail..old.len() - tail, std::iter::repeat_n(0, grown));
        } else if tail > 0 && rows.len() < old.len() {
            let gone = old.len() - rows.len();
            self.move_to(rows.len() - tail);
            self.push(&sequence(gone, 'M'));
            there.drain(rows.len() - tail..old.len() - tail);
        }
        for index in head..rows.len() - tail {
            let is_same = old.get(index) == Some(&rows[index]) && index < old.len() - tail;
            if is_same {
                continue;
            }
            if index >= there.len() {
                if self.row != index - 1 {
                    self.move_to(index - 1);
                }
                self.next_row();
                there.push(0);
            }
            self.move_to(index);
            self.write(&rows[index], there[index]);
        }
        if tail == 0 && rows.len() < old.len() {
            self.move_to(rows.len());
            self.push("\x1b[J");
        }
    }

    /// Writes a row over what is there, which has this width.
    fn write(&mut self, row: &Row, there: usize) {
        if self.column != Some(0) {
            self.bytes.push(b'\r');
        }
        row.encode(self.palette, &mut self.bytes);
        if row.width() < there {
            self.push("\x1b[K");
        }
        self.column = None;
        self.written += 1;
    }

    /// Moves to the first column of a row that exists.
    fn move_to(&mut self, row: usize) {
        self.move_in_column(row);
        if self.column != Some(0) {
            self.bytes.push(b'\r');
            self.column = Some(0);
        }
    }

    /// Moves to a row that exists, by the shortest sequence, which may also move to the first
    /// column.
    fn move_in_column(&mut self, row: usize) {
        match row.checked_sub(self.row) {
            // The terminal receives two bytes for a line feed.
            Some(rows @ ..=2) => self.down(rows),
            Some(rows) => self.push(&sequence(rows, 'B')),
            None => self.push(&sequence(self.row - row, 'A')),
        }
        self.row = row;
    }

    /// Moves down to the first column, by line feeds, which scroll at the end of the screen.
    fn down(&mut self, rows: usize) {
        if rows == 0 {
            return;
        }
        self.push(&"\n".repeat(rows));
        self.row += rows;
        self.column = Some(0);
    }

    fn next_row(&mut self) {
        self.down(1);
    }

    fn place_cursor(&mut self, (row, column): (usize, usize)) {
        if row == self.row && Some(column) == self.column {
            return;
        }
        self.move_in_column(row);
        if column == 0 && self.column != Some(0) {
            self.bytes.push(b'\r');
        } else if Some(column) != self.column {
            self.push(&sequence(column + 1, 'G'));
        }
        self.column = Some(column);
    }

    fn push(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Returns the bytes, after those that must precede them. An update of a single row needs no
    /// synchronisation.
    fn finish(self, before: Vec<u8>) -> Vec<u8> {
        let mut bytes = before;
        if bytes.is_empty() && self.written <= 1 {
            return self.bytes;
        }
        bytes.splice(..0, BEGIN.iter().copied());
        bytes.extend_from_slice(&self.bytes);
        bytes.extend_from_slice(END);
        bytes
    }
}

/// Returns a control sequence with a number, which is left out if it is 1.
fn sequence(number: usize, kind: char) -> String {
    if number == 1 { format!("\x1b[{kind}") } else { format!("\x1b[{number}{kind}") }
}

#[cfg(test)]
mod tests;
