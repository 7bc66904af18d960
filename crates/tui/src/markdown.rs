//! An answer in Markdown as it arrives: finished rows, and the block in progress. Pure.
//!
//! A finished block is laid out once. Only the last block may still change; it is laid out again
//! for each frame, and written in steps when it is long, so that the cost of an answer grows with
//! its length alone. The rows do not depend on the pieces in which the text arrives.

use std::sync::Arc;

use pollux_protocol::plain_text::{AnsiStripper, for_terminal};

use crate::outbox::CodeLine;
use crate::row::Row;

mod blocks;
mod inline;
mod layout;
mod marks;
mod table;
#[cfg(test)]
mod tests;

use blocks::Splitter;
pub(crate) use inline::MarkupMarks;
use layout::Layout;

/// Width of a tab, in cells.
const TAB: &str = "    ";
/// Maximum length of a line that is taken in one step, in bytes.
const LONGEST: usize = 4 << 10;

/// Rows of an answer that are finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AnswerRow {
    Row(Row),
    /// A line of code, with the number and the language of its block.
    Code(CodeLine, usize, Arc<str>),
}

impl AnswerRow {
    /// Returns the rows without the colours of code.
    pub(crate) fn into_rows(self) -> Vec<Row> {
        match self {
            Self::Row(row) => vec![row],
            Self::Code(line, ..) => line.rows(&[]),
        }
    }
}

/// An answer in progress.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    filter: AnsiStripper,
    /// The last line, which has no end yet.
    line: String,
    /// True if the beginning of the last line was taken already.
    is_rest: bool,
    splitter: Splitter,
    layout: Layout,
}

/// Returns the rows of an answer that arrives in these pieces, as text, on a screen whose rows have
/// this number of cells. For checks of what a model can do to a terminal.
pub fn answer_rows<'a>(pieces: impl IntoIterator<Item = &'a str>, cells: usize) -> Vec<String> {
    let mut answer = Markdown::default();
    let mut rows = Vec::new();
    for piece in pieces {
        rows.extend(answer.push(piece, cells));
    }
    rows.extend(answer.end(cells));
    rows.into_iter().flat_map(AnswerRow::into_rows).map(Row::into_text).collect()
}

impl Markdown {
    /// Creates an answer whose marks are shown or hidden.
    pub(crate) fn new(marks: MarkupMarks) -> Self {
        Self { layout: Layout::new(marks), ..Self::default() }
    }

    /// Takes a piece of the answer; returns the rows that it finishes.
    pub(crate) fn push(&mut self, text: &str, cells: usize) -> Vec<AnswerRow> {
        let text = for_terminal(&self.filter.strip(text)).replace('\t', TAB);
        for piece in text.split_inclusive('\n') {
            let (line, is_whole) =
                piece.strip_suffix('\n').map_or((piece, false), |line| (line, true));
            self.extend_line(line);
            if is_whole {
                self.end_line();
            }
        }
        self.layout.rows(self.splitter.take(), cells)
    }

    /// Appends to the last line. What is too long for one step is taken in parts whose lengths do
    /// not depend on the pieces of the text.
    fn extend_line(&mut self, mut text: &str) {
        while self.line.len() + text.len() > LONGEST {
            let (head, rest) = text.split_at(text.floor_char_boundary(LONGEST - self.line.len()));
            self.line.push_str(head);
            text = rest;
            let blank = self.line.rfind(' ').filter(|blank| *blank > LONGEST / 2);
            let end = blank.map_or(self.line.len(), |blank| blank + 1);
            let rest = self.line.split_off(end);
            self.take_line();
            (self.line, self.is_rest) = (rest, true);
        }
        self.line.push_str(text);
    }

    fn end_line(&mut self) {
        self.take_line();
        self.line.clear();
        self.is_rest = false;
    }

    fn take_line(&mut self) {
        if self.is_rest {
            self.splitter.take_rest(&self.line);
        } else {
            self.splitter.take_line(&self.line);
        }
    }

    /// Ends the answer; returns its last rows.
    pub(crate) fn end(&mut self, cells: usize) -> Vec<AnswerRow> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.splitter.end();
        let rows = self.layout.rows(self.splitter.take(), cells);
        *self = Self::new(self.layout.marks());
        rows
    }

    /// Returns true if there is no text in progress.
    pub(crate) fn is_empty(&self) -> bool {
        self.line.trim().is_empty() && self.splitter.is_empty()
    }

    /// Returns the rows of the block in progress.
    pub(crate) fn rows(&self, cells: usize) -> Vec<Row> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut splitter = self.splitter.clone();
        let is_undecided = if splitter.is_code() {
            marks::may_become_fence(&self.line)
        } else {
            marks::may_become_mark(&self.line)
        };
        if self.is_rest {
            splitter.take_rest(&self.line);
        } else if !is_undecided {
            splitter.take_line(&self.line);
        }
        splitter.end();
        let rows = self.layout.clone().rows(splitter.take(), cells);
        rows.into_iter().flat_map(AnswerRow::into_rows).collect()
    }
}
