//! Text made safe for a terminal: escape sequences are removed, control characters are removed or
//! escaped. All functions are pure, and linear in the length of the input.
//!
//! Text from a model, a program or a project may contain sequences that move the cursor or hide the
//! text that follows. The caller chooses what to remove: [`strip_ansi`] and [`AnsiStripper`] remove
//! sequences, [`harmless`] removes all control characters, [`for_terminal`] also removes direction
//! controls, [`visible`] escapes them in text on which the user bases a decision, and [`one_line`]
//! makes one line of text that must not add lines to what it is written into.

use std::borrow::Cow;

#[cfg(test)]
mod tests;

/// Returns `text` without terminal escape sequences: CSI (colours, cursor), OSC (titles, links),
/// DCS and the other control strings, two-character escapes, and all C1 controls (ECMA-48, 5th
/// edition).
///
/// The result contains neither ESC nor a C1 control. Of a control string that is never closed, only
/// the introducer is removed, so that a stray introducer cannot hide the text that follows. Other
/// control characters (carriage return, backspace, bell) are kept.
pub fn strip_ansi(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_introducer) else { return Cow::Borrowed(text) };
    let mut plain = String::with_capacity(text.len());
    let (before, mut rest) = text.split_at(first);
    plain.push_str(before);
    while let Some(at) = rest.find(is_introducer) {
        plain.push_str(&rest[..at]);
        rest = after_sequence(&rest[at..]);
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

fn is_introducer(letter: char) -> bool {
    letter == '\x1b' || is_c1(letter)
}

fn is_c1(letter: char) -> bool {
    ('\u{80}'..='\u{9f}').contains(&letter)
}

/// Returns the text after the escape sequence at the start of `text`, which begins with ESC or a C1
/// control.
fn after_sequence(text: &str) -> &str {
    let mut letters = text.chars();
    match letters.next() {
        Some('\x1b') => after_escape(letters.as_str()),
        Some('\u{9b}') => after_csi(letters.as_str()),
        Some('\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}') => {
            after_control_string(letters.as_str())
        }
        _ => letters.as_str(),
    }
}

/// Returns the text after the sequence, like [`after_sequence`], if its ESC was already read.
fn after_escape(text: &str) -> &str {
    let mut letters = text.chars();
    match letters.next() {
        Some('[') => after_csi(letters.as_str()),
        Some(']' | 'P' | 'X' | '^' | '_') => after_control_string(letters.as_str()),
        _ => {
            let body = text.trim_start_matches(|letter| matches!(letter, ' '..='/'));
            body.strip_prefix(|letter| matches!(letter, '0'..='~')).unwrap_or(body)
        }
    }
}

/// Skips parameters, intermediates and one final character. A malformed sequence ends at the first
/// invalid character.
fn after_csi(text: &str) -> &str {
    let body = text
        .trim_start_matches(|letter| matches!(letter, '0'..='?'))
        .trim_start_matches(|letter| matches!(letter, ' '..='/'));
    body.strip_prefix(|letter| matches!(letter, '@'..='~')).unwrap_or(body)
}

/// Skips a control string up to BEL, `ESC \` or ST. Any other escape or C1 control means that the
/// string was never closed; stopping there also keeps the search linear over many unclosed strings.
fn after_control_string(text: &str) -> &str {
    let stop = |letter| matches!(letter, '\x07' | '\x18' | '\x1a') || is_introducer(letter);
    let Some(at) = text.find(stop) else { return text };
    let end = &text[at..];
    ["\x07", "\x1b\\", "\u{9c}"].iter().find_map(|close| end.strip_prefix(close)).unwrap_or(text)
}

/// Maximum number of bytes held back for an unfinished sequence; a longer sequence is treated as
/// text.
const LONGEST_HELD: usize = 4096;

/// Removes escape sequences from text that arrives in pieces. A sequence may be split between
/// pieces.
#[derive(Debug, Default)]
pub struct AnsiStripper {
    /// Beginning of an unfinished sequence.
    held: String,
}

impl AnsiStripper {
    /// Returns the plain text up to the end of `text`, except for an unfinished sequence.
    pub fn strip<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        if self.held.is_empty() && !text.contains(is_introducer) {
            return Cow::Borrowed(text);
        }
        let mut joined = std::mem::take(&mut self.held);
        joined.push_str(text);
        let whole = whole_sequences(&joined);
        if joined.len() - whole <= LONGEST_HELD {
            self.held = joined.split_off(whole);
        }
        Cow::Owned(strip_ansi(&joined).into_owned())
    }
}

