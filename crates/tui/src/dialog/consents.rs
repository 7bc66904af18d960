//! Decisions about the items of a project, one after the other. Pure.

use pollux_input::{ConsentAnswer, ConsentSheet, Tone, TonedLine};
use pollux_protocol::{ConsentItem, QuestionChoice, QuestionOutcome};

/// Items of one kind, and the decisions about them.
pub(crate) struct Consents {
    items: Vec<ConsentItem>,
    /// Decisions about the first items.
    answers: Vec<bool>,
    /// True if all remaining items are refused, also those of other kinds.
    pub(crate) refuses_rest: bool,
}

impl Consents {
    pub(super) fn new(items: Vec<ConsentItem>) -> Self {
        Self { items, answers: Vec::new(), refuses_rest: false }
    }

    /// Returns the lines about all items.
    pub(super) fn lines(&self) -> Vec<TonedLine> {
        let text = ConsentSheet::new(&self.items).text();
        // Indented lines are commands and names.
        text.trim_start().lines().map(|line| TonedLine::new(Tone::Plain, line)).collect()
    }

    /// Returns the items with the decisions about them.
    pub(crate) fn decisions(&self) -> impl Iterator<Item = (&ConsentItem, bool)> {
        self.items.iter().zip(self.answers.iter().copied())
    }

    /// Returns the question about the next item; `None` after the last one.
    pub(super) fn label(&self) -> Option<String> {
        let number = self.answers.len() + 1;
        let sheet = ConsentSheet::new(&self.items);
        let label = sheet.label(number);
        (number <= self.items.len()).then(|| label.trim_end_matches(" [y/N] ").to_owned())
    }

    /// Returns the choices about the next item.
    pub(super) fn choices(&self) -> Vec<QuestionChoice> {
        let sheet = ConsentSheet::new(&self.items);
        let choice = |(index, (label, answer)): (usize, (&str, ConsentAnswer))| {
            let shortcut = match answer {
                ConsentAnswer::One(yes) => Some(if yes { 'y' } else { 'n' }),
                ConsentAnswer::All | ConsentAnswer::None => None,
            };
            QuestionChoice {
                outcome: QuestionOutcome::Option(index),
                label: label.to_owned(),
                shortcut,
            }
        };
        let choices = sheet.choices(self.answers.len() + 1);
        choices.into_iter().enumerate().map(choice).collect()
    }

    /// Makes a choice about the next item; returns the decisions if all of them are made.
    pub(super) fn choose(&mut self, index: usize) -> Option<Vec<bool>> {
        let choices = ConsentSheet::new(&self.items).choices(self.answers.len() + 1);
        match choices.get(index)?.1 {
            ConsentAnswer::One(yes) => self.answers.push(yes),
            ConsentAnswer::All => self.answers.resize(self.items.len(), true),
            ConsentAnswer::None => {
                self.refuses_rest = true;
                self.answers.resize(self.items.len(), false);
            }
        }
        (self.answers.len() >= self.items.len()).then(|| self.answers.clone())
    }
}
