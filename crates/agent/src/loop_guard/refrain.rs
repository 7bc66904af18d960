//! Detection of lines that repeat in the same order without end. In lists, tables and code, only
//! this counts as a loop.

use std::collections::VecDeque;

use pollux_protocol::LoopKind;

use super::Finding;
use super::chant::BASE;

/// Maximum number of lines in a verse, the group of lines that repeats.
const LONGEST: usize = 40;
/// Minimum number of repetitions.
const ROUNDS: usize = 40;
/// Minimum number of repeated lines. An ordinary table of zeros is shorter.
const LINES: usize = 400;
/// Maximum number of characters that are shown of a line.
const SHOWN: usize = 50;

/// Checks each completed line of an answer. Blank lines and the number at the start of a line are
/// ignored.
#[derive(Debug)]
pub(super) struct Refrain {
    /// Hashes of the latest lines, the newest last.
    lines: VecDeque<u64>,
    /// For each length of a verse, from 1: number of consecutive lines that equal the line one
    /// verse before.
    same: [usize; LONGEST],
    /// Hash and beginning of the current line, without its leading number.
    hash: u64,
    shown: String,
}

impl Default for Refrain {
    fn default() -> Self {
        Self { lines: VecDeque::new(), same: [0; LONGEST], hash: 0, shown: String::new() }
    }
}

impl Refrain {
    /// Adds a character of the answer.
    pub(super) fn letter(&mut self, letter: char) -> Option<Finding> {
        if letter == '\n' {
            return self.end_line();
        }
        let is_front =
            letter.is_whitespace() || letter.is_ascii_digit() || matches!(letter, '.' | ')');
        if !self.shown.is_empty() || !is_front {
            self.hash = self.hash.wrapping_mul(BASE).wrapping_add(u64::from(letter));
            if self.shown.len() < SHOWN {
                self.shown.push(letter);
            }
        }
        None
    }

    fn end_line(&mut self) -> Option<Finding> {
        let line = std::mem::take(&mut self.hash);
        let shown = std::mem::take(&mut self.shown);
        if shown.is_empty() {
            return None;
        }
        let mut found = false;
        for (place, same) in self.same.iter_mut().enumerate() {
            let length = place + 1;
            let before = self.lines.len().checked_sub(length).map(|index| self.lines[index]);
            *same = if before == Some(line) { *same + 1 } else { 0 };
            found |= *same + length >= LINES.max(ROUNDS * length);
        }
        if self.lines.len() == LONGEST {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
        found.then(|| {
            let details =
                format!("The answer repeats its lines without end: \"{}\".", shown.trim());
            Finding { kind: LoopKind::Chant, details }
        })
    }
}