/// Returns the number of bytes of `text` before a sequence that more text may continue.
fn whole_sequences(text: &str) -> usize {
    let mut rest = text;
    while let Some(at) = rest.find(is_introducer) {
        let sequence = &rest[at..];
        if is_open(sequence) {
            return text.len() - sequence.len();
        }
        rest = after_sequence(sequence);
    }
    text.len()
}

/// Returns true if the sequence at the start of `text` may continue after its end.
fn is_open(text: &str) -> bool {
    let mut letters = text.chars();
    match letters.next() {
        Some('\x1b') => {
            let body = letters.as_str();
            match letters.next() {
                Some('[') => is_open_csi(letters.as_str()),
                Some(']' | 'P' | 'X' | '^' | '_') => is_open_string(letters.as_str()),
                _ => body.trim_start_matches(|letter| matches!(letter, ' '..='/')).is_empty(),
            }
        }
        Some('\u{9b}') => is_open_csi(letters.as_str()),
        Some('\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}') => {
            is_open_string(letters.as_str())
        }
        _ => false,
    }
}

fn is_open_csi(text: &str) -> bool {
    text.chars().all(|letter| matches!(letter, ' '..='?'))
}

fn is_open_string(text: &str) -> bool {
    let stop = |letter| matches!(letter, '\x07' | '\x18' | '\x1a') || is_introducer(letter);
    text.find(stop).is_none_or(|at| &text[at..] == "\x1b")
}

/// Returns `text` without escape sequences and without control characters, except line ends and
/// tabs.
pub fn harmless(text: &str) -> Cow<'_, str> {
    without(strip_ansi(text), is_harmful)
}

/// Returns `text` in a form that may be printed on a terminal: [`harmless`], and without the
/// characters that change the direction of writing.
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    without(strip_ansi(text), acts_on_terminal)
}

/// Returns serialised JSON in a form that may be printed on a terminal. Its value stays the same:
/// characters that [`for_terminal`] removes are written as `\uXXXX`.
pub fn json_for_terminal(json: &str) -> Cow<'_, str> {
    if !json.contains(acts_on_terminal) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for letter in json.chars() {
        if acts_on_terminal(letter) {
            escaped.extend(["\\u", &format!("{:04x}", u32::from(letter))]);
        } else {
            escaped.push(letter);
        }
    }
    Cow::Owned(escaped)
}

/// Returns `text` with the symbol `␀` (U+2400) in place of each NUL, which separates the fields of
/// many programs (`git ls-files -z`) and would be invisible.
pub fn with_visible_nuls(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{2400}").into() } else { text }
}

fn without(text: Cow<'_, str>, is_removed: fn(char) -> bool) -> Cow<'_, str> {
    if text.contains(is_removed) { text.replace(is_removed, "").into() } else { text }
}

fn is_harmful(letter: char) -> bool {
    letter.is_control() && !matches!(letter, '\n' | '\t')
}

/// Returns true for control characters except line ends and tabs, and for bidirectional controls
/// (Unicode Standard Annex 9).
pub fn acts_on_terminal(letter: char) -> bool {
    is_harmful(letter)
        || matches!(letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the words of `text` with single blanks between them. White space and control characters
/// end a word.
pub fn one_line(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns `text` with escapes in place of all characters that would be invisible, or would change
/// how the rest is displayed. Used for text that a user consents to.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_unseen(letter) {
            shown.extend(letter.escape_unicode());
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Returns [`visible`] text of several lines. Used for text whose line ends are those of Pollux.
pub fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// Returns true for control characters, and for characters that change the direction of writing,
/// have no width or look like a blank.
fn is_unseen(letter: char) -> bool {
    (letter.is_control() && letter != '\t')
        || (letter.is_whitespace() && !matches!(letter, ' ' | '\t'))
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{70f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}'
            | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{13430}'..='\u{13440}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
