//! Matcher for lines that are equal except for white space at their ends.

use std::collections::HashMap;

use super::Matches;
use super::lines::{Block, KeptText, Lines};

/// Number of a line that does not occur in the searched text.
const UNKNOWN: u32 = u32::MAX;

/// Finds runs of lines with the Knuth-Morris-Pratt algorithm over line numbers: linear also for
/// repetitive input.
pub(super) fn find(lines: &Lines<'_>, old: &str, new: &str) -> Matches {
    let block = Block::new(old, new);
    let (pattern, numbers) = number_lines(block.old);
    let fallback = fallbacks(&pattern);
    let (mut found, mut matched, mut size) = (Vec::new(), 0, 0);
    for (index, line) in lines.iter().enumerate() {
        let number = numbers.get(line.trim()).copied().unwrap_or(UNKNOWN);
        while matched > 0 && pattern[matched] != number {
            matched = fallback[matched - 1];
        }
        if pattern[matched] == number {
            matched += 1;
        }
        if matched == pattern.len() {
            let window = index + 1 - matched..index + 1;
            let (range, replacement) = lines.replace(window, &block, KeptText::default());
            size += replacement.len();
            found.push((range, replacement));
            matched = 0;
        }
        // The caller refuses so many replacements. Each has its own copy of the new text.
        if found.len() > super::REPLACEMENT_LIMIT || size > super::RESULT_LIMIT {
            break;
        }
    }
    found.into()
}

/// Assigns equal numbers to equal lines.
fn number_lines(block: &str) -> (Vec<u32>, HashMap<&str, u32>) {
    let mut numbers = HashMap::new();
    let pattern = block
        .split('\n')
        .map(|line| {
            let next = numbers.len() as u32;
            *numbers.entry(line.trim()).or_insert(next)
        })
        .collect();
    (pattern, numbers)
}

/// Returns for each prefix the length of its longest proper prefix that is also its suffix.
fn fallbacks(pattern: &[u32]) -> Vec<usize> {
    let mut fallback = vec![0; pattern.len()];
    let mut length = 0;
    for index in 1..pattern.len() {
        while length > 0 && pattern[index] != pattern[length] {
            length = fallback[length - 1];
        }
        if pattern[index] == pattern[length] {
            length += 1;
        }
        fallback[index] = length;
    }
    fallback
}
