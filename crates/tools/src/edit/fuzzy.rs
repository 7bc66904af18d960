//! Matcher for almost equal text: runs of lines within a small edit distance.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Matches;
use super::distance::{Budget, OutOfBudget, distance_within};
use super::lines::{Block, Lines};

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
    let Ok(mut candidates) = candidates(lines, block.old) else { return Matches::default() };
    candidates.sort_by(|left, right| left.score.total_cmp(&right.score));
    let Selection { mut windows, ambiguous } = select(candidates);
    windows.sort_by_key(|window| window.start);
    let replacements = windows.into_iter().map(|window| lines.replace(window, &block)).collect();
    Matches { replacements, ambiguous }
}

struct Selection {
    windows: Vec<Range<usize>>,
    ambiguous: bool,
}

/// Selects candidates, all with the same number of lines, from the best on, and leaves out those
/// that overlap a better candidate.
fn select(candidates: Vec<Candidate>) -> Selection {
    let mut taken: BTreeMap<usize, f64> = BTreeMap::new();
    let mut windows = Vec::new();
    let mut ambiguous = false;
    for Candidate { window, score } in candidates {
        let first = (window.start + 1).saturating_sub(window.len());
        if let Some((_, better)) = taken.range(first..window.end).next() {
            // Two equally good matches of the same lines: the intended one is unknown.
            ambiguous |= (score - better).abs() < 1e-9;
        } else {
            taken.insert(window.start, score);
            windows.push(window);
        }
    }
    Selection { windows, ambiguous }
}

/// Returns all runs within the threshold.
fn candidates(lines: &Lines<'_>, old: &str) -> Result<Vec<Candidate>, OutOfBudget> {
    let search: Vec<&str> = old.split('\n').map(str::trim_end).collect();
    let raw: Vec<char> = search.join("\n").chars().collect();
    let bare: Vec<char> = raw.iter().copied().filter(|letter| !letter.is_whitespace()).collect();
    let length = raw.len() as f64;
    let bare_limit = (length * THRESHOLD).floor() as usize;
    let text = Bare::of(lines);
    let mut budget = Budget::new(MAX_STEPS);
    let mut found = Vec::new();
    for start in 0..(lines.count() + 1).saturating_sub(search.len()) {
        let window = start..start + search.len();
        let Some(bare_distance) =
            distance_within(&bare, text.window(&window), bare_limit, &mut budget)?
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
        if let Some(distance) = distance_within(&raw, &joined, raw_limit, &mut budget)? {
            let white = distance.saturating_sub(bare_distance) as f64;
            let score = (bare_distance as f64 + white * WHITE_SPACE_WEIGHT) / length;
            found.push(Candidate { window, score });
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
