//! Rules that a person saves about a command line.

use std::fmt::Write as _;

use pollux_shell::command_line::{CommandLine, Does, SimpleCommand, Word};

use super::read_stripped;
use crate::approval::Scope;
use crate::arguments;
use crate::expression::MAX_LENGTH;
use crate::policy::Policy;

/// Condition of a rule about command lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Narrow {
    /// Commands that begin with one of these.
    Prefixes(Vec<String>),
    /// This very line, as a pattern.
    Exactly(String),
}

/// Returns the condition of a rule that allows this line for a scope; `None` if there is none, or if it would say the
/// same as a narrower scope.
pub(crate) fn narrow(policy: &Policy, text: &str, scope: Scope) -> Option<Narrow> {
    let line = read_stripped(policy, text);
    match scope {
        Scope::Call => {
            let pattern = exactly(text);
            (pattern.len() <= MAX_LENGTH).then_some(Narrow::Exactly(pattern))
        }
        Scope::Subcommand => prefixes(&line, subcommand).map(Narrow::Prefixes),
        Scope::Program => {
            let prefixes = prefixes(&line, program)?;
            Some(Narrow::Prefixes(prefixes))
        }
        Scope::Server => None,
    }
}

/// Returns a pattern for `commandRegex` that fits this line only, in Gemini CLI as well.
pub(crate) fn exactly(line: &str) -> String {
    let mut pattern = String::new();
    for letter in arguments::escaped(line.trim()).chars() {
        if letter.is_ascii() && !letter.is_ascii_alphanumeric() && letter != '_' {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    // The quote that ends the command.
    pattern.write_char('"').unwrap_or_default();
    pattern
}

/// Returns one prefix for each command of a parsed line that does more than read, if rules with these prefixes cover it.
fn prefixes(
    line: &CommandLine,
    words: impl Fn(&SimpleCommand) -> Option<Vec<&str>>,
) -> Option<Vec<String>> {
    if !line.is_parsed() || line.commands.iter().any(has_files) {
        return None;
    }
    let mut prefixes: Vec<String> = Vec::new();
    for (index, command) in line.commands.iter().enumerate() {
        let is_folder = index == 0 && line.folder.is_some();
        let does = command.known(0).ok().map(|known| known.does);
        // A wrapper is covered with the command that it runs.
        if is_folder || matches!(does, Some(None | Some(Does::Reads))) {
            continue;
        }
        let named = words(command)?;
        let is_plain = named.iter().all(|word| is_plain(word));
        let is_covered = match command.known(0) {
            Ok(_) => true,
            Err(_) => !command.has_table() && command.is_constant(),
        };
        if !is_plain || !is_covered {
            return None;
        }
        let prefix = named.join(" ");
        if !prefixes.contains(&prefix) {
            prefixes.push(prefix);
        }
    }
    (!prefixes.is_empty()).then_some(prefixes)
}

fn has_files(command: &SimpleCommand) -> bool {
    !command.redirections.is_empty()
        && !command.redirections.iter().all(|redirection| {
            redirection.target.as_ref().and_then(Word::literal) == Some("/dev/null")
        })
}

/// Program and subcommand.
fn subcommand(command: &SimpleCommand) -> Option<Vec<&str>> {
    let words = command.words.get(..=command.subcommand()?)?;
    words.iter().map(Word::literal).collect()
}

fn program(command: &SimpleCommand) -> Option<Vec<&str>> {
    Some(vec![command.words.first()?.literal()?])
}

/// Returns true for a word that means the same in a prefix and in a shell.
fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word.chars().all(|letter| letter.is_alphanumeric() || "_-./:@,+%~".contains(letter))
}
