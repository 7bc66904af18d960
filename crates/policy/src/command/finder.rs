//! Selection of the rules for a command: those that apply to the call and that the index finds.

use serde_json::Value;

use super::form::Form;
use super::part::Part;
use crate::index::{Index, lead};
use crate::rule::Rule;

/// Finder for the rules of one call.
pub(super) struct Finder<'a, 'p> {
    rules: &'p [Rule],
    index: &'p Index,
    /// Indexes of the rules that are checked for every command.
    general: Vec<usize>,
    /// For each rule, whether it applies to the call.
    concerned: Vec<bool>,
    args: &'a Value,
}

impl<'a, 'p> Finder<'a, 'p> {
    /// Creates a finder. `places` are the indexes of the rules that apply to the call.
    pub(super) fn new(
        rules: &'p [Rule],
        index: &'p Index,
        places: &[usize],
        args: &'a Value,
    ) -> Self {
        let mut concerned = vec![false; rules.len()];
        for place in places {
            concerned[*place] = true;
        }
        let general = index.general.iter().copied().filter(|place| concerned[*place]).collect();
        Self { rules, index, general, concerned, args }
    }

    /// Returns the rules that may match the line as a whole, in priority order.
    pub(super) fn of_line(&self, text: &str, form: &Form) -> Vec<&'p Rule> {
        self.ranked([lead(text)].into_iter(), || [form].into_iter())
    }

    /// Returns the rules that may match a command, in priority order.
    pub(super) fn of_part(&self, part: &Part<'_>) -> Vec<&'p Rule> {
        let command = part.command;
        let words = [lead(&command.text), lead(command.name()), part.name()];
        self.ranked(words.into_iter(), || part.forms().all())
    }

    fn ranked<'f, F: Iterator<Item = &'f Form>>(
        &self,
        words: impl Iterator<Item = &'f str>,
        forms: impl Fn() -> F,
    ) -> Vec<&'p Rule> {
        let mut found = self.general.clone();
        for word in words {
            self.index.find_word(word, &mut found);
        }
        let (commands, arguments) = (&self.index.commands, &self.index.arguments);
        if !commands.is_empty() {
            forms().for_each(|form| commands.find(form.as_command(), &mut found));
        }
        if !arguments.is_empty() {
            forms().for_each(|form| arguments.find(form.as_arguments(self.args).0, &mut found));
        }
        found.retain(|place| self.concerned[*place]);
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|place| &self.rules[place]).collect()
    }
}
