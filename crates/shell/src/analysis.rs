//! What a command line will run, read from its text: the programs, also behind `sudo`, `env`,
//! `xargs`, `sh -c` and the like, the redirections, the assignments, the substitutions. Pure: nothing
//! is looked up, expanded or run.
//!
//! Two readers look at the text. The grammar (tree-sitter-bash, the one of Gemini CLI) says how
//! commands are put together. The words are read by hand (`scanner`, `line`), and each byte must
//! belong to exactly one thing that one of the two has understood. Where they disagree, and wherever a
//! shell would compute what to run, the analysis says so in [`Analysis::unknown`] instead of guessing.
//! Lines of which there is one reading only (`plain`) are not put before the grammar.
//!
//! The text comes from a model, so it may be hostile: its length, its depth and the work spent on it
//! are bounded.
//!
//! What it does not tell: what programs do themselves. `make`, `git`, `npm run`, `vim`, `tar`,
//! `ssh` and the like are the program that runs, whatever that starts by its own files and options;
//! [`Program::runs_code`] marks the interpreters that get code as an argument.

use crate::shell::Dialect;
use analyser::{Analyser, Frame};
pub use model::{
    Analysis, Argument, Assignment, BuiltIn, Function, Program, Reason, Redirection,
    RedirectionKind, Scope, SubCommand, Substitution, SubstitutionKind, Unknown, Via,
};

mod analyser;
mod arithmetic;
mod builtins;
mod command;
mod display;
mod expansion;
mod interpreters;
mod line;
mod model;
mod options;
mod plain;
mod programs;
mod scanner;
mod walk;
mod word;
mod wrappers;

/// How many wrappers and scripts may be around a command.
const MAX_WRAPPERS: usize = 16;

/// Analyses a command line as bash reads it.
pub fn analyse(command: &str) -> Analysis {
    analyse_in(command, Dialect::Bash)
}

/// Analyses a command line as this kind of shell reads it. Of [`Dialect::PowerShell`] nothing can be
/// told.
pub fn analyse_in(command: &str, dialect: Dialect) -> Analysis {
    let mut analyser = Analyser::default();
    if dialect == Dialect::PowerShell {
        analyser.note(Reason::ForeignShell, 0);
    } else {
        let is_posix = dialect == Dialect::Posix;
        analyser.script(command, &Frame { is_posix, ..Frame::default() });
    }
    analyser.finish(command)
}

#[cfg(test)]
mod tests;
