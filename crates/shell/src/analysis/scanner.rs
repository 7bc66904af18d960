//! Words, as a shell reads them.
//!
//! The grammar says how a program is put together; what a word is, where it ends and what it becomes
//! is read here once more, by hand. The two must agree on every byte: where they do not, the
//! analysis says that it cannot tell.

use std::collections::HashMap;

use super::model::Reason;
use super::word::{Builder, Word, assigned_name, name_length};

/// What the grammar found at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanKind {
    /// `$(…)`
    Command,
    /// `<(…)`, `>(…)`
    Process,
    /// `$((…))`
    Arithmetic,
    /// `${…}`
    Expansion,
    /// `(…)` as a value.
    Array,
}

/// Code in backticks, unescaped.
#[derive(Debug)]
pub(super) struct Backtick {
    pub(super) code: String,
    pub(super) position: usize,
}

/// Reads the words of one script.
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    /// Whether the script is for any POSIX shell, so that what only bash knows is ambiguous.
    pub(super) is_posix: bool,
    spans: HashMap<usize, (usize, SpanKind)>,
    covered: Vec<bool>,
    depth: usize,
    /// What cannot be told, and where.
    pub(super) unknown: Vec<(Reason, usize)>,
    pub(super) backticks: Vec<Backtick>,
    /// Text that is evaluated as numbers, and where it stands.
    pub(super) arithmetic: Vec<(String, usize)>,
    /// Variables that `${x=…}` sets.
    pub(super) assigned: Vec<String>,
}

/// Deeper than this nobody writes.
const MAX_DEPTH: usize = 60;

