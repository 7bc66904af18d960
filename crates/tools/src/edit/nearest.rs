//! What a failed edit may have meant: the lines that come closest.

use std::collections::{HashMap, HashSet};

use super::lines::Lines;

/// Lines shown at most.
const MAX_LINES: usize = 12;
/// Characters shown of each line.
const MAX_LINE_LENGTH: usize = 200;
/// Equal lines of the search that are told apart.
const MAX_TWINS: usize = 4;
/// A single line must share this part of its words to be called near.
const MIN_SHARED_WORDS: f64 = 0.5;

/// Lines of a text with their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearbyLines {
    /// The number of the first line, from 1.
    pub first: usize,
    /// The lines, long ones cut.
    pub lines: Vec<String>,
}

/// The run of lines that shares most with `old`: by equal lines first, by words of its longest line else. Linear.
pub(super) fn find(lines: &Lines<'_>, old: &str) -> Option<NearbyLines> {
    let search: Vec<&str> = old.lines().map(str::trim).collect();
    let start = by_equal_lines(lines, &search).or_else(|| by_words(lines, &search))?;
    let end = (start + search.len().min(MAX_LINES)).min(lines.count());
    let cut = |line: usize| lines.get(line).chars().take(MAX_LINE_LENGTH).collect();
    Some(NearbyLines { first: start + 1, lines: (start..end).map(cut).collect() })
}

/// Every equal line votes for the run in which it would stand in its place.
fn by_equal_lines(lines: &Lines<'_>, search: &[&str]) -> Option<usize> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    // A lone brace or an empty line says nothing about where the block is.
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
    votes.into_iter().max_by_key(|(start, count)| (*count, usize::MAX - start)).map(|best| best.0)
}

/// The line that shares most words with the longest line of the search, moved to where the block would begin.
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
