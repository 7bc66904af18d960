//! Match of a rule with one command.

use pollux_config::ExpressionMatch;

use crate::prefix::Likeness;
use crate::rule::{Pattern, Rule, Ruling};
use crate::{arguments, one_line};

use super::form::{Form, SeenArguments};
use super::part::Part;

/// Match of a rule with a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The rule matches the command and names this number of its words.
    Named(usize),
    /// The rule matches all commands.
    Every,
    /// The match depends on a word that is known only when the command runs.
    Perhaps,
    /// The rule does not match the command.
    No,
}

/// Returns the match of `rule` with `part`, a command of a call with these arguments.
pub(super) fn meaning(rule: &Rule, part: &Part<'_>, args: &SeenArguments<'_>) -> Meaning {
    let Some(pattern) = &rule.pattern else { return Meaning::Every };
    match (pattern, rule.ruling) {
        (Pattern::Plans, _) => Meaning::No,
        (Pattern::Prefix(prefix), Ruling::Allow) => {
            prefix.covers(&part.words).map_or(Meaning::No, Meaning::Named)
        }
        (Pattern::Prefix(prefix), Ruling::Deny | Ruling::AskUser) => {
            if prefix.begins_loosely(&part.command.text) {
                return Meaning::Named(part.words.len());
            }
            let arguments = part.words.get(1..).unwrap_or_default();
            match prefix.likeness(part.name(), arguments, part.command.has_more) {
                Likeness::Yes => Meaning::Named(part.words.len()),
                Likeness::Maybe => Meaning::Perhaps,
                Likeness::No => Meaning::No,
            }
        }
        // The quotes and spaces of the line matter: `rm "a b"` is not the same line as `rm a b`.
        (Pattern::Command(expression), Ruling::Allow)
            if one_line::is_of_one_line(expression.as_str()) =>
        {
            if one_line::is_exactly(expression.as_str(), &part.command.text) {
                Meaning::Named(part.words.len())
            } else {
                Meaning::No
            }
        }
        (Pattern::Command(expression), ruling) => {
            search(part, ruling, |form| form.find_in_command(expression))
        }
        (Pattern::Arguments(expression), ruling) => {
            search(part, ruling, |form| form.find_in_arguments(expression, args, ruling))
        }
    }
}

/// Searches the forms of a command. `find` returns the end of the match in the JSON form of the
/// text.
fn search(part: &Part<'_>, ruling: Ruling, find: impl Fn(&Form) -> ExpressionMatch) -> Meaning {
    let forms = part.forms();
    if ruling != Ruling::Allow {
        let is_found = forms.all().any(|form| find(form).is_possible());
        return if is_found { Meaning::Named(part.words.len()) } else { Meaning::No };
    }
    // A name that contains white space would look like a name and an argument.
    let is_one_word = !part.command.name().contains(char::is_whitespace);
    match find(&forms.plain) {
        ExpressionMatch::Until(end) if is_one_word => Meaning::Named(words_until(part, end)),
        _ => Meaning::No,
    }
}

/// Returns the number of words that end before this byte offset in the JSON form of the command.
fn words_until(part: &Part<'_>, end: usize) -> usize {
    let mut length = 0;
    let mut words = 0;
    for word in &part.command.words {
        length += arguments::escaped(&word.shown()).len() + usize::from(words > 0);
        if length > end {
            break;
        }
        words += 1;
    }
    words
}
