//! Application of an inexact edit to a place of the file. Only the difference between the searched
//! text and its replacement is applied: tokens and white space that both share stay as they are in
//! the file.

use std::collections::HashMap;
use std::ops::Range;

use super::difference::Difference;
use super::indentation::{Indentations, Units};
use super::place::{Place, newlines};
use super::tokens::Tokens;

/// An edit and its place. Tokens of the old text, and the white space before them, have the same
/// numbers in the edit and in the file, counted from the first token of the place.
pub(super) struct Merge<'a> {
    edit: &'a Difference<'a>,
    place: &'a Place<'a>,
    file: &'a Tokens<'a>,
    indentations: Indentations<'a>,
    /// Blanks at the ends of lines of the old text, with those of the file. The first line counts.
    line_ends: HashMap<&'a str, &'a str>,
}

impl<'a> Merge<'a> {
    pub(super) fn new(edit: &'a Difference<'a>, place: &'a Place<'a>, units: Units) -> Self {
        let indentations = Indentations::of(edit, place.file, place.first, units);
        let (old, file) = (&edit.old, place.file);
        let mut line_ends = HashMap::new();
        for next in 1..=old.len() {
            let quoted = split(old.gap(next)).0;
            let ends = old.ends_line(next) && file.ends_line(place.first + next);
            if ends && !quoted.is_empty() {
                line_ends.entry(quoted).or_insert(split(file.gap(place.first + next)).0);
            }
        }
        Self { edit, place, file, indentations, line_ends }
    }

    /// Returns the bytes of the file to replace and the text to put there; `None` if the meaning of
    /// the new text would depend on quotes that differ.
    pub(super) fn replacement(&self) -> Option<(Range<usize>, String)> {
        if self.mixes_quotes() {
            return None;
        }
        if self.edit.new.len() == 0 {
            return Some(self.deletion());
        }
        let (start, mut result) = self.beginning();
        // Token of the old text after the last kept one.
        let mut at = 0;
        for (index, kept) in self.edit.kept.iter().enumerate() {
            if index > 0 {
                self.gap(index, at, &mut result);
            }
            match kept {
                Some(kept) => {
                    result.push_str(self.file.get(self.place.first + kept));
                    at = kept + 1;
                }
                None => result.push_str(self.edit.new.get(index)),
            }
        }
        let end = self.end(&mut result);
        Some((start..end, result))
    }

