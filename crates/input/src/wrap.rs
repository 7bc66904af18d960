//! Line breaks between the words of a text that arrives in pieces. Pure.
//!
//! Code keeps its lines: lines in Markdown fences, indented lines and tables are not broken.

use pollux_protocol::plain_text::for_terminal;
use unicode_width::UnicodeWidthStr;

use crate::tone::TonedLine;

/// Maximum size of a word, in bytes; a longer one is printed in pieces.
const LONGEST_WORD: usize = 1024;

/// State of a text whose words are placed on lines.
#[derive(Debug, Default)]
pub struct WordWrap {
    /// Word that may continue.
    word: String,
    /// Number of cells of the line that are printed.
    column: usize,
    /// Beginning of the line, until its kind is known.
    start: String,
    /// True in a Markdown fence.
    is_fenced: bool,
    /// True if the line is not broken.
    is_fixed: bool,
}

impl WordWrap {
    /// Returns the text that can be printed for lines of `columns` cells. The last column stays
    /// free.
    pub fn push(&mut self, text: &str, columns: usize) -> String {
        let mut printed = String::with_capacity(text.len());
        for letter in text.chars() {
            match letter {
                '\n' => {
                    self.place_word(&mut printed, columns);
                    if self.start.trim_start().starts_with("```") {
                        self.is_fenced = !self.is_fenced;
                    }
                    self.end_line();
                    printed.push('\n');
                }
                ' ' if !self.is_fixed && self.column + self.word.len() > 0 => {
                    self.place_word(&mut printed, columns);
                    printed.push(' ');
                    self.column += 1;
                    self.begin_with(' ');
                }
                letter => {
                    self.begin_with(letter);
                    self.word.push(letter);
                    if self.is_fixed || self.word.len() > LONGEST_WORD {
                        self.place_word(&mut printed, columns);
                    }
                }
            }
        }
        printed
    }

    /// Returns the word that was held back.
    pub fn flush(&mut self, columns: usize) -> String {
        let mut printed = String::new();
        self.place_word(&mut printed, columns);
        printed
    }

    /// Starts a new line. The text in a fence may continue on it.
    pub fn end_line(&mut self) {
        self.start.clear();
        (self.column, self.is_fixed) = (0, self.is_fenced);
    }

    /// Starts a new text.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Notes the beginning of a line, which shows whether it may be broken.
    fn begin_with(&mut self, letter: char) {
        if self.start.len() < 8 {
            self.start.push(letter);
        }
        self.is_fixed |= self.start.starts_with("    ")
            || self.start.starts_with(['\t', '|'])
            || self.start.trim_start().starts_with("```");
    }

    fn place_word(&mut self, printed: &mut String, columns: usize) {
        let width = self.word.width();
        if !self.is_fixed && self.column > 0 && self.column + width >= columns {
            printed.push('\n');
            self.column = 0;
        }
        printed.push_str(&self.word);
        self.column += width;
        self.word.clear();
    }
}

/// Returns a line without characters that act on a terminal, as rows of this width.
pub fn rows_of(line: &TonedLine, columns: usize) -> String {
    let text = for_terminal(&line.text);
    let rows = |text: &str| {
        let is_kept = text.starts_with(' ') && !line.is_prose;
        if is_kept { text.to_owned() } else { wrapped(text, columns) }
    };
    text.split('\n').map(rows).collect::<Vec<_>>().join("\n")
}

/// Returns a line as rows that break between words. The last column stays free. Further rows are
/// indented like the text of the first: after its blanks, and after a number or mark of a list.
fn wrapped(line: &str, columns: usize) -> String {
    let text = line.trim_start_matches(' ');
    let mark = match text.split_once(' ') {
        Some((mark, _)) if is_list_mark(mark) => mark.len() + 1,
        _ => 0,
    };
    // A narrow terminal has no room for the indent.
    let indent = (line.len() - text.len() + mark).min(columns / 2);
    let (head, text) = line.split_at(line.len() - text.len() + mark);
    let (room, mut wrap) = (columns.saturating_sub(indent), WordWrap::default());
    let rows = wrap.push(text, room) + &wrap.flush(room);
    format!("{head}{}", rows.replace('\n', &format!("\n{}", " ".repeat(indent))))
}

/// Returns true for the beginning of an item: `>`, `-`, or a number with a full stop.
fn is_list_mark(mark: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    matches!(mark, ">" | "-") || mark.strip_suffix('.').is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn wrapped(text: &str, columns: usize) -> String {
        let mut wrap = WordWrap::default();
        wrap.push(text, columns) + &wrap.flush(columns)
    }

    #[test]
    fn lines_break_between_words() {
        for (text, expected) in [
            ("one two three", "one two \nthree"),
            ("one two\nthree four", "one two\nthree \nfour"),
            ("oneoneoneoneone two", "oneoneoneoneone \ntwo"),
            ("漢漢 漢漢 漢", "漢漢 漢漢 \n漢"),
            ("    let code = stays;", "    let code = stays;"),
            ("| a | b | c | d |", "| a | b | c | d |"),
            (
                "```\nlet code = stays;\n```\nnot the rest",
                "```\nlet code = stays;\n```\nnot the \nrest",
            ),
        ] {
            assert_eq!(wrapped(text, 10), expected, "{text}");
        }
    }

    #[test]
    fn further_rows_of_a_line_are_indented_like_the_first() {
        for (line, expected) in [
            ("one two three", "one two \nthree"),
            ("  one two three", "  one two \n  three"),
            ("  1. one two three", "  1. one two \n     three"),
            ("  > one two three", "  > one two \n    three"),
            ("    Error: one two", "    Error: \n    one two"),
            ("", ""),
            ("        ", "        "),
        ] {
            let columns = if line.starts_with("one") { 10 } else { 13 };
            assert_eq!(super::wrapped(line, columns), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn only_line_ends_are_added(
            text in "([a-z漢`|]{0,9}[ \n]{0,2}){0,12}",
            at in any::<prop::sample::Index>(),
        ) {
            let whole = wrapped(&text, 12);
            let plain = |text: &str| text.replace('\n', "");
            prop_assert_eq!(plain(&whole), plain(&text));
            let at = text.floor_char_boundary(at.index(text.len() + 1));
            let mut wrap = WordWrap::default();
            let pieces = wrap.push(&text[..at], 12) + &wrap.push(&text[at..], 12);
            prop_assert_eq!(pieces + &wrap.flush(12), whole);
        }
    }
}
