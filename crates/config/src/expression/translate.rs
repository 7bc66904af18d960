//! Translation from the ECMAScript grammar to that of the engines.

use super::class::{SPACE, class};
use super::{ExpressionError, ExpressionErrorKind};

/// Maximum nesting depth of groups.
const MAX_DEPTH: usize = 64;
/// Maximum count of a repetition; the counts of nested repetitions are multiplied.
const MAX_REPEAT: usize = 1000;

/// Pattern for the engines.
#[derive(Debug, Clone)]
pub(super) struct Translated {
    pub(super) text: String,
    /// True if the pattern needs the backtracking engine.
    pub(super) is_stepping: bool,
}

/// Translates a pattern.
pub(super) fn translate(source: &str) -> Result<Translated, ExpressionError> {
    let letters: Vec<char> = source.chars().collect();
    let groups = groups(&letters);
    // The linear engine supports ASCII word boundaries; for the backtracking engine they are
    // translated to look-around.
    let is_stepping = needs_steps(&letters, groups.len());
    let mut reader = Reader {
        letters: &letters,
        at: 0,
        out: String::with_capacity(source.len() * 2),
        groups,
        opened: 0,
        closed: Vec::new(),
        is_stepping,
        repeats: vec![1],
    };
    reader.alternatives(0)?;
    if reader.at < letters.len() {
        return Err(reader.invalid("there is a ) without a matching ("));
    }
    Ok(Translated { text: reader.out, is_stepping })
}