    /// Returns the white space of the file before a token of the old text.
    fn own(&self, old: usize) -> &'a str {
        self.file.gap(self.place.first + old)
    }

    /// Returns true if quotes of the file differ from those of the searched text, as `'` from `"`,
    /// and the new text contains something that such quotes read differently.
    fn mixes_quotes(&self) -> bool {
        let old = &self.edit.old;
        let is_quote = |token: &str| matches!(token, "'" | "\"");
        let differ = (0..old.len()).any(|index| {
            let (quoted, own) = (old.get(index), self.file.get(self.place.first + index));
            quoted != own && is_quote(quoted) && is_quote(own)
        });
        let depends = |token: &str| matches!(token, "'" | "\"" | "`" | "\\" | "$" | "#");
        differ && self.edit.inserted().any(depends)
    }

    /// Returns the removal of the place: of its lines with a line feed, if they contain nothing
    /// else.
    fn deletion(&self) -> (Range<usize>, String) {
        let Difference { old, new, .. } = self.edit;
        let range = self.place.range();
        if !(self.place.starts_line() && self.place.ends_line()) {
            return (range, String::new());
        }
        let start = self.line_start(newlines(old.gap(0)).saturating_sub(1));
        let feeds = self.own(old.len()).match_indices('\n').map(|(at, _)| range.end + at + 1);
        let end = feeds.take(newlines(old.gap(old.len())).max(1)).last();
        (start..end.unwrap_or(self.file.text.len()), "\n".repeat(newlines(new.text)))
    }

    /// Returns the start of the first line, `blank` blank lines earlier.
    fn line_start(&self, blank: usize) -> usize {
        let gap = self.own(0);
        let start = self.file.start(self.place.first) - gap.len();
        let first = (self.place.first == 0).then_some(start);
        let others = gap.match_indices('\n').map(|(at, _)| start + at + 1);
        let starts: Vec<usize> = first.into_iter().chain(others).collect();
        let line = starts.len().saturating_sub(blank + 1);
        starts.get(line).copied().unwrap_or(start)
    }

    /// Returns where the replacement begins, and what stands before its first token.
    fn beginning(&self) -> (usize, String) {
        let (old, new) = (self.edit.old.gap(0), self.edit.new.gap(0));
        if !self.place.starts_line() {
            let space = if old == new { "" } else { new };
            return (self.place.range().start, space.to_owned());
        }
        let (before, after) = (newlines(old), newlines(new));
        let start = self.line_start(before.saturating_sub(after.max(1)));
        let same = self.edit.old.indentation(0) == self.edit.new.indentation(0);
        let indentation = match self.edit.kept[0] {
            None if same => self.file.indentation(self.place.first).to_owned(),
            _ => self.indentation(0, 0),
        };
        (start, "\n".repeat(after.saturating_sub(before)) + &indentation)
    }

    /// Writes the white space before a new token, which is not the first one.
    ///
    /// The white space of the file is kept if the edit does not change it. If the file breaks its
    /// lines elsewhere, the white space is written before the token that it belongs to.
    fn gap(&self, index: usize, at: usize, result: &mut String) {
        let Difference { old, new, kept, .. } = self.edit;
        let gap = new.gap(index);
        let before = kept[index].filter(|kept| *kept > 0);
        let after = kept[index - 1].map(|kept| kept + 1).filter(|next| *next < old.len());
        let breaks = |next: &usize| self.own(*next).contains('\n');
        let stays = |next: &usize| old.gap(*next) == gap;
        let same = before
            .filter(stays)
            .or(after.filter(stays).filter(|next| breaks(next) == gap.contains('\n')));
        match same {
            Some(same) if before == after || !gap.contains('\n') || !breaks(&same) => {
                result.push_str(self.own(same));
                return;
            }
            None if !gap.contains('\n') => {
                result.push_str(gap);
                return;
            }
            _ => {}
        }
        result.push_str(self.trailing(before, after, gap));
        if let Some(same) = same.filter(|same| kept[index].is_none() || before == Some(*same)) {
            result.push_str(split(self.own(same)).1);
            return;
        }
        let same_feeds = |next: &usize| breaks(next) && feeds(old.gap(*next)) == feeds(gap);
        let same = before.filter(same_feeds).or(after.filter(same_feeds));
        match (same, after.filter(|next| before == after && breaks(next))) {
            (Some(same), _) => result.push_str(feeds(self.own(same))),
            // Blank lines are added to those of the file, or removed from them.
            (None, Some(next)) => {
                let own = newlines(self.own(next)) + newlines(gap);
                let count = own.saturating_sub(newlines(old.gap(next)).max(1)).max(1);
                result.push_str(&"\n".repeat(count));
            }
            (None, None) => result.push_str(&"\n".repeat(newlines(gap))),
        }
        result.push_str(&self.indentation(index, at));
    }

    /// Returns the white space at the end of a line before `gap`. It belongs to the last token of
    /// the line: `after` is the number of the white space of the old text that follows this token,
    /// if the token is kept. Otherwise it may replace the one before `before`.
    fn trailing(&self, before: Option<usize>, after: Option<usize>, gap: &'a str) -> &'a str {
        let quoted = split(gap).0;
        let replaced = before.filter(|next| !self.edit.keeps(next - 1));
        let next = after.or(replaced).filter(|next| self.own(*next).contains('\n'));
        match next {
            Some(next) if split(self.edit.old.gap(next)).0 == quoted => split(self.own(next)).0,
            _ => self.line_end(quoted),
        }
    }

    /// Returns the blanks at the end of a new line that ends in `quoted` in the edit.
    fn line_end(&self, quoted: &'a str) -> &'a str {
        self.line_ends.get(quoted).copied().unwrap_or(quoted)
    }

    /// Returns the indentation of a new token that is the first of its line.
    fn indentation(&self, index: usize, at: usize) -> String {
        let Difference { old, new, kept, .. } = self.edit;
        let quoted = new.indentation(index);
        let starts = |token: &usize| {
            old.starts_line(*token) && self.file.starts_line(self.place.first + token)
        };
        let line = kept[index]
            .filter(starts)
            .map(|token| (old.indentation(token), self.file.indentation(self.place.first + token)));
        match line {
            Some((before, own)) if self.indentations.keeps(before, own, quoted) => own.to_owned(),
            _ => self.indentations.in_file(quoted, kept[index].unwrap_or(at)),
        }
    }

    /// Writes what stands after the last new token, and returns where the replacement ends.
    fn end(&self, result: &mut String) -> usize {
        let end = self.place.range().end;
        if !self.place.ends_line() {
            return end;
        }
        let Difference { old, new, kept, .. } = self.edit;
        let (old_gap, new_gap) = (old.gap(old.len()), new.gap(new.len()));
        let quoted = split(new_gap).0;
        let after = kept.last().copied().flatten().map(|token| token + 1);
        let after = after.filter(|next| self.file.ends_line(self.place.first + next));
        let next = after.unwrap_or(old.len());
        let same = split(old.gap(next)).0 == quoted;
        result.push_str(if same { split(self.own(next)).0 } else { self.line_end(quoted) });

        let (before, after) = (newlines(old_gap), newlines(new_gap));
        result.push_str(&"\n".repeat(after.saturating_sub(before)));
        let fewer = before.saturating_sub(after.max(1));
        let feeds = self.own(old.len()).match_indices('\n').map(|(at, _)| end + at);
        feeds.take(fewer + 1).last().unwrap_or(self.file.text.len())
    }
}

/// Splits white space before its first line feed.
fn split(gap: &str) -> (&str, &str) {
    gap.split_at(gap.find('\n').unwrap_or(gap.len()))
}

/// Returns the line feeds and blank lines of white space, without the ends of both lines.
fn feeds(gap: &str) -> &str {
    let breaks = split(gap).1;
    &breaks[..breaks.rfind('\n').map_or(0, |at| at + 1)]
}
