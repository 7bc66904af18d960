//! Walk along the words of a command, by the table of its program.

use std::borrow::Cow;

use super::model::Word;
use super::programs::{Does, Inner, Unfamiliar};
use super::table::{Form, Kind, Usage};

/// Walk along the words of a command.
#[derive(Clone)]
pub(super) struct Walk<'a> {
    pub(super) usage: &'static Usage,
    words: &'a [Word],
    at: usize,
    pub(super) does: Option<Does>,
    /// Number of operands so far.
    pub(super) operands: usize,
    /// Words that are the operands so far.
    operand_words: Vec<&'a Word>,
    /// Files that values of options and operands of the form [`Form::Write`] name.
    changed: Vec<String>,
    /// Paths that values of options and operands of the form [`Form::Read`] name.
    pub(super) read: Vec<Cow<'a, Word>>,
    /// True if one of the options that the usage requires is present.
    has_required: bool,
    pub(super) inner: Inner,
    /// Index of the last subcommand.
    pub(super) subcommand: Option<usize>,
}

type Stop = (usize, Unfamiliar);

impl<'a> Walk<'a> {
    pub(super) fn new(usage: &'static Usage, words: &'a [Word]) -> Self {
        Self {
            usage,
            words,
            at: 1,
            does: usage.does,
            operands: 0,
            operand_words: Vec::new(),
            changed: Vec::new(),
            read: Vec::new(),
            has_required: false,
            inner: Inner::default(),
            subcommand: None,
        }
    }

    /// Walks along the words by the usage and, if they do not fit, by its alternative usages. If no
    /// usage fits, the walk stops at the farthest word reached.
    pub(super) fn all(&mut self) -> Result<(), Stop> {
        let start = self.clone();
        let mut result = self.by_usage();
        let mut usage = start.usage;
        while let (Err((place, _)), Some(other)) = (&result, usage.otherwise.as_deref()) {
            usage = other;
            let mut walk = Self { usage, does: other.does.or(start.does), ..start.clone() };
            let again = walk.by_usage();
            if again.as_ref().err().is_none_or(|(again, _)| again >= place) {
                result = again;
                *self = walk;
            }
        }
        result
    }

    fn by_usage(&mut self) -> Result<(), Stop> {
        let start = self.at;
        let mut has_options = true;
        while let Some(word) = self.words.get(self.at) {
            // A shell passes all words after its script to the script as arguments.
            has_options &= self.inner.scripts.is_empty();
            let option = word.literal().filter(|text| text.len() > 1 && text.starts_with('-'));
            match option {
                Some("--") if has_options && !self.usage.single_dash => {
                    has_options = false;
                    self.at += 1;
                }
                Some(option) if has_options => match self.option(option) {
                    // The arguments need not be known.
                    Err(_) if self.usage.any_arguments => self.at += 1,
                    result => result?,
                },
                _ if !self.usage.subcommands.is_empty() => return self.subcommand(word),
                _ => {
                    self.operand(word)?;
                    has_options &= !self.usage.options_first;
                }
            }
        }
        if !self.usage.requires.is_empty() && !self.has_required {
            return Err((start, Unfamiliar::Option(self.usage.requires[0].clone())));
        }
        if self.operands < self.usage.min_operands {
            return Err((self.at, Unfamiliar::Operand(String::new())));
        }
        // Without a subcommand, the effect of a program that has subcommands is not known.
        if self.usage.subcommands.is_empty() || self.words.len() > 1 {
            return Ok(());
        }
        Err((1, Unfamiliar::Subcommand(String::new())))
    }

    fn subcommand(&mut self, word: &Word) -> Result<(), Stop> {
        let found = word.literal().and_then(|name| self.usage.subcommand(name));
        let usage =
            found.ok_or_else(|| (self.at, Unfamiliar::Subcommand(word.shown().into_owned())))?;
        self.usage = usage;
        self.subcommand = Some(self.at);
        self.does = usage.does.or(self.does);
        self.has_required = false;
        self.at += 1;
        self.all()
    }

    /// Records an option of the usage.
    fn note_option(&mut self, name: &str) {
        self.has_required |= self.usage.requires.iter().any(|required| required == name);
    }

    fn option(&mut self, option: &str) -> Result<(), Stop> {
        if option.starts_with("--") || self.usage.single_dash {
            self.long(option)
        } else if self.usage.has_flag(option) {
            self.note_option(option);
            self.at += 1;
            Ok(())
        } else {
            self.group(option)
        }
    }

