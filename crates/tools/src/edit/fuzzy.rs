//! Matcher for almost equal text: runs of lines within a small edit distance. Text at the outer
//! ends of the lines that the searched text does not contain, such as a semicolon, is not replaced.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Matches;
use super::distance::{Budget, OutOfBudget, distance_within, distances};
use super::lines::{Block, KeptText, Lines};

/// Maximum difference, as a fraction of the length of the searched text.
const THRESHOLD: f64 = 0.1;
/// Weight of a difference in white space, relative to other differences.
const WHITE_SPACE_WEIGHT: f64 = 0.1;
/// Minimum length of a searched text; shorter texts would match anywhere.
const MIN_LENGTH: usize = 10;
/// Maximum of the number of lines of the text times the squared length of the searched text.
const MAX_COMPLEXITY: f64 = 4e8;

/// Number of steps of the distance computation before the search gives up; real texts within the
/// limits above need far fewer steps.
const MAX_STEPS: usize = 100_000_000;

/// A run of lines within the threshold.
struct Candidate {
    window: Range<usize>,
    /// Distance in characters, white space included.
    distance: usize,
    score: f64,
}

/// Finds the best runs of lines that do not overlap.
pub(super) fn find(lines: &Lines<'_>, old: &str, new: &str) -> Matches {
    let block = Block::new(old, new);
    let length = block.old.chars().count();
    let complexity = lines.count() as f64 * (length as f64).powi(2);
    if length < MIN_LENGTH || complexity > MAX_COMPLEXITY {
        return Matches::default();
    }
    // A search without a result until its budget is spent counts as a text that was not found.
    best(lines, &block).unwrap_or_default()
}

fn best(lines: &Lines<'_>, block: &Block<'_>) -> Result<Matches, OutOfBudget> {
    let search: Vec<&str> = block.old.split('\n').map(str::trim_end).collect();
    let raw: Vec<char> = search.join("\n").chars().collect();
    let mut budget = Budget::new(MAX_STEPS);
    let mut candidates = candidates(lines, &raw, search.len(), &mut budget)?;
    candidates.sort_by(|left, right| left.score.total_cmp(&right.score));
    let Selection { mut chosen, ambiguous } = select(candidates);
    chosen.sort_by_key(|candidate| candidate.window.start);
    let mut replacements = Vec::with_capacity(chosen.len());
    for candidate in chosen {
        let kept = kept(lines, &candidate, &raw, block, &mut budget)?;
        replacements.push(lines.replace(candidate.window, block, kept));
    }
    Ok(Matches { replacements, ambiguous })
}

/// Finds the text at both ends of the lines that only makes their distance greater. Text that the
/// replacement contains at the same end is replaced.
fn kept(
    lines: &Lines<'_>,
    candidate: &Candidate,
    raw: &[char],
    block: &Block<'_>,
    budget: &mut Budget,
) -> Result<KeptText, OutOfBudget> {
    let Candidate { window, distance, .. } = candidate;
    let mut text = join(lines, window, 2 * raw.len());
    let end = nearest_end(raw, &text, *distance, budget)?;
    let after: String = text.drain(end..).collect();
    let backwards: Vec<char> = raw.iter().rev().copied().collect();
    text.reverse();
    let length = nearest_end(&backwards, &text, *distance, budget)?;
    let before: String = text.drain(length..).rev().collect();

    let last = lines.get(window.end - 1);
    let blanks = last.len() - last.trim_end().len();
    let starts_new = block.new.trim_start().starts_with(before.trim());
    let ends_new = block.new.trim_end().ends_with(after.trim());
    Ok(KeptText {
        before: if starts_new { 0 } else { before.len() },
        after: if ends_new { 0 } else { after.len() + blanks },
    })
}

