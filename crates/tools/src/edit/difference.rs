//! Difference between the searched text of an edit and its replacement.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::tokens::Tokens;

/// Maximum of the squared number of lines or tokens that are compared.
const COMPARISON_LIMIT: usize = 200_000_000;

/// The searched text, its replacement, and the tokens that both share.
pub(super) struct Difference<'a> {
    pub(super) old: Tokens<'a>,
    pub(super) new: Tokens<'a>,
    /// For each token of the new text, the token of the old text that it keeps.
    pub(super) kept: Vec<Option<usize>>,
    /// For each token of the old text, whether the new text keeps it.
    is_kept: Vec<bool>,
}

impl<'a> Difference<'a> {
    /// Compares the texts line by line, and lines that differ token by token. Tokens of a long
    /// replaced passage are not compared. `None` if the texts have too many different lines.
    pub(super) fn between(old: &'a str, new: &'a str) -> Option<Self> {
        let (old, new) = (Tokens::of(old), Tokens::of(new));
        let (old_lines, new_lines) = (old.lines(), new.lines());
        let texts = |tokens: &Tokens<'a>, lines: &[Range<usize>]| -> Vec<&'a str> {
            lines.iter().map(|line| tokens.run(line)).collect()
        };
        let mut budget = COMPARISON_LIMIT;
        let equal = shared(&texts(&old, &old_lines), &texts(&new, &new_lines), &mut budget)?;
        let mut kept = vec![None; new.len()];
        let (mut old_done, mut new_done) = (0, 0);
        let start = |lines: &[Range<usize>], line: usize, end: usize| {
            lines.get(line).map_or(end, |tokens| tokens.start)
        };
        for (old_line, new_line) in equal.into_iter().chain([(old_lines.len(), new_lines.len())]) {
            let differing = (
                old_done..start(&old_lines, old_line, old.len()),
                new_done..start(&new_lines, new_line, new.len()),
            );
            keep_tokens(&old, &new, differing, &mut kept, &mut budget);
            let (Some(old_tokens), Some(new_tokens)) =
                (old_lines.get(old_line), new_lines.get(new_line))
            else {
                break;
            };
            for (old_token, new_token) in old_tokens.clone().zip(new_tokens.clone()) {
                kept[new_token] = Some(old_token);
            }
            (old_done, new_done) = (old_tokens.end, new_tokens.end);
        }
        let mut is_kept = vec![false; old.len()];
        for token in kept.iter().flatten() {
            is_kept[*token] = true;
        }
        Some(Self { old, new, kept, is_kept })
    }

    /// Returns true if the new text keeps a token of the old text.
    pub(super) fn keeps(&self, old: usize) -> bool {
        self.is_kept[old]
    }

    /// Returns true if the texts differ in more than white space.
    pub(super) fn changes_tokens(&self) -> bool {
        self.inserted().next().is_some() || self.removed().next().is_some()
    }

    /// Returns the tokens of the new text that the old text does not have.
    pub(super) fn inserted(&self) -> impl Iterator<Item = &'a str> + '_ {
        let new = self.kept.iter().enumerate().filter(|(_, kept)| kept.is_none());
        new.map(|(index, _)| self.new.get(index))
    }

    /// Returns the tokens of the old text that the new text does not have.
    fn removed(&self) -> impl Iterator<Item = &'a str> + '_ {
        (0..self.old.len()).filter(|index| !self.keeps(*index)).map(|index| self.old.get(index))
    }
}

/// Marks the tokens that a replaced passage shares with its replacement.
fn keep_tokens(
    old: &Tokens<'_>,
    new: &Tokens<'_>,
    (old_range, new_range): (Range<usize>, Range<usize>),
    kept: &mut [Option<usize>],
    budget: &mut usize,
) {
    let old_tokens: Vec<&str> = old_range.clone().map(|index| old.get(index)).collect();
    let new_tokens: Vec<&str> = new_range.clone().map(|index| new.get(index)).collect();
    for (old, new) in shared(&old_tokens, &new_tokens, budget).unwrap_or_default() {
        kept[new_range.start + new] = Some(old_range.start + old);
    }
}

/// Returns the positions of the values that two lists share in the same order; `None` if the
/// comparison would exceed the budget. The result depends on the lists only, not on time: what the
/// user was shown is what is written.
fn shared<T: Hash + Eq + Ord>(
    old: &[T],
    new: &[T],
    budget: &mut usize,
) -> Option<Vec<(usize, usize)>> {
    let same = |(old, new): &(&T, &T)| old == new;
    let before = old.iter().zip(new).take_while(same).count();
    let (old_rest, new_rest) = (&old[before..], &new[before..]);
    let after = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
    let old_middle = &old_rest[..old_rest.len() - after];
    let new_middle = &new_rest[..new_rest.len() - after];
    let mut pairs: Vec<(usize, usize)> = (0..before).map(|index| (index, index)).collect();
    if !old_middle.is_empty() && !new_middle.is_empty() {
        *budget = budget.checked_sub((old_middle.len() + new_middle.len()).pow(2))?;
        for operation in capture_diff_slices(Algorithm::Myers, old_middle, new_middle) {
            if operation.tag() == DiffTag::Equal {
                let old = operation.old_range().map(|index| before + index);
                pairs.extend(old.zip(operation.new_range().map(|index| before + index)));
            }
        }
    }
    let ends = (0..after).map(|index| (old.len() - after + index, new.len() - after + index));
    pairs.extend(ends);
    Some(pairs)
}

/// Returns true if a corrected edit, as old and new text, changes only what the original edit
/// changes: it inserts no other tokens, and removes neither more tokens than the original edit nor
/// a token that the original edit keeps.
pub(crate) fn changes_no_more(original: (&str, &str), corrected: (&str, &str)) -> bool {
    let differences = Difference::between(original.0, original.1)
        .zip(Difference::between(corrected.0, corrected.1));
    let Some((original, corrected)) = differences else { return false };
    let old = count((0..original.old.len()).map(|index| original.old.get(index)));
    let (may_insert, may_remove) = (count(original.inserted()), count(original.removed()));
    let (inserted, removed) = (count(corrected.inserted()), count(corrected.removed()));
    let is_allowed = |(token, count): (&&str, &usize), allowed: &HashMap<&str, usize>| {
        allowed.get(token).is_some_and(|allowed| count <= allowed)
    };
    inserted.iter().all(|entry| is_allowed(entry, &may_insert))
        && removed.iter().all(|entry| !old.contains_key(entry.0) || is_allowed(entry, &may_remove))
        && removed.values().sum::<usize>() <= may_remove.values().sum()
}

fn count<'a>(tokens: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    let mut counts = HashMap::new();
    for token in tokens {
        *counts.entry(token).or_default() += 1;
    }
    counts
}
