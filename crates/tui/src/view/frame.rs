//! The live rows: what is in progress, the question or the input, and the state of the session.

use std::path::Path;
use std::time::Instant;

use pollux_input::{COMMAND_WAITS, InputRows, VimMode, git_branch, memory_in_use};
use pollux_protocol::plain_text::{for_terminal, one_line};
use pollux_protocol::{ApprovalMode, SessionFacts};

use super::View;
use crate::background;
use crate::fold::cut_to;
use crate::picker::Picker;
use crate::queue;
use crate::row::{Look, Row};
use crate::sheet;
use crate::surface::Frame;
use crate::ui_settings::FooterItem;

/// Minimum height of a terminal on which blank rows separate the input.
const HEIGHT_WITH_BLANKS: usize = 8;
/// Minimum height of a terminal with a row about the session.
const HEIGHT_WITH_FOOTER: usize = 6;
/// Maximum width of the name of a model or branch, in cells.
const LONGEST_NAME: usize = 40;
/// Mark for parts of the last row that have no room.
const CUT: &str = " …";
/// Part of the context, in percent, from which on its number has the look of a warning.
const FULL: u64 = 80;

impl View<'_> {
    /// Returns the rows in progress, as far as they have room, and below them the question or the
    /// input, with the state of the session. On the alternate screen the user can scroll through
    /// all rows in progress.
    pub(super) fn rows(&mut self, now: Instant) -> (Vec<Row>, Frame) {
        let (columns, height) = self.size;
        let cells = columns - 1;
        let asked = self.dialog.as_mut();
        let last_key = self.keyboard.last_key;
        let asked = asked.map(|dialog| dialog.frame((cells, height), now, last_key));
        let below = match asked {
            Some(mut frame) => {
                if !self.appearance.ui.collapses {
                    self.put_lists_above(&mut frame);
                }
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
        if !self.screen.is_alternate() {
            rows.drain(..rows.len().saturating_sub(room));
        }
        self.link_places(&mut rows);
        (rows, below)
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
            if self.command_input.is_asked() {
                rows.push(Row::new(Look::Yellow, cut_to(COMMAND_WAITS, cells)));
            }
        }
        let has_footer = height >= HEIGHT_WITH_FOOTER && !self.appearance.ui.hides_footer;
        let footer = has_footer.then(|| self.footer(cells));
        let taken = rows.len() + usize::from(footer.is_some());
        let room = height.saturating_sub(taken).max(1);
        let input = (height / 3).clamp(1, room);
        let asked = self.command_input.row().filter(|_| !self.is_drafting(now));
        let mut input = if let Some((label, before, after)) = asked {
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

    /// Puts the to-do list and the queue above a question, as far as there is room.
    fn put_lists_above(&self, frame: &mut Frame) {
        let (columns, height) = self.size;
        let cells = columns - 1;
        let mut rows = self.story.todo_rows(self.has_todos, height / 3);
        let queued: Vec<&str> = self.workload.queue().collect();
        rows.extend(queue::rows(&queued, self.chosen, cells));
        if frame.rows.len() + rows.len() < height {
            frame.cursor.0 += rows.len();
            frame.rows.splice(0..0, rows);
        }
    }

    /// Returns the row about the session. Parts that have no room are left out.
    fn footer(&self, cells: usize) -> Row {
        let (mode, look) = match self.mode {
            ApprovalMode::Default => ("ask before changes", Look::Dim),
            ApprovalMode::AutoEdit => ("auto-accept edits", Look::Dim),
            ApprovalMode::Plan => ("plan", Look::Dim),
            ApprovalMode::Yolo => ("YOLO: nothing is asked", Look::Yellow),
        };
        let background = (!self.background.is_empty())
            .then(|| (Look::Plain, background::counted(self.background.len())));
        let items = self.appearance.ui.footer.iter().filter_map(|item| self.footer_item(*item));
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
        let mut is_cut = false;
        for (look, part) in background.into_iter().chain(items) {
            let part = Row::new(Look::Dim, " · ").with(look, &part);
            if row.width() + part.width() <= cells {
                row.append(&part);
            } else {
                is_cut = true;
            }
        }
        if is_cut && row.width() + CUT.chars().count() <= cells {
            row.push(Look::Dim, CUT);
        }
        row
    }

    /// Returns an item of the last row with its look; `None` if there is nothing to show.
    fn footer_item(&self, item: FooterItem) -> Option<(Look, String)> {
        let has_labels = self.appearance.ui.has_labels;
        let labelled = |label: &str, value: String| {
            if has_labels { format!("{label} {value}") } else { value }
        };
        let text = match item {
            FooterItem::Workspace => self.place.clone(),
            FooterItem::GitBranch => cut_to(self.session.branch.as_deref()?, LONGEST_NAME),
            FooterItem::Sandbox if self.session.is_trusted => return None,
            FooterItem::Sandbox => return Some((Look::Yellow, "not trusted".to_owned())),
            FooterItem::ModelName => {
                cut_to(&one_line(&for_terminal(self.story.model())), LONGEST_NAME)
            }
            FooterItem::ContextUsed => {
                let used = self.story.context()?;
                let look = if used >= FULL { Look::Yellow } else { Look::Dim };
                return Some((look, labelled("context", format!("{used}%"))));
            }
            FooterItem::MemoryUsage => labelled("memory", format!("{} MB", memory_in_use()?)),
            FooterItem::SessionId => labelled("session", self.session.id.chars().take(8).collect()),
            FooterItem::TokenCount if self.counts.tokens == 0 => return None,
            FooterItem::TokenCount => labelled("tokens", self.counts.tokens.to_string()),
        };
        Some((Look::Dim, text))
    }
}

/// Facts of a session for the last row.
#[derive(Debug)]
pub(super) struct FooterFacts {
    id: String,
    is_trusted: bool,
    /// Branch of the repository, as it was last read.
    branch: Option<String>,
}

impl FooterFacts {
    pub(super) fn of(facts: &SessionFacts) -> Self {
        let branch = git_branch(&facts.folder);
        Self { id: facts.id.clone(), is_trusted: facts.is_trusted, branch }
    }

    /// Reads the branch again.
    pub(super) fn read_branch(&mut self, folder: &Path) {
        self.branch = git_branch(folder);
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
