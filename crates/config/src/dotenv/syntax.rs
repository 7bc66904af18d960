//! Grammar of `.env` files.
//!
//! ```text
//! [export] NAME = value        # comment
//! NAME: value                  (a colon needs a space after it)
//! NAME="line one
//! line two\nline three"        ("…", '…' and `…` may span lines; \n and \r only in "…")
//! ```

/// Parses the variables of a `.env` text. Invalid lines are skipped. Of two equal names the later
/// value is used, at the position of the first. Runs in linear time.
pub fn parse(text: &str) -> Vec<(String, String)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut places = std::collections::HashMap::new();
    let mut variables: Vec<(String, String)> = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let mut after = rest;
        if let Some((name, value_text)) = name_at(rest) {
            let (value, used) = value_at(value_text);
            after = &value_text[used..];
            let place = *places.entry(name.to_owned()).or_insert(variables.len());
            if let Some(variable) = variables.get_mut(place) {
                variable.1 = value;
            } else {
                variables.push((name.to_owned(), value));
            }
        }
        // The rest of the line, a comment or invalid text, is skipped.
        rest = after.split_once('\n').map_or("", |(_, below)| below).trim_start();
    }
    variables
}

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
    Some((name, value.strip_prefix(char::is_whitespace)?))
}

/// Reads the value at the start of `text`. Returns the value and the number of bytes used, without
/// the line feed after the value. A quoted value may also start on a later line.
fn value_at(text: &str) -> (String, usize) {
    let quoted = text.trim_start();
    let blank = text.len() - quoted.len();
    if let Some(quote) = quoted.chars().next().filter(|first| matches!(first, '"' | '\'' | '`'))
        && let Some(close) = closing_quote(quoted, quote)
    {
        return (unescape(&quoted[1..close], quote), blank + close + 1);
    }
    let line_end = text.find('\n').unwrap_or(text.len());
    let line = &text[..line_end];
    let end = line.find('#').unwrap_or(line_end);
    (unquoted(line[..end].trim()), line_end)
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
    let blank = |character: char| character.is_whitespace() && character != '\n';
    after.trim_start_matches(blank).chars().next().is_none_or(|next| matches!(next, '#' | '\n'))
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

/// Replaces `\n` and `\r` inside double quotes by line breaks. There are no other escapes.
fn unescape(value: &str, quote: char) -> String {
    if quote == '"' { value.replace("\\n", "\n").replace("\\r", "\r") } else { value.to_owned() }
}
