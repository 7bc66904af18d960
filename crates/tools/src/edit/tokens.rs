//! Tokens of a text: words, numbers and punctuation marks, with the white space between them.

use std::collections::HashMap;
use std::ops::Range;

/// Number of a token that does not occur in the searched text.
const UNKNOWN: u32 = u32::MAX;

/// A text with the positions of its tokens. A token is a run of letters, digits and underscores, or
/// any other character that is not white space.
pub(super) struct Tokens<'a> {
    pub(super) text: &'a str,
    spans: Vec<(u32, u32)>,
}

impl<'a> Tokens<'a> {
    /// Finds the tokens. The text must be shorter than 4 GiB; longer texts are refused before.
    pub(super) fn of(text: &'a str) -> Self {
        let mut spans: Vec<(u32, u32)> = Vec::new();
        let mut word = None;
        for (at, letter) in text.char_indices() {
            let (start, end) = (at as u32, (at + letter.len_utf8()) as u32);
            if letter.is_alphanumeric() || letter == '_' {
                match (word, spans.last_mut()) {
                    (Some(()), Some(span)) => span.1 = end,
                    _ => spans.push((start, end)),
                }
                word = Some(());
                continue;
            }
            word = None;
            if !letter.is_whitespace() {
                spans.push((start, end));
            }
        }
        Self { text, spans }
    }

    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns a token.
    pub(super) fn get(&self, index: usize) -> &'a str {
        &self.text[self.start(index)..self.end(index)]
    }

    /// Returns the offset at which a token begins; the end of the text for the token after the
    /// last.
    pub(super) fn start(&self, index: usize) -> usize {
        self.spans.get(index).map_or(self.text.len(), |span| span.0 as usize)
    }

    /// Returns the offset at which a token ends.
    pub(super) fn end(&self, index: usize) -> usize {
        self.spans.get(index).map_or(self.text.len(), |span| span.1 as usize)
    }

    /// Returns the white space before a token; that at the end of the text for the token after the
    /// last.
    pub(super) fn gap(&self, index: usize) -> &'a str {
        let end = index.checked_sub(1).map_or(0, |before| self.end(before));
        &self.text[end..self.start(index)]
    }

    /// Returns true if a token is the first of its line.
    pub(super) fn starts_line(&self, index: usize) -> bool {
        index == 0 || self.gap(index).contains('\n')
    }

    /// Returns true if no token follows on the line of the token before `index`.
    pub(super) fn ends_line(&self, index: usize) -> bool {
        index == self.len() || self.gap(index).contains('\n')
    }

    /// Returns the indentation of a token that is the first of its line.
    pub(super) fn indentation(&self, index: usize) -> &'a str {
        let gap = self.gap(index);
        &gap[gap.rfind('\n').map_or(0, |at| at + 1)..]
    }

    /// Returns the tokens of each line that has any.
    pub(super) fn lines(&self) -> Vec<Range<usize>> {
        let starts: Vec<usize> = (0..self.len()).filter(|index| self.starts_line(*index)).collect();
        let ends = starts.iter().skip(1).copied().chain([self.len()]);
        starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
    }

    /// Returns the text of a run of tokens with the white space between them.
    pub(super) fn run(&self, tokens: &Range<usize>) -> &'a str {
        match tokens.end.checked_sub(1) {
            Some(last) if last >= tokens.start => {
                &self.text[self.start(tokens.start)..self.end(last)]
            }
            _ => "",
        }
    }

    /// Finds all runs of tokens that are equal to `search`, except for characters that look alike,
    /// with the Knuth-Morris-Pratt algorithm: linear also for repetitive input. Returns the first
    /// token of each run; runs may overlap.
    pub(super) fn find(&self, search: &Tokens<'_>) -> Vec<usize> {
        let mut numbers = HashMap::new();
        let pattern: Vec<u32> = (0..search.len())
            .map(|index| {
                let next = numbers.len() as u32;
                *numbers.entry(plain(search.get(index))).or_insert(next)
            })
            .collect();
        let fallback = fallbacks(&pattern);
        let (mut found, mut matched) = (Vec::new(), 0);
        for index in 0..self.len() {
            let number = numbers.get(plain(self.get(index))).copied().unwrap_or(UNKNOWN);
            while matched > 0 && pattern.get(matched) != Some(&number) {
                matched = fallback[matched - 1];
            }
            if pattern.get(matched) == Some(&number) {
                matched += 1;
            }
            if matched > 0 && matched == pattern.len() {
                found.push(index + 1 - matched);
            }
        }
        found
    }
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

/// Returns the ASCII form of a quote or dash.
fn plain(token: &str) -> &str {
    match token {
        "'" | "\u{2018}" | "\u{2019}" | "\u{201a}" | "\u{201b}" | "\u{2032}" | "\u{ff07}"
        | "\u{201c}" | "\u{201d}" | "\u{201e}" | "\u{201f}" | "\u{2033}" | "\u{ff02}" => "\"",
        "\u{2010}" | "\u{2011}" | "\u{2012}" | "\u{2013}" | "\u{2014}" | "\u{2015}"
        | "\u{2212}" => "-",
        other => other,
    }
}
