//! The decision about a command line: each command that it would run is judged, and the strictest word counts.
//!
//! What is forbidden is looked for generously: by the sense of a command, behind wrappers and quotes, and in the line as
//! a whole. What is allowed is taken at its word: a rule allows what it names and nothing that rides on it. What the
//! analysis cannot tell is asked about.

use pollux_protocol::ApprovalMode;
use pollux_shell::{Analysis, analyse_in};

use crate::judgement::{Judgement, PartJudgement};
use crate::policy::Policy;
use crate::rule::{Pattern, Rule, Ruling};
use crate::subject::Query;

pub(crate) mod approval;
mod classify;
mod escapes;
mod finder;
mod folders;
mod form;
mod git;
mod line;
mod matching;
mod mention;
mod part;
mod redirection;
mod variables;

use finder::Finder;
use form::Form;
use line::Line;
use part::Part;

/// Judges a command line by the rules that concern the call: these are their places, the highest first.
pub(crate) fn judge<'p>(
    policy: &'p Policy,
    places: &[usize],
    query: &Query<'_>,
    text: &str,
) -> Judgement<'p> {
    let rules: Vec<&Rule> = places.iter().map(|place| &policy.rules()[*place]).collect();
    if let Some(rule) = decides_alone(&rules)
        && (rule.ruling == Ruling::Deny || query.mode == ApprovalMode::Yolo)
    {
        return policy.by_rule(Some(rule), query.mode);
    }
    let analysis = analyse_in(text, policy.facts.dialect);
    let (rules, form) = (rules.as_slice(), Form::new(text));
    let finder = Finder::new(policy, places, query.args);
    Line { policy, rules, finder, query, text, form, analysis: &analysis }.judge()
}

/// The first rule, when nothing can come before it.
fn decides_alone<'p>(rules: &[&'p Rule]) -> Option<&'p Rule> {
    rules.first().copied().filter(|rule| rule.pattern.is_none())
}

/// A rule of this rank or above forbids some commands, or has them asked about: then it must be known what runs.
fn has_reservations(rules: &[&Rule], below: &Rule) -> bool {
    rules
        .iter()
        .take_while(|rule| !std::ptr::eq(**rule, below))
        .any(|rule| rule.ruling != Ruling::Allow && rule.pattern.is_some())
}

/// The parts of an analysis.
fn parts(analysis: &Analysis) -> Vec<Part<'_>> {
    Part::all(analysis)
}

/// The rule allows by naming commands or arguments, not by naming the tool.
fn is_specific(rule: &Rule) -> bool {
    matches!(rule.pattern, Some(Pattern::Arguments(_) | Pattern::Prefix(_) | Pattern::Command(_)))
}

/// The strictest of what is said about the parts.
fn strictest<'a, 'p>(parts: &'a [PartJudgement<'p>]) -> Option<&'a PartJudgement<'p>> {
    // Of equals the first one counts.
    let found = |ruling: Ruling| parts.iter().find(|part| part.ruling == ruling);
    found(Ruling::Deny).or_else(|| found(Ruling::AskUser)).or_else(|| found(Ruling::Allow))
}

#[cfg(test)]
mod tests;
