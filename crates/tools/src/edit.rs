//! Search for the place of an edit. Pure functions, bounded in time and memory.
//!
//! If the text does not occur exactly, places with the same words, numbers and punctuation marks
//! are found, and only the difference between the searched text and its replacement is applied to
//! them. A place with another word or number is never changed. The result is a list of spans with
//! their replacements: all text outside these spans stays unchanged.

use std::ops::Range;

use difference::Difference;
use indentation::Units;
use lines::Lines;
use merge::Merge;
use place::Place;
use tokens::Tokens;

mod difference;
mod indentation;
mod lines;
mod merge;
mod nearest;
mod place;
#[cfg(test)]
mod tests;
mod tokens;

pub(crate) use difference::changes_no_more;
pub use nearest::NearbyLines;

/// Maximum size in bytes of a text in which a text that does not occur exactly is searched for.
const INEXACT_LIMIT: usize = 8 << 20;
/// Maximum size in bytes of the text after an edit.
const RESULT_LIMIT: usize = 64 << 20;
/// Maximum number of places of an edit.
const REPLACEMENT_LIMIT: usize = 200_000;
/// Maximum number of places that a failure names.
const NAMED_PLACES: usize = 20;

/// The way in which a text was found, from exact to tolerant. The names are used in telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EditStrategy {
    /// The text occurs exactly.
    Exact,
    /// The lines are equal except for white space at their ends.
    Flexible,
    /// The tokens are equal, except for white space between them, and begin a line.
    Regex,
    /// Quotes or dashes only look alike, or the text begins within a line.
    Fuzzy,
}

impl EditStrategy {
    /// Returns the name in telemetry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Flexible => "flexible",
            Self::Regex => "regex",
            Self::Fuzzy => "fuzzy",
        }
    }
}

/// Place of an edit and its replacement text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundEdit {
    /// The way in which the text was found.
    pub strategy: EditStrategy,
    /// Byte spans of the text and their replacements, in order, without overlap; at least one.
    pub replacements: Vec<(Range<usize>, String)>,
}

impl FoundEdit {
    /// Returns the text after the edit.
    pub fn apply(&self, text: &str) -> String {
        let mut result = String::with_capacity(text.len());
        let mut end = 0;
        for (range, replacement) in &self.replacements {
            result.push_str(&text[end..range.start]);
            result.push_str(replacement);
            end = range.end;
        }
        result.push_str(&text[end..]);
        result
    }

    /// Returns first and last line of each span, from 1. Linear in the length of the text for all
    /// spans together.
    pub fn line_ranges(&self, text: &str) -> Vec<(usize, usize)> {
        let mut counter = LineCounter { text: text.as_bytes(), at: 0, line: 1 };
        self.replacements
            .iter()
            .map(|(range, _)| {
                let first = counter.line_of(range.start);
                (first, counter.line_of(range.end.saturating_sub(1).max(range.start)))
            })
            .collect()
    }
}

/// Counter of line numbers for increasing positions.
struct LineCounter<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

impl LineCounter<'_> {
    fn line_of(&mut self, position: usize) -> usize {
        let passed = &self.text[self.at..position.max(self.at)];
        self.line += passed.split(|byte| *byte == b'\n').count() - 1;
        self.at += passed.len();
        self.line
    }
}

/// Reason why no edit was made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditFailure {
    /// The text to replace is empty.
    #[error("the text to replace is empty")]
    EmptySearch,
    /// The text was not found.
    #[error("the text to replace was not found")]
    NotFound {
        /// Most similar lines, if there are any.
        nearest: Option<NearbyLines>,
    },
    /// The text occurs more than once, but only one replacement was requested.
    #[error("the text to replace occurs {count} times")]
    Ambiguous {
        /// Number of occurrences.
        count: usize,
        /// Line numbers of the first occurrences.
        lines: Vec<usize>,
    },
    /// The edit would not change the text.
    #[error("the edit changes nothing")]
    NoChange,
    /// The edit has too many places, or its result has too many bytes.
    #[error("the edit is too large")]
    TooLarge,
}

