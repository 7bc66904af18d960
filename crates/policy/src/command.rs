//! Decisions about command lines: each command that the line runs is judged, and the strictest
//! ruling counts.
//!
//! A rule that denies is matched broadly: whatever the case of a program's name, also inside
//! wrappers, loops and scripts. A rule that allows covers a line only if the line is parsed and
//! each command is known; all other lines need approval. Commands that run without a question are
//! confined by the operating system, see [`Judgement::level`].

use pollux_shell::command_line::{CommandLine, read};
use pollux_shell::strip_wrapper;

use crate::facts::Facts;
use crate::index::Index;
use crate::judgement::Judgement;
use crate::rule::Rule;
use crate::subject::Query;

mod danger;
mod finder;
mod form;
mod judged;
mod level;
mod line;
mod matching;
mod mention;
mod part;
mod redirection;
mod rulings;

use finder::Finder;
use form::{Form, SeenArguments};
use line::Line;

/// Rules of a session in priority order, with the facts and the index for decisions about command
/// lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RuleSet<'p> {
    pub(crate) facts: &'p Facts,
    pub(crate) rules: &'p [Rule],
    pub(crate) index: &'p Index,
}

impl<'p> RuleSet<'p> {
    /// Judges a command line by the rules that apply to the call, given by their indexes in
    /// priority order.
    pub(crate) fn judge(self, places: &[usize], query: &Query<'_>, text: &str) -> Judgement<'p> {
        let Self { facts, rules, index } = self;
        let args = SeenArguments { all: query.args, declared: query.declared_args() };
        let finder = Finder::new(rules, index, places, query.args);
        let rules: Vec<&Rule> = places.iter().map(|place| &rules[*place]).collect();
        let read = &read_stripped(facts, text);
        let (rules, form) = (rules.as_slice(), Form::new(text));
        Line { facts, rules, finder, query, args, text, form, read }.judge()
    }
}

/// Parses a line as it will run: without a shell that only wraps it.
pub(crate) fn read_stripped(facts: &Facts, text: &str) -> CommandLine {
    read(&strip_wrapper(text), facts.dialect)
}

#[cfg(test)]
mod tests;
