//! Patterns for `commandRegex` that match one command line.

use crate::arguments;

/// End of a pattern for one line: the quote that ends the command in the arguments as JSON, and the
/// NUL after it. Only the outermost pairs of the arguments are between NULs, so an argument inside
/// another one is not mistaken for the command.
const END: &str = r#""\x00"#;

/// Pattern for any number of spaces around a line.
const SPACES: &str = " *";

/// Pattern for `commandRegex` that matches no command: in JSON a NUL is written as `\u0000`.
pub(crate) const NO_COMMAND: &str = r"\x00";

/// Returns a pattern for `commandRegex` that matches only this line, in Gemini CLI as well. If
/// there are spaces around the line, the pattern matches any number of them.
pub(crate) fn exactly(line: &str) -> String {
    let inner = line.trim_matches(' ');
    // If the line is surrounded by other white space, or its last space belongs to a word, the
    // pattern matches the exact text.
    if inner == line || inner != trimmed(line) {
        return literally(line) + END;
    }
    format!("{SPACES}{}{SPACES}{END}", literally(inner))
}

/// Returns true for a pattern created by [`exactly`], which matches only one line.
pub(crate) fn is_of_one_line(pattern: &str) -> bool {
    pattern.ends_with(END)
}

/// Returns true if a pattern for one line matches this line. White space around the line is
/// ignored.
pub(crate) fn is_exactly(pattern: &str, line: &str) -> bool {
    // Earlier versions saved the pattern without the NUL.
    let pattern = pattern.strip_suffix(END).or_else(|| pattern.strip_suffix('"'));
    let Some(pattern) = pattern else { return false };
    let inner = pattern.strip_prefix(SPACES).and_then(|rest| rest.strip_suffix(SPACES));
    let pattern = inner.unwrap_or(pattern);
    pattern == literally(line) || pattern == literally(trimmed(line))
}

/// Returns the line that a pattern for one line matches; `None` for any other pattern.
pub(crate) fn line_of(pattern: &str) -> Option<String> {
    let inner = pattern.strip_suffix(END).or_else(|| pattern.strip_suffix('"'))?;
    let mut text = String::from("\"");
    let mut letters = inner.strip_prefix(SPACES).unwrap_or(inner).chars();
    while let Some(letter) = letters.next() {
        text.push(if letter == '\\' { letters.next()? } else { letter });
    }
    text.push('"');
    let line = serde_json::from_str::<String>(&text).ok()?;
    let line = line.trim_end_matches(SPACES).to_owned();
    is_exactly(pattern, &line).then_some(line)
}

/// Returns the line without surrounding white space that a shell ignores.
fn trimmed(line: &str) -> &str {
    let is_blank = |letter: char| matches!(letter, ' ' | '\t' | '\n');
    let start = line.trim_start_matches(is_blank);
    let inner = start.trim_end_matches(is_blank);
    // A backslash makes the blank after it a part of the word.
    if inner.ends_with('\\') { start } else { inner }
}

/// Returns a pattern for the JSON form of a text.
fn literally(text: &str) -> String {
    let mut pattern = String::new();
    for letter in arguments::escaped(text).chars() {
        if letter.is_ascii() && !letter.is_ascii_alphanumeric() && letter != '_' {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}