impl<'a> Scanner<'a> {
    pub(super) fn new(
        text: &'a str,
        is_posix: bool,
        spans: HashMap<usize, (usize, SpanKind)>,
    ) -> Self {
        Self {
            text,
            is_posix,
            spans,
            covered: vec![false; text.len()],
            depth: 0,
            unknown: Vec::new(),
            backticks: Vec::new(),
            arithmetic: Vec::new(),
            assigned: Vec::new(),
        }
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    pub(super) fn starts_with(&self, at: usize, what: &str) -> bool {
        self.text.as_bytes().get(at..).is_some_and(|rest| rest.starts_with(what.as_bytes()))
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    pub(super) fn note(&mut self, reason: Reason, position: usize) {
        self.unknown.push((reason, position));
    }

    /// Notes what only bash reads this way.
    pub(super) fn bash_only(&mut self, position: usize) {
        if self.is_posix {
            self.note(Reason::ShellDependent, position);
        }
    }

    pub(super) fn is_covered(&self, at: usize) -> bool {
        self.covered.get(at).copied().unwrap_or(true)
    }

    /// These bytes have been read. Reading them twice means that two readers disagree.
    pub(super) fn cover(&mut self, start: usize, end: usize) {
        let end = end.min(self.covered.len());
        let Some(range) = self.covered.get_mut(start..end) else { return };
        let is_new = range.iter().all(|&covered| !covered);
        range.fill(true);
        if !is_new {
            self.note(Reason::Syntax, start);
        }
    }

    /// The first byte that means something and that nobody has read.
    pub(super) fn first_uncovered(&self) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b' ' | b'\t' | b'\n' => at += 1,
                _ if self.covered[at] => at += 1,
                b'\\' if bytes.get(at + 1) == Some(&b'\n') => at += 2,
                _ => return Some(at),
            }
        }
        None
    }

    /// The end of the construct that the grammar found here, if it is of this kind.
    fn span(&self, at: usize, kind: SpanKind) -> Option<usize> {
        self.spans.get(&at).filter(|(_, found)| *found == kind).map(|(end, _)| *end)
    }

    /// The word that begins here, if one does. Its bytes are covered, but not the code of substitutions.
    pub(super) fn word(&mut self, start: usize) -> Option<Word> {
        let mut builder = Builder::default();
        let mut at = start;
        while let Some(byte) = self.byte(at) {
            let next = self.byte(at + 1);
            at = match byte {
                b'(' => match self.array(start, at, &mut builder) {
                    Some(end) => end,
                    None => break,
                },
                b'<' | b'>' if next == Some(b'(') => self.process(at, &mut builder),
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' | b'<' | b'>' => break,
                b'\'' => self.single_quotes(at, &mut builder),
                b'"' => self.double_quotes(at, &mut builder),
                b'\\' => self.escape(at, &mut builder),
                b'$' => self.dollar(at, false, &mut builder),
                b'`' => self.backtick(at, false, &mut builder),
                b'=' => {
                    let name = assigned_name(self.slice(start, at));
                    if let Some(name) = name.filter(|_| builder.assignment.is_none()) {
                        self.index(start + name.len(), at);
                        builder.assign(name);
                    }
                    self.plain(at, &mut builder)
                }
                _ => self.plain(at, &mut builder),
            };
        }
        (at > start).then(|| builder.finish(start, at, self.slice(start, at)))
    }

    /// The index in front of the sign of an assignment, which is evaluated: `a[i]=`, `a[i]+=`.
    fn index(&mut self, start: usize, end: usize) {
        let inside = self.slice(start, end).trim_end_matches('+');
        let index = inside.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Some(index) = index.map(str::to_owned) {
            self.arithmetic.push((index, start + 1));
        }
    }

    /// One character that stands for itself, or several that nothing ever treats in another way.
    fn plain(&mut self, at: usize, builder: &mut Builder) -> usize {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        let is_dull = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-/:%+@".contains(byte);
        let length = rest.iter().take_while(|byte| is_dull(byte)).count();
        if length > 0 {
            builder.unquoted_text(self.slice(at, at + length));
            self.cover(at, at + length);
            return at + length;
        }
        let Some(letter) = self.text.get(at..).and_then(|rest| rest.chars().next()) else {
            return at + 1;
        };
        let end = at + letter.len_utf8();
        if letter.is_control() || (letter.is_whitespace() && letter != ' ') || letter == '\u{feff}'
        {
            // Readers disagree on what separates words.
            self.note(Reason::Syntax, at);
        }
        builder.unquoted(letter);
        self.cover(at, end);
        end
    }

    fn escape(&mut self, at: usize, builder: &mut Builder) -> usize {
        let Some(letter) = self.text.get(at + 1..).and_then(|rest| rest.chars().next()) else {
            builder.quoted_letter('\\');
            self.cover(at, at + 1);
            return at + 1;
        };
        let end = at + 1 + letter.len_utf8();
        if letter != '\n' {
            builder.quoted_letter(letter);
        }
        self.cover(at, end);
        end
    }

    fn single_quotes(&mut self, at: usize, builder: &mut Builder) -> usize {
        let rest = self.slice(at + 1, self.text.len());
        let Some(length) = rest.find('\'') else { return self.unfinished(at) };
        builder.quoted_text(&rest[..length]);
        let end = at + 1 + length + 1;
        self.cover(at, end);
        end
    }

    /// A quote that never ends: the rest of the text belongs to it.
    fn unfinished(&mut self, at: usize) -> usize {
        self.note(Reason::Syntax, at);
        let end = self.text.len();
        self.cover(at, end);
        end
    }

    fn double_quotes(&mut self, at: usize, builder: &mut Builder) -> usize {
        builder.quoted_text("");
        self.cover(at, at + 1);
        let mut at = at + 1;
        while let Some(byte) = self.byte(at) {
            at = match byte {
                b'"' => {
                    self.cover(at, at + 1);
                    return at + 1;
                }
                b'\\' if matches!(self.byte(at + 1), Some(b'$' | b'`' | b'"' | b'\\' | b'\n')) => {
                    self.escape(at, builder)
                }
                b'$' => self.dollar(at, true, builder),
                b'`' => self.backtick(at, true, builder),
                _ => {
                    // A backslash that escapes nothing is a letter as well.
                    let rest = self.slice(at, self.text.len());
                    let first = rest.chars().next().map_or(1, char::len_utf8);
                    let more = self.slice(at + first, self.text.len());
                    let end = at + first + more.find(['"', '\\', '$', '`']).unwrap_or(more.len());
                    builder.quoted_text(self.slice(at, end));
                    self.cover(at, end);
                    end
                }
            };
        }
        self.unfinished(at)
    }

    /// `$` and what it begins.
    fn dollar(&mut self, at: usize, in_quotes: bool, builder: &mut Builder) -> usize {
        match self.byte(at + 1) {
            Some(b'(') => return self.parenthesis(at, in_quotes, builder),
            Some(b'{') => return self.braced(at, in_quotes, builder),
            Some(b'\'') if !in_quotes => return self.ansi_quotes(at, builder),
            Some(b'"') if !in_quotes => {
                self.bash_only(at);
                // A translation may stand in its place.
                builder.dynamic(true);
                self.cover(at, at + 1);
                return self.double_quotes(at + 1, builder);
            }
            Some(b'[') => self.note(Reason::Arithmetic, at),
            _ => {}
        }
        let rest = self.slice(at + 1, self.text.len());
        let length = match rest.bytes().next() {
            Some(b'0'..=b'9' | b'*' | b'@' | b'#' | b'?' | b'-' | b'$' | b'!') => 1,
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => name_length(rest),
            _ => {
                builder.quoted_letter('$');
                self.cover(at, at + 1);
                return at + 1;
            }
        };
        builder.dynamic(in_quotes && !rest.starts_with('@'));
        self.cover(at, at + 1 + length);
        at + 1 + length
    }

    /// `$(…)` or `$((…))`.
    fn parenthesis(&mut self, at: usize, in_quotes: bool, builder: &mut Builder) -> usize {
        builder.dynamic(in_quotes);
        if let Some(end) = self.span(at, SpanKind::Command) {
            return self.code(at, end);
        }
        let Some(end) = self.span(at, SpanKind::Arithmetic) else {
            self.note(Reason::Syntax, at);
            self.cover(at, at + 2);
            return at + 2;
        };
        if end < at + 5 || !self.slice(at, end).ends_with("))") {
            self.note(Reason::Syntax, at);
        }
        self.numbers(at + 3, end.saturating_sub(2));
        self.cover_around_code(at, end);
        end
    }

    /// Text between these places is evaluated as numbers.
    pub(super) fn numbers(&mut self, start: usize, end: usize) {
        self.arithmetic.push((self.slice(start, end).to_owned(), start));
    }

    /// A substitution whose code is read by whoever walks the tree: only its ends are covered.
    fn code(&mut self, at: usize, end: usize) -> usize {
        self.cover(at, at + 2);
        if end < at + 3 || self.byte(end - 1) != Some(b')') {
            self.note(Reason::Syntax, at);
        } else {
            self.cover(end - 1, end);
        }
        end.max(at + 2)
    }

    fn process(&mut self, at: usize, builder: &mut Builder) -> usize {
        self.bash_only(at);
        builder.dynamic(true);
        if let Some(end) = self.span(at, SpanKind::Process) {
            return self.code(at, end);
        }
        self.note(Reason::Syntax, at);
        self.cover(at, at + 2);
        at + 2
    }

    /// Covers everything but the code of the substitutions within.
    pub(super) fn cover_around_code(&mut self, start: usize, end: usize) {
        let mut at = start;
        while at < end {
            let begins_code = matches!(self.byte(at), Some(b'$' | b'<' | b'>'))
                && matches!(self.spans.get(&at), Some((_, SpanKind::Command | SpanKind::Process)));
            match self.spans.get(&at) {
                Some(&(inner, _)) if begins_code && at != start => at = self.code(at, inner),
                _ if self.byte(at) == Some(b'`') => {
                    at = self.backtick(at, false, &mut Builder::default());
                }
                _ => {
                    self.cover(at, at + 1);
                    at += 1;
                }
            }
        }
    }

    /// An array's values, when the word so far is `name=`.
    fn array(&mut self, start: usize, at: usize, builder: &mut Builder) -> Option<usize> {
        let is_value = builder.assignment.is_some() && self.slice(start, at).ends_with('=');
        let end = self.span(at, SpanKind::Array).filter(|_| is_value)?;
        self.bash_only(at);
        builder.dynamic(false);
        self.cover(at, at + 1);
        self.depth += 1;
        let mut inner = at + 1;
        while self.depth < MAX_DEPTH {
            match self.byte(inner) {
                Some(b' ' | b'\t' | b'\n') => inner += 1,
                Some(b'\\') if self.byte(inner + 1) == Some(b'\n') => inner += 2,
                _ => match self.word(inner) {
                    Some(word) => {
                        // `[i]=value`
                        if let Some(sign) = word.raw.find("]=").or_else(|| word.raw.find("]+=")) {
                            self.index(inner, inner + sign + 1);
                        }
                        inner = word.end;
                    }
                    None => break,
                },
            }
        }
        self.depth -= 1;
        if self.byte(inner) != Some(b')') || inner + 1 != end {
            self.note(Reason::Syntax, at);
        }
        self.cover(inner, inner + 1);
        Some(inner + 1)
    }

    /// Code in backticks, which is unescaped once before it is read.
    fn backtick(&mut self, at: usize, in_quotes: bool, builder: &mut Builder) -> usize {
        builder.dynamic(in_quotes);
        let mut code = Vec::new();
        let mut end = at + 1;
        loop {
            match (self.byte(end), self.byte(end + 1)) {
                (None, _) => return self.unfinished(at),
                (Some(b'`'), _) => break,
                (Some(b'\\'), Some(next @ (b'$' | b'`' | b'\\'))) => {
                    code.push(next);
                    end += 2;
                }
                (Some(b'\\'), Some(b'"')) if in_quotes => {
                    // Whether the backslash stays differs between shells and places.
                    self.note(Reason::Syntax, end);
                    code.push(b'"');
                    end += 2;
                }
                (Some(byte), _) => {
                    code.push(byte);
                    end += 1;
                }
            }
        }
        self.cover(at, end + 1);
        let code = String::from_utf8(code).unwrap_or_default();
        self.backticks.push(Backtick { code, position: at });
        end + 1
    }

    /// The inside of `${…}`, up to and with the brace. Says where it ends.
    fn braced(&mut self, at: usize, in_quotes: bool, builder: &mut Builder) -> usize {
        self.cover(at, at + 2);
        self.depth += 1;
        let mut unused = Builder::default();
        let mut inner = at + 2;
        let end = loop {
            let Some(byte) = self.byte(inner).filter(|_| self.depth < MAX_DEPTH) else {
                break self.unfinished(inner);
            };
            inner = match byte {
                b'}' => {
                    self.cover(inner, inner + 1);
                    break inner + 1;
                }
                b'\\' => self.escape(inner, &mut unused),
                b'\'' if in_quotes => {
                    // Whether this quotes depends on the operator and the shell.
                    self.note(Reason::Syntax, inner);
                    self.plain(inner, &mut unused)
                }
                b'\'' => self.single_quotes(inner, &mut unused),
                b'"' => self.double_quotes(inner, &mut unused),
                b'$' => self.dollar(inner, in_quotes, &mut unused),
                b'`' => self.backtick(inner, in_quotes, &mut unused),
                b'<' | b'>' if self.byte(inner + 1) == Some(b'(') => {
                    self.process(inner, &mut unused)
                }
                b'\n' => {
                    self.cover(inner, inner + 1);
                    inner + 1
                }
                _ => self.plain(inner, &mut unused),
            };
        };
        self.depth -= 1;
        if self.span(at, SpanKind::Expansion) != Some(end) {
            self.note(Reason::Syntax, at);
        }
        let inside = self.slice(at + 2, end.saturating_sub(1));
        builder.dynamic(in_quotes && !inside.contains('@'));
        self.expansion(inside, at);
        end
    }

    /// The body of a here-document that is expanded.
    pub(super) fn expand_document(&mut self, start: usize, end: usize) {
        let mut unused = Builder::default();
        let mut at = start;
        while at < end {
            at = match self.byte(at) {
                Some(b'$') => self.dollar(at, true, &mut unused),
                Some(b'`') => self.backtick(at, true, &mut unused),
                Some(b'\\') => self.escape(at, &mut unused),
                _ => {
                    self.cover(at, at + 1);
                    at + 1
                }
            };
        }
        if at > end {
            self.note(Reason::Syntax, start);
        }
    }
}
