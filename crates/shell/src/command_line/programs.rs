//! Known programs: their tables, and the effect of a command according to them.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use serde::Deserialize;

use super::model::{SimpleCommand, Word};
use super::standard_input;
use super::table::Usage;
use super::tables::TABLES;
use super::walk::Walk;

/// Directories of system programs. A program in another directory may be a different one of the
/// same name.
pub(super) const DIRECTORIES: [&str; 4] =
    ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];

/// Effect of a command according to the table of its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Does {
    /// Reads files and prints.
    Reads,
    /// Changes files, uses the network or runs programs of the project.
    Changes,
    /// The same as `Changes`, and changes the configuration of a Git repository.
    ConfiguresGit,
    /// Changes the user's own configuration, which a confined command cannot do.
    ConfiguresUser,
    /// Needs privileges that a confined command does not have.
    NeedsPrivileges,
}

/// A known command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownCommand {
    /// Effect of the command; `None` if it only runs other commands of the line.
    pub does: Option<Does>,
}

/// Words that begin a loop.
const LOOPS: [&str; 4] = ["for", "select", "until", "while"];

/// Reason for which a command is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfamiliar {
    /// There is no table for the program.
    Program,
    /// An option that the table does not list, or not in this form.
    Option(String),
    /// A subcommand that the table does not list.
    Subcommand(String),
    /// An operand or value in a form that the table does not list.
    Operand(String),
    /// An argument that is known only at run time.
    Computed(String),
}

impl Unfamiliar {
    /// Returns the reason as a clause for messages about the program `name`.
    pub(super) fn describe(&self, name: &str) -> String {
        match self {
            Self::Program if LOOPS.contains(&name) => "the line contains a loop".to_owned(),
            Self::Program => format!("the effects of {name} are not known"),
            Self::Option(flag) => format!("the effects of {name} {flag} are not known"),
            Self::Subcommand(verb) => format!("the effects of {name} {verb} are not known"),
            Self::Operand(word) => {
                format!("the effects of {name} with the argument {word} are not known")
            }
            Self::Computed(word) => {
                format!("the argument {word} of {name} is not known before it runs")
            }
        }
    }
}

/// Arguments of a command that are commands or scripts themselves.
#[derive(Debug, Clone, Default)]
pub(super) struct Inner {
    /// Index of the first word and end index of each command among the arguments.
    pub(super) commands: Vec<(usize, usize)>,
    /// True if the program replaces `{}` in its commands by paths.
    pub(super) fills_braces: bool,
    /// Indices of words that are shell scripts.
    pub(super) scripts: Vec<usize>,
    /// True if the program adds arguments to its commands.
    pub(super) adds_arguments: bool,
    /// True if the program runs its standard input as a script.
    pub(super) runs_input: bool,
    /// True if the program may do so, although a rule that allows it covers this.
    pub(super) may_run_input: bool,
    /// True if a command or script among the arguments is known only at run time.
    pub(super) is_computed: bool,
    /// True if the program runs a command that cannot be located, because some options are not
    /// known.
    pub(super) is_out_of_reach: bool,
}

static BY_NAME: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    let mut names: HashMap<&str, usize> =
        TABLES.iter().enumerate().map(|(index, (name, _))| (*name, index)).collect();
    // The line with further names is read without parsing the table, because most tables are not
    // needed.
    for (index, (_, text)) in TABLES.iter().enumerate() {
        let mut own = text.lines().take_while(|line| !line.starts_with('['));
        let Some(line) = own.find_map(|line| line.strip_prefix("names = [")) else { continue };
        let quoted =
            line.trim_end_matches(']').split(',').map(|name| name.trim().trim_matches('"'));
        names.extend(quoted.filter(|name| !name.is_empty()).map(|name| (name, index)));
    }
    names
});

/// Returns the table of a program, by the name as written in a command.
pub(super) fn usage(name: &str) -> Option<&'static Usage> {
    static PARSED: LazyLock<Vec<OnceLock<Option<Usage>>>> =
        LazyLock::new(|| TABLES.iter().map(|_| OnceLock::new()).collect());
    let base = match name.rsplit_once('/') {
        None => name,
        Some((directory, base)) => DIRECTORIES.contains(&directory).then_some(base)?,
    };
    let index = *BY_NAME.get(base)?;
    // An unreadable table counts as a missing one. A test reads all tables.
    PARSED[index].get_or_init(|| Usage::parse(TABLES[index].1).ok()).as_ref()
}

impl SimpleCommand {
    /// Searches the command in its program's table. The first `named` words are named by a policy
    /// rule: an unlisted option or subcommand among them counts as known, and so does any constant
    /// text after it.
    ///
    /// # Errors
    /// Returns the reason for which the command is not known.
    pub fn known(&self, named: usize) -> Result<KnownCommand, Unfamiliar> {
        let usage = usage(self.name()).ok_or(Unfamiliar::Program)?;
        if usage.any_arguments && self.assignments.is_empty() {
            return Ok(KnownCommand { does: usage.does });
        }
        if let Some(word) = self.words.iter().find(|word| matches!(word, Word::Unknown(_))) {
            return Err(Unfamiliar::Computed(word.shown().into_owned()));
        }
        if self.has_more {
            return Err(Unfamiliar::Computed("…".to_owned()));
        }
        let is_response_file =
            |word: &&Word| word.literal().is_some_and(|text| text.starts_with('@'));
        let mut unnamed = self.words.iter().skip(named.max(1));
        if usage.response_files
            && let Some(word) = unnamed.find(is_response_file)
        {
            return Err(Unfamiliar::Operand(word.shown().into_owned()));
        }
        let mut walk = Walk::new(usage, &self.words);
        match walk.all() {
            Ok(()) => Ok(KnownCommand { does: walk.does }),
            Err((place, _)) if place < named => Ok(KnownCommand { does: Some(Does::Changes) }),
            Err((_, reason)) => Err(reason),
        }
    }

    /// Returns true if the program has a table.
    pub fn has_table(&self) -> bool {
        usage(self.name()).is_some()
    }

    /// Returns the index of the last subcommand word of the program; `None` if the table lists no
    /// subcommand.
    pub fn subcommand(&self) -> Option<usize> {
        let mut walk = Walk::new(usage(self.name())?, &self.words);
        // An error is ignored: the walk counts as far as it went.
        walk.all().ok();
        walk.subcommand
    }

    /// Returns the files that the program changes, as written and as far as its table lists them;
    /// `?` for files that are known only at run time.
    pub fn written(&self) -> Vec<String> {
        let Some(usage) = usage(self.name()) else { return Vec::new() };
        let mut walk = Walk::new(usage, &self.words);
        // An error is ignored: the walk counts as far as it went.
        walk.all().ok();
        walk.written(self.has_more)
    }

    /// Returns the commands and scripts among the arguments, as far as the table lists them.
    pub(super) fn inner(&self) -> Inner {
        let Some(usage) = usage(self.name()) else {
            return Inner { may_run_input: self.may_run_input(), ..Inner::default() };
        };
        let mut walk = Walk::new(usage, &self.words);
        let is_known = walk.all().is_ok();
        let mut literals = self.words.iter().filter_map(Word::literal);
        let may_run = usage.runs_operands() || literals.any(|word| usage.runs_value(word));
        Inner {
            runs_input: standard_input::runs_input(usage, &walk, is_known),
            may_run_input: self.may_start_shell(usage, &walk, is_known),
            adds_arguments: usage.adds_arguments,
            is_computed: walk.inner.is_computed || (self.has_more && may_run),
            is_out_of_reach: !is_known && may_run,
            ..walk.inner
        }
    }
}
