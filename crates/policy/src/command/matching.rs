//! The relation of a rule to one command.

use crate::arguments;
use crate::expression::Found;
use crate::prefix::Likeness;
use crate::rule::{Pattern, Rule, Ruling};

use super::approval;
use super::form::Form;
use super::part::Part;

/// Relation of a rule to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The rule is about the command and names so many of its words.
    Named(usize),
    /// The rule is about every command.
    Every,
    /// A word that is known only when the command runs decides.
    Perhaps,
    /// The rule is not about the command.
    No,
}

/// Returns the relation of `rule` to `part`, a command of a call with these arguments.
pub(super) fn meaning(rule: &Rule, part: &Part<'_>, args: &serde_json::Value) -> Meaning {
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
        // Quotes and spaces of the line count: `rm "a b"` is another line than `rm a b`.
        (Pattern::Command(expression), Ruling::Allow)
            if approval::is_of_one_line(expression.as_str()) =>
        {
            if approval::is_exactly(expression.as_str(), &part.command.text) {
                Meaning::Named(part.words.len())
            } else {
                Meaning::No
            }
        }
        (Pattern::Command(expression), ruling) => {
            search(part, ruling, |form| form.find_in_command(expression))
        }
        (Pattern::Arguments(expression), ruling) => {
            search(part, ruling, |form| form.find_in_arguments(expression, args))
        }
    }
}

/// Looks in the forms of a command. `find` returns the end of what is found, in the text as JSON writes it.
fn search(part: &Part<'_>, ruling: Ruling, find: impl Fn(&Form) -> Found) -> Meaning {
    let forms = part.forms();
    if ruling != Ruling::Allow {
        let is_found = forms.all().any(|form| find(form).is_possible());
        return if is_found { Meaning::Named(part.words.len()) } else { Meaning::No };
    }
    // A name with white space in it would read like a name and an argument.
    let is_one_word = !part.command.name().contains(char::is_whitespace);
    match find(&forms.plain) {
        Found::Until(end) if is_one_word => Meaning::Named(words_until(part, end)),
        _ => Meaning::No,
    }
}

/// Returns the number of words that end before this byte of the command as JSON writes it.
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
