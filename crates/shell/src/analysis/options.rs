//! The options of programs that run other programs.

use super::model::Reason;
use super::word::Word;

/// How a wrapper reads its arguments up to the command. Options stop at the first operand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spec {
    /// What it is called.
    pub(super) names: &'static [&'static str],
    /// Letters of options without a value.
    pub(super) flags: &'static str,
    /// Letters of options with a value, attached or as the next word.
    pub(super) values: &'static str,
    /// Letters of options whose value, if any, is attached.
    pub(super) attached: &'static str,
    /// Long options without a value.
    pub(super) long_flags: &'static [&'static str],
    /// Long options with a value, behind `=` or as the next word.
    pub(super) long_values: &'static [&'static str],
    /// Long options whose value, if any, stands behind `=`.
    pub(super) long_attached: &'static [&'static str],
    /// Whether `-5` is an option.
    pub(super) has_numbers: bool,
    /// How many operands come before the command.
    pub(super) operands: usize,
    /// Whether `NAME=value` may come before the command.
    pub(super) has_assignments: bool,
    /// Options after which no program is run.
    pub(super) without_program: &'static [&'static str],
}

impl Spec {
    /// A wrapper without options.
    pub(super) const BARE: Self = Self {
        names: &[],
        flags: "",
        values: "",
        attached: "",
        long_flags: &[],
        long_values: &[],
        long_attached: &[],
        has_numbers: false,
        operands: 0,
        has_assignments: false,
        without_program: &["help", "version"],
    };
}

/// An option that was given.
#[derive(Debug)]
pub(super) struct Given {
    /// Its letter or its long name.
    pub(super) name: String,
    /// Its value, when that is constant.
    pub(super) value: Option<String>,
    /// The word it was found in.
    pub(super) at: usize,
}

/// The options in front of a command.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) given: Vec<Given>,
    /// The index of the first word behind them.
    pub(super) end: usize,
}

impl Options {
    /// Reads the options of `words`, whose first is the wrapper's name.
    pub(super) fn read(spec: &Spec, words: &[Word]) -> Result<Self, Reason> {
        let mut options = Self { given: Vec::new(), end: 1 };
        while let Some(word) = words.get(options.end) {
            let text = word.known_prefix();
            if text == "--" && word.is_constant {
                options.end += 1;
                break;
            }
            if word.is_operand()
                || (!word.is_constant && !text.is_empty() && !text.starts_with('-'))
            {
                break;
            }
            if let Some(long) = text.strip_prefix("--") {
                options.long(spec, word, long, words)?;
            } else if word.is_constant {
                let text = text.to_owned();
                options.letters(spec, &text, words)?;
            } else {
                return Err(Reason::WrapperOption);
            }
            options.end += 1;
        }
        Ok(options)
    }

    /// The option of this name.
    pub(super) fn get(&self, name: &str) -> Option<&Given> {
        self.given.iter().find(|given| given.name == name)
    }

    /// Whether one of these was given.
    pub(super) fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.get(name).is_some())
    }

    fn push(&mut self, name: &str, value: Option<&str>) {
        let value = value.map(str::to_owned);
        self.given.push(Given { name: name.to_owned(), value, at: self.end });
    }

    /// Takes the next word as a value.
    fn take(&mut self, name: &str, words: &[Word]) -> Result<(), Reason> {
        let value = words.get(self.end + 1).filter(|word| word.is_single);
        let value = value.ok_or(Reason::WrapperOption)?;
        self.end += 1;
        self.push(name, value.constant());
        Ok(())
    }

    fn long(&mut self, spec: &Spec, word: &Word, long: &str, words: &[Word]) -> Result<(), Reason> {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        if !word.is_constant && (value.is_none() || !word.is_single) {
            return Err(Reason::WrapperOption);
        }
        let value = value.map(ToOwned::to_owned);
        let known = value.as_deref().filter(|_| word.is_constant);
        let takes = spec.long_values.contains(&name);
        if takes && value.is_none() {
            return self.take(name, words);
        }
        let is_flag = spec.long_flags.contains(&name) || spec.without_program.contains(&name);
        if takes || spec.long_attached.contains(&name) || (is_flag && value.is_none()) {
            self.push(name, known);
            return Ok(());
        }
        Err(Reason::WrapperOption)
    }

    fn letters(&mut self, spec: &Spec, text: &str, words: &[Word]) -> Result<(), Reason> {
        let letters = text.strip_prefix('-').unwrap_or(text);
        if spec.has_numbers && letters.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(());
        }
        for (index, letter) in letters.char_indices() {
            let rest = &letters[index + letter.len_utf8()..];
            let mut buffer = [0; 4];
            let name: &str = letter.encode_utf8(&mut buffer);
            if spec.flags.contains(letter) || spec.without_program.contains(&name) {
                self.push(name, None);
            } else if spec.values.contains(letter) && rest.is_empty() {
                return self.take(name, words);
            } else if spec.values.contains(letter) || spec.attached.contains(letter) {
                self.push(name, Some(rest));
                return Ok(());
            } else {
                return Err(Reason::WrapperOption);
            }
        }
        Ok(())
    }
}
