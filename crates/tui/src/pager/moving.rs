//! Movements in a transcript. Pure.

use super::pages::Side;
use super::{Asked, Pager, Place};

impl Pager {
    /// Returns the place this number of rows above another one.
    pub(super) fn above(&mut self, (mut number, mut row): Place, mut count: usize) -> Place {
        let first = self.pages.numbers().start;
        while count > row {
            if number <= first {
                return (first, 0);
            }
            count -= row + 1;
            number -= 1;
            row = self.rows(number).len().saturating_sub(1);
        }
        (number, row - count)
    }

    /// Returns the place this number of rows below another one, at most the last row.
    pub(super) fn below(&mut self, (mut number, mut row): Place, mut count: usize) -> Place {
        let last = self.pages.numbers().end - 1;
        loop {
            let rows = self.rows(number).len().max(1);
            if row + count < rows {
                return (number, row + count);
            }
            if number >= last {
                return (number, rows - 1);
            }
            count -= rows - row.min(rows);
            (number, row) = (number + 1, 0);
        }
    }

    /// Returns the place of the first row if the last one is at the end of the screen.
    pub(super) fn last_top(&mut self) -> Place {
        let numbers = self.pages.numbers();
        if numbers.is_empty() {
            return (numbers.start, 0);
        }
        let last = numbers.end - 1;
        // The blank row at the end of the last block has no place on the screen.
        let end = (last, self.rows(last).len().saturating_sub(2));
        let height = self.body_height();
        self.above(end, height - 1)
    }

    pub(super) fn scroll_up(&mut self, count: usize) {
        self.top = self.above(self.top, count);
        self.is_at_end = false;
        self.keep_chosen_on_screen();
    }

    pub(super) fn scroll_down(&mut self, count: usize) {
        self.top = self.below(self.top, count);
        self.keep_inside();
        self.keep_chosen_on_screen();
    }

    /// Moves back to the last screen if the first row is below it.
    pub(super) fn keep_inside(&mut self) {
        let last = self.last_top();
        self.is_at_end = self.top >= last && self.pages.missing(Side::Later).is_none();
        self.top = self.top.min(last).max((self.pages.numbers().start, 0));
    }

    pub(super) fn go_to_start(&mut self) {
        self.is_at_end = false;
        if self.pages.missing(Side::Earlier).is_some() {
            return self.ask(Asked::Start);
        }
        let first = self.pages.numbers().start;
        (self.top, self.chosen) = ((first, 0), first);
    }

    pub(super) fn go_to_end(&mut self) {
        self.is_at_end = true;
        self.ask(Asked::End);
    }

    /// Chooses the next block, or the one before.
    pub(super) fn choose(&mut self, step: i64) {
        let numbers = self.pages.numbers();
        if numbers.is_empty() {
            return;
        }
        self.chosen = (self.chosen + step).clamp(numbers.start, numbers.end - 1);
        self.show_start(self.chosen);
    }

    /// Scrolls until the start of a block is on the screen.
    pub(super) fn show_start(&mut self, number: i64) {
        let height = self.body_height();
        let end = self.below(self.top, height - 1);
        if (number, 0) < self.top || (number, 0) > end {
            self.top = (number, 0);
        }
        self.keep_inside();
    }

    pub(super) fn keep_chosen_on_screen(&mut self) {
        let height = self.body_height();
        let end = self.below(self.top, height - 1);
        self.chosen = self.chosen.clamp(self.top.0, end.0.max(self.top.0));
    }
}
