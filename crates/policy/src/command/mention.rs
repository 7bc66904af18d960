//! Where everything is allowed but some commands are not: what may start one of these in ways of its own.
//!
//! Code in other languages, options that name programs, variables that do: nobody can follow all of it. What speaks of
//! a command that a rule forbids is asked about, and so is code that plainly starts programs.

use pollux_shell::analysis::Assignment;

use super::escapes;
use super::form::Form;
use super::line::Line;
use super::part::Part;
use super::variables;
use crate::rule::{Pattern, Ruling};

impl Line<'_, '_> {
    /// Why a command that a general rule allows is asked about for the sake of the particular ones.
    pub(super) fn reserved_objection(&self, part: &Part<'_>) -> Option<String> {
        let mut reserved = self
            .rules
            .iter()
            .filter(|rule| rule.ruling != Ruling::Allow)
            .filter_map(|rule| rule.pattern.as_ref())
            .filter(|pattern| !matches!(pattern, Pattern::Plans))
            .peekable();
        reserved.peek()?;
        if part.runs_code && escapes::is_text_tool(part.name()) {
            return Some(format!("the code that {} is given runs programs", part.name()));
        }
        let escape = escapes::certain(part);
        let is_plain = part.environment.iter().all(|name| variables::is_harmless(name));
        let exported = variables::sensitive(&self.analysis.assignments, &self.policy.facts);
        if !part.runs_code && escape.is_none() && is_plain && exported.is_none() {
            return None;
        }
        if let Some(escape) = escape.filter(|_| part.words.contains(&None)) {
            return Some(escape);
        }
        let values = self.analysis.assignments.iter().filter_map(assigned);
        let texts: Vec<&str> = part.shown.iter().copied().chain(values).collect();
        let mentioned = reserved.find_map(|pattern| mention(pattern, &texts))?;
        Some(format!("what it is given speaks of `{mentioned}`"))
    }
}

fn assigned(assignment: &Assignment) -> Option<&str> {
    assignment.value.as_deref()
}

/// What the texts say of the commands that a pattern means.
fn mention<'t>(pattern: &'t Pattern, texts: &[&'t str]) -> Option<&'t str> {
    match pattern {
        Pattern::Prefix(prefix) => {
            let is_said =
                |word: &String| texts.iter().any(|text| words(text).any(|said| said == word));
            let is_all_said = !prefix.words().is_empty() && prefix.words().iter().all(is_said);
            is_all_said.then(|| prefix.as_str())
        }
        Pattern::Command(expression) => texts
            .iter()
            .flat_map(|text| text.split([';', '&', '|', '(', '!', '"', '\'', '`', '=', '\n']))
            .map(str::trim)
            .find(|piece| {
                !piece.is_empty() && Form::new(piece).find_in_command(expression).is_possible()
            }),
        Pattern::Arguments(_) | Pattern::Plans => None,
    }
}

/// The words of a text in any language; also without folders, and the value that a short option has attached.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && !"_-./".contains(letter))
        .flat_map(|word| {
            let attached = word.strip_prefix('-').and_then(|rest| rest.get(1..)).unwrap_or(word);
            [word, attached].map(|word| {
                [word, word.rsplit('/').next().unwrap_or(word), word.trim_matches(['.', '-'])]
            })
        })
        .flatten()
        .filter(|word| !word.is_empty())
}
