//! Rules that the user saves about a command line.

use pollux_shell::command_line::{CommandLine, Does, SimpleCommand, Word};

use super::read_stripped;
use crate::approval::ApprovalScope;
use crate::arguments;
use crate::policy::Policy;
use crate::rule::MAX_PATTERN_LENGTH;

/// Condition of a rule about command lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Narrow {
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
pub(crate) fn narrow(policy: &Policy, text: &str, scope: ApprovalScope) -> Option<Narrow> {
    let line = read_stripped(policy, text);
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

/// End of a pattern for one line: the quote that ends the command in the arguments as JSON, and the
/// NUL after it. Only the outermost pairs of the arguments are between NULs, so an argument inside
/// another one is not mistaken for the command.
const END: &str = r#""\x00"#;

/// Pattern for any number of spaces around a line.
const SPACES: &str = " *";

/// Pattern for `commandRegex` that matches no command: in JSON a NUL is written as `\u0000`.
pub(crate) const NO_COMMAND: &str = r"\x00";

/// Returns a pattern for `commandRegex` that matches only this line, in Gemini CLI as well. If
/// there are spaces around the line, the pattern matches any number of them.
pub(crate) fn exactly(line: &str) -> String {
    let inner = line.trim_matches(' ');
    // If the line is surrounded by other white space, or its last space belongs to a word, the
    // pattern matches the exact text.
    if inner == line || inner != trimmed(line) {
        return literally(line) + END;
    }
    format!("{SPACES}{}{SPACES}{END}", literally(inner))
}

/// Returns true for a pattern created by [`exactly`], which matches only one line.
pub(crate) fn is_of_one_line(pattern: &str) -> bool {
    pattern.ends_with(END)
}

/// Returns true if a pattern for one line matches this line. White space around the line is
/// ignored.
pub(crate) fn is_exactly(pattern: &str, line: &str) -> bool {
    // Earlier versions saved the pattern without the NUL.
    let pattern = pattern.strip_suffix(END).or_else(|| pattern.strip_suffix('"'));
    let Some(pattern) = pattern else { return false };
    let inner = pattern.strip_prefix(SPACES).and_then(|rest| rest.strip_suffix(SPACES));
    let pattern = inner.unwrap_or(pattern);
    pattern == literally(line) || pattern == literally(trimmed(line))
}

/// Returns the line that a pattern for one line matches; `None` for any other pattern.
pub(crate) fn line_of(pattern: &str) -> Option<String> {
    let inner = pattern.strip_suffix(END).or_else(|| pattern.strip_suffix('"'))?;
    let mut text = String::from("\"");
    let mut letters = inner.strip_prefix(SPACES).unwrap_or(inner).chars();
    while let Some(letter) = letters.next() {
        text.push(if letter == '\\' { letters.next()? } else { letter });
    }
    text.push('"');
    let line = serde_json::from_str::<String>(&text).ok()?;
    let line = line.trim_end_matches(SPACES).to_owned();
    is_exactly(pattern, &line).then_some(line)
}

/// Returns the line without surrounding white space that a shell ignores.
fn trimmed(line: &str) -> &str {
    let is_blank = |letter: char| matches!(letter, ' ' | '\t' | '\n');
    let start = line.trim_start_matches(is_blank);
    let inner = start.trim_end_matches(is_blank);
    // A backslash makes the blank after it a part of the word.
    if inner.ends_with('\\') { start } else { inner }
}

/// Returns a pattern for the JSON form of a text.
fn literally(text: &str) -> String {
    let mut pattern = String::new();
    for letter in arguments::escaped(text).chars() {
        if letter.is_ascii() && !letter.is_ascii_alphanumeric() && letter != '_' {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
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
