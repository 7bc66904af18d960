//! The transcript as rows of the screen. Pure.

use super::block::{highlighted, key_rows};
use super::pages::Side;
use super::{Asked, Pager};
use crate::fold::cut_to;
use crate::row::{Look, Row};
use crate::surface::Frame;

/// Number of blocks above and below the screen whose rows are kept.
const NEAR: i64 = 8;
/// Number of blocks above or below the screen at which the next page is read.
const AHEAD: i64 = 2;
/// Keys with their effects.
const KEYS: [(&str, &str); 13] = [
    ("Up, Down", "scroll by a row; also k and j"),
    ("PgUp, PgDn", "scroll by a screen; also b and Space"),
    ("g, G", "go to the start and to the end"),
    ("[, ]", "go to the previous and to the next prompt"),
    ("Tab, Shift+Tab", "choose the next and the previous part"),
    ("Enter", "folds or unfolds the chosen call or thoughts"),
    ("a", "folds or unfolds all of them"),
    ("/", "searches the whole transcript"),
    ("n, N", "go to the match above and to the one below"),
    ("y", "copies the chosen part through the terminal"),
    ("o", "opens the file that the match or the chosen part names"),
    ("?", "shows or hides these keys"),
    ("q, Esc, Ctrl+O", "back to the conversation"),
];

impl Pager {
    /// Returns the number of rows of the transcript on the screen.
    pub(super) fn body_height(&self) -> usize {
        self.size.1.saturating_sub(1 + self.key_rows().len()).max(1)
    }

    fn key_rows(&self) -> Vec<Row> {
        if !self.has_keys {
            return Vec::new();
        }
        let mut rows = key_rows(&KEYS, self.size.0);
        rows.truncate(self.size.1.saturating_sub(2) * 2 / 3);
        rows
    }

    /// Returns the rows of the screen; `note` is a message about the conversation.
    pub(crate) fn frame(&mut self, note: Option<&str>) -> Frame {
        let height = self.body_height();
        let numbers = self.pages.numbers();
        if self.is_at_end {
            self.top = self.last_top();
        } else if !numbers.contains(&self.top.0) {
            self.top = (self.top.0.clamp(numbers.start, (numbers.end - 1).max(numbers.start)), 0);
        }
        let mut rows = Vec::new();
        let (mut number, mut row) = self.top;
        let query = self.search.query().map(str::to_owned);
        while rows.len() < height && numbers.contains(&number) {
            let look = if number == self.chosen { Look::Cyan } else { Look::Plain };
            let mark = if number == self.chosen { "| " } else { "  " };
            let room = height - rows.len();
            for content in self.rows(number).iter().skip(row).take(room) {
                let mut shown = Row::new(look, mark);
                match &query {
                    Some(query) => shown.append(&highlighted(content, query)),
                    None => shown.append(content),
                }
                shown.trim_end();
                rows.push(shown);
            }
            (number, row) = (number + 1, 0);
        }
        self.pages.forget_rows_outside(&(self.top.0 - NEAR..number + NEAR));
        if self.top.0 - numbers.start < AHEAD {
            self.ask(Asked::More(Side::Earlier));
        }
        if numbers.end - number < AHEAD {
            self.ask(Asked::More(Side::Later));
        }
        rows.resize_with(height, Row::default);
        rows.extend(self.key_rows());
        let last = self.last_row(note);
        let column = last.width().min(self.size.0);
        rows.push(last);
        // A screen with a single row shows the last one.
        rows.drain(..rows.len().saturating_sub(self.size.1));
        let cursor = (rows.len() - 1, column);
        Frame { rows, cursor }
    }

    fn last_row(&self, note: Option<&str>) -> Row {
        let cells = self.size.0;
        if let Some(label) = self.search.label() {
            let mut row = Row::plain(label);
            row.cut(cells);
            return row;
        }
        if let Some(text) = self.message.as_deref().or(note) {
            return Row::new(Look::Yellow, cut_to(text, cells));
        }
        let is_empty = self.pages.numbers().is_empty();
        let state = match (self.seek, self.asked) {
            (Some(_), _) => "looking further · Esc stops",
            (None, Some(_)) if is_empty => "reading",
            _ if is_empty => "nothing was said yet",
            _ if self.is_at_end => "end",
            _ => "",
        };
        let parts = ["transcript", state, "Esc closes", "/ searches", "? shows the keys"];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Row::new(Look::Dim, cut_to(&parts.join(" · "), cells))
    }
}
