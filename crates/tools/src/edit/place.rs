//! Places of a file that are equal to a searched text, except for white space and for characters
//! that look alike.

use std::ops::Range;

use super::EditStrategy;
use super::tokens::Tokens;

/// Minimum number of characters of a searched text that may begin or end within a line, or contain
/// characters that only look alike; shorter texts would match anywhere.
const MIN_LENGTH: usize = 10;

/// A run of tokens of a file that is equal to the searched text.
pub(super) struct Place<'a> {
    pub(super) file: &'a Tokens<'a>,
    /// First token in the file.
    pub(super) first: usize,
    /// Number of tokens.
    len: usize,
}

impl<'a> Place<'a> {
    pub(super) fn new(file: &'a Tokens<'a>, first: usize, old: &Tokens<'_>) -> Self {
        Self { file, first, len: old.len() }
    }

    /// Returns the bytes from the first to the last token.
    pub(super) fn range(&self) -> Range<usize> {
        self.file.start(self.first)..self.file.end(self.first + self.len - 1)
    }

    /// Returns the same place with another number of tokens.
    pub(super) fn with_len(&self, len: usize) -> Self {
        Self { len, ..*self }
    }

    /// Returns true if the first token is the first of its line.
    pub(super) fn starts_line(&self) -> bool {
        self.file.starts_line(self.first)
    }

    /// Returns true if the last token is the last of its line.
    pub(super) fn ends_line(&self) -> bool {
        self.file.ends_line(self.first + self.len)
    }

    /// Returns the text after the last token on its line.
    pub(super) fn rest_of_line(&self) -> &'a str {
        let rest = &self.file.text[self.range().end..];
        rest.split('\n').next().unwrap_or_default()
    }

    /// Returns how the file's text differs from the searched text; `None` if the place does not
    /// match.
    pub(super) fn strategy(&self, old: &Tokens<'_>) -> Option<EditStrategy> {
        let cut = (!old.gap(0).is_empty() && !self.starts_line())
            || (old.gap(old.len()).contains('\n') && !self.ends_line());
        if cut {
            return None;
        }
        let own = |index: usize| self.file.get(self.first + index);
        let equal = (0..old.len()).all(|index| old.get(index) == own(index));
        let same_lines = (1..old.len()).all(|index| {
            let (one, other) = (old.gap(index), self.file.gap(self.first + index));
            one == other || (one.contains('\n') && newlines(one) == newlines(other))
        });
        if equal && self.starts_line() && self.ends_line() && same_lines {
            return Some(EditStrategy::Flexible);
        }
        if equal && self.starts_line() {
            return Some(EditStrategy::Regex);
        }
        let is_long = old.text.trim().chars().nth(MIN_LENGTH - 1).is_some();
        is_long.then_some(EditStrategy::Fuzzy)
    }
}

/// Returns the number of line feeds.
pub(super) fn newlines(text: &str) -> usize {
    text.matches('\n').count()
}
