//! The words and redirections of one simple command.

use super::model::RedirectionKind;
use super::scanner::Scanner;
use super::word::Word;

/// One redirection as it stands.
#[derive(Debug)]
pub(super) struct Redirect {
    pub(super) kind: RedirectionKind,
    /// Where the operator begins.
    pub(super) position: usize,
    /// What follows it; `-` and numbers of `>&2` too.
    pub(super) target: Option<Word>,
}

/// A simple command: everything up to the next operator or line end.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
    pub(super) start: usize,
    /// Behind the last thing that belongs to it.
    pub(super) end: usize,
}

/// The operators, longest first.
const OPERATORS: &[(&str, RedirectionKind)] = &[
    ("<<<", RedirectionKind::HereString),
    ("<<-", RedirectionKind::HereDocument),
    ("&>>", RedirectionKind::Append),
    ("<<", RedirectionKind::HereDocument),
    ("<>", RedirectionKind::ReadWrite),
    ("<&", RedirectionKind::Duplicate),
    (">>", RedirectionKind::Append),
    (">|", RedirectionKind::Write),
    (">&", RedirectionKind::Duplicate),
    ("&>", RedirectionKind::Write),
    ("<", RedirectionKind::Read),
    (">", RedirectionKind::Write),
];

impl Scanner<'_> {
    /// Reads a simple command.
    pub(super) fn line(&mut self, start: usize) -> Line {
        let mut line = Line { start, end: start, ..Line::default() };
        let mut at = start;
        loop {
            at = self.skip_blanks(at);
            if self.byte(at) == Some(b'#') {
                break;
            }
            if let Some((redirect, end)) = self.redirect(at) {
                line.redirects.push(redirect);
                (at, line.end) = (end, end);
            } else if let Some(word) = self.word(at) {
                (at, line.end) = (word.end, word.end);
                line.words.push(word);
            } else {
                break;
            }
        }
        line
    }

    /// Behind blanks and continued lines.
    fn skip_blanks(&self, mut at: usize) -> usize {
        loop {
            match (self.byte(at), self.byte(at + 1)) {
                (Some(b' ' | b'\t'), _) => at += 1,
                (Some(b'\\'), Some(b'\n')) => at += 2,
                _ => return at,
            }
        }
    }

    /// The redirection that begins here, and where it ends.
    fn redirect(&mut self, at: usize) -> Option<(Redirect, usize)> {
        let operator_at = at + self.descriptor(at);
        let (operator, mut kind) =
            *OPERATORS.iter().find(|(operator, _)| self.starts_with(operator_at, operator))?;
        let end = operator_at + operator.len();
        if matches!(operator, "<" | ">") && self.byte(end) == Some(b'(') {
            return None;
        }
        if operator_at > at && operator.starts_with('&') {
            return None;
        }
        if matches!(operator, "<<<" | "&>" | "&>>") || self.byte(at) == Some(b'{') {
            self.bash_only(at);
        }
        self.cover(at, end);
        let target_at = self.skip_blanks(end);
        let target = self.word(target_at);
        let end = target.as_ref().map_or(end, |word| word.end);
        if kind == RedirectionKind::Duplicate && !target.as_ref().is_some_and(is_descriptor) {
            // `>& file` is `&> file`.
            self.bash_only(at);
            kind = if operator == ">&" { RedirectionKind::Write } else { RedirectionKind::Read };
        }
        if target.is_none() {
            self.note(super::model::Reason::Syntax, at);
        }
        Some((Redirect { kind, position: operator_at, target }, end))
    }

    /// The length of the number or `{name}` in front of an operator.
    fn descriptor(&self, at: usize) -> usize {
        let rest = self.slice(at, self.text.len());
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let length = match rest.strip_prefix('{') {
            Some(inner) => {
                let name = super::word::name_length(inner);
                if inner[name..].starts_with('}') && name > 0 { name + 2 } else { 0 }
            }
            None => digits,
        };
        let is_followed = matches!(self.byte(at + length), Some(b'<' | b'>'));
        // `3<(…)` is a word, not a redirection.
        if is_followed && self.byte(at + length + 1) != Some(b'(') { length } else { 0 }
    }
}

/// `2`, `-` or `2-`, as in `>&2`.
fn is_descriptor(word: &Word) -> bool {
    let digits = word.text.strip_suffix('-').unwrap_or(&word.text);
    word.is_constant && !word.text.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