/// Returns the names of the capturing groups in order; `None` for a group without a name.
fn groups(letters: &[char]) -> Vec<Option<String>> {
    let mut found = Vec::new();
    let (mut at, mut in_class) = (0, false);
    while let Some(letter) = letters.get(at) {
        match letter {
            '\\' => at += 1,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class && letters.get(at + 1) != Some(&'?') => found.push(None),
            '(' if !in_class
                && letters.get(at + 2) == Some(&'<')
                && !matches!(letters.get(at + 3), Some('=' | '!')) =>
            {
                let name = letters[at + 3..].iter().take_while(|letter| **letter != '>').collect();
                found.push(Some(name));
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Returns true if the pattern contains look-around or back-references.
fn needs_steps(letters: &[char], groups: usize) -> bool {
    let (mut at, mut in_class) = (0, false);
    while let Some(letter) = letters.get(at) {
        let next = letters.get(at + 1);
        match letter {
            '\\' => {
                let is_reference = next == Some(&'k') && groups > 0
                    || next
                        .and_then(|digit| digit.to_digit(10))
                        .is_some_and(|digit| digit > 0 && number(&letters[at + 1..]).0 <= groups);
                if is_reference && !in_class {
                    return true;
                }
                at += 1;
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class && next == Some(&'?') => match letters.get(at + 2) {
                Some('=' | '!') => return true,
                Some('<') if matches!(letters.get(at + 3), Some('=' | '!')) => return true,
                _ => {}
            },
            _ => {}
        }
        at += 1;
    }
    false
}

/// Returns the decimal number at the start, and the number of its digits.
fn number(letters: &[char]) -> (usize, usize) {
    let digits = letters.iter().take_while(|letter| letter.is_ascii_digit()).count();
    let value = letters[..digits].iter().fold(0_usize, |value, digit| {
        value.saturating_mul(10).saturating_add(digit.to_digit(10).unwrap_or(0) as usize)
    });
    (value, digits)
}

/// Minimum and maximum of a repetition; the maximum is `None` if there is no limit.
type Numbers = (usize, Option<usize>);

struct Reader<'a> {
    letters: &'a [char],
    at: usize,
    out: String,
    groups: Vec<Option<String>>,
    /// Number of capturing groups that have begun.
    opened: usize,
    /// Capturing groups that have ended, and whether each one was repeated.
    closed: Vec<(usize, bool)>,
    is_stepping: bool,
    /// For every open group, the largest repetition count in the group.
    repeats: Vec<usize>,
}

impl Reader<'_> {
    /// Returns the error of a pattern that ECMAScript rejects, too.
    fn invalid(&self, message: &str) -> ExpressionError {
        let kind = ExpressionErrorKind::Invalid;
        ExpressionError { kind, message: message.to_owned(), position: self.at + 1 }
    }

    /// Returns the error of a pattern that ECMAScript accepts.
    fn unsupported(&self, message: &str) -> ExpressionError {
        ExpressionError { kind: ExpressionErrorKind::Unsupported, ..self.invalid(message) }
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn rest(&self) -> &[char] {
        self.letters.get(self.at..).unwrap_or_default()
    }

    fn starts_with(&self, text: &str) -> bool {
        let mut rest = self.rest().iter();
        text.chars().all(|letter| rest.next() == Some(&letter))
    }

    fn alternatives(&mut self, depth: usize) -> Result<(), ExpressionError> {
        if depth > MAX_DEPTH {
            return Err(self.unsupported("groups are nested too deeply"));
        }
        while let Some(letter) = self.peek() {
            match letter {
                ')' => return Ok(()),
                '|' => {
                    self.out.push('|');
                    self.at += 1;
                }
                _ => self.term(depth)?,
            }
        }
        Ok(())
    }

    /// Translates one atom with its quantifier.
    fn term(&mut self, depth: usize) -> Result<(), ExpressionError> {
        let (start, first) = (self.out.len(), self.closed.len());
        self.repeats.push(1);
        let can_repeat = self.atom(depth)?;
        let inside = self.repeats.pop().unwrap_or(1);
        let (times, is_repeated) = self.quantifier(can_repeat)?;
        if times != 1 {
            // The repeated part must be a single atom for the engines, too.
            let atom = self.out.split_off(start);
            let (atom, quantifier) = atom.split_at(atom.rfind('\u{1}').unwrap_or(atom.len()));
            self.out.push_str("(?:");
            self.out.push_str(atom);
            self.out.push(')');
            self.out.push_str(quantifier.trim_start_matches('\u{1}'));
            self.closed[first..].iter_mut().for_each(|(_, repeated)| *repeated |= is_repeated);
        }
        let all = inside.saturating_mul(times.max(1));
        if all > MAX_REPEAT {
            return Err(self.unsupported("a repetition count is too large"));
        }
        if let Some(most) = self.repeats.last_mut() {
            *most = (*most).max(all);
        }
        Ok(())
    }

    /// Reads the quantifier of the preceding atom, and writes it after a mark. Returns the largest
    /// number in the quantifier (1 without a quantifier, 0 for a symbol), and whether the atom may
    /// occur more than once.
    fn quantifier(&mut self, can_repeat: bool) -> Result<(usize, bool), ExpressionError> {
        let Some((length, numbers)) = self.quantifier_length() else { return Ok((1, false)) };
        if !can_repeat {
            return Err(self.invalid("there is nothing to repeat here"));
        }
        let text: String = self.letters[self.at..self.at + length].iter().collect();
        self.at += length;
        if let Some((low, Some(high))) = numbers
            && low > high
        {
            return Err(self.invalid("the numbers of a repetition are out of order"));
        }
        self.out.push('\u{1}');
        self.out.push_str(&text);
        if self.peek() == Some('?') {
            self.out.push('?');
            self.at += 1;
        }
        if self.quantifier_length().is_some() {
            return Err(self.invalid("there is nothing to repeat here"));
        }
        let largest = numbers.map_or(0, |(low, high)| high.unwrap_or(low).max(low));
        // A count of one is a repetition, too, for the translation.
        let is_repeated = match numbers {
            None => !text.starts_with('?'),
            Some((low, high)) => low > 1 || high.is_none_or(|high| high > 1),
        };
        Ok((if largest == 1 { 0 } else { largest }, is_repeated))
    }

    /// Returns the length of the quantifier at the current position, and its numbers.
    fn quantifier_length(&self) -> Option<(usize, Option<Numbers>)> {
        match self.peek()? {
            '*' | '+' | '?' => Some((1, None)),
            '{' => {
                let rest = &self.rest()[1..];
                let (low, digits) = number(rest);
                if digits == 0 {
                    return None;
                }
                match rest.get(digits)? {
                    '}' => Some((digits + 2, Some((low, Some(low))))),
                    ',' => {
                        let (high, more) = number(&rest[digits + 1..]);
                        let ends = rest.get(digits + 1 + more) == Some(&'}');
                        let high = (more > 0).then_some(high);
                        ends.then_some((digits + more + 3, Some((low, high))))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Translates one atom; false if it cannot be repeated.
    fn atom(&mut self, depth: usize) -> Result<bool, ExpressionError> {
        let Some(letter) = self.peek() else { return Ok(false) };
        match letter {
            '^' => self.put("\\A"),
            '$' => self.put("\\z"),
            '.' => {
                self.put("[^\\n\\r\\x{2028}\\x{2029}]");
                return Ok(true);
            }
            '(' => return self.group(depth),
            '[' => {
                let (text, length) = class(self.rest()).map_err(|message| self.invalid(message))?;
                self.out.push_str(&text);
                self.at += length;
                return Ok(true);
            }
            '\\' => return self.escape(),
            '*' | '+' | '?' => return Err(self.invalid("there is nothing to repeat here")),
            '{' if self.quantifier_length().is_some() => {
                return Err(self.invalid("there is nothing to repeat here"));
            }
            letter => {
                self.out.push_str(&literal(letter));
                self.at += 1;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
        self.at += 1;
    }

    fn group(&mut self, depth: usize) -> Result<bool, ExpressionError> {
        let kinds = ["(?:", "(?=", "(?!", "(?<=", "(?<!"];
        let known = kinds.into_iter().find(|kind| self.starts_with(kind));
        let mut captures = None;
        match known {
            Some(kind) => {
                self.out.push_str(kind);
                self.at += kind.len();
            }
            None if self.starts_with("(?<") => {
                let name = self.groups.get(self.opened).cloned().flatten().unwrap_or_default();
                let is_name =
                    name.chars().all(|letter| letter.is_alphanumeric() || "_$".contains(letter));
                if !is_name
                    || name.is_empty()
                    || name.starts_with(|first: char| first.is_ascii_digit())
                {
                    return Err(self.invalid("a group has an invalid name"));
                }
                if self.groups.iter().flatten().filter(|other| **other == name).count() > 1 {
                    return Err(self.invalid("two groups have the same name"));
                }
                self.at += 4 + name.chars().count();
                captures = Some(self.open());
            }
            None if self.starts_with("(?") => {
                return Err(self.invalid("this kind of group is not supported"));
            }
            None => {
                self.at += 1;
                captures = Some(self.open());
            }
        }
        self.repeats.push(1);
        self.alternatives(depth + 1)?;
        if self.peek() != Some(')') {
            return Err(self.invalid("there is a ( without a matching )"));
        }
        self.put(")");
        let inside = self.repeats.pop().unwrap_or(1);
        if let Some(most) = self.repeats.last_mut() {
            *most = (*most).max(inside);
        }
        self.closed.extend(captures.map(|group| (group, false)));
        if matches!(known, Some("(?=" | "(?!")) && self.quantifier_length().is_some() {
            return Err(self.unsupported("a repeated look-ahead cannot be expressed"));
        }
        Ok(matches!(known, None | Some("(?:")))
    }

    fn open(&mut self) -> usize {
        self.opened += 1;
        self.out.push('(');
        self.opened
    }

    /// Translates an escape sequence; false if it cannot be repeated.
    fn escape(&mut self) -> Result<bool, ExpressionError> {
        let Some(next) = self.letters.get(self.at + 1).copied() else {
            return Err(self.invalid("the pattern ends with an incomplete \\"));
        };
        match next {
            'b' | 'B' => {
                self.boundary(next == 'b');
                self.at += 2;
                return Ok(false);
            }
            'd' | 'D' | 'w' | 'W' | 's' | 'S' => {
                self.out.push_str(&shorthand(next));
                self.at += 2;
            }
            'k' if self.groups.iter().any(Option::is_some) => self.named_reference()?,
            '1'..='9' => {
                let (group, digits) = number(&self.letters[self.at + 1..]);
                if group > self.groups.len() {
                    self.character();
                } else {
                    self.at += 1 + digits;
                    self.reference(group)?;
                }
            }
            'p' | 'P' if self.letters.get(self.at + 2) == Some(&'{') => {
                return Err(self.unsupported(
                    "\\p{…} has no meaning without the u flag, which patterns do not have",
                ));
            }
            _ => self.character(),
        }
        Ok(true)
    }

    fn boundary(&mut self, is_there: bool) {
        let text = match (self.is_stepping, is_there) {
            (false, true) => "(?-u:\\b)",
            (false, false) => "(?-u:\\B)",
            (true, true) => {
                "(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))"
            }
            (true, false) => {
                "(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))"
            }
        };
        self.out.push_str(text);
    }

    fn named_reference(&mut self) -> Result<(), ExpressionError> {
        let rest = &self.letters[self.at + 2..];
        let name: String = rest.iter().skip(1).take_while(|letter| **letter != '>').collect();
        let group = self.groups.iter().position(|group| group.as_deref() == Some(name.as_str()));
        let Some(group) = group.filter(|_| rest.first() == Some(&'<')) else {
            return Err(self.invalid("no group has this name"));
        };
        self.at += 4 + name.chars().count();
        self.reference(group + 1)
    }

    /// Translates a back-reference. A group that has matched nothing is equal to the empty text.
    fn reference(&mut self, group: usize) -> Result<(), ExpressionError> {
        match self.closed.iter().find(|(closed, _)| *closed == group) {
            Some((_, false)) => {
                let reference = format!("(?({group})\\{group}|)");
                self.out.push_str(&reference);
                Ok(())
            }
            Some((_, true)) => {
                Err(self.unsupported("a reference to a repeated group cannot be expressed"))
            }
            None => {
                Err(self.unsupported("a reference to a group before its end cannot be expressed"))
            }
        }
    }

    /// Translates an escape sequence for one character.
    fn character(&mut self) {
        let (letter, length) = escaped(&self.letters[self.at + 1..]);
        self.out.push_str(&literal(letter));
        self.at += 1 + length;
    }
}

/// Returns the character that the escape after a backslash represents, and the length of the
/// escape.
pub(super) fn escaped(letters: &[char]) -> (char, usize) {
    let first = letters.first().copied().unwrap_or('\\');
    let hex = |from: usize, count: usize| {
        let digits = letters.get(from..from + count)?;
        let text: String = digits.iter().collect();
        digits.iter().all(char::is_ascii_hexdigit).then(|| u32::from_str_radix(&text, 16).ok())?
    };
    match first {
        't' => ('\t', 1),
        'n' => ('\n', 1),
        'v' => ('\u{b}', 1),
        'f' => ('\u{c}', 1),
        'r' => ('\r', 1),
        'c' => match letters.get(1).filter(|letter| letter.is_ascii_alphabetic()) {
            Some(letter) => (char::from(*letter as u8 % 32), 2),
            // Without a character after it, the backslash represents itself.
            None => ('\\', 0),
        },
        'x' => hex(1, 2).and_then(char::from_u32).map_or(('x', 1), |letter| (letter, 3)),
        'u' => match hex(1, 4) {
            Some(high @ 0xd800..0xdc00) => {
                let is_pair = letters.get(5) == Some(&'\\') && letters.get(6) == Some(&'u');
                let low = is_pair.then(|| hex(7, 4)).flatten();
                match low.filter(|low| (0xdc00..0xe000).contains(low)) {
                    Some(low) => {
                        let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                        (char::from_u32(code).unwrap_or('\u{fffd}'), 11)
                    }
                    None => ('\u{fffd}', 5),
                }
            }
            Some(code) => (char::from_u32(code).unwrap_or('\u{fffd}'), 5),
            None => ('u', 1),
        },
        '0'..='7' => {
            let longest = if first <= '3' { 3 } else { 2 };
            let digits =
                letters.iter().take(longest).take_while(|d| ('0'..='7').contains(*d)).count();
            let text: String = letters[..digits].iter().collect();
            let code = u32::from_str_radix(&text, 8).unwrap_or(0);
            (char::from_u32(code).unwrap_or('\u{fffd}'), digits)
        }
        other => (other, 1),
    }
}

/// Returns the translation of a class with its own letter, outside of brackets.
fn shorthand(letter: char) -> String {
    let not = if letter.is_ascii_uppercase() { "^" } else { "" };
    let set = match letter.to_ascii_lowercase() {
        'd' => "0-9",
        'w' => "0-9A-Za-z_",
        _ => SPACE,
    };
    format!("[{not}{set}]")
}

/// Returns a character as a literal of both engines, inside and outside of brackets.
pub(super) fn literal(letter: char) -> String {
    if letter.is_ascii_alphanumeric() || letter == '_' || !letter.is_ascii() {
        letter.to_string()
    } else {
        format!("\\x{{{:x}}}", letter as u32)
    }
}
