//! Words: quotes, escapes and expansions.

use super::model::{Construct, Word};
use super::reader::Reader;

/// A word that is being read.
#[derive(Default)]
pub(super) struct Draft {
    /// Text so far, without quotes.
    text: String,
    /// Directory at the beginning of the word.
    base: Option<Base>,
    /// True if a part is quoted or escaped.
    pub(super) is_quoted: bool,
    /// True if there is an unquoted `*` or `?`.
    has_pattern: bool,
    /// True if a part is known only at run time.
    is_unknown: bool,
    /// True if an unquoted expansion may turn the word into several words, or remove it.
    pub(super) may_split: bool,
    /// True if there is an unquoted `{`.
    has_brace: bool,
}

#[derive(Clone, Copy)]
enum Base {
    Home,
    Folder,
}

impl Draft {
    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.base.is_none() && !self.is_quoted
    }
}

/// Returns true for bytes that end a word outside quotes.
fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}

impl Reader<'_> {
    /// Reads one word, which begins at the next byte.
    pub(super) fn word(&mut self) -> (Word, Draft) {
        let start = self.at;
        let mut draft = Draft::default();
        while let Some(byte) = self.peek().filter(|byte| !is_delimiter(*byte)) {
            match byte {
                b'\'' => self.single_quotes(&mut draft),
                b'"' => self.double_quotes(&mut draft),
                b'\\' => self.escape(&mut draft),
                b'$' => self.dollar(&mut draft, false),
                b'`' => self.hide(Construct::CommandSubstitution),
                _ => self.plain(&mut draft),
            }
            if self.is_over() {
                break;
            }
        }
        let word = self.finished(&mut draft, start);
        (word, draft)
    }

    fn finished(&mut self, draft: &mut Draft, start: usize) -> Word {
        let written = self.text[start..self.at].to_owned();
        let text = std::mem::take(&mut draft.text);
        if draft.has_brace && written != "{}" && (text.contains(',') || text.contains("..")) {
            self.pass_over(Construct::Braces, start);
            (draft.is_unknown, draft.may_split) = (true, true);
        }
        if draft.has_pattern && written != "[" && written != "[[" {
            // A quoted `~` or `$` at the beginning would be mistaken for the directory.
            let is_harmless =
                draft.base.is_some() || !text.starts_with(['-', '*', '?', '[', '~', '$', '"']);
            if is_harmless && !draft.is_unknown && !written.contains('[') {
                return Word::Pattern(match draft.base {
                    Some(_) => written,
                    None => text,
                });
            }
            self.pass_over(Construct::Pattern, start);
            (draft.is_unknown, draft.may_split) = (true, true);
        }
        match draft.base {
            _ if draft.is_unknown => Word::Unknown(written),
            None => Word::Literal(text),
            // The rest must begin a new component of the path.
            Some(_) if !text.is_empty() && !text.starts_with('/') => {
                self.pass_over(Construct::Variable, start);
                Word::Unknown(written)
            }
            Some(Base::Home) => Word::InHome(text),
            Some(Base::Folder) => Word::InFolder(text),
        }
    }

    fn single_quotes(&mut self, draft: &mut Draft) {
        let inner = &self.text[self.at + 1..];
        let Some(length) = inner.find('\'') else { return self.hide(Construct::Syntax) };
        draft.text.push_str(&inner[..length]);
        draft.is_quoted = true;
        self.at += length + 2;
    }

    fn double_quotes(&mut self, draft: &mut Draft) {
        let is_first = draft.is_empty();
        draft.is_quoted = true;
        self.at += 1;
        if is_first {
            self.named_directory(draft);
        }
        loop {
            match self.peek() {
                None => return self.hide(Construct::Syntax),
                Some(b'"') => {
                    self.at += 1;
                    return;
                }
                Some(b'`') => return self.hide(Construct::CommandSubstitution),
                Some(b'$') => self.dollar(draft, true),
                Some(b'\\') => match self.text.as_bytes().get(self.at + 1) {
                    Some(b'\n') => {
                        self.pass_over(Construct::Continuation, self.at);
                        self.at += 2;
                    }
                    Some(escaped @ (b'$' | b'`' | b'"' | b'\\')) => {
                        draft.text.push(char::from(*escaped));
                        self.at += 2;
                    }
                    _ => self.letter(draft),
                },
                Some(_) => self.letter(draft),
            }
            if self.is_over() {
                return;
            }
        }
    }

    /// Reads `"$HOME` and `"$PWD` at the beginning of a word, before `/` or the closing quote.
    fn named_directory(&mut self, draft: &mut Draft) {
        for (name, base) in [("$HOME", Base::Home), ("$PWD", Base::Folder)] {
            let rest = self.text[self.at..].strip_prefix(name);
            if rest.is_some_and(|rest| rest.starts_with(['/', '"'])) {
                draft.base = Some(base);
                self.at += name.len();
            }
        }
    }

    fn escape(&mut self, draft: &mut Draft) {
        draft.is_quoted = true;
        match self.text.as_bytes().get(self.at + 1) {
            None => self.hide(Construct::Syntax),
            // A line continuation may also join two operators.
            Some(b'\n') => self.hide(Construct::Continuation),
            Some(_) => {
                self.at += 1;
                self.letter(draft);
            }
        }
    }

    fn dollar(&mut self, draft: &mut Draft, is_quoted: bool) {
        let rest = &self.text[self.at + 1..];
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let name = match rest.strip_prefix('{') {
            Some(braced) => braced.split_once('}').map(|(name, _)| name),
            None => Some(&rest[..rest.find(|letter| !is_name(letter)).unwrap_or(rest.len())]),
        };
        let is_braced = rest.starts_with('{');
        match rest.chars().next() {
            Some('(') => match constant_arithmetic(rest) {
                Some(length) => {
                    self.pass_over(Construct::Arithmetic, self.at);
                    draft.is_unknown = true;
                    draft.may_split |= !is_quoted;
                    self.at += 1 + length;
                }
                None => self.hide(Construct::CommandSubstitution),
            },
            Some('[') => self.hide(Construct::Arithmetic),
            Some('\'' | '"') if !is_quoted => self.hide(Construct::Quoting),
            Some('{') if name.is_none_or(|name| name.is_empty() || !name.chars().all(is_name)) => {
                self.hide(Construct::Expansion);
            }
            Some('@' | '*' | '#' | '?' | '-' | '!' | '$') => {
                self.pass_over(Construct::Expansion, self.at);
                draft.is_unknown = true;
                // `"$@"` expands to several words.
                draft.may_split |= !is_quoted || rest.starts_with('@');
                self.at += 2;
            }
            Some(letter) if is_braced || is_name(letter) => {
                self.pass_over(Construct::Variable, self.at);
                draft.is_unknown = true;
                draft.may_split |= !is_quoted;
                self.at += 1 + name.map_or(0, str::len) + if is_braced { 2 } else { 0 };
            }
            // A `$` that begins no expansion is literal.
            _ => {
                draft.text.push('$');
                self.at += 1;
            }
        }
    }

    /// Reads one unquoted character without a special meaning to all shells.
    fn plain(&mut self, draft: &mut Draft) {
        match self.peek() {
            Some(b'~') if draft.is_empty() => {
                let after = self.text.as_bytes().get(self.at + 1);
                if after.is_none_or(|byte| *byte == b'/' || is_delimiter(*byte)) {
                    draft.base = Some(Base::Home);
                    self.at += 1;
                    return;
                }
                self.pass_over(Construct::Tilde, self.at);
                draft.is_unknown = true;
            }
            Some(b'~') if draft.text.ends_with(['=', ':']) => {
                self.pass_over(Construct::Tilde, self.at);
                draft.is_unknown = true;
            }
            Some(b'*' | b'?' | b'[') => draft.has_pattern = true,
            Some(b'{') => draft.has_brace = true,
            _ => {}
        }
        self.letter(draft);
    }

    /// Takes one character literally.
    fn letter(&mut self, draft: &mut Draft) {
        let Some(letter) = self.text[self.at..].chars().next() else { return };
        let is_control = letter.is_control() && !matches!(letter, '\n' | '\t');
        if is_control || (letter.is_whitespace() && !letter.is_ascii()) {
            return self.hide(Construct::Character);
        }
        draft.text.push(letter);
        self.at += letter.len_utf8();
    }
}

/// Returns the length of `((…))` at the beginning of a text, if it consists of whole numbers with
/// one operator between each two. Only that certainly runs nothing: shells evaluate the values of
/// variables again (`x='a[$(id)]'; echo $((x))`).
fn constant_arithmetic(text: &str) -> Option<usize> {
    let (inner, _) = text.strip_prefix("((")?.split_once("))")?;
    let is_number = |operand: &str| {
        let operand = operand.trim_matches(' ');
        !operand.is_empty() && operand.bytes().all(|byte| byte.is_ascii_digit())
    };
    inner.split(['+', '-', '*', '/', '%']).all(is_number).then_some(inner.len() + 4)
}
