//! Search for the place of an edit: a ladder of matchers from exact to tolerant. Pure functions,
//! bounded in time and memory.
//!
//! Each step is tried only if the step before found nothing. A step that finds several places where
//! one was expected ends the search. The result is a list of spans with their replacements: all
//! text outside these spans stays unchanged.

use std::ops::Range;

use lines::Lines;

mod distance;
mod flexible;
mod fuzzy;
mod lines;
mod nearest;
#[cfg(test)]
mod tests;
mod tokens;

pub use nearest::NearbyLines;

/// Maximum size in bytes of a text for which the steps after the exact step are tried.
const LADDER_LIMIT: usize = 8 << 20;
/// Maximum size in bytes of the text after an edit.
const RESULT_LIMIT: usize = 64 << 20;
/// Maximum number of places of an edit.
const REPLACEMENT_LIMIT: usize = 200_000;
/// Maximum number of places that a failure names.
const NAMED_PLACES: usize = 20;

/// The step of the ladder that matched. The names are used in telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditStrategy {
    /// The text occurs exactly.
    Exact,
    /// The lines are equal except for white space at their ends; the replacement is indented again.
    Flexible,
    /// The words and brackets are equal, except for white space between them.
    Regex,
    /// Almost the same text: at most a tenth differs.
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
    /// Step that found the edit.
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
    /// No step of the ladder found the text.
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
/// Steps: exact; line by line without white space at the ends; word by word; almost the same
/// (Levenshtein distance of at most a tenth, where white space counts a tenth). A line feed at the
/// end of the text is neither added nor removed.
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
    let mut found = climb(text, &old, &new, allow_multiple)?;
    keep_final_newline(text, &mut found.replacements);
    let differs = match found.replacements.as_slice() {
        [(range, replacement)] => text[range.clone()] != **replacement,
        // Several replacements can cancel each other out.
        _ => found.apply(text) != text,
    };
    if differs { Ok(found) } else { Err(EditFailure::NoChange) }
}

fn climb(text: &str, old: &str, new: &str, multiple: bool) -> Result<FoundEdit, EditFailure> {
    let found = exact(text, old, new, multiple)?;
    if !found.is_empty() {
        return Ok(FoundEdit { strategy: EditStrategy::Exact, replacements: found });
    }
    if text.len() > LADDER_LIMIT || old.trim().is_empty() {
        return Err(EditFailure::NotFound { nearest: None });
    }
    let lines = Lines::of(text);
    let ladder: [(EditStrategy, Step); 3] = [
        (EditStrategy::Flexible, flexible::find),
        (EditStrategy::Regex, tokens::find),
        (EditStrategy::Fuzzy, fuzzy::find),
    ];
    for (strategy, step) in ladder {
        let Matches { replacements, ambiguous } = step(&lines, old, new);
        if replacements.is_empty() {
            continue;
        }
        if ambiguous || (replacements.len() > 1 && !multiple) {
            let count = replacements.len().max(2);
            let named = replacements.iter().take(NAMED_PLACES);
            let lines = named.map(|(range, _)| lines.number_of(range.start)).collect();
            return Err(EditFailure::Ambiguous { count, lines });
        }
        check_size(text, replacements.len(), longest(&replacements))?;
        return Ok(FoundEdit { strategy, replacements });
    }
    Err(EditFailure::NotFound { nearest: nearest::find(&lines, old) })
}

/// A step of the ladder. Arguments: the text, the searched text, the replacement.
type Step = fn(&Lines<'_>, &str, &str) -> Matches;

/// Result of a step of the ladder.
#[derive(Default)]
struct Matches {
    replacements: Vec<(Range<usize>, String)>,
    /// True if two overlapping places match equally well.
    ambiguous: bool,
}

impl From<Vec<(Range<usize>, String)>> for Matches {
    fn from(replacements: Vec<(Range<usize>, String)>) -> Self {
        Self { replacements, ambiguous: false }
    }
}

fn exact(
    text: &str,
    old: &str,
    new: &str,
    multiple: bool,
) -> Result<Vec<(Range<usize>, String)>, EditFailure> {
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

fn longest(replacements: &[(Range<usize>, String)]) -> usize {
    replacements.iter().map(|(_, text)| text.len()).max().unwrap_or(0)
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
