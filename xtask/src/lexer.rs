//! A minimal lexer for Rust that finds paths and test code without a compiler.
//!
//! Comments, strings and characters are dropped; the remaining tokens are words, `::` and single
//! punctuation characters, each with its line. Code that does not compile gives odd tokens, never
//! an error, because the compiler reports such code.

use std::ops::RangeInclusive;

/// A word, `::`, or one punctuation character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    /// Line number, counted from 1.
    pub(crate) line: usize,
}

impl Token<'_> {
    /// Returns true for an identifier, a keyword or a number.
    pub(crate) fn is_word(&self) -> bool {
        self.text.starts_with(is_word_character)
    }
}

/// Returns the tokens of a source text, in order.
pub(crate) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer { rest: source, line: 1 };
    let mut found = Vec::new();
    while let Some(token) = lexer.next_token() {
        found.push(token);
    }
    found
}

/// Returns the tokens that are compiled into the product: items under `#[cfg(test)]` are left out.
pub(crate) fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut index = 0;
    while index < tokens.len() {
        if is_test_attribute(tokens, index) {
            index = end_of_item(tokens, index);
        } else {
            kept.push(tokens[index]);
            index += 1;
        }
    }
    kept
}

/// Returns the number of lines of items under `#[cfg(test)]`.
pub(crate) fn lines_of_tests(tokens: &[Token<'_>]) -> usize {
    test_items(tokens).iter().map(|lines| lines.clone().count()).sum()
}

/// Returns the lines of each item under `#[cfg(test)]`.
fn test_items(tokens: &[Token<'_>]) -> Vec<RangeInclusive<usize>> {
    let mut items = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        if is_test_attribute(tokens, index) {
            let end = end_of_item(tokens, index);
            items.push(tokens[index].line..=tokens[end - 1].line);
            index = end;
        } else {
            index += 1;
        }
    }
    items
}

/// Returns the string literals of a source text that are compiled into the product, in order.
pub(crate) fn literals(source: &str) -> Vec<Token<'_>> {
    let tests = test_items(&tokens(source));
    let mut lexer = Lexer { rest: source, line: 1 };
    let mut found = Vec::new();
    while !lexer.rest.is_empty() {
        let line = lexer.line;
        match literal_length(lexer.rest) {
            Some(length) => found.push(Token { line, text: lexer.take(length) }),
            None => lexer.step(),
        }
    }
    found.retain(|literal| !tests.iter().any(|lines| lines.contains(&literal.line)));
    found
}

/// Returns the paths in a token list, each with the line of its last word. Use trees are expanded:
/// `std::{fs, io::Read}` gives `std::fs` and `std::io::Read`.
pub(crate) fn paths(tokens: &[Token<'_>]) -> Vec<(Vec<String>, usize)> {
    let mut found = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        let inside = index > 0 && tokens[index - 1].text == "::";
        let rooted = inside && (index < 2 || !ends_a_segment(tokens[index - 2]));
        if tokens[index].is_word() && (!inside || rooted) {
            index = read_path(tokens, index, &[], &mut found).max(index + 1);
        } else {
            index += 1;
        }
    }
    found
}