    /// Reads a long option: `--all`, `--lines 5`, `--lines=5`; with `single-dash` also `-name x`.
    fn long(&mut self, option: &str) -> Result<(), Stop> {
        let unknown = || Unfamiliar::Option(option.to_owned());
        self.note_option(option);
        if self.usage.has_flag(option) {
            self.at += 1;
            return Ok(());
        }
        if let Some((name, value)) = option.split_once('=') {
            let kind = self.usage.options.get(name).ok_or_else(|| (self.at, unknown()))?;
            self.note_option(name);
            self.attached(kind, value)?;
            self.at += 1;
            return Ok(());
        }
        let kind = self.usage.options.get(option).ok_or_else(|| (self.at, unknown()))?;
        self.at += 1;
        if kind.is_optional { Ok(()) } else { self.value(kind) }
    }

    /// Reads letters after a single `-`. The last letter may have a value, attached or as the next
    /// word.
    fn group(&mut self, option: &str) -> Result<(), Stop> {
        for (place, letter) in option.char_indices().skip(1) {
            let name = format!("-{letter}");
            self.note_option(&name);
            if self.usage.has_flag(&name) {
                continue;
            }
            let unknown = || (self.at, Unfamiliar::Option(option.to_owned()));
            let kind = self.usage.options.get(&name).ok_or_else(unknown)?;
            let value = &option[place + letter.len_utf8()..];
            if !value.is_empty() {
                self.attached(kind, value)?;
                break;
            }
            self.at += 1;
            return if kind.is_optional { Ok(()) } else { self.value(kind) };
        }
        self.at += 1;
        Ok(())
    }

    /// Checks a value that is part of the option's word.
    fn attached(&mut self, kind: &Kind, value: &str) -> Result<(), Stop> {
        let is_word = matches!(kind.form, Form::Command | Form::Terminated | Form::Script);
        if is_word || !Self::fits(&kind.form, &Word::Literal(value.to_owned())) {
            return Err((self.at, Unfamiliar::Operand(value.to_owned())));
        }
        self.note(&kind.form);
        match kind.form {
            Form::Write => self.changed.push(value.to_owned()),
            Form::Read => self.read.push(Cow::Owned(Word::Literal(value.to_owned()))),
            _ => {}
        }
        Ok(())
    }

    /// Reads a value that is the next word.
    fn value(&mut self, kind: &Kind) -> Result<(), Stop> {
        let Some(word) = self.words.get(self.at) else {
            if kind.is_optional_at_end {
                return Ok(());
            }
            let option = self.words[self.at - 1].shown().into_owned();
            return Err((self.at - 1, Unfamiliar::Option(option)));
        };
        // If the program takes no value here, it reads the word as another option.
        let is_option = word.literal().is_some_and(may_be_option);
        if is_option || matches!((word, &kind.form), (Word::Pattern(_), Form::Read)) {
            return Err((self.at, Unfamiliar::Operand(word.shown().into_owned())));
        }
        if matches!(kind.form, Form::Write) {
            self.changed.push(file(word));
        }
        self.take(&kind.form, word)
    }

    fn operand(&mut self, word: &'a Word) -> Result<(), Stop> {
        let kinds = &self.usage.operands;
        let last = kinds.last().filter(|operand| operand.repeats);
        let Some(operand) = kinds.get(self.operands).or(last) else {
            return Err((self.at, Unfamiliar::Operand(word.shown().into_owned())));
        };
        // A pattern may expand to several operands.
        if matches!((word, &operand.form), (Word::Pattern(_), Form::Read)) && !operand.repeats {
            return Err((self.at, Unfamiliar::Operand(word.shown().into_owned())));
        }
        self.operands += 1;
        self.operand_words.push(word);
        if matches!(operand.form, Form::Write) && !self.usage.writes("last") {
            self.changed.push(file(word));
        }
        self.take(&operand.form, word)
    }

    /// Returns the operands so far.
    pub(super) fn operand_words(&self) -> &[&'a Word] {
        &self.operand_words
    }

