//! Syntax of the `@path` references in a prompt.
//!
//! Pure, and independent of the rest of the program, so that a fuzz target can include this file.
//!
//! A token is an `@` without a backslash before it, followed by as many of these as possible: a
//! quoted segment `"…"`; a backslash with the character after it; any character except blanks,
//! line ends and `, ; ! ? ( ) [ ] { } .`; a full stop that neither ends the text nor stands before
//! a blank. A lone `@` is not a token.

use std::ops::Range;

#[cfg(test)]
#[path = "at_path/tests.rs"]
mod tests;

/// An `@path` reference in a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// Position in the prompt, in bytes, including the `@`.
    pub(crate) range: Range<usize>,
    /// Path without quotes and escapes.
    pub(crate) path: String,
}

/// Returns the tokens of `text` in order. The time is linear in the length for every input.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let last_quote = text.rfind('"').unwrap_or(0);
    let mut tokens = Vec::new();
    let mut position = 0;
    while let Some(offset) = text[position..].find('@') {
        let start = position + offset;
        position = start + 1;
        if text[..start].ends_with('\\') {
            continue;
        }
        let (path, end) = scan(text, start + 1, last_quote);
        // An empty pair of quotes names nothing.
        if !path.is_empty() {
            tokens.push(Token { range: start..end, path });
            position = end;
        }
    }
    tokens
}

impl Token {
    /// Returns shorter readings of the token, the longest first: without the punctuation at its
    /// end, and without the text from a mark on that separates words in other scripts.
    pub(crate) fn shorter(&self, text: &str) -> Vec<Self> {
        let start = self.range.start + 1;
        let word = &text[start..self.range.end];
        let marks = word.char_indices().rev().filter(|(at, mark)| *at > 0 && ends_word(*mark));
        let mut shorter = Vec::new();
        for (at, _) in marks.take(MAX_READINGS) {
            let (path, end) = scan(&text[..start + at], start, 0);
            if end == start + at {
                shorter.push(Self { range: self.range.start..end, path });
            }
        }
        shorter
    }
}

/// Maximum number of shorter readings of a token.
const MAX_READINGS: usize = 8;

/// Returns true for a character that can end a path in a sentence but may also be part of a name.
fn ends_word(mark: char) -> bool {
    "\"'`:>…，。、；：！？）】》」』”’".contains(mark)
}

/// Returns the path that begins at `start`, and the position of its end.
fn scan(text: &str, start: usize, last_quote: usize) -> (String, usize) {
    let mut path = String::new();
    let mut position = start;
    while let Some(character) = text[position..].chars().next() {
        let after = position + character.len_utf8();
        let next = text[after..].chars().next();
        position = match character {
            // A quote that is never closed is an ordinary character.
            '"' if position < last_quote => {
                let Some(length) = text[after..].find('"') else { break };
                path.push_str(&text[after..after + length]);
                after + length + 1
            }
            '\\' => match next {
                Some(escaped) if !is_line_end(escaped) => {
                    if is_separator(escaped) {
                        path.push('\\');
                    }
                    path.push(escaped);
                    after + escaped.len_utf8()
                }
                _ => {
                    path.push('\\');
                    after
                }
            },
            '.' if next.is_none_or(is_blank) => break,
            '.' => {
                path.push('.');
                after
            }
            _ if is_blank(character) || ",;!?()[]{}".contains(character) => break,
            _ => {
                path.push(character);
                after
            }
        };
    }
    (path, position)
}

/// Returns true if the backslash before this character separates folders instead of escaping it.
fn is_separator(escaped: char) -> bool {
    cfg!(windows) && (escaped.is_alphanumeric() || "._-@".contains(escaped))
}

/// Returns true for ASCII blanks. Other blanks may be part of names, such as the narrow space in
/// names of screenshots.
fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}