/// Reads one path or use tree that starts at `index`; returns the index after it.
fn read_path(
    tokens: &[Token<'_>],
    mut index: usize,
    prefix: &[String],
    found: &mut Vec<(Vec<String>, usize)>,
) -> usize {
    let mut segments = prefix.to_vec();
    while let Some(token) = tokens.get(index) {
        if token.text == "{" {
            return read_group(tokens, index + 1, &segments, found);
        }
        if !token.is_word() && token.text != "*" {
            break;
        }
        segments.push(token.text.to_owned());
        index += 1;
        if tokens.get(index).is_none_or(|next| next.text != "::") {
            break;
        }
        index += 1;
    }
    let line = tokens.get(index.saturating_sub(1)).map_or(1, |token| token.line);
    found.push((segments, line));
    index
}

/// Reads the members of a `{…}` group of a use tree; returns the index after its brace.
fn read_group(
    tokens: &[Token<'_>],
    mut index: usize,
    prefix: &[String],
    found: &mut Vec<(Vec<String>, usize)>,
) -> usize {
    while let Some(token) = tokens.get(index) {
        if token.text == "}" {
            return index + 1;
        }
        if !token.is_word() && token.text != "*" {
            index += 1;
            continue;
        }
        index = read_path(tokens, index, prefix, found);
        // The rest of the member can only be `as other_name`.
        while tokens.get(index).is_some_and(|next| next.text != "," && next.text != "}") {
            index += 1;
        }
    }
    index
}

fn ends_a_segment(token: Token<'_>) -> bool {
    token.is_word() || token.text == ">"
}

/// Returns true if `#[cfg(test)]`, or a `cfg` whose condition names `test` but not `not`, starts
/// here.
fn is_test_attribute(tokens: &[Token<'_>], index: usize) -> bool {
    let text = |offset: usize| tokens.get(index + offset).map(|token| token.text);
    if (text(0), text(1), text(2)) != (Some("#"), Some("["), Some("cfg")) {
        return false;
    }
    let condition = tokens[index + 3..].iter().take_while(|token| token.text != "]");
    let words: Vec<&str> = condition.map(|token| token.text).collect();
    words.contains(&"test") && !words.contains(&"not")
}

/// Returns the index after the item whose attributes start at `index`: after its `;` or closing
/// brace.
fn end_of_item(tokens: &[Token<'_>], mut index: usize) -> usize {
    let mut depth = 0_usize;
    while let Some(token) = tokens.get(index) {
        index += 1;
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && token.text == "}" {
                    return index;
                }
            }
            ";" if depth == 0 => return index,
            _ => {}
        }
    }
    index
}

fn is_word_character(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Lexer<'a> {
    fn next_token(&mut self) -> Option<Token<'a>> {
        loop {
            let first = self.rest.chars().next()?;
            if first.is_whitespace() {
                self.take(first.len_utf8());
            } else if self.rest.starts_with("//") {
                self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                self.take(block_comment_length(self.rest));
            } else if let Some(length) = literal_length(self.rest) {
                self.take(length);
            } else {
                let length = if is_word_character(first) {
                    self.rest.find(|next| !is_word_character(next)).unwrap_or(self.rest.len())
                } else if self.rest.starts_with("::") {
                    2
                } else {
                    first.len_utf8()
                };
                return Some(Token { line: self.line, text: self.take(length) });
            }
        }
    }

    /// Skips a comment, a word or a character.
    fn step(&mut self) {
        let length = if self.rest.starts_with("//") {
            self.rest.find('\n').unwrap_or(self.rest.len())
        } else if self.rest.starts_with("/*") {
            block_comment_length(self.rest)
        } else {
            let word = self.rest.find(|next| !is_word_character(next)).unwrap_or(self.rest.len());
            let first = self.rest.chars().next().map_or(0, char::len_utf8);
            word.max(first)
        };
        self.take(length);
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }
}

/// Returns the length of a `/* … */` at the start, which may contain nested comments.
fn block_comment_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut depth, mut index) = (0_usize, 0);
    while index < bytes.len() {
        match &bytes[index..bytes.len().min(index + 2)] {
            b"/*" => {
                depth += 1;
                index += 2;
            }
            b"*/" => {
                depth -= 1;
                index += 2;
                if depth == 0 {
                    return index;
                }
            }
            _ => index += 1,
        }
    }
    text.len()
}

/// Returns the length of a string or character literal at the start, including its prefix.
fn literal_length(text: &str) -> Option<usize> {
    let prefix = ["br", "cr", "b", "c", "r"]
        .into_iter()
        .find(|prefix| {
            text.strip_prefix(prefix).is_some_and(|rest| {
                let quote = rest.trim_start_matches('#');
                quote.starts_with('"') && (quote.len() == rest.len() || prefix.ends_with('r'))
                    || (*prefix == "b" && rest.starts_with('\''))
            })
        })
        .unwrap_or("");
    let rest = &text[prefix.len()..];
    let length = if prefix.ends_with('r') {
        raw_string_length(rest)
    } else if rest.starts_with('"') {
        escaped_length(rest, '"')
    } else if rest.starts_with('\'') {
        character_length(rest)?
    } else {
        return None;
    };
    Some(prefix.len() + length)
}

/// Returns the length of `#…"…"#…`, from its first `#` or quote.
fn raw_string_length(text: &str) -> usize {
    let hashes = text.len() - text.trim_start_matches('#').len();
    let end = format!("\"{}", "#".repeat(hashes));
    let start = hashes + 1;
    text.get(start..)
        .and_then(|body| body.find(&end))
        .map_or(text.len(), |found| start + found + end.len())
}

/// Returns the length of a literal between two `quote` characters, with escapes.
fn escaped_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (index, character) in text.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if character == '\\' {
            escaped = true;
        } else if character == quote {
            return index + quote.len_utf8();
        }
    }
    text.len()
}

/// Returns the length of a character literal; `None` for a lifetime, which has no closing quote.
fn character_length(text: &str) -> Option<usize> {
    let mut characters = text.char_indices().skip(1);
    let (_, first) = characters.next()?;
    if first == '\\' {
        return Some(escaped_length(text, '\''));
    }
    let (index, second) = characters.next()?;
    (second == '\'').then_some(index + 1)
}

#[cfg(test)]
mod tests;