    /// Returns the files that are changed. `has_more` is true if further arguments follow.
    pub(super) fn written(mut self, has_more: bool) -> Vec<String> {
        let kinds = &self.usage.operands;
        let next = kinds.get(self.operands).or(kinds.last().filter(|operand| operand.repeats));
        let operands = &self.operand_words;
        if let [_, .., last] = operands[..]
            && self.usage.writes("last")
            && !has_more
        {
            self.changed.push(file(last));
        }
        if self.usage.writes("rest") {
            self.changed.extend(operands.iter().skip(1).map(|word| file(word)));
        }
        let is_all = self.usage.writes("all");
        if is_all {
            let is_option = |word: &&Word| word.literal().is_some_and(|text| text.starts_with('-'));
            let words = self.words.iter().skip(1);
            self.changed = words.filter(|word| !is_option(word)).map(file).collect();
        }
        for (index, word) in self.words.iter().enumerate().skip(1) {
            let Some(text) = word.literal() else { continue };
            for written in self.usage.written.iter().filter(|name| name.contains(['-', '='])) {
                match text.strip_prefix(written.as_str()) {
                    Some("") => self.changed.extend(self.words.get(index + 1).map(file)),
                    Some(value) if written.ends_with('=') => self.changed.push(value.to_owned()),
                    Some(value) if written.starts_with("--") => {
                        self.changed.extend(value.strip_prefix('=').map(str::to_owned));
                    }
                    Some(value) if written.starts_with('-') => self.changed.push(value.to_owned()),
                    _ => {}
                }
            }
        }
        let is_next = next.is_some_and(|operand| matches!(operand.form, Form::Write));
        if has_more && (is_all || is_next) {
            self.changed.push("?".to_owned());
        }
        self.changed
    }

    /// Takes the next word, or all words that belong to it.
    fn take(&mut self, form: &Form, word: &'a Word) -> Result<(), Stop> {
        if !Self::fits(form, word) {
            let runs = matches!(form, Form::Command | Form::Terminated | Form::Script);
            self.inner.is_computed |= runs;
            return Err((self.at, Unfamiliar::Operand(word.shown().into_owned())));
        }
        self.note(form);
        match form {
            Form::Read => self.read.push(Cow::Borrowed(word)),
            Form::Script => self.inner.scripts.push(self.at),
            Form::Command => {
                self.inner.commands.push((self.at, self.words.len()));
                self.at = self.words.len();
                return Ok(());
            }
            Form::Terminated => {
                let words = &self.words[self.at..];
                // `+` ends a command only after `{}`.
                let is_end = |place: &usize| match words[*place].literal() {
                    Some(";") => true,
                    Some("+") => *place > 0 && words[*place - 1].literal() == Some("{}"),
                    _ => false,
                };
                let length = (0..words.len()).find(is_end);
                let Some(length) = length else {
                    return Err((self.at, Unfamiliar::Operand(word.shown().into_owned())));
                };
                self.inner.commands.push((self.at, self.at + length));
                self.inner.fills_braces = true;
                self.at += length;
            }
            _ => {}
        }
        self.at += 1;
        Ok(())
    }

    fn fits(form: &Form, word: &Word) -> bool {
        match (form, word) {
            (_, Word::Unknown(_)) => false,
            (Form::Read, _) => true,
            (_, Word::Pattern(_)) => false,
            (Form::Text | Form::Write, _) => true,
            (Form::Number, Word::Literal(text)) => is_number(text),
            (Form::Matches(expression), Word::Literal(text)) => expression.is_match(text),
            // A shell may read such a beginning as an option.
            (Form::Program | Form::Command | Form::Terminated | Form::Script, word) => {
                word.literal().is_some_and(|text| !text.starts_with(['-', '+']))
            }
            (Form::Number | Form::Matches(_), _) => false,
        }
    }

    fn note(&mut self, form: &Form) {
        if matches!(form, Form::Write | Form::Program) {
            self.does = self.does.max(Some(Does::Changes));
        }
    }
}

/// Returns the file that a word names, as written.
fn file(word: &Word) -> String {
    match word {
        Word::Unknown(_) => "?".to_owned(),
        word => word.shown().into_owned(),
    }
}

/// Returns true for a text that a program may read as an option: it begins with `-`, and is neither
/// `-` nor a negative number with a unit.
fn may_be_option(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('-') else { return false };
    let unit = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_unit = unit.len() < 2 && unit.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_number = unit.len() < rest.len() && is_unit;
    !rest.is_empty() && !is_number
}

/// Returns true for digits with an optional sign, fraction and unit.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.chars().all(|letter| letter.is_ascii_alphanumeric() || ".,:-".contains(letter))
}