/// Finds the places in `text` (line feeds only) where `old` is to be replaced by `new`.
///
/// A text that does not occur exactly is found where its tokens are equal except for white space
/// and for quotes and dashes that look alike; the most exact places count. There, only the
/// difference between `old` and `new` is applied. A line feed at the end of the text is neither
/// added nor removed.
///
/// # Errors
/// See [`EditFailure`]. Several places are an error unless `allow_multiple` is set.
pub fn find_edit(
    text: &str,
    old: &str,
    new: &str,
    allow_multiple: bool,
) -> Result<FoundEdit, EditFailure> {
    let (old, new) = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
    if old.is_empty() {
        return Err(EditFailure::EmptySearch);
    }
    if old == new {
        return Err(EditFailure::NoChange);
    }
    let exact = exact(text, &old, &new, allow_multiple)?;
    let mut found = if exact.is_empty() {
        inexact(text, &old, &new, allow_multiple)?
    } else if !allow_multiple && cuts_token(text, &exact[0].0, &old, &new) {
        return Err(EditFailure::NotFound { nearest: nearest::find(&Lines::of(text), &old) });
    } else {
        let merged = moves_cut_indentation(text, &exact, &old, &new)
            .then(|| inexact(text, &old, &new, allow_multiple).ok())
            .flatten();
        merged.unwrap_or(FoundEdit { strategy: EditStrategy::Exact, replacements: exact })
    };
    keep_final_newline(text, &mut found.replacements);
    let differs = match found.replacements.as_slice() {
        [(range, replacement)] => text[range.clone()] != **replacement,
        // Several replacements can cancel each other out.
        _ => found.apply(text) != text,
    };
    if differs { Ok(found) } else { Err(EditFailure::NoChange) }
}

/// Returns true if an exact text begins within the indentation of a line, and its replacement is
/// indented differently. The text is then quoted inexactly, although it occurs.
fn moves_cut_indentation(text: &str, found: &Replacements, old: &str, new: &str) -> bool {
    let indentation = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
    let cuts = |(range, _): &(Range<usize>, String)| {
        let line = text[..range.start].rsplit('\n').next().unwrap_or_default();
        !line.is_empty() && line.len() == indentation(line)
    };
    let (before, after) = (indentation(old), indentation(new));
    before > 0 && old[..before] != new[..after] && found.iter().any(cuts)
}

/// Returns true if an exact text begins or ends within a number that the edit changes, or within a
/// word that the new text has elsewhere: the rest of the word would join another one.
fn cuts_token(text: &str, range: &Range<usize>, old: &str, new: &str) -> bool {
    let (old, new) = (Tokens::of(old), Tokens::of(new));
    let (before, after) = (&text[..range.start], &text[range.end..]);
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let is_number = |token: &str| token.starts_with(|letter: char| letter.is_ascii_digit());
    let cuts = |old_at: usize, new_at: Option<usize>, cuts_number: bool, cuts_word: bool| {
        let token = old.get(old_at);
        let stays = new_at.is_some_and(|at| new.get(at) == token);
        let joins = || (0..new.len()).any(|index| new.get(index) == token);
        !stays && ((cuts_number && is_number(token)) || (cuts_word && joins()))
    };
    let Some(last) = old.len().checked_sub(1) else { return false };
    let continues = after.starts_with(is_word) && old.text.ends_with(is_word);
    let digits = after.strip_prefix(['.', '_']).unwrap_or(after);
    let continues_number =
        digits.starts_with(|letter: char| letter.is_ascii_digit()) && old.text.ends_with(is_word);
    let begins = before.ends_with(is_word) && old.text.starts_with(is_word);
    let begins_number = before.ends_with(|letter: char| letter.is_ascii_digit()) && begins;
    cuts(last, new.len().checked_sub(1), continues_number, continues)
        || cuts(0, (new.len() > 0).then_some(0), begins_number, begins)
}

fn inexact(text: &str, old: &str, new: &str, multiple: bool) -> Result<FoundEdit, EditFailure> {
    if text.len() > INEXACT_LIMIT || old.trim().is_empty() {
        return Err(EditFailure::NotFound { nearest: None });
    }
    let not_found = || EditFailure::NotFound { nearest: nearest::find(&Lines::of(text), old) };
    let (file, searched) = (Tokens::of(text), Tokens::of(old));
    let (strategy, places) = best_places(&file, &searched, multiple).ok_or_else(not_found)?;
    if places.len() > 1 && !multiple {
        let lines = Lines::of(text);
        let named = places.iter().take(NAMED_PLACES);
        let lines = named.map(|place| lines.number_of(place.range().start)).collect();
        return Err(EditFailure::Ambiguous { count: places.len(), lines });
    }
    let replacements = changes(&file, &places, old, new)?.ok_or_else(not_found)?;
    Ok(FoundEdit { strategy, replacements })
}

