//! Index of rules that may match a command, so that not every rule needs to be checked. The rules
//! found still need to be checked.

use std::collections::HashMap;

use aho_corasick::AhoCorasick;
use pollux_config::Expression;

use crate::prefix::Prefix;
use crate::rule::{Pattern, Rule};

/// Index of rules by a text that a matching command must contain. Rules are identified by their
/// position.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Rules that may match any command.
    pub(crate) general: Vec<usize>,
    /// Prefix rules, by the first letters or the name of the program, in lower case.
    by_word: HashMap<String, Vec<usize>>,
    /// Patterns for the command.
    pub(crate) commands: Needles,
    /// Patterns for all arguments.
    pub(crate) arguments: Needles,
}

/// Index of rules by texts of which at least one must occur.
#[derive(Debug, Default)]
pub(crate) struct Needles {
    finder: Option<AhoCorasick>,
    /// Rule of each text.
    rules: Vec<usize>,
}

impl Index {
    /// Creates an index of all rules of a session.
    pub(crate) fn new(rules: &[Rule]) -> Self {
        let mut index = Self::default();
        let (mut commands, mut arguments) = (Vec::new(), Vec::new());
        for (place, rule) in rules.iter().enumerate() {
            match &rule.pattern {
                None | Some(Pattern::Plans) => index.general.push(place),
                Some(Pattern::Prefix(prefix)) => index.add_prefix(prefix, place),
                Some(Pattern::Command(expression)) => index.sort(expression, place, &mut commands),
                Some(Pattern::Arguments(expression)) => {
                    index.sort(expression, place, &mut arguments);
                }
            }
        }
        index.commands = Needles::new(commands, &mut index.general);
        index.arguments = Needles::new(arguments, &mut index.general);
        index.general.sort_unstable();
        index.general.dedup();
        index
    }

    /// Creates an index that finds every rule.
    #[cfg(test)]
    pub(crate) fn of_nothing(rules: &[Rule]) -> Self {
        Self { general: (0..rules.len()).collect(), ..Self::default() }
    }

    fn add_prefix(&mut self, prefix: &Prefix, place: usize) {
        let words = [lead(prefix.as_str()), prefix.program()];
        for (number, word) in words.into_iter().enumerate() {
            if number == 0 || word != words[0] {
                self.by_word.entry(word.to_ascii_lowercase()).or_default().push(place);
            }
        }
    }

    fn sort(&mut self, expression: &Expression, place: usize, known: &mut Vec<(String, usize)>) {
        match needles::needles(expression) {
            Some(needles) => known.extend(needles.into_iter().map(|needle| (needle, place))),
            None => self.general.push(place),
        }
    }

    /// Adds the prefix rules for this word: the lead of a command, or the name of its program.
    pub(crate) fn find_word(&self, word: &str, found: &mut Vec<usize>) {
        found.extend(self.by_word.get(&word.to_ascii_lowercase()).into_iter().flatten());
    }
}

impl Needles {
    fn new(known: Vec<(String, usize)>, general: &mut Vec<usize>) -> Self {
        let (needles, rules): (Vec<String>, Vec<usize>) = known.into_iter().unzip();
        if needles.is_empty() {
            return Self::default();
        }
        if let Ok(finder) = AhoCorasick::new(&needles) {
            return Self { finder: Some(finder), rules };
        }
        general.extend(rules);
        Self::default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.finder.is_none()
    }

    /// Adds the rules that may match this text.
    pub(crate) fn find(&self, text: &str, found: &mut Vec<usize>) {
        let Some(finder) = &self.finder else { return };
        found.extend(finder.find_overlapping_iter(text).map(|at| self.rules[at.pattern()]));
    }
}

/// Returns the letters at the start of a text. A text that starts with a prefix has the same lead
/// as the prefix, and not a longer one, because a prefix ends at the end of a word.
pub(crate) fn lead(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|letter: char| !crate::prefix::is_of_word(letter));
    &text[..end.unwrap_or(text.len())]
}

mod needles;
#[cfg(test)]
mod tests;
