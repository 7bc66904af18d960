//! The live rows: what is in progress, the question or the input, and the state of the session.

use std::path::Path;
use std::time::Instant;

use pollux_input::{InputRows, VimMode};
use pollux_protocol::ApprovalMode;
use pollux_protocol::plain_text::{for_terminal, one_line};

use super::View;
use crate::background;
use crate::fold::cut_to;
use crate::picker::Picker;
use crate::queue;
use crate::row::{Look, Row};
use crate::sheet;
use crate::surface::Frame;

/// Minimum height of a terminal on which blank rows separate the input.
const HEIGHT_WITH_BLANKS: usize = 8;
/// Minimum height of a terminal with a row about the session.
const HEIGHT_WITH_FOOTER: usize = 6;
/// Part of the context, in percent, from which on its number has the look of a warning.
const FULL: u64 = 80;

impl View<'_> {
    /// Returns the live rows.
    pub(super) fn frame(&mut self, now: Instant) -> Frame {
        let (columns, height) = self.size;
        let cells = columns - 1;
        let mut below = match &mut self.dialog {
            Some(dialog) => {
                let mut frame = dialog.frame((cells, height), now, self.keyboard.last_key);
                let has_room = frame.rows.len() < height;
                if has_room && self.story.has_rows() {
                    frame.rows.insert(0, Row::default());
                    frame.cursor.0 += 1;
                }
                frame
            }
            None => match &self.picker {
                Some(picker) => self.picker_frame(picker),
                None => self.input_frame(now),
            },
        };
        let room = height.saturating_sub(below.rows.len());
        let mut rows = self.story.live_rows(now);
        rows.drain(..rows.len().saturating_sub(room));
        let above = rows.len();
        rows.append(&mut below.rows);
        Frame { rows, cursor: (above + below.cursor.0, below.cursor.1) }
    }

    /// Returns the list in place of the input, below a blank row.
    fn picker_frame(&self, picker: &Picker) -> Frame {
        let (columns, height) = self.size;
        let has_blank = height >= HEIGHT_WITH_BLANKS && self.story.has_rows();
        let above = usize::from(has_blank);
        let mut frame = picker.frame(columns - 1, height - above);
        frame.rows.splice(0..0, std::iter::repeat_n(Row::default(), above));
        frame.cursor.0 += above;
        frame
    }

    /// Returns the status, the queue, the input and the row about the session.
    fn input_frame(&self, now: Instant) -> Frame {
        let (columns, height) = self.size;
        let cells = columns - 1;
        let mut rows = Vec::new();
        if height >= HEIGHT_WITH_BLANKS && self.story.has_rows() {
            rows.push(Row::default());
        }
        let status = match &self.toast {
            Some(toast) => Some(Row::new(Look::Yellow, cut_to(toast.text(), cells))),
            None => self.story.status.row(&self.story.calls, now, cells),
        };
        // A terminal with a single row only has room for the input.
        rows.extend(status.filter(|_| height > 1));
        if height >= HEIGHT_WITH_BLANKS {
            rows.extend(self.story.todo_rows(self.has_todos, height / 3));
            if let Some(panel) = &self.panel {
                rows.extend(panel.rows(&self.background, now, cells));
            }
            let queued: Vec<&str> = self.workload.queue().collect();
            rows.extend(queue::rows(&queued, self.chosen, cells));
        }
        let footer = (height >= HEIGHT_WITH_FOOTER).then(|| self.footer(cells));
        let taken = rows.len() + usize::from(footer.is_some());
        let room = height.saturating_sub(taken).max(1);
        let input = (height / 3).clamp(1, room);
        let mut input = if let Some((label, before, after)) = self.command_input.row() {
            command_frame(label, before, after, columns)
        } else {
            self.composer.frame(columns, input, room.saturating_sub(input))
        };
        if self.has_sheet {
            // What is above scrolls out of the window, so not all of it is taken.
            let height = (height / 2).min(room.saturating_sub(input.rows.len()));
            input.rows.extend(sheet::rows(&self.keyboard.keys, cells, height));
        }
        let above = rows.len();
        rows.append(&mut input.rows);
        rows.extend(footer);
        Frame { rows, cursor: (above + input.cursor.0, input.cursor.1) }
    }

    /// Returns the row about the session. Parts that have no room are left out.
    fn footer(&self, cells: usize) -> Row {
        let (mode, look) = match self.mode {
            ApprovalMode::Default => ("ask before changes", Look::Dim),
            ApprovalMode::AutoEdit => ("auto-accept edits", Look::Dim),
            ApprovalMode::Plan => ("plan", Look::Dim),
            ApprovalMode::Yolo => ("YOLO: nothing is asked", Look::Yellow),
        };
        let context = self.story.context().map(|used| {
            (if used >= FULL { Look::Yellow } else { Look::Dim }, format!("context {used}%"))
        });
        let background = (!self.background.is_empty())
            .then(|| (Look::Plain, background::counted(self.background.len())));
        let model = one_line(&for_terminal(self.story.model()));
        let rest = [cut_to(&model, 40), self.place.clone()].map(|part| (Look::Dim, part));
        let mut row = Row::default();
        if let Some(mode) = self.composer.vim_mode() {
            let name = if mode == VimMode::Insert { "[INSERT] " } else { "[NORMAL] " };
            row.push(Look::Plain, &cut_to(name, cells));
        }
        if self.composer.is_shell() {
            let room = cells.saturating_sub(row.width());
            row.push(Look::Yellow, &cut_to("shell mode enabled (esc to disable)", room));
        } else {
            row.push(look, &cut_to(mode, cells.saturating_sub(row.width())));
        }
        for (look, part) in background.into_iter().chain(context).chain(rest) {
            let part = Row::new(Look::Dim, " · ").with(look, &part);
            if row.width() + part.width() <= cells {
                for (look, text) in part.pieces() {
                    row.push(look, text);
                }
            }
        }
        row
    }
}

/// Returns the input for a command that waits for it.
fn command_frame(label: &str, before: &str, after: &str, columns: usize) -> Frame {
    let input = InputRows::single(label, before, after, columns);
    let column = pollux_input::text_width(input.left_of_cursor());
    let rows = input.rows.iter().map(|row| Row::plain(row.as_str())).collect();
    Frame { rows, cursor: (0, column) }
}

/// Returns a folder as it is shown: with `~` for the home of the user.
pub(super) fn place(folder: &Path, home: Option<&Path>) -> String {
    let below = home.and_then(|home| folder.strip_prefix(home).ok());
    let text = match below {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => folder.display().to_string(),
    };
    one_line(&for_terminal(&text))
}
