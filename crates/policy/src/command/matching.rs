//! Whether a rule means a command.

use crate::arguments;
use crate::expression::{Expression, Found};
use crate::prefix::Likeness;
use crate::rule::{Pattern, Rule, Ruling};

use super::part::Part;

/// How much of a command a rule that allows it speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Coverage {
    /// So many words, the name among them.
    pub(super) words: usize,
    /// Also the variables that are set for the command.
    pub(super) variables: bool,
}

impl Coverage {
    /// All of it.
    pub(super) const ALL: Self = Self { words: usize::MAX, variables: true };
}

/// Whether a rule means a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// It does, as far as this.
    Means(Coverage),
    /// It may: a word is only known when the command runs.
    Perhaps,
    /// It does not.
    No,
}

/// Whether `rule` means `part`, a command of a call with these arguments.
pub(super) fn meaning(rule: &Rule, part: &Part<'_>, args: &serde_json::Value) -> Meaning {
    let Some(pattern) = &rule.pattern else { return Meaning::Means(Coverage::ALL) };
    match (pattern, rule.ruling) {
        (Pattern::Plans, _) => Meaning::No,
        (Pattern::Prefix(prefix), Ruling::Allow) => {
            if let Some(words) = prefix.covers(&part.words) {
                return Meaning::Means(Coverage { words, variables: false });
            }
            let begins = part.written.is_some_and(|written| prefix.begins(written));
            let quoted = prefix.words().iter().take_while(|word| !word.contains(['"', '\'', '\\']));
            let words = quoted.filter(|word| !word.contains('=')).count();
            means(begins.then_some(Coverage { words, variables: true }))
        }
        (Pattern::Prefix(prefix), Ruling::Deny | Ruling::AskUser) => {
            if part.written.is_some_and(|written| prefix.begins_loosely(written)) {
                return Meaning::Means(Coverage::ALL);
            }
            match prefix.likeness(&part.words, part.has_more) {
                Likeness::Yes => Meaning::Means(Coverage::ALL),
                Likeness::Maybe => Meaning::Perhaps,
                Likeness::No => Meaning::No,
            }
        }
        (Pattern::Command(expression), ruling) => {
            let find = |text: &str| find_in_command(expression, text);
            search(part, ruling, find)
        }
        (Pattern::Arguments(expression), ruling) => {
            let find = |text: &str| find_in_arguments(expression, args, text);
            search(part, ruling, find)
        }
    }
}

fn means(coverage: Option<Coverage>) -> Meaning {
    coverage.map_or(Meaning::No, Meaning::Means)
}

/// Looks in all forms of a command. `find` tells where in the text as JSON writes it something ends.
fn search(part: &Part<'_>, ruling: Ruling, find: impl Fn(&str) -> Found) -> Meaning {
    let written = part.written.filter(|written| *written != part.text);
    if ruling == Ruling::Allow {
        if let Found::Until(end) = find(&part.text) {
            return Meaning::Means(Coverage { words: words_until(part, end), variables: false });
        }
        let found = written.is_some_and(|written| find(written).is_sure());
        return means(found.then_some(Coverage { words: 1, variables: true }));
    }
    let has_folder = part.name().len() < part.shown[0].len();
    let bare = has_folder.then(|| part.text.replacen(part.shown[0], part.name(), 1));
    let mut texts = [Some(part.text.as_str()), written, bare.as_deref()].into_iter().flatten();
    means(texts.any(|text| find(text).is_possible()).then_some(Coverage::ALL))
}

/// The words that end before this byte of the command as JSON writes it.
fn words_until(part: &Part<'_>, end: usize) -> usize {
    let mut length = 0;
    let mut words = 0;
    for word in &part.shown {
        length += arguments::escaped(word).len() + usize::from(words > 0);
        if length > end {
            break;
        }
        words += 1;
    }
    words
}

/// A pattern of commands looks at the text as JSON writes it, with the quote that ends it.
pub(super) fn find_in_command(expression: &Expression, text: &str) -> Found {
    let mut json = arguments::escaped(text);
    let length = json.len();
    if expression.as_str().contains('$') {
        let found = expression.find(&json);
        if found != Found::No {
            return found;
        }
    }
    json.push_str("\"\0}");
    match expression.find(&json) {
        Found::Until(end) => Found::Until(end.min(length)),
        other => other,
    }
}

/// A pattern of arguments looks at all arguments, with this command among them.
pub(super) fn find_in_arguments(
    expression: &Expression,
    args: &serde_json::Value,
    text: &str,
) -> Found {
    const KEY: &str = "\"command\":\"";
    let json = arguments::text_with(args, Some(("command", text)));
    let start = json.find(&format!("\0{KEY}")).map_or(0, |at| at + 1 + KEY.len());
    match expression.find(&json) {
        Found::Until(end) => Found::Until(end.saturating_sub(start)),
        other => other,
    }
}
