//! Finished rows on their way to the terminal. Rows of code wait there for their colours; all rows
//! behind them wait with them, for a short time. Pure.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::code::{ColouredPart, LineColours, Ticket};
use crate::fold::{Breaks, Room, fold};
use crate::row::{Look, Row};

/// Maximum time for which a row waits for its colours.
const WAIT: Duration = Duration::from_millis(300);

/// A line of code that is finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodeLine {
    /// Marks before the first row and before further rows.
    pub(crate) first: Row,
    pub(crate) further: Row,
    pub(crate) text: String,
    /// Width of the rows, in cells.
    pub(crate) cells: usize,
}

impl CodeLine {
    /// Returns the rows of the line.
    pub(crate) fn rows(&self, colours: &[ColouredPart]) -> Vec<Row> {
        let (mut line, mut start) = (Row::default(), 0);
        for (part, look) in colours {
            line.push(Look::Plain, self.text.get(start..part.start).unwrap_or_default());
            line.push(*look, self.text.get(part.clone()).unwrap_or_default());
            start = part.end;
        }
        line.push(Look::Plain, self.text.get(start..).unwrap_or_default());
        let room = self.cells.saturating_sub(self.first.width()).max(1);
        let mut rows = fold(&line, Room::new(room), Breaks::Anywhere);
        for (index, row) in rows.iter_mut().enumerate() {
            let mut marked = if index == 0 { self.first.clone() } else { self.further.clone() };
            marked.append(row);
            if row.is_empty() {
                marked.trim_end();
            }
            *row = marked;
        }
        rows
    }
}

/// Rows that are finished, in the order of the conversation.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    ready: Vec<Row>,
    /// Rows from the first line on that waits for its colours.
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
enum Waiting {
    Row(Row),
    Code {
        line: CodeLine,
        ticket: Ticket,
        colours: Option<LineColours>,
        /// Time at which it is written without colours.
        end: Instant,
    },
}

impl Outbox {
    /// Sets the width of the rows. Rows that are too wide now are broken, because the screen would
    /// cut them.
    pub(crate) fn resize(&mut self, cells: usize) {
        let broken = |row: &Row| fold(row, Room::new(cells), Breaks::Anywhere);
        self.ready = self.ready.iter().flat_map(broken).collect();
        let resized = |row| match row {
            Waiting::Row(row) => broken(&row).into_iter().map(Waiting::Row).collect(),
            Waiting::Code { line, ticket, colours, end } => {
                let line = CodeLine { cells, ..line };
                vec![Waiting::Code { line, ticket, colours, end }]
            }
        };
        self.waiting = std::mem::take(&mut self.waiting).into_iter().flat_map(resized).collect();
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: Row) {
        if self.waiting.is_empty() {
            self.ready.push(row);
        } else {
            self.waiting.push_back(Waiting::Row(row));
        }
    }

    /// Adds rows.
    pub(crate) fn extend(&mut self, rows: impl IntoIterator<Item = Row>) {
        rows.into_iter().for_each(|row| self.push(row));
    }

    /// Adds a line of code that waits for its colours.
    pub(crate) fn push_code(&mut self, line: CodeLine, ticket: Ticket, now: Instant) {
        self.waiting.push_back(Waiting::Code { line, ticket, colours: None, end: now + WAIT });
    }

    /// Takes the colours of a line.
    pub(crate) fn colour(&mut self, coloured: Ticket, found: LineColours) {
        for row in &mut self.waiting {
            if let Waiting::Code { ticket, colours, .. } = row
                && *ticket == coloured
            {
                *colours = Some(found);
                return;
            }
        }
    }

    /// Returns the rows that need not wait any longer.
    pub(crate) fn take(&mut self, now: Instant) -> Vec<Row> {
        let is_ready = |row: &Waiting| match row {
            Waiting::Row(_) => true,
            Waiting::Code { colours, end, .. } => colours.is_some() || *end <= now,
        };
        while let Some(row) = self.waiting.pop_front_if(|row| is_ready(row)) {
            self.ready.extend(row.rows());
        }
        std::mem::take(&mut self.ready)
    }

    /// Returns all rows.
    pub(crate) fn take_all(&mut self) -> Vec<Row> {
        let waiting = self.waiting.drain(..).flat_map(|row| row.rows());
        self.ready.extend(waiting);
        std::mem::take(&mut self.ready)
    }

    /// Returns the rows that wait, as they look now.
    pub(crate) fn waiting_rows(&self) -> Vec<Row> {
        self.waiting.iter().flat_map(Waiting::rows).collect()
    }

    /// Returns the time at which the first row no longer waits; `None` if nothing waits.
    pub(crate) fn wait_end(&self) -> Option<Instant> {
        self.waiting.front().map(|first| match first {
            Waiting::Row(_) => Instant::now(),
            Waiting::Code { end, .. } => *end,
        })
    }
}

impl Waiting {
    fn rows(&self) -> Vec<Row> {
        match self {
            Self::Row(row) => vec![row.clone()],
            Self::Code { line, colours, .. } => line.rows(colours.as_deref().unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn code(text: &str) -> CodeLine {
        let (first, further) = (Row::plain("- "), Row::plain("  "));
        CodeLine { first, further, text: text.to_owned(), cells: 20 }
    }

    fn texts(rows: &[Row]) -> Vec<String> {
        rows.iter().map(Row::text).collect()
    }

    #[test]
    fn late_lines_are_plain_and_late_colours_change_nothing() {
        let now = Instant::now();
        let mut outbox = Outbox::default();
        outbox.push(Row::plain("above"));
        outbox.push_code(code("let a;"), Ticket(1), now);
        outbox.push(Row::plain("below"));
        let soon = now + Duration::from_millis(299);
        assert_eq!(texts(&outbox.take(soon)), ["above"]);
        assert_eq!(texts(&outbox.waiting_rows()), ["- let a;", "below"]);
        assert_eq!(outbox.wait_end(), Some(now + WAIT));
        let late = outbox.take(now + WAIT);
        assert_eq!(late, [Row::plain("- let a;"), Row::plain("below")]);
        outbox.colour(Ticket(1), vec![(0..3, Look::Keyword)]);
        assert_eq!((outbox.take(now + WAIT), outbox.waiting_rows()), (Vec::new(), Vec::new()));
        assert_eq!(outbox.wait_end(), None);
    }

    #[test]
    fn lines_keep_their_order() {
        let now = Instant::now();
        let mut outbox = Outbox::default();
        outbox.push_code(code("let a;"), Ticket(1), now);
        outbox.push_code(code("let b;"), Ticket(2), now);
        outbox.colour(Ticket(2), vec![(0..3, Look::Keyword)]);
        assert_eq!(outbox.take(now), []);
        outbox.colour(Ticket(1), Vec::new());
        let coloured = Row::plain("- ").with(Look::Keyword, "let").with(Look::Plain, " b;");
        assert_eq!(outbox.take(now), [Row::plain("- let a;"), coloured]);
        assert_eq!(outbox.take_all(), []);
    }

    #[test]
    fn a_line_that_waits_is_laid_out_for_a_new_width() {
        let now = Instant::now();
        let mut outbox = Outbox::default();
        outbox.push_code(code("let abc;"), Ticket(1), now);
        outbox.push(Row::plain("below this"));
        outbox.resize(8);
        assert_eq!(texts(&outbox.waiting_rows()), ["- let ab", "  c;", "below th", "is"]);
        assert_eq!(texts(&outbox.take_all()), ["- let ab", "  c;", "below th", "is"]);
        assert_eq!(outbox.take_all(), []);
    }
}
