//! Which rules may mean a command, found without asking each of them. Whether they do, they are asked.

use std::collections::HashMap;

use aho_corasick::AhoCorasick;

use crate::expression::Expression;
use crate::prefix::Prefix;
use crate::rule::{Pattern, Rule};

/// Rules by what a command must have for them to mean it. They are named by their places.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Those that may mean any command.
    pub(crate) general: Vec<usize>,
    /// Prefixes, by the first letters or the name of the program, in lower case.
    by_word: HashMap<String, Vec<usize>>,
    /// Patterns that look at the command.
    pub(crate) commands: Needles,
    /// Patterns that look at all arguments.
    pub(crate) arguments: Needles,
}

/// Rules by texts, one of which must be there.
#[derive(Debug, Default)]
pub(crate) struct Needles {
    finder: Option<AhoCorasick>,
    /// For each text the rule.
    rules: Vec<usize>,
}

impl Index {
    /// Of all rules of a session.
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

    /// An index that finds every rule.
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
        match expression.needles() {
            Some(needles) => known.extend(needles.into_iter().map(|needle| (needle, place))),
            None => self.general.push(place),
        }
    }

    /// Adds the prefixes for this word: the lead of a command, or the name of its program.
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

    /// Adds the rules that may be found in this text.
    pub(crate) fn find(&self, text: &str, found: &mut Vec<usize>) {
        let Some(finder) = &self.finder else { return };
        found.extend(finder.find_overlapping_iter(text).map(|at| self.rules[at.pattern()]));
    }
}

/// The letters that a text begins with. What begins with a prefix begins with its lead, and has no longer one: a prefix
/// ends where a word does.
pub(crate) fn lead(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|letter: char| !crate::prefix::is_of_word(letter));
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests;
