//! Decisions about command lines: each command that the line runs is judged, and the strictest
//! ruling counts.
//!
//! A rule that denies is matched broadly: whatever the case of a program's name, also inside
//! wrappers, loops and scripts. A rule that allows covers a line only if the line is parsed and
//! each command is known; all other lines need approval. Commands that run without a question are
//! confined by the operating system, see [`Judgement::level`].

use pollux_protocol::ApprovalMode;
use pollux_shell::command_line::{CommandLine, read};
use pollux_shell::strip_wrapper;

use crate::judgement::{Judgement, PartJudgement};
use crate::policy::Policy;
use crate::rule::{Pattern, Rule, Ruling};
use crate::subject::Query;

pub(crate) mod approval;
mod danger;
mod finder;
mod form;
mod level;
mod line;
mod matching;
mod mention;
mod part;
mod redirection;

use finder::Finder;
use form::Form;
use line::Line;

/// Judges a command line by the rules that apply to the call, given by their indexes in priority
/// order.
pub(crate) fn judge<'p>(
    policy: &'p Policy,
    places: &[usize],
    query: &Query<'_>,
    text: &str,
) -> Judgement<'p> {
    let rules: Vec<&Rule> = places.iter().map(|place| &policy.rules()[*place]).collect();
    let read = &read_stripped(policy, text);
    let (rules, form) = (rules.as_slice(), Form::new(text));
    let finder = Finder::new(policy, places, query.args);
    Line { policy, rules, finder, query, text, form, read }.judge()
}

/// Parses a line as it will run: without a shell that only wraps it.
fn read_stripped(policy: &Policy, text: &str) -> CommandLine {
    read(&strip_wrapper(text), policy.facts.dialect)
}

/// Returns the rule with the strictest ruling.
fn strictest<'a, 'p>(parts: &'a [PartJudgement<'p>]) -> Option<&'a PartJudgement<'p>> {
    let found = |ruling| parts.iter().find(|part| part.ruling == ruling);
    found(Ruling::Deny).or_else(|| found(Ruling::AskUser)).or_else(|| found(Ruling::Allow))
}

/// Returns true for a rule about particular commands.
fn is_specific(rule: &Rule) -> bool {
    matches!(rule.pattern, Some(Pattern::Prefix(_) | Pattern::Command(_) | Pattern::Arguments(_)))
}

/// Returns true in the mode that allows everything not covered by a rule.
fn is_yolo(query: &Query<'_>) -> bool {
    query.mode == ApprovalMode::Yolo
}

#[cfg(test)]
mod tests;
