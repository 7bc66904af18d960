//! Lines of plain commands: words, quotes, variables by their names, redirections to files, and `&&`, `||`, `;`, `|` or
//! line ends between the commands.
//!
//! All shells read these alike, and nothing in them can be put together in two ways: the grammar need not be asked,
//! which costs more than all the rest, and which stumbles over some lists of several lines. Whatever is in doubt is not
//! plain. The words are read as everywhere.

use super::walk::Walker;
use super::word::RESERVED;

/// Lines of more commands are for the grammar, which has a limit of its own.
const MOST: usize = 100;
/// First words that begin something other than a simple command, or that the grammar reads in a way of its own.
const OTHERS: &[&str] =
    &["time", "coproc", "declare", "typeset", "export", "readonly", "local", "unset", "unsetenv"];

/// Where the commands of a plain line are.
#[derive(Debug, Default)]
pub(super) struct Plain {
    /// Where each begins.
    starts: Vec<usize>,
    /// What stands between them.
    operators: Vec<(usize, usize)>,
}

/// Reads a line; none when it is not plain.
pub(super) fn read(text: &str) -> Option<Plain> {
    let bytes = text.as_bytes();
    let mut plain = Plain::default();
    let mut at = blanks(bytes, 0);
    while plain.starts.len() < MOST {
        plain.starts.push(at);
        let name = word(bytes, at)?;
        if !is_name(text.get(at..name)?) {
            return None;
        }
        at = blanks(bytes, name);
        while let Some(end) = redirection(bytes, at).or_else(|| word(bytes, at)) {
            at = blanks(bytes, end);
        }
        if bytes.get(at) == Some(&b'\n') {
            at += count(&bytes[at..], |byte| matches!(byte, b' ' | b'\n'));
            if at < bytes.len() {
                continue;
            }
        }
        let Some(operator) = bytes.get(at) else { return Some(plain) };
        let is_double = bytes.get(at + 1) == Some(operator);
        let end = match operator {
            b'&' if is_double => at + 2,
            b'|' => at + 1 + usize::from(is_double),
            b';' => at + 1,
            _ => return None,
        };
        plain.operators.push((at, end));
        at = blanks(bytes, end);
    }
    None
}

fn blanks(bytes: &[u8], at: usize) -> usize {
    at + count(&bytes[at..], |byte| byte == b' ')
}

/// How many bytes there are of this kind.
fn count(bytes: &[u8], is_one: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|byte| is_one(**byte)).count()
}

/// Where the redirection ends that begins here: `> file`, `2>> file`, `< file`, `2>&1`.
fn redirection(bytes: &[u8], start: usize) -> Option<usize> {
    let operator = start + usize::from(bytes.get(start)?.is_ascii_digit());
    let end = match bytes.get(operator..)? {
        [b'>', b'>', ..] => operator + 2,
        [b'>', b'&', b'0'..=b'9', rest @ ..] => {
            let is_over = rest.first().is_none_or(|byte| b" ;|\n".contains(byte));
            return is_over.then_some(operator + 3);
        }
        [b'>' | b'<', ..] => operator + 1,
        _ => return None,
    };
    word(bytes, blanks(bytes, end))
}

/// Where the word ends that begins here; none when there is none, or one that is not plain.
fn word(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        at = match byte {
            b'\'' => {
                let length = count(&bytes[at + 1..], |byte| is_text(byte) && byte != b'\'');
                close(bytes, at + 1 + length, b'\'')?
            }
            b'"' => double_quotes(bytes, at)?,
            b'$' => variable(bytes, at)?,
            byte if byte.is_ascii_alphanumeric() || b"_-./:,@%+=*~".contains(byte) => at + 1,
            _ => break,
        };
    }
    (at > start).then_some(at)
}

fn is_text(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte)
}

fn close(bytes: &[u8], at: usize, quote: u8) -> Option<usize> {
    (bytes.get(at) == Some(&quote)).then_some(at + 1)
}

fn double_quotes(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += count(&bytes[at..], |byte| is_text(byte) && !b"\"$`\\".contains(&byte));
        match bytes.get(at) {
            Some(b'$') => at = variable(bytes, at)?,
            _ => return close(bytes, at, b'"'),
        }
    }
}

/// `$name`
fn variable(bytes: &[u8], at: usize) -> Option<usize> {
    let first = bytes.get(at + 1)?;
    let is_named = first.is_ascii_alphabetic() || *first == b'_';
    let length = count(&bytes[at + 1..], |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_named.then_some(at + 1 + length)
}

/// A first word that can only be the name of a command.
fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic() || "_./".contains(first))
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./+".contains(&byte))
        && !RESERVED.contains(&word)
        && !OTHERS.contains(&word)
}

impl Walker<'_, '_> {
    /// Judges the commands of a plain line.
    pub(super) fn plain(&mut self, plain: &Plain) {
        for start in &plain.starts {
            let line = self.scanner.line(*start);
            self.redirections(&line.redirects);
            self.command(&line);
        }
        for (start, end) in &plain.operators {
            self.scanner.cover(*start, *end);
        }
    }
}
