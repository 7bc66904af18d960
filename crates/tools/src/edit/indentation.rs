//! Indentation of the new lines of an edit: that of the file, by the lines that the edit quotes.

use std::collections::{BTreeMap, HashSet};

use super::difference::Difference;
use super::tokens::Tokens;

/// Number of quoted lines on each side of a new line that are compared with it.
const NEIGHBOURS: usize = 20;
/// Maximum number of characters of one level; more are the alignment of a continued line.
const MAX_UNIT: usize = 4;

/// White space of one level of indentation: the character and its number.
type Unit = (char, usize);

/// White space that stands for one level in the edit and in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Scale {
    /// Number of characters in the edit.
    quoted: usize,
    /// White space in the file.
    own: Unit,
}

/// Indentation of a line in the edit and in the file.
struct QuotedLine<'a> {
    /// First token of the line in the old text.
    token: usize,
    quoted: &'a str,
    own: &'a str,
}

/// Levels of indentation that a file and an edit use, as far as they can be seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Units {
    file: Option<Unit>,
    edit: Option<Unit>,
}

impl Units {
    pub(super) fn of(file: &Tokens<'_>, edit: &Difference<'_>) -> Self {
        let Difference { old, new, kept, .. } = edit;
        // A kept line with another indentation shows the unit of the edit as well.
        let moved = kept.iter().enumerate().filter_map(|(index, kept)| {
            let kept = kept.filter(|kept| new.starts_line(index) && old.starts_line(*kept))?;
            step(old.indentation(kept), new.indentation(index))
        });
        Self {
            file: most_common(steps(file, Some(""))),
            edit: most_common(steps(old, None).chain(steps(new, None)).chain(moved)),
        }
    }

    fn scale(self) -> Option<Scale> {
        let (file, edit) = (self.file?, self.edit?);
        Some(Scale { quoted: edit.1, own: file })
    }
}

/// Returns the levels between neighbouring lines. The first line is compared with `before`, if
/// there is one.
fn steps<'a>(
    tokens: &'a Tokens<'_>,
    mut before: Option<&'a str>,
) -> impl Iterator<Item = Unit> + 'a {
    let starts = (0..tokens.len()).filter(|index| tokens.starts_line(*index));
    starts.filter_map(move |index| {
        let indentation = tokens.indentation(index);
        step(before.replace(indentation)?, indentation)
    })
}

/// Returns the white space by which one of two lines is deeper, if it is one level.
fn step(one: &str, other: &str) -> Option<Unit> {
    deeper(one, other).filter(|unit| unit.1 <= MAX_UNIT)
}

/// Returns the white space by which one of two lines is deeper.
fn deeper(one: &str, other: &str) -> Option<Unit> {
    homogeneous(other.strip_prefix(one).or_else(|| one.strip_prefix(other))?)
}

/// Returns the character that white space consists of, and its number.
fn homogeneous(space: &str) -> Option<Unit> {
    let letter = space.chars().next()?;
    space.chars().all(|other| other == letter).then(|| (letter, space.chars().count()))
}

/// Returns the most common value; of equally common values the smallest.
fn most_common<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_insert(0_usize) += 1;
    }
    let most = counts.values().max().copied()?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(value, _)| value)
}

/// The relation between the indentation of an edit and that of the file at its place.
pub(super) struct Indentations<'a> {
    lines: Vec<QuotedLine<'a>>,
    scale: Option<Scale>,
    /// True if the new text is indented as in the file, although the old text is not.
    is_corrected: bool,
}

