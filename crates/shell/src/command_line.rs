//! Reading of command lines: the commands that a line runs, with their words and redirections. The
//! reader is pure: it accesses no file, expands no variable and runs no program.
//!
//! It answers three separate questions:
//! - *Parsed*: the line is in a small grammar that bash and dash read in the same way
//!   ([`CommandLine::beyond`] is `None`). Only then do the listed commands and words describe
//!   everything that runs.
//! - *Known*: the table of a program ([`programs`]) lists the options and operands of a command,
//!   and states the effect of the command ([`SimpleCommand::known`]).
//! - *Hidden*: for rules that deny, a wider grammar with loops, conditions, here-documents and
//!   variables as arguments is read, too. [`CommandLine::hidden`] names the first construct that
//!   may run commands which are not listed.
//!
//! The reader never guesses: a construct that it does not understand sets `beyond` or `hidden`. The
//! text comes from a model and may be hostile, so length and nesting are bounded, and the work is
//! linear.

use crate::shell::Dialect;

mod model;
mod nested;
mod opened;
mod programs;
mod project_files;
mod quoting;
mod reach;
mod reader;
mod redirections;
mod risks;
mod standard_input;
mod table;
mod tables;
mod walk;

pub use model::{CommandLine, Construct, Gap, Redirection, RedirectionKind, SimpleCommand, Word};
pub use opened::OpenedPath;
pub use programs::{Does, KnownCommand, Unfamiliar};
pub use reach::{Starter, starters};

/// Reads the text of a table in the format of `programs/<name>.toml`.
///
/// # Errors
/// Fails with a message if the text is not a valid table.
pub fn check_table(text: &str) -> Result<(), String> {
    table::Usage::parse(text).map(drop)
}

/// Maximum length of a line that is read, in bytes. Linux starts no program with a longer argument.
const MAX_LENGTH: usize = 128 * 1024;

/// Maximum number of scripts (`sh -c '…'`) and wrappers around a command.
const MAX_NESTING: usize = 8;

/// Reads a command line as a shell of this dialect does. A line for [`Dialect::PowerShell`] is not
/// read at all.
pub fn read(text: &str, dialect: Dialect) -> CommandLine {
    let mut line = match dialect {
        Dialect::PowerShell => CommandLine::unread(Construct::ForeignShell),
        _ if text.len() > MAX_LENGTH => CommandLine::unread(Construct::TooLong),
        Dialect::Bash | Dialect::Posix => reader::read(text),
    };
    nested::expand(&mut line);
    line
}

/// Returns all words of a line's commands and the files that it opens, as written and as paths seen
/// from the directory in which the line begins, and the project files that its programs run by
/// convention. Returns `None` if the line is not parsed, if a word is known only at run time, or if
/// a program runs project files that cannot be listed.
pub fn constant_words(text: &str, dialect: Dialect) -> Option<Vec<String>> {
    let line = read(text, dialect);
    let folder = match &line.folder {
        Some(folder) => Some(constant(folder)?),
        None => None,
    };
    let files = |command: &SimpleCommand| -> Vec<Option<Word>> {
        command.redirections.iter().map(|redirection| redirection.target.clone()).collect()
    };
    let mut words = Vec::new();
    for command in &line.commands {
        for file in project_files::of(command)? {
            words.extend(folder.as_ref().map(|folder| format!("{folder}/{file}")));
            words.push(file);
        }
        for word in command.words.iter().cloned().map(Some).chain(files(command)) {
            let word = constant(&word?)?;
            words.extend(folder.as_ref().map(|folder| format!("{folder}/{word}")));
            words.push(word);
        }
    }
    // A command that is not listed may run other files.
    let is_listed = line.is_parsed() && line.hidden.is_none();
    let is_constant = is_listed && line.commands.iter().all(SimpleCommand::is_constant);
    is_constant.then_some(words)
}

/// Programs that send signals and do nothing else.
const SIGNALLING: [&str; 3] = ["kill", "pkill", "killall"];

/// Returns true if the line sends signals to processes, and otherwise only reads.
pub fn only_signals(text: &str, dialect: Dialect) -> bool {
    let line = read(text, dialect);
    let is_signal = |command: &&SimpleCommand| SIGNALLING.contains(&command.name());
    let only_reads = |command: &SimpleCommand| {
        let does = command.known(0).map(|known| known.does);
        does.is_ok_and(|does| does.is_none_or(|does| does == Does::Reads))
    };
    let has_signal = line.commands.iter().any(|command| is_signal(&command));
    let is_harmless = |command: &SimpleCommand| {
        let null = Word::Literal("/dev/null".to_owned());
        command.redirections.iter().all(|found| found.target.as_ref() == Some(&null))
            && (only_reads(command) || is_signal(&command) && command.assignments.is_empty())
    };
    line.hidden.is_none() && has_signal && line.commands.iter().all(is_harmless)
}

/// Returns a word as seen from the directory in which the line begins.
fn constant(word: &Word) -> Option<String> {
    match word {
        Word::Literal(text) => Some(text.clone()),
        Word::InFolder(rest) => Some(format!(".{rest}")),
        Word::InHome(_) | Word::Pattern(_) | Word::Unknown(_) => None,
    }
}

#[cfg(test)]
mod tests;
