//! Lines that come back in the same order for ever: where an answer is a list, a table or code, only that is a loop.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use pollux_protocol::LoopKind;

use super::Finding;

/// The longest verse, in lines.
const LONGEST: usize = 40;
/// How often it must have come.
const ROUNDS: usize = 40;
/// And how many lines that must have been: a table of zeros is shorter.
const LINES: usize = 400;
/// Characters of a line that are shown.
const SHOWN: usize = 50;

/// Listens to the lines of an answer, each as soon as it has ended. Blank lines do not count, nor does the number at the
/// front of one.
#[derive(Debug)]
pub(super) struct Refrain {
    /// Hashes of the last lines, the newest last.
    lines: VecDeque<u64>,
    /// For each length of a verse, from 1, how many lines in a row were the same as the one a verse before.
    same: [usize; LONGEST],
    /// Of the line under way, behind its number.
    hasher: DefaultHasher,
    shown: String,
    begun: bool,
}

impl Default for Refrain {
    fn default() -> Self {
        let (lines, hasher) = (VecDeque::new(), DefaultHasher::new());
        Self { lines, same: [0; LONGEST], hasher, shown: String::new(), begun: false }
    }
}

impl Refrain {
    /// Takes a character of the answer.
    pub(super) fn letter(&mut self, letter: char) -> Option<Finding> {
        if letter == '\n' {
            return self.end_line();
        }
        let is_front =
            letter.is_whitespace() || letter.is_ascii_digit() || matches!(letter, '.' | ')');
        if self.begun || !is_front {
            self.begun = true;
            letter.hash(&mut self.hasher);
            if self.shown.len() < SHOWN {
                self.shown.push(letter);
            }
        }
        None
    }

    fn end_line(&mut self) -> Option<Finding> {
        let shown = std::mem::take(&mut self.shown);
        let line = std::mem::take(&mut self.hasher).finish();
        if !std::mem::take(&mut self.begun) {
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
