//! Output of the conversation: lines in order, and below them the input line.
//!
//! The output uses only printable characters, colours, line ends, carriage returns and backspaces:
//! it never positions the cursor, and printed text never changes, except for the input and a screen
//! that the user clears. The cursor moves up only inside an input of several rows. Pure: the output
//! goes to a buffer.

use pollux_input::{
    InputRows, RowLabels, Tone, TonedLine, WindowSize, WordWrap, clipboard_sequence, rows_of,
    text_width,
};
use pollux_protocol::plain_text::{AnsiStripper, for_terminal};

use crate::colour::paint;

/// Minimum width for terminals that report no width or an implausible one.
const NARROWEST: usize = 20;
/// Number of rows of a terminal that does not report it.
const ROWS: usize = 24;

/// The page and its current content.
#[derive(Debug)]
pub(super) struct Page {
    buffer: Vec<u8>,
    columns: usize,
    /// Number of rows of the terminal.
    height: usize,
    look: PageLook,
    /// True if the last line has no end yet.
    mid_line: bool,
    /// Input; `None` while it is hidden.
    input: Option<InputRows>,
    /// True if the input is a status, which does not stay on the page.
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
    /// True if the input is shown on one row, so that the cursor never moves up.
    pub(super) one_row: bool,
}

impl Page {
    /// Creates an empty page.
    pub(super) fn new(columns: usize, look: PageLook) -> Self {
        Self {
            buffer: Vec::new(),
            columns: columns.max(NARROWEST),
            height: ROWS,
            look,
            mid_line: false,
            input: None,
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
        for line in text.split('\n') {
            self.print_line(&TonedLine::new(tone, line));
        }
    }

    /// Prints one or more whole lines that break between words even if they are indented.
    pub(super) fn prose(&mut self, tone: Tone, text: &str) {
        for line in text.split('\n') {
            self.print_line(&TonedLine::prose(tone, line));
        }
    }

    /// Prints lines, each with its meaning.
    pub(super) fn lines(&mut self, lines: &[TonedLine]) {
        for line in lines {
            self.print_line(line);
        }
    }

    fn print_line(&mut self, line: &TonedLine) {
        self.end_stream();
        self.hide();
        let tone = if self.look.coloured { line.tone } else { Tone::Plain };
        for row in rows_of(line, self.columns).split('\n') {
            self.push(&paint(tone, row));
            self.push("\n");
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

    /// Asks the terminal to put a text into the clipboard. Nothing becomes visible.
    pub(super) fn copy(&mut self, text: &str) {
        self.push(&clipboard_sequence(text));
    }

    /// Returns the width of the terminal, in cells.
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Returns true if the terminal itself shows the typed text.
    pub(super) fn is_echoing(&self) -> bool {
        self.look.echoing
    }

    /// Returns true if each line of a prompt that is being typed has its own input line.
    pub(super) fn has_one_row(&self) -> bool {
        self.look.one_row || self.look.echoing
    }

    /// Shows the input, or updates it.
    pub(super) fn show(&mut self, label: &str, before: &str, after: &str) {
        if self.mid_line || (self.look.echoing && self.input.is_some()) {
            return;
        }
        self.is_status = false;
        let input = if self.look.echoing {
            InputRows::kept(label, "", usize::MAX)
        } else if self.look.one_row {
            InputRows::single(label, before, after, self.columns)
        } else {
            // One row is left for the line above the input.
            let room = (self.columns, self.height.saturating_sub(1));
            InputRows::wrapped(RowLabels::new(label), before, after, room)
        };
        self.replace(input);
    }

    /// Shows a status in place of the input. A terminal that echoes could not remove it.
    pub(super) fn show_status(&mut self, text: &str) {
        if self.look.echoing {
            self.hide();
        } else if !self.mid_line {
            self.replace(InputRows::single("", text, "", self.columns));
            self.is_status = true;
        }
    }

    fn replace(&mut self, input: InputRows) {
        let old = self.input.take().unwrap_or_default();
        self.redraw(&old, &input);
        self.input = Some(input);
    }

    /// Clears the screen; the input follows at the top.
    pub(super) fn clear_screen(&mut self) {
        self.input = None;
        self.push("\u{1b}[H\u{1b}[2J");
    }

    /// Turns the input into ordinary lines: the typed text stays on the page.
    pub(super) fn keep_row(&mut self) {
        self.hide_status();
        if self.look.echoing {
            self.input = None;
        } else {
            self.leave_input();
        }
    }

    /// Turns the input into ordinary lines that show the whole prompt.
    pub(super) fn keep_prompt(&mut self, label: &str, text: &str) {
        let kept = InputRows::kept(label, text, self.columns);
        let is_cut = self.input.as_ref().is_some_and(|input| input.rows != kept.rows);
        if is_cut && !self.look.echoing {
            self.replace(kept);
        }
        self.keep_row();
    }

    /// Prints a prompt that was not typed.
    pub(super) fn print_prompt(&mut self, label: &str, text: &str) {
        let rows = InputRows::kept(label, &for_terminal(text), self.columns).rows;
        self.end_stream();
        self.hide();
        self.push(&(rows.join("\n") + "\n"));
    }

    /// Moves the cursor to the line after the input.
    fn leave_input(&mut self) {
        if let Some(input) = self.input.take() {
            self.push(&"\n".repeat(input.last() - input.cursor_row + 1));
        }
    }

    fn hide_status(&mut self) {
        if self.is_status {
            self.hide();
        }
    }

    /// Removes the input. A terminal that echoes cannot remove it; there the line is ended.
    pub(super) fn hide(&mut self) {
        self.is_status = false;
        match self.input.take() {
            None => {}
            Some(_) if self.look.echoing => self.push("\n"),
            Some(input) if input.last() == 0 => {
                self.push(&format!("\r{}\r", " ".repeat(input.width())));
            }
            Some(input) => {
                self.move_up(input.cursor_row);
                self.push("\r\u{1b}[J");
            }
        }
    }

    /// Sets a new size. If rows of the input may have been wrapped by the terminal, their position
    /// is unknown, so the input starts on a new line.
    pub(super) fn resize(&mut self, size: WindowSize) {
        self.columns = usize::from(size.columns).max(NARROWEST);
        self.height = size.rows.map_or(ROWS, Into::into);
        if self
            .input
            .as_ref()
            .is_some_and(|input| input.width() >= self.columns || input.last() >= self.height)
        {
            self.restart_input_line();
        }
    }

    /// Starts a new line for the input, because other programs may have printed text.
    pub(super) fn restart_input_line(&mut self) {
        self.hide_status();
        self.leave_input();
    }

    /// Replaces the old input on the screen. Rows above the first difference stay.
    fn redraw(&mut self, old: &InputRows, new: &InputRows) {
        if old == new {
            return;
        }
        let same = old.rows.iter().zip(&new.rows).take_while(|(old, new)| old == new).count();
        let first = same.min(old.last()).min(new.last());
        let (was, is) = (&old.rows[first], &new.rows[first]);
        let is_last = first == old.last() && old.is_at_end();
        let mut printed = text_width(is);
        if is_last && let Some(added) = is.strip_prefix(was.as_str()) {
            self.push(added);
        } else if is_last && new.is_at_end() && first == new.last() && was.starts_with(is) {
            let cells = text_width(was) - text_width(is);
            for piece in ["\u{8}", " ", "\u{8}"] {
                self.push(&piece.repeat(cells));
            }
        } else {
            self.move_up(old.cursor_row.saturating_sub(first));
            self.push(&"\n".repeat(first.saturating_sub(old.cursor_row)));
            self.push("\r");
            printed = self.print_row(old, new, first);
        }
        for row in first + 1..new.rows.len() {
            self.push("\n");
            printed = self.print_row(old, new, row);
        }
        if old.last() > new.last() {
            self.push("\u{1b}[J");
        }
        let left = new.left_of_cursor();
        if new.cursor_row == new.last() {
            self.push(&"\u{8}".repeat(printed - text_width(left)));
        } else {
            self.move_up(new.last() - new.cursor_row);
            self.push("\r");
            self.push(left);
        }
    }

    /// Prints a row over the row at its place; returns its width. A wider row is blanked out
    /// before, so that the text that the user continues to type follows the row in the output.
    fn print_row(&mut self, old: &InputRows, new: &InputRows, row: usize) -> usize {
        let covered = old.rows.get(row).map_or(0, |row| text_width(row));
        let cells = text_width(&new.rows[row]);
        if covered > cells {
            self.push(&format!("{}\r", " ".repeat(covered)));
        }
        self.push(&new.rows[row]);
        cells
    }

    fn move_up(&mut self, rows: usize) {
        if rows > 0 {
            self.push(&format!("\u{1b}[{rows}A"));
        }
    }

    fn push(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests;
