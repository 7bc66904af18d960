//! Matcher for the same words and brackets with different white space between them.
//!
//! Gemini CLI builds a regular expression of the words with `\s*` between them. Words contain no
//! white space, so that expression never has a choice: one scan from each line start decides, and a
//! budget limits the sum of all scans.

use super::Matches;
use super::lines::{Block, Lines};

/// Characters that are separate words.
const DELIMITERS: &[char] = &['(', ')', ':', '[', ']', '{', '}', '>', '<', '='];
/// Number of bytes compared before the search gives up.
const BUDGET: usize = 20_000_000;

/// Finds runs of words that begin at the first word of a line.
pub(super) fn find(lines: &Lines<'_>, old: &str, new: &str) -> Matches {
    let block = Block::new(old, new);
    let words = words(block.old);
    let (mut found, mut end, mut spent, mut size) = (Vec::new(), 0, 0_usize, 0);
    for line in 0..lines.count() {
        let start = lines.start(line);
        if start < end {
            continue;
        }
        let spaces = indentation_within(lines.text, start);
        if let Some(stop) = scan(lines.text, start + spaces.len(), &words, &mut spent) {
            let replacement = block.indented(spaces);
            size += replacement.len();
            found.push((start..stop, replacement));
            end = stop;
        }
        // The caller refuses so many replacements. Each has its own copy of the new text.
        if size > super::RESULT_LIMIT {
            break;
        }
        if spent > BUDGET || found.len() > super::REPLACEMENT_LIMIT {
            return Matches::default();
        }
    }
    found.into()
}

fn indentation_within(text: &str, start: usize) -> &str {
    let rest = &text[start..];
    &rest[..rest.find(|letter| !matches!(letter, ' ' | '\t')).unwrap_or(rest.len())]
}

fn words(block: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for chunk in block.split_whitespace() {
        for piece in chunk.split_inclusive(DELIMITERS) {
            let before = piece.trim_end_matches(DELIMITERS);
            words.extend(
                [before, &piece[before.len()..]].into_iter().filter(|word| !word.is_empty()),
            );
        }
    }
    words
}

/// Returns the end of the words if they all follow from `start`.
fn scan(text: &str, start: usize, words: &[&str], spent: &mut usize) -> Option<usize> {
    let mut at = start;
    for (index, word) in words.iter().enumerate() {
        let rest = &text[at..];
        let rest = if index == 0 { rest } else { rest.trim_start() };
        *spent += text.len() - at - rest.len() + word.len();
        if !rest.starts_with(word) {
            return None;
        }
        at = text.len() - rest.len() + word.len();
    }
    Some(at)
}
