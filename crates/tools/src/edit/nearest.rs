//! The lines most similar to the text of a failed edit.

use std::collections::HashMap;

use super::lines::Lines;

/// Maximum number of lines shown.
const MAX_LINES: usize = 12;
/// Maximum number of characters shown of each line.
const MAX_LINE_LENGTH: usize = 200;
/// Maximum number of positions kept for equal lines of the searched text.
const MAX_TWINS: usize = 4;
/// Maximum number of other places that are named.
const MAX_OTHERS: usize = 3;
/// Minimum fraction of pairs of letters that lines must share to count as similar.
const MIN_SHARED_PAIRS: f64 = 0.4;

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

/// Finds the run of lines that shares most with `old`: by equal lines first, otherwise by the pairs
/// of letters in its longest lines. Linear in the length of the text.
pub(super) fn find(lines: &Lines<'_>, old: &str) -> Option<NearbyLines> {
    let search: Vec<&str> = old.lines().map(str::trim).collect();
    let mut starts = by_equal_lines(lines, &search);
    if starts.is_empty() {
        starts.extend(by_letters(lines, &search));
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

/// Finds the run of lines that shares most pairs of letters with the longest lines of the searched
/// text, and returns its first line.
fn by_letters(lines: &Lines<'_>, search: &[&str]) -> Option<usize> {
    let mut longest: Vec<(usize, Vec<[char; 2]>)> =
        search.iter().map(|line| pairs(line)).enumerate().collect();
    longest.sort_by_key(|(_, pairs)| std::cmp::Reverse(pairs.len()));
    longest.truncate(MAX_LINES);
    let mut holders: HashMap<[char; 2], Vec<usize>> = HashMap::new();
    for (index, (_, pairs)) in longest.iter().enumerate() {
        for pair in pairs {
            holders.entry(*pair).or_default().push(index);
        }
    }
    let total: usize = longest.iter().map(|(_, pairs)| pairs.len()).sum();
    let mut scores = vec![0.0; lines.count()];
    for (number, line) in lines.iter().enumerate() {
        let own = pairs(line);
        let mut shared = [0_usize; MAX_LINES];
        for index in own.iter().filter_map(|pair| holders.get(pair)).flatten() {
            shared[*index] += 1;
        }
        for ((place, wanted), shared) in longest.iter().zip(shared) {
            let score = 2 * shared * wanted.len();
            if let Some(start) = number.checked_sub(*place) {
                scores[start] += score as f64 / (own.len() + wanted.len()).max(1) as f64;
            }
        }
    }
    let least = MIN_SHARED_PAIRS * total.max(1) as f64;
    let best = scores.iter().enumerate().rev().max_by(|left, right| left.1.total_cmp(right.1));
    best.filter(|(_, score)| **score >= least).map(|(start, _)| start)
}

/// Returns the different pairs of neighbouring letters of a line, without white space.
fn pairs(line: &str) -> Vec<[char; 2]> {
    let letters = line.chars().take(MAX_LINE_LENGTH).filter(|letter| !letter.is_whitespace());
    let letters: Vec<char> = letters.collect();
    let mut pairs: Vec<[char; 2]> = letters.array_windows().copied().collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
