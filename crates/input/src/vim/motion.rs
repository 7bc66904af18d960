//! Movements in a text by the keys of vi. Positions are numbers of characters, as the user sees
//! them. Pure.

/// Character that is searched in a line: `f`, `F`, `t` or `T`, and the character.
pub(super) type Find = (char, String);

/// Kind of the text between two positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Without the last character.
    Exclusive,
    /// With the last character.
    Inclusive,
    /// Whole lines.
    Lines,
}

/// A text with a cursor.
pub(super) struct Text<'a> {
    pub(super) characters: &'a [String],
    pub(super) cursor: usize,
}

/// Class of a character: those of a word have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Blank,
    Word,
    Other,
}

impl Text<'_> {
    /// Returns the target of a movement, and what lies between; `None` if there is no such place.
    pub(super) fn target(&self, key: char, count: usize) -> Option<(usize, Extent)> {
        let (at, extent) = match key {
            'h' => (
                self.cursor - count.min(self.cursor - self.line_start(self.cursor)),
                Extent::Exclusive,
            ),
            'l' => ((self.cursor + count).min(self.line_end(self.cursor)), Extent::Exclusive),
            'w' | 'W' => {
                (self.repeat(count, |at| self.word_forward(at, key == 'W')), Extent::Exclusive)
            }
            'b' | 'B' => {
                (self.repeat(count, |at| self.word_back(at, key == 'B')), Extent::Exclusive)
            }
            'e' | 'E' => {
                (self.repeat(count, |at| self.word_end(at, key == 'E')), Extent::Inclusive)
            }
            '0' => (self.line_start(self.cursor), Extent::Exclusive),
            '^' => (self.first_of_line(self.cursor), Extent::Exclusive),
            '$' => (
                self.line_end(self.repeat(count - 1, |at| self.line_below(at).unwrap_or(at))),
                Extent::Exclusive,
            ),
            'j' => (self.vertical(count, true)?, Extent::Lines),
            'k' => (self.vertical(count, false)?, Extent::Lines),
            _ => return None,
        };
        Some((at, extent))
    }

    /// Returns the start of a line, by its number from 1; that of the last line if there are fewer.
    pub(super) fn line(&self, number: usize) -> usize {
        let ends = self.characters.iter().enumerate().filter(|(_, text)| *text == "\n");
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1));
        let start = starts.take(number.max(1)).last().unwrap_or_default();
        self.first_of_line(start)
    }

    /// Returns the place of a character in the line; `None` if the line does not have it.
    pub(super) fn find(
        &self,
        (kind, wanted): &Find,
        count: usize,
        is_repeated: bool,
    ) -> Option<(usize, Extent)> {
        let (start, end) = (self.line_start(self.cursor), self.line_end(self.cursor));
        let is_there = |at: &usize| self.characters[*at] == *wanted;
        // A repeated search until a character begins behind it.
        let skipped = usize::from(is_repeated && matches!(kind, 't' | 'T'));
        if matches!(kind, 'f' | 't') {
            let at = ((self.cursor + 1 + skipped).min(end)..end).filter(is_there).nth(count - 1)?;
            Some((at - usize::from(*kind == 't'), Extent::Inclusive))
        } else {
            let last = self.cursor.saturating_sub(skipped).max(start);
            let at = (start..last).rev().filter(is_there).nth(count - 1)?;
            Some((at + usize::from(*kind == 'T'), Extent::Exclusive))
        }
    }

    /// Returns the start of the line.
    pub(super) fn line_start(&self, at: usize) -> usize {
        (0..at).rev().find(|at| self.characters[*at] == "\n").map_or(0, |end| end + 1)
    }

    /// Returns the end of the line: the place of its line end, or that of the text.
    pub(super) fn line_end(&self, at: usize) -> usize {
        let count = self.characters.len();
        (at..count).find(|at| self.characters[*at] == "\n").unwrap_or(count)
    }

    /// Returns the first character of the line that is no blank.
    pub(super) fn first_of_line(&self, at: usize) -> usize {
        let (start, end) = (self.line_start(at), self.line_end(at));
        (start..end).find(|at| self.class(*at, false) != Class::Blank).unwrap_or(start)
    }

    /// Returns the last place of the cursor in a line: on its last character.
    pub(super) fn last_of_line(&self, at: usize) -> usize {
        let (start, end) = (self.line_start(at), self.line_end(at));
        if end > start { end - 1 } else { start }
    }

    fn repeat(&self, count: usize, step: impl Fn(usize) -> usize) -> usize {
        let mut at = self.cursor;
        for _ in 0..count.min(self.characters.len() + 1) {
            at = step(at);
        }
        at
    }

    fn class(&self, at: usize, is_big: bool) -> Class {
        let letter = self.characters.get(at).and_then(|text| text.chars().next());
        match letter {
            None => Class::Blank,
            Some(letter) if letter.is_whitespace() => Class::Blank,
            Some(letter) if is_big || letter.is_alphanumeric() || letter == '_' => Class::Word,
            Some(_) => Class::Other,
        }
    }

    fn word_forward(&self, at: usize, is_big: bool) -> usize {
        let (count, class) = (self.characters.len(), self.class(at, is_big));
        let rest = (at..count).find(|at| self.class(*at, is_big) != class).unwrap_or(count);
        let start = if class == Class::Blank { at } else { rest };
        (start..count).find(|at| self.class(*at, is_big) != Class::Blank).unwrap_or(count)
    }

    fn word_back(&self, at: usize, is_big: bool) -> usize {
        let last = (0..at).rev().find(|at| self.class(*at, is_big) != Class::Blank);
        let Some(last) = last else { return 0 };
        let class = self.class(last, is_big);
        (0..last).rev().find(|at| self.class(*at, is_big) != class).map_or(0, |at| at + 1)
    }

    fn word_end(&self, at: usize, is_big: bool) -> usize {
        let count = self.characters.len();
        let next = (at + 1..count).find(|at| self.class(*at, is_big) != Class::Blank);
        let Some(next) = next else { return count.saturating_sub(1) };
        let class = self.class(next, is_big);
        (next..count).find(|at| self.class(*at, is_big) != class).unwrap_or(count) - 1
    }

    fn line_below(&self, at: usize) -> Option<usize> {
        let end = self.line_end(at);
        (end < self.characters.len()).then_some(end + 1)
    }

    /// Returns the same column in a line below or above; `None` if there is no such line.
    fn vertical(&self, count: usize, is_down: bool) -> Option<usize> {
        let column = self.cursor - self.line_start(self.cursor);
        let mut start = self.line_start(self.cursor);
        for _ in 0..count.min(self.characters.len() + 1) {
            start = if is_down {
                self.line_below(start)?
            } else {
                self.line_start(start.checked_sub(1)?)
            };
        }
        Some((start + column).min(self.last_of_line(start)))
    }
}