/// Returns the places with the most exact strategy; `None` if there are no places. Places overlap
/// only if a single one is wanted.
fn best_places<'a>(
    file: &'a Tokens<'a>,
    searched: &Tokens<'_>,
    multiple: bool,
) -> Option<(EditStrategy, Vec<Place<'a>>)> {
    let mut found: Vec<(EditStrategy, Place<'a>)> = Vec::new();
    let mut end = 0;
    for first in file.find(searched) {
        let overlaps = first < end;
        if overlaps && multiple {
            continue;
        }
        let place = Place::new(file, first, searched);
        // Overlapping places are not compared again: each would cost the length of the text.
        let strategy = match found.last() {
            Some((strategy, _)) if overlaps => Some(*strategy),
            _ => place.strategy(searched),
        };
        if let Some(strategy) = strategy {
            found.push((strategy, place));
            end = first + searched.len();
        }
    }
    let best = found.iter().map(|(strategy, _)| *strategy).min()?;
    let places = found.into_iter().filter(|(strategy, _)| *strategy == best);
    Some((best, places.map(|(_, place)| place).collect()))
}

type Replacements = Vec<(Range<usize>, String)>;

/// Returns the replacements at all places; `None` if the edit cannot be applied to them.
fn changes(
    file: &Tokens<'_>,
    places: &[Place<'_>],
    old: &str,
    new: &str,
) -> Result<Option<Replacements>, EditFailure> {
    let rest = rest_in_both(places, old, new).unwrap_or_default();
    let old = if rest.is_empty() { old.to_owned() } else { old.trim_end().to_owned() + rest };
    let Some(edit) = Difference::between(&old, new) else { return Ok(None) };
    let units = Units::of(file, &edit);
    let (mut replacements, mut size) = (Vec::with_capacity(places.len()), 0);
    for place in places {
        let place = place.with_len(edit.old.len());
        let Some((range, replacement)) = Merge::new(&edit, &place, units).replacement() else {
            return Ok(None);
        };
        size += replacement.len();
        replacements.push((range, replacement));
        if replacements.len() > REPLACEMENT_LIMIT || size > RESULT_LIMIT {
            return Err(EditFailure::TooLarge);
        }
    }
    Ok(Some(replacements))
}

/// Returns the text after a single place on its line, such as a semicolon, if the replacement ends
/// with it and the searched text does not.
fn rest_in_both<'a>(places: &[Place<'a>], old: &str, new: &str) -> Option<&'a str> {
    let [place] = places else { return None };
    let rest = place.rest_of_line().trim_end();
    let ends = |text: &str| text.trim_end().ends_with(rest.trim_start());
    (ends(new) && !ends(old)).then_some(rest)
}

fn exact(text: &str, old: &str, new: &str, multiple: bool) -> Result<Replacements, EditFailure> {
    let count = text.matches(old).count();
    if count > 1 && !multiple {
        let mut counter = LineCounter { text: text.as_bytes(), at: 0, line: 1 };
        let named = text.match_indices(old).take(NAMED_PLACES);
        let lines = named.map(|(start, _)| counter.line_of(start)).collect();
        return Err(EditFailure::Ambiguous { count, lines });
    }
    check_size(text, count, new.len())?;
    let span = |(start, _)| (start..start + old.len(), new.to_owned());
    Ok(text.match_indices(old).map(span).collect())
}

fn check_size(text: &str, count: usize, each: usize) -> Result<(), EditFailure> {
    let size = count.saturating_mul(each).saturating_add(text.len());
    let fits = count <= 1 || (count <= REPLACEMENT_LIMIT && size <= RESULT_LIMIT);
    if fits { Ok(()) } else { Err(EditFailure::TooLarge) }
}

/// Makes sure that an edit at the end of the text neither removes the final line feed nor adds one.
/// Only replacements change.
fn keep_final_newline(text: &str, replacements: &mut [(Range<usize>, String)]) {
    let ends_in_newline = will_end_in_newline(text, replacements);
    let Some((range, last)) = replacements.last_mut() else { return };
    if range.end != text.len() {
        return;
    }
    match (text.ends_with('\n'), ends_in_newline) {
        (true, false) => last.push('\n'),
        (false, true) if last.ends_with('\n') => {
            last.pop();
        }
        _ => {}
    }
}

/// Returns true if the text after the edit ends in a line feed. An empty text counts as ending in
/// one, because an empty file has no last line.
fn will_end_in_newline(text: &str, replacements: &[(Range<usize>, String)]) -> bool {
    let mut end = text.len();
    for (range, replacement) in replacements.iter().rev() {
        if range.end < end {
            break;
        }
        if !replacement.is_empty() {
            return replacement.ends_with('\n');
        }
        end = range.start;
    }
    end == 0 || text[..end].ends_with('\n')
}
