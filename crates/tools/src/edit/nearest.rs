//! The lines most similar to the text of a failed edit.

use std::collections::{HashMap, HashSet};

use super::lines::Lines;

/// Maximum number of lines shown.
const MAX_LINES: usize = 12;
/// Maximum number of characters shown of each line.
const MAX_LINE_LENGTH: usize = 200;
/// Maximum number of positions kept for equal lines of the searched text.
const MAX_TWINS: usize = 4;
/// Maximum number of other places that are named.
const MAX_OTHERS: usize = 3;
/// Minimum fraction of words that a single line must share to count as similar.
const MIN_SHARED_WORDS: f64 = 0.5;

/// Lines of a text with their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearbyLines {
    /// Number of the first line, from 1.
    pub first: usize,
    /// The lines; long lines are cut.
    pub lines: Vec<String>,
    /// Lines of the searched text that would match these lines, cut in the same way.
    pub wanted: Vec<String>,
    /// First lines of other places that are as similar.
    pub others: Vec<usize>,
}

/// Finds the run of lines that shares most with `old`: by equal lines first, otherwise by the words
/// of its longest line. Linear in the length of the text.
pub(super) fn find(lines: &Lines<'_>, old: &str) -> Option<NearbyLines> {
    let search: Vec<&str> = old.lines().map(str::trim).collect();
    let mut starts = by_equal_lines(lines, &search);
    if starts.is_empty() {
        starts.extend(by_words(lines, &search));
    }
    let (start, others) = starts.split_first()?;
    let end = (start + search.len().min(MAX_LINES)).min(lines.count());
    Some(NearbyLines {
        first: start + 1,
        lines: (*start..end).map(|line| cut(lines.get(line))).collect(),
        wanted: old.lines().take(MAX_LINES).map(cut).collect(),
        others: others.iter().take(MAX_OTHERS).map(|start| start + 1).collect(),
    })
}

fn cut(line: &str) -> String {
    line.chars().take(MAX_LINE_LENGTH).collect()
}

/// Lets every equal line vote for the run in which it would have its position. Returns the runs
/// with the most votes, in order.
fn by_equal_lines(lines: &Lines<'_>, search: &[&str]) -> Vec<usize> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    // A single brace or an empty line gives no information about the position of the block.
    for (index, line) in search.iter().enumerate().filter(|(_, line)| line.len() > 2) {
        let twins = places.entry(line).or_default();
        if twins.len() < MAX_TWINS {
            twins.push(index);
        }
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        for place in places.get(line.trim()).into_iter().flatten() {
            if let Some(start) = index.checked_sub(*place) {
                *votes.entry(start).or_default() += 1;
            }
        }
    }
    let most = votes.values().max().copied();
    let mut best: Vec<usize> =
        votes.into_iter().filter(|(_, count)| Some(*count) == most).map(|vote| vote.0).collect();
    best.sort_unstable();
    best
}

/// Finds the line that shares most words with the longest line of the searched text, and returns
/// the line where the block would begin.
fn by_words(lines: &Lines<'_>, search: &[&str]) -> Option<usize> {
    let (place, longest) = search.iter().enumerate().max_by_key(|(_, line)| line.len())?;
    let wanted: HashSet<&str> = words(longest).collect();
    let (mut best, mut best_score) = (None, MIN_SHARED_WORDS);
    for (index, line) in lines.iter().enumerate() {
        let own: HashSet<&str> = words(line).take(MAX_LINE_LENGTH).collect();
        let shared = own.iter().filter(|word| wanted.contains(*word)).count() as f64;
        let score = 2.0 * shared / (own.len() + wanted.len()).max(1) as f64;
        if score > best_score {
            (best, best_score) = (Some(index.saturating_sub(place)), score);
        }
    }
    best
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
}
