//! The list of completions below the input. Pure.

use pollux_input::{Completion, is_command, text_width};
use pollux_protocol::CommandSet;

use crate::fold::{cut_start, cut_to};
use crate::row::{Look, Row};

/// Maximum number of completions that are shown at a time.
const SHOWN: usize = 8;
/// Maximum width of the column with the completions beside their descriptions, in cells.
const WIDEST: usize = 30;

/// Completions that the user can choose from.
pub(crate) struct Menu {
    completion: Completion,
    /// Completions with their descriptions.
    items: Vec<(String, String)>,
    selected: usize,
}

impl Menu {
    /// Creates a list for the text `typed`; `None` without completions. A completion that is the
    /// text itself is selected, otherwise the first.
    pub(crate) fn new(
        completion: Completion,
        lines: &[String],
        typed: &str,
        commands: &CommandSet,
    ) -> Option<Self> {
        if lines.is_empty() {
            return None;
        }
        let describe = |line: &String| {
            let command = line.strip_prefix('/').and_then(|name| commands.get(name));
            let description = command.map(|command| command.description().to_owned());
            (line.clone(), description.unwrap_or_default())
        };
        let is_typed = |line: &String| completion.replaced(line) == typed;
        let selected = lines.iter().position(is_typed).unwrap_or(0);
        Some(Self { completion, items: lines.iter().map(describe).collect(), selected })
    }

    /// Selects the completion that gives this text left of the cursor, if there is one.
    pub(crate) fn choose(&mut self, text: &str) {
        let is_it = |(line, _): &(String, String)| self.completion.replaced(line) == text;
        self.selected = self.items.iter().position(is_it).unwrap_or(self.selected);
    }

    /// Moves the selection by one, around the ends.
    pub(crate) fn select(&mut self, is_next: bool) {
        let count = self.items.len();
        let step = if is_next { 1 } else { count - 1 };
        self.selected = (self.selected + step) % count;
    }

    /// Returns the text left of the cursor with the selected completion.
    pub(crate) fn chosen(&self) -> String {
        self.completion.replaced(&self.items[self.selected].0)
    }

    /// Returns the rows, at most `height`.
    pub(crate) fn rows(&self, cells: usize, height: usize) -> Vec<Row> {
        let count = self.items.len().min(SHOWN).min(height.saturating_sub(1));
        let start = self.selected.saturating_sub(count / 2).min(self.items.len() - count);
        let shown = &self.items[start..start + count];
        let widest = shown.iter().map(|(line, _)| text_width(line)).max().unwrap_or(0);
        let has_descriptions = shown.iter().any(|(_, description)| !description.is_empty());
        let widest = if has_descriptions { widest.min(WIDEST) } else { widest };
        let mut rows: Vec<Row> = (start..)
            .zip(shown)
            .map(|(index, (line, description))| {
                let is_selected = index == self.selected;
                let (mark, look) =
                    if is_selected { ("> ", Look::Cyan) } else { ("  ", Look::Plain) };
                let room = widest.min(cells.saturating_sub(2));
                // The end of a path tells it from others.
                let line =
                    if is_command(line) { cut_to(line, room) } else { cut_start(line, room) };
                let gap = " ".repeat(widest.saturating_sub(text_width(&line)) + 2);
                let row = Row::new(look, mark).with(look, &line);
                let room = cells.saturating_sub(row.width() + gap.len());
                if description.is_empty() || room < 8 {
                    return row;
                }
                row.with(Look::Plain, &gap).with(Look::Dim, &cut_to(description, room))
            })
            .collect();
        if height > count {
            let (place, all) = (self.selected + 1, self.items.len());
            let enter = if is_command(&self.chosen()) { "Enter runs" } else { "Enter inserts" };
            let hint = format!("  {place} of {all} · {enter} · Tab completes · Esc closes");
            rows.push(Row::new(Look::Dim, cut_to(&hint, cells)));
        }
        rows
    }
}
