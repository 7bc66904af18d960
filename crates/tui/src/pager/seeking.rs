//! The way to a prompt or a match, which may be in pages that are not in memory. Pure.

use super::block::{self, Block};
use super::pages::Side;
use super::{Asked, Pager, Place};
use crate::row::Row;

/// Goal in pages that may not be in memory yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seek {
    Prompt(Side),
    Match(Side),
}

impl Seek {
    pub(super) fn side(self) -> Side {
        match self {
            Self::Prompt(side) | Self::Match(side) => side,
        }
    }
}

impl Pager {
    /// Goes to a prompt or a match, which may be in pages that are not in memory.
    pub(super) fn seek(&mut self, seek: Seek) {
        let found = match seek {
            Seek::Prompt(side) => self.next_prompt(side),
            Seek::Match(side) => self.next_match(side),
        };
        if let Some((number, row)) = found {
            self.chosen = number;
            match seek {
                Seek::Prompt(_) => self.top = (number, row),
                Seek::Match(_) => {
                    let height = self.body_height();
                    self.top = self.above((number, row), height / 3);
                }
            }
            self.is_at_end = false;
            self.keep_inside();
        } else if self.pages.missing(seek.side()).is_some() {
            self.seek = Some(seek);
            self.ask(Asked::More(seek.side()));
        } else {
            let side = if seek.side() == Side::Earlier { "above" } else { "below" };
            let what = if matches!(seek, Seek::Prompt(_)) { "prompt" } else { "match" };
            self.message = Some(format!("There is no other {what} {side}."));
        }
    }

    fn next_prompt(&self, side: Side) -> Option<Place> {
        let numbers = self.pages.numbers();
        let is_prompt = |number: &i64| self.pages.get(*number).is_some_and(Block::is_prompt);
        let number = match side {
            Side::Earlier => (numbers.start..self.chosen.min(numbers.end)).rev().find(is_prompt),
            Side::Later => (self.chosen.max(numbers.start - 1) + 1..numbers.end).find(is_prompt),
        };
        number.map(|number| (number, 0))
    }

    /// Returns the row at which a search begins: the first one on the screen, or the one behind it.
    fn edge(&mut self, side: Side) -> Place {
        if side == Side::Later {
            return self.top;
        }
        let height = self.body_height();
        let (number, row) = self.below(self.top, height - 1);
        (number, row + 1)
    }

    /// Goes to the next match at a side of the present one, or of the first row on the screen.
    fn next_match(&mut self, side: Side) -> Option<Place> {
        let query = self.search.query()?.to_owned();
        let numbers = self.pages.numbers();
        let from = self.search.place().filter(|(number, _)| numbers.contains(number));
        let (start, is_first) = (from.unwrap_or_else(|| self.edge(side)), from.is_none());
        let candidates: Vec<i64> = match side {
            Side::Earlier => (numbers.start..=start.0.min(numbers.end - 1)).rev().collect(),
            Side::Later => (start.0..numbers.end).collect(),
        };
        for number in candidates {
            let Some(block) = self.pages.get(number) else { continue };
            if block::find(&block.text(), &query).is_none() {
                continue;
            }
            self.unfold(number);
            let is_match = |row: &Row| block::find(&row.text(), &query).is_some();
            let mut rows: Vec<usize> = (0..)
                .zip(self.rows(number))
                .filter_map(|(index, row)| is_match(row).then_some(index))
                .collect();
            if rows.is_empty() {
                // The match continues on the next row.
                rows.push(0);
            }
            let is_beyond = |row: &usize| match side {
                Side::Later if is_first => (number, *row) >= start,
                Side::Later => (number, *row) > start,
                Side::Earlier => (number, *row) < start,
            };
            let mut beyond = rows.into_iter().filter(is_beyond);
            let row = if side == Side::Later { beyond.next() } else { beyond.next_back() };
            if let Some(row) = row {
                self.search.found((number, row));
                return Some((number, row));
            }
        }
        None
    }
}
