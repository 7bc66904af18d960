//! One word, and how much of it is known.

/// Words that begin or end compound commands. As the first word of a simple command they show that
/// the grammar and the shell disagree.
pub(super) const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for",
    "select", "function", "{", "}", "[[", "]]", "in",
];

/// A word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// Where it stands in the script.
    pub(super) start: usize,
    pub(super) end: usize,
    /// What is constant of it, quotes and escapes taken off.
    pub(super) text: String,
    /// As it is written.
    pub(super) raw: String,
    /// Whether `text` is all there is.
    pub(super) is_constant: bool,
    /// Whether it becomes exactly one word.
    pub(super) is_single: bool,
    /// How much of `text` stands in front of everything that is not constant, in bytes.
    pub(super) prefix: usize,
    /// Whether a part is quoted or escaped.
    pub(super) is_quoted: bool,
    /// Whether it begins with an unquoted `~`, which becomes a folder.
    pub(super) has_tilde: bool,
    /// When it has the form `name=…`, unquoted up to the sign.
    pub(super) assignment: Option<Assigned>,
}

/// The parts of `name=value`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Assigned {
    /// Without a subscript.
    pub(super) name: String,
    /// Where the value begins in `text`.
    pub(super) value: usize,
    /// Whether the value is constant.
    pub(super) is_constant: bool,
}

impl Word {
    /// The value, when it is constant.
    pub(super) fn constant(&self) -> Option<&str> {
        self.is_constant.then_some(self.text.as_str())
    }

    /// The value as code: a folder in front of it would be part of the code.
    pub(super) fn code(&self) -> Option<&str> {
        self.constant().filter(|_| !self.has_tilde)
    }

    /// What it begins with, whatever follows.
    pub(super) fn known_prefix(&self) -> &str {
        self.text.get(..self.prefix).unwrap_or_default()
    }

    /// Whether it is exactly one word that cannot be taken for an option.
    pub(super) fn is_operand(&self) -> bool {
        if self.is_constant {
            return !self.text.starts_with('-') || self.text == "-";
        }
        self.is_single && self.known_prefix().bytes().next().is_some_and(|byte| byte != b'-')
    }

    /// The constant value behind `name=`.
    pub(super) fn assigned_value(&self) -> Option<&str> {
        let assigned = self.assignment.as_ref().filter(|assigned| assigned.is_constant)?;
        self.text.get(assigned.value..)
    }
}

/// A word while it is read.
#[derive(Debug, Default)]
pub(super) struct Builder {
    text: String,
    dynamic_parts: usize,
    prefix: Option<usize>,
    is_multiple: bool,
    is_quoted: bool,
    has_tilde: bool,
    open_brace: bool,
    brace_separator: bool,
    open_bracket: bool,
    last: Option<char>,
    pub(super) assignment: Option<(String, usize, usize)>,
}

impl Builder {
    /// What was read so far is `name`; the sign follows.
    pub(super) fn assign(&mut self, name: String) {
        self.assignment = Some((name, self.text.len() + 1, self.dynamic_parts));
    }

    /// An unquoted character.
    pub(super) fn unquoted(&mut self, letter: char) {
        let is_first = self.text.is_empty() && !self.is_quoted && self.dynamic_parts == 0;
        match letter {
            '~' if is_first => self.has_tilde = true,
            '*' | '?' => self.dynamic(false),
            '[' => self.open_bracket = true,
            ']' if self.open_bracket => self.dynamic(false),
            '{' => self.open_brace = true,
            ',' if self.open_brace => self.brace_separator = true,
            '.' if self.open_brace && self.last == Some('.') => self.brace_separator = true,
            '}' if self.brace_separator => self.dynamic(false),
            _ => {}
        }
        self.last = Some(letter);
        self.text.push(letter);
    }

    /// Unquoted letters, digits and signs none of which [`unquoted`](Self::unquoted) treats specially.
    pub(super) fn unquoted_text(&mut self, text: &str) {
        self.last = text.chars().next_back();
        self.text.push_str(text);
    }

    /// A character that stands for itself whatever it is.
    pub(super) fn quoted_letter(&mut self, letter: char) {
        self.is_quoted = true;
        self.last = None;
        self.text.push(letter);
    }

    /// Text that stands for itself.
    pub(super) fn quoted_text(&mut self, text: &str) {
        self.is_quoted = true;
        self.last = None;
        self.text.push_str(text);
    }

    /// A part that is known when the command runs. `is_single`: it stays within one word.
    pub(super) fn dynamic(&mut self, is_single: bool) {
        self.dynamic_parts += 1;
        self.is_multiple |= !is_single;
        self.prefix.get_or_insert(self.text.len());
    }

    /// The word.
    pub(super) fn finish(self, start: usize, end: usize, raw: &str) -> Word {
        let is_constant = self.dynamic_parts == 0;
        let assignment = self.assignment.map(|(name, value, before)| Assigned {
            name,
            value,
            is_constant: self.dynamic_parts == before,
        });
        // A pattern's known beginning ends before the first brace: what it holds may come apart.
        let brace = if is_constant { None } else { self.text.find(['{', '[']) };
        let prefix = self.prefix.unwrap_or(self.text.len()).min(brace.unwrap_or(usize::MAX));
        Word {
            start,
            end,
            text: self.text,
            raw: raw.to_owned(),
            is_constant,
            is_single: !self.is_multiple,
            prefix,
            is_quoted: self.is_quoted,
            has_tilde: self.has_tilde,
            assignment,
        }
    }
}

/// The name, when `text` is what may stand in front of the sign of an assignment.
pub(super) fn assigned_name(text: &str) -> Option<String> {
    let text = text.strip_suffix('+').unwrap_or(text);
    let length = name_length(text);
    let (name, rest) = text.split_at(length);
    let is_subscript = rest.is_empty() || (rest.starts_with('[') && rest.ends_with(']'));
    (is_name(name) && is_subscript).then(|| name.to_owned())
}

/// Whether a variable may be called this.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && name_length(text) == text.len()
}

/// Length, in bytes, of the name that `text` begins with.
pub(super) fn name_length(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}
