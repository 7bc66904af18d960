//! `${…}` and `$'…'`.

use super::model::Reason;
use super::scanner::Scanner;
use super::word::{Builder, is_name, name_length};

impl Scanner<'_> {
    /// Looks at what stands between the braces of `${…}`.
    pub(super) fn expansion(&mut self, inside: &str, position: usize) {
        if let Some(rest) = inside.strip_prefix('!') {
            if !rest.is_empty() {
                self.note(Reason::Indirection, position);
            }
            return;
        }
        let after_length = inside.strip_prefix('#').filter(|rest| !rest.is_empty());
        let inside = after_length.unwrap_or(inside);
        let length = match name_length(inside) {
            0 => inside.chars().next().map_or(0, char::len_utf8),
            length => length,
        };
        let (name, mut rest) = inside.split_at(length);
        if rest.starts_with('[') {
            self.bash_only(position);
            rest = self.subscript(rest, position);
        }
        self.operator(name, rest, position);
    }

    /// The index of an array, which is evaluated. Gives back what follows it.
    fn subscript<'t>(&mut self, text: &'t str, position: usize) -> &'t str {
        let Some((index, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']'))
        else {
            self.note(Reason::Syntax, position);
            return "";
        };
        if !matches!(index, "@" | "*") {
            self.arithmetic.push((index.to_owned(), position));
        }
        rest
    }

    /// What follows the name.
    fn operator(&mut self, name: &str, rest: &str, position: usize) {
        let mut letters = rest.chars();
        match (letters.next(), letters.next()) {
            (None | Some('-' | '+' | '?' | '#' | '%'), _) | (Some(':'), Some('-' | '+' | '?')) => {}
            (Some('='), _) | (Some(':'), Some('=')) => {
                if is_name(name) {
                    self.assigned.push(name.to_owned());
                } else {
                    self.note(Reason::Syntax, position);
                }
            }
            (Some(':'), _) => {
                self.bash_only(position);
                self.arithmetic.push((rest[1..].to_owned(), position));
            }
            (Some('@'), Some('P')) => self.note(Reason::PromptExpansion, position),
            (Some('/' | '^' | ',' | '@'), _) => self.bash_only(position),
            _ => self.note(Reason::Syntax, position),
        }
    }

    /// `$'…'`, with escapes as in C.
    pub(super) fn ansi_quotes(&mut self, at: usize, builder: &mut Builder) -> usize {
        self.bash_only(at);
        let mut end = at + 2;
        loop {
            match self.byte(end) {
                None => {
                    self.note(Reason::Syntax, at);
                    self.cover(at, end);
                    return end;
                }
                Some(b'\'') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
            }
        }
        match unescape(self.slice(at + 2, end)) {
            Some(text) => builder.quoted_text(&text),
            None => builder.dynamic(true),
        }
        self.cover(at, end + 1);
        end + 1
    }
}

/// What bash makes of the inside of `$'…'`; none for what is not worth knowing: bytes that are no
/// characters, control characters by name, a NUL, which ends the text.
fn unescape(text: &str) -> Option<String> {
    let mut value = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        if letter != '\\' {
            value.push(letter);
            continue;
        }
        let escape = rest.chars().next()?;
        rest = &rest[escape.len_utf8()..];
        let (base, most) = match escape {
            'n' | 't' | 'r' | 'a' | 'b' | 'f' | 'v' | 'e' | 'E' => {
                value.push(control(escape));
                continue;
            }
            '\\' | '\'' | '"' | '?' => {
                value.push(escape);
                continue;
            }
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => {
                rest = &text[text.len() - rest.len() - 1..];
                (8, 3)
            }
            _ => return None,
        };
        let digits = rest.chars().take(most).take_while(|digit| digit.is_digit(base)).count();
        let code = u32::from_str_radix(&rest[..digits], base).ok()?;
        rest = &rest[digits..];
        if code == 0 || (code > 0x7f && !matches!(escape, 'u' | 'U')) {
            return None;
        }
        value.push(char::from_u32(code)?);
    }
    Some(value)
}

/// The control character that a letter stands for.
fn control(letter: char) -> char {
    match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        _ => '\u{1b}',
    }
}

#[cfg(test)]
mod tests {
    use super::unescape;

    #[test]
    fn escapes_are_those_of_bash() {
        let table = [
            ("rm", Some("rm")),
            (r"\x72m", Some("rm")),
            (r"\162\155", Some("rm")),
            (r"\u0072m", Some("rm")),
            (r"a\nb\'c", Some("a\nb'c")),
            (r"\xffx", None),
            (r"a\0b", None),
            (r"\cA", None),
            (r"\q", None),
        ];
        for (text, value) in table {
            assert_eq!(unescape(text).as_deref(), value, "{text}");
        }
    }
}
