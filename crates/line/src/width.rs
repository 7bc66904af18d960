//! Width of a character in terminal cells, by Unicode's East Asian Width and emoji data.
//!
//! The ranges cover whole blocks, so that the table stays short; a wrong width only adds or removes
//! a blank at the end of the input line.

/// First and last characters of the ranges with a width of two cells.
const WIDE: &[(char, char)] = &[
    ('\u{1100}', '\u{115f}'),
    ('\u{231a}', '\u{231b}'),
    ('\u{23e9}', '\u{23ec}'),
    ('\u{2614}', '\u{2615}'),
    ('\u{2648}', '\u{2653}'),
    ('\u{26a1}', '\u{26a1}'),
    ('\u{2705}', '\u{2705}'),
    ('\u{270a}', '\u{270b}'),
    ('\u{2728}', '\u{2728}'),
    ('\u{274c}', '\u{274c}'),
    ('\u{2753}', '\u{2755}'),
    ('\u{2795}', '\u{2797}'),
    ('\u{2b1b}', '\u{2b1c}'),
    ('\u{2b50}', '\u{2b50}'),
    ('\u{2b55}', '\u{2b55}'),
    ('\u{2e80}', '\u{303e}'),
    ('\u{3041}', '\u{4dbf}'),
    ('\u{4e00}', '\u{a4cf}'),
    ('\u{a960}', '\u{a97f}'),
    ('\u{ac00}', '\u{d7a3}'),
    ('\u{f900}', '\u{faff}'),
    ('\u{fe30}', '\u{fe6f}'),
    ('\u{ff00}', '\u{ff60}'),
    ('\u{ffe0}', '\u{ffe6}'),
    ('\u{1f300}', '\u{1f64f}'),
    ('\u{1f680}', '\u{1f6ff}'),
    ('\u{1f900}', '\u{1f9ff}'),
    ('\u{1fa70}', '\u{1faff}'),
    ('\u{20000}', '\u{3fffd}'),
];

/// First and last characters of the ranges that have no width of their own.
const NONE: &[(char, char)] = &[
    ('\u{300}', '\u{36f}'),
    ('\u{1ab0}', '\u{1aff}'),
    ('\u{1dc0}', '\u{1dff}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{20d0}', '\u{20ff}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{fe20}', '\u{fe2f}'),
    ('\u{feff}', '\u{feff}'),
];

/// Returns the width of one grapheme cluster, in cells.
pub(super) fn width(cluster: &str) -> usize {
    let mut letters = cluster.chars();
    let Some(first) = letters.next() else { return 0 };
    // An emoji is recognised by its variation selector; a flag is a pair of regional indicators.
    let is_pair = |letter: char| ('\u{1f1e6}'..='\u{1f1ff}').contains(&letter);
    if letters.any(|letter| letter == '\u{fe0f}' || is_pair(letter)) || is_in(WIDE, first) {
        return 2;
    }
    usize::from(!is_in(NONE, first))
}

fn is_in(ranges: &[(char, char)], letter: char) -> bool {
    let after = ranges.partition_point(|(first, _)| *first <= letter);
    after.checked_sub(1).is_some_and(|index| letter <= ranges[index].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells() {
        let table = [
            ("", 0),
            ("a", 1),
            ("é", 1),
            ("e\u{301}", 1),
            ("\u{301}", 0),
            ("漢", 2),
            ("한", 2),
            ("👍", 2),
            ("👩\u{200d}💻", 2),
            ("❤\u{fe0f}", 2),
            ("🇩🇪", 2),
        ];
        for (cluster, cells) in table {
            assert_eq!(width(cluster), cells, "{cluster:?}");
        }
        for ranges in [WIDE, NONE] {
            assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0), "sorted, apart");
        }
    }
}