impl<'a> Indentations<'a> {
    /// Compares the lines of the old text with those of the file, where it begins with the token
    /// `first`.
    pub(super) fn of(edit: &Difference<'a>, file: &Tokens<'a>, first: usize, units: Units) -> Self {
        let old = &edit.old;
        let mut lines: Vec<QuotedLine<'a>> = (0..old.len())
            .filter(|token| old.starts_line(*token) && file.starts_line(first + token))
            .map(|token| QuotedLine {
                token,
                quoted: old.indentation(token),
                own: file.indentation(first + token),
            })
            .collect();
        // The first line is often quoted from its first word on, unlike the other lines; it then
        // says nothing about them.
        let from_word = lines.first().is_some_and(|line| line.token == 0 && line.quoted.is_empty());
        let others = &lines[usize::from(from_word)..];
        let are_exact = others.iter().all(|line| line.quoted == line.own);
        let by_steps = most_common(others.array_windows().filter_map(|[one, other]| {
            let quoted = deeper(one.quoted, other.quoted)?;
            Some(Scale { quoted: quoted.1, own: deeper(one.own, other.own)? })
        }));
        let shows_unit = others.iter().any(|line| !line.quoted.is_empty());
        let scale = match by_steps {
            Some(scale) => Some(scale),
            None if are_exact && shows_unit => None,
            None => units.scale(),
        };
        let differs = |line: &QuotedLine<'_>| line.quoted.is_empty() && line.own != lines[0].own;
        if from_word && !others.is_empty() && (are_exact || others.iter().any(differs)) {
            lines.remove(0);
        }
        let is_corrected = is_corrected(edit, &lines);
        Self { lines, scale: scale.map(Scale::reduced), is_corrected }
    }

    /// Returns true if a line that the edit keeps also keeps its indentation `own` in the file. The
    /// edit indents it by `before` and then by `after`.
    pub(super) fn keeps(&self, before: &str, own: &str, after: &str) -> bool {
        before == after || (self.is_corrected && own == after)
    }

    /// Returns the indentation in the file for a new line that is indented by `quoted` in the edit.
    /// `at` is the token of the old text before which the line stands.
    pub(super) fn in_file(&self, quoted: &str, at: usize) -> String {
        let place = self.lines.partition_point(|line| line.token < at);
        let end = (place + NEIGHBOURS).min(self.lines.len());
        let near = &self.lines[place.saturating_sub(NEIGHBOURS)..end];
        let width = quoted.chars().count();
        let nearest = near.iter().min_by_key(|line| {
            let difference = line.quoted.chars().count().abs_diff(width);
            (line.quoted != quoted, difference, line.token.abs_diff(at))
        });
        match nearest {
            None => quoted.to_owned(),
            Some(line) if line.quoted == quoted => line.own.to_owned(),
            Some(_) if self.is_corrected => quoted.to_owned(),
            Some(line) => {
                let letter = quoted.chars().next_back().unwrap_or(' ');
                let scale = self.scale.unwrap_or(Scale { quoted: 1, own: (letter, 1) });
                scale.moved(line.own, line.quoted.chars().count(), width)
            }
        }
    }
}

/// Returns true if the new text has other words than the old text, and its lines are indented like
/// those lines of the file that the old text indents differently.
fn is_corrected(edit: &Difference<'_>, lines: &[QuotedLine<'_>]) -> bool {
    let new = &edit.new;
    let starts = (0..new.len()).filter(|index| new.starts_line(*index));
    let indentations: HashSet<&str> = starts.map(|index| new.indentation(index)).collect();
    let mut differing = lines.iter().filter(|line| line.quoted != line.own).peekable();
    differing.peek().is_some()
        && edit.changes_tokens()
        && differing.clone().all(|line| !indentations.contains(line.quoted))
        && differing.any(|line| indentations.contains(line.own))
}

impl Scale {
    /// Returns the same relation with the smallest numbers.
    fn reduced(self) -> Self {
        let (mut divisor, mut rest) = (self.quoted, self.own.1);
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        let divisor = divisor.max(1);
        Self { quoted: self.quoted / divisor, own: (self.own.0, self.own.1 / divisor) }
    }

    /// Returns the indentation `own` of a line that is indented by `from` in the edit, moved to the
    /// depth `to` in the edit.
    fn moved(self, own: &str, from: usize, to: usize) -> String {
        let (letter, count) = self.own;
        let unit = self.quoted.max(1);
        let level = |spaces: usize| letter.to_string().repeat(spaces / unit * count);
        if to >= from {
            let more = to - from;
            return own.to_owned() + &level(more) + &" ".repeat(more % unit);
        }
        let fewer = (from - to).next_multiple_of(unit);
        let rest = fewer - (from - to);
        let kept = own.chars().count().saturating_sub(fewer / unit * count);
        own.chars().take(kept).chain(std::iter::repeat_n(' ', rest)).collect()
    }
}
