//! The built-in tools: reading, writing, editing, listing, finding, searching, running commands.
//!
//! One file per tool, each with its declaration, the check of its arguments, what a person is asked, and the run.
//! [`builtin`] yields them all. Names, parameters, limits, messages and the layout of results are those of Gemini CLI
//! 0.61, so that policies, recorded responses and scripts carry over; descriptions are our own.
//!
//! What is not here: whether a call may run (policy), asking the person (the agent's operator), how files are written
//! whole or not at all (`pollux-fs`) and how processes end (`pollux-shell`). The matcher of edits ([`find_edit`]) and the
//! differences ([`Difference`]) are pure and stand on their own.

mod blocking;
mod change;
mod context;
mod diff;
mod edit;
mod glob;
mod grep_search;
mod ledger;
mod list_directory;
mod placeholder;
mod read_file;
mod replace;
mod run_shell_command;
mod truncation;
mod untrusted;
mod validation;
mod write_file;

pub use context::{ContextLookup, ToolContext, ToolOptions, builtin};
pub use diff::{Difference, Figures, Labels, diff_stat};
pub use edit::{EditFailure, FoundEdit, NearbyLines, Strategy, find_edit};
pub use ledger::Ledger;