/// Returns the length of the beginning of `text` with the smallest distance from `search`; of equal
/// ones the longest. The beginning contains some of the last line and does not end within a word.
fn nearest_end(
    search: &[char],
    text: &[char],
    limit: usize,
    budget: &mut Budget,
) -> Result<usize, OutOfBudget> {
    let row = distances(search, text, limit, budget)?.unwrap_or_default();
    let last = text.iter().rposition(|letter| *letter == '\n').map_or(0, |at| at + 1);
    let is_word = |letter: Option<&char>| letter.is_some_and(|c| c.is_alphanumeric() || *c == '_');
    let ends = (last + 1..row.len())
        .filter(|end| !(is_word(text.get(end - 1)) && is_word(text.get(*end))));
    Ok(ends.min_by_key(|end| (row[*end], std::cmp::Reverse(*end))).unwrap_or(text.len()))
}

struct Selection {
    chosen: Vec<Candidate>,
    ambiguous: bool,
}

/// Selects candidates, all with the same number of lines, from the best on, and leaves out those
/// that overlap a better candidate.
fn select(candidates: Vec<Candidate>) -> Selection {
    let mut taken: BTreeMap<usize, f64> = BTreeMap::new();
    let mut chosen = Vec::new();
    let mut ambiguous = false;
    for candidate in candidates {
        let Candidate { window, score, .. } = &candidate;
        let first = (window.start + 1).saturating_sub(window.len());
        if let Some((_, better)) = taken.range(first..window.end).next() {
            // Two equally good matches of the same lines: the intended one is unknown.
            ambiguous |= (score - better).abs() < 1e-9;
        } else {
            taken.insert(window.start, *score);
            chosen.push(candidate);
        }
    }
    Selection { chosen, ambiguous }
}

/// Returns all runs of `height` lines within the threshold.
fn candidates(
    lines: &Lines<'_>,
    raw: &[char],
    height: usize,
    budget: &mut Budget,
) -> Result<Vec<Candidate>, OutOfBudget> {
    let bare: Vec<char> = raw.iter().copied().filter(|letter| !letter.is_whitespace()).collect();
    let length = raw.len() as f64;
    let bare_limit = (length * THRESHOLD).floor() as usize;
    let text = Bare::of(lines);
    let mut found = Vec::new();
    for start in 0..(lines.count() + 1).saturating_sub(height) {
        let window = start..start + height;
        let Some(bare_distance) = distance_within(&bare, text.window(&window), bare_limit, budget)?
        else {
            continue;
        };
        let joined = join(lines, &window, 2 * raw.len());
        if joined.len() > 2 * raw.len() {
            continue;
        }
        // The inequality solved for the raw distance: bare + (raw - bare) * weight <= length *
        // threshold.
        let slack = (length * THRESHOLD - bare_distance as f64) / WHITE_SPACE_WEIGHT;
        let raw_limit = bare_distance + (slack + 1e-9).floor() as usize;
        if let Some(distance) = distance_within(raw, &joined, raw_limit, budget)? {
            let white = distance.saturating_sub(bare_distance) as f64;
            let score = (bare_distance as f64 + white * WHITE_SPACE_WEIGHT) / length;
            found.push(Candidate { window, distance, score });
        }
    }
    Ok(found)
}

/// Joins lines without the white space at their ends; stops soon after `limit` characters.
fn join(lines: &Lines<'_>, window: &Range<usize>, limit: usize) -> Vec<char> {
    let mut joined = Vec::new();
    for line in window.clone() {
        if line > window.start {
            joined.push('\n');
        }
        joined.extend(lines.get(line).trim_end().chars().take(limit + 1));
        if joined.len() > limit {
            break;
        }
    }
    joined
}

/// A text without white space, with the start of each line.
struct Bare {
    letters: Vec<char>,
    starts: Vec<u32>,
}

impl Bare {
    fn of(lines: &Lines<'_>) -> Self {
        let (mut letters, mut starts) = (Vec::new(), vec![0]);
        for line in lines.iter() {
            letters.extend(line.chars().filter(|letter| !letter.is_whitespace()));
            starts.push(letters.len() as u32);
        }
        Self { letters, starts }
    }

    fn window(&self, lines: &Range<usize>) -> &[char] {
        &self.letters[self.starts[lines.start] as usize..self.starts[lines.end] as usize]
    }
}
