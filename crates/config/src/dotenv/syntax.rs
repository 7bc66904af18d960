//! Grammar of `.env` files.
//!
//! ```text
//! [export] NAME = value        # comment
//! NAME: value                  (a colon needs a space after it)
//! NAME="line one
//! line two\nline three"        ("…", '…' and `…` may span lines; \n and \r only in "…")
//! ```

use std::ops::Range;

/// One variable of a `.env` text, with its place. All places are bytes of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Assignment<'a> {
    pub(super) name: &'a str,
    pub(super) value: String,
    /// Start of the name, or of `export` before it.
    pub(super) start: usize,
    /// Value with its quotes. The range is empty for an empty value.
    pub(super) written: Range<usize>,
}

/// Parses the variables of a `.env` text. Invalid lines are skipped. Of two equal names the later
/// value is used, at the position of the first. Runs in linear time.
pub fn parse(text: &str) -> Vec<(String, String)> {
    let mut places = std::collections::HashMap::new();
    let mut variables: Vec<(String, String)> = Vec::new();
    for Assignment { name, value, .. } in assignments(text) {
        let place = *places.entry(name).or_insert(variables.len());
        if let Some(variable) = variables.get_mut(place) {
            variable.1 = value;
        } else {
            variables.push((name.to_owned(), value));
        }
    }
    variables
}

/// Returns the variables of a `.env` text in their order, also several of one name.
pub(super) fn assignments(text: &str) -> Vec<Assignment<'_>> {
    let mut found = Vec::new();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    while !rest.is_empty() {
        let mut after = rest;
        if let Some((name, value_text)) = name_at(rest) {
            let (value, written, used) = value_at(value_text);
            let at = text.len() - value_text.len();
            let written = at + written.start..at + written.end;
            found.push(Assignment { name, value, start: text.len() - rest.len(), written });
            after = &value_text[used..];
        }
        // The rest of the line, a comment or invalid text, is skipped.
        rest = after.split_once(BREAKS).map_or("", |(_, below)| below).trim_start();
    }
    found
}

/// Characters of line breaks. A value has `\n` for each of the breaks `\n`, `\r` and `\r\n`.
pub(super) const BREAKS: [char; 2] = ['\n', '\r'];

/// Splits a text into the name at its start and the rest after the separator. White space,
/// including line feeds, may precede `=`.
fn name_at(text: &str) -> Option<(&str, &str)> {
    let exported = text
        .strip_prefix("export")
        .filter(|after| after.starts_with(char::is_whitespace))
        .and_then(|after| plain_name_at(after.trim_start()));
    // Without a name after it, `export` is itself a name.
    exported.or_else(|| plain_name_at(text))
}

fn plain_name_at(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|character: char| {
            !(character.is_ascii_alphanumeric() || matches!(character, '_' | '.' | '-'))
        })
        .unwrap_or(text.len());
    let (name, after) = text.split_at(end);
    if name.is_empty() {
        return None;
    }
    if let Some(value) = after.trim_start().strip_prefix('=') {
        return Some((name, value));
    }
    let value = after.strip_prefix(':')?;
    let value = value.strip_prefix("\r\n").or_else(|| value.strip_prefix(char::is_whitespace))?;
    Some((name, value))
}

/// Reads the value at the start of `text`. Returns the value, its place with quotes, and the number
/// of bytes used, without the line break after the value. A quoted value may also start on a later
/// line; its place then begins with the line breaks.
fn value_at(text: &str) -> (String, Range<usize>, usize) {
    let quoted = text.trim_start();
    let blank = text.len() - quoted.len();
    if let Some(quote) = quoted.chars().next().filter(|first| matches!(first, '"' | '\'' | '`'))
        && let Some(close) = closing_quote(quoted, quote)
    {
        let (start, end) =
            (if text[..blank].contains(BREAKS) { 0 } else { blank }, blank + close + 1);
        return (unescape(&quoted[1..close], quote), start..end, end);
    }
    let line_end = text.find(BREAKS).unwrap_or(text.len());
    let line = &text[..line_end];
    let line = &line[..line.find('#').unwrap_or(line_end)];
    let value = line.trim();
    let start = if value.is_empty() { 0 } else { line.len() - line.trim_start().len() };
    (unquoted(value), start..start + value.len(), line_end)
}

/// Returns the end of the quotation that starts at the first byte. Only blanks or a comment may
/// follow the quotation.
///
/// A quote after a backslash does not close the quotation, unless there is no other closing quote
/// (`"C:\"`).
fn closing_quote(text: &str, quote: char) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut escaped = Vec::new();
    let mut at = 1;
    let mut first_bare = None;
    while let Some(offset) = text[at..].find(quote) {
        let place = at + offset;
        if bytes[place - 1] == b'\\' && place > 1 {
            escaped.push(place);
        } else {
            first_bare = Some(place);
            break;
        }
        at = place + 1;
    }
    let candidates = first_bare.into_iter().chain(escaped.into_iter().rev());
    candidates.into_iter().find(|&place| ends_value(&text[place + 1..]))
}

/// Returns true if the rest of the line contains only blanks or a comment.
fn ends_value(after: &str) -> bool {
    let blank = |character: char| character.is_whitespace() && !BREAKS.contains(&character);
    let next = after.trim_start_matches(blank).chars().next();
    next.is_none_or(|next| next == '#' || BREAKS.contains(&next))
}

/// Removes a pair of equal quotes around a value that is not a proper quotation.
fn unquoted(value: &str) -> String {
    let mut characters = value.chars();
    let quote = characters.next().filter(|first| matches!(first, '"' | '\'' | '`'));
    match quote {
        Some(quote) if value.len() >= 2 && value.ends_with(quote) => {
            unescape(&value[1..value.len() - 1], quote)
        }
        Some(quote) => unescape(value, quote),
        None => value.to_owned(),
    }
}

/// Returns a value with `\n` for each line break. Inside double quotes, `\n` and `\r` that are
/// written as escapes become line breaks, too. There are no other escapes.
fn unescape(value: &str, quote: char) -> String {
    let value = value.replace("\r\n", "\n").replace('\r', "\n");
    if quote == '"' { value.replace("\\n", "\n").replace("\\r", "\r") } else { value }
}
