//! Rules about particular commands in modes that allow all other commands: detection of programs
//! that may start such a command by themselves.
//!
//! Code in other languages and options that name programs cannot be analysed. If a program is not
//! known and its input names a command that a rule denies, the call needs approval. Words that a
//! table lists as data are ignored.

use pollux_shell::command_line::Does;

use crate::rule::{Pattern, Rule};

use super::form::Form;
use super::part::Part;

/// Returns the rule text that names a command mentioned in the input of this command.
pub(super) fn mentioned<'t>(rules: &[&'t Rule], part: &Part<'_>) -> Option<&'t str> {
    let command = part.command;
    let known = command.known(0).ok();
    let is_known = known.is_some();
    let only_reads = known.is_some_and(|known| known.does == Some(Does::Reads));
    let words = command.words.iter().map(|word| word.shown());
    // Words known to be data are ignored, except assignments, because `env` and similar programs
    // set variables.
    let words = words.filter(|word| !is_known || sets_variable(word));
    let values = command.assignments.iter().filter_map(|(_, value)| value.as_deref());
    let input = command.input.iter().filter(|_| !only_reads);
    let texts: Vec<String> = words
        .map(|word| without_quotes(&word))
        .chain(input.map(|text| without_quotes(text)))
        .chain(values.map(without_quotes))
        .collect();
    rules.iter().filter_map(|rule| rule.pattern.as_ref()).find_map(|pattern| names(pattern, &texts))
}

fn sets_variable(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && !name.starts_with('-') && !name.contains(char::is_whitespace)
}

/// Removes quotes, because inner scripts may quote parts of a name.
fn without_quotes(text: &str) -> String {
    text.replace(['"', '\'', '\\'], "")
}

/// Returns the pattern's text if the texts name a command that the pattern matches.
fn names<'t>(pattern: &'t Pattern, texts: &[String]) -> Option<&'t str> {
    match pattern {
        Pattern::Prefix(prefix) => {
            let is_said = |word: &String| {
                let mut said = texts.iter().flat_map(|text| words(text));
                said.any(|said| said.eq_ignore_ascii_case(word))
            };
            let is_all_said = !prefix.words().is_empty() && prefix.words().iter().all(is_said);
            is_all_said.then(|| prefix.as_str())
        }
        Pattern::Command(expression) => {
            let mut pieces = texts
                .iter()
                .flat_map(|text| text.split([';', '&', '|', '(', '!', '`', '=', '\n']))
                .map(str::trim)
                .filter(|piece| !piece.is_empty());
            let is_found = |piece: &str| Form::new(piece).find_in_command(expression).is_possible();
            pieces.any(is_found).then(|| expression.as_str())
        }
        Pattern::Arguments(_) | Pattern::Plans => None,
    }
}

/// Returns the words of a text in any language, also without directories, and also the value
/// attached to a short option.
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
