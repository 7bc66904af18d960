//! Rules that the user saves about a command line.

use pollux_shell::command_line::{CommandLine, Does, SimpleCommand, Word};

use crate::command::read_stripped;
use crate::facts::Facts;
use crate::one_line::exactly;
use crate::rule::MAX_PATTERN_LENGTH;

/// Set of calls that an approval covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalScope {
    /// The same call: exactly this command line, or this tool with the same argument.
    Call,
    /// Command lines whose commands have the same programs and subcommands.
    Subcommand,
    /// Command lines whose commands have the same programs.
    Program,
    /// All tools of the server.
    Server,
}

/// Condition of a rule about command lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Narrow {
    /// Commands that begin with one of these prefixes.
    Prefixes(Vec<String>),
    /// Exactly this line.
    Exactly {
        /// Pattern for `commandRegex`.
        pattern: String,
        /// True if the line opens files by redirection.
        redirects: bool,
    },
}

/// Returns the condition of a rule that allows this line for a scope; `None` if there is no such
/// rule, or if it would be the same as for a narrower scope.
pub(super) fn narrow(facts: &Facts, text: &str, scope: ApprovalScope) -> Option<Narrow> {
    let line = read_stripped(facts, text);
    match scope {
        ApprovalScope::Call => {
            let pattern = exactly(text);
            let may_redirect = !line.is_parsed() && text.contains(['<', '>']);
            let redirects = may_redirect
                || line.commands.iter().any(|command| !command.redirections.is_empty());
            (pattern.len() <= MAX_PATTERN_LENGTH).then_some(Narrow::Exactly { pattern, redirects })
        }
        ApprovalScope::Subcommand => prefixes(&line, subcommand).map(Narrow::Prefixes),
        ApprovalScope::Program => {
            let prefixes = prefixes(&line, program)?;
            Some(Narrow::Prefixes(prefixes))
        }
        ApprovalScope::Server => None,
    }
}

/// Returns one prefix for each command of a parsed line that does more than read, if rules with
/// these prefixes cover the line.
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
        // A rule for the wrapped command also covers the wrapper.
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

/// Returns the program and its subcommand.
fn subcommand(command: &SimpleCommand) -> Option<Vec<&str>> {
    let words = command.words.get(..=command.subcommand()?)?;
    words.iter().map(Word::literal).collect()
}

fn program(command: &SimpleCommand) -> Option<Vec<&str>> {
    Some(vec![command.words.first()?.literal()?])
}

/// Returns true for a word that has the same meaning in a prefix and in a shell.
fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word.chars().all(|letter| letter.is_alphanumeric() || "_-./:@,+%~".contains(letter))
}
