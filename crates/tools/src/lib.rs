//! The built-in tools: reading, writing, editing, listing, finding, searching, running commands.
//!
//! Each tool has a file with its declaration, the check of its arguments, the confirmation, and the
//! run. [`builtin`] returns all tools. Names, parameters, limits, messages and the layout of
//! results are those of Gemini CLI 0.61, so that policies, recorded responses and scripts still
//! work; the descriptions are those of Pollux.
//!
//! Not part of this crate: the decision whether a call may run (policy), asking the user (the
//! agent's operator), atomic writes of files (`pollux-fs`) and the end of processes
//! (`pollux-shell`). The matcher of edits ([`find_edit`]) and the differences ([`Difference`]) are
//! pure and can be used independently.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod ask_user;
mod blocking;
mod builtin;
mod change;
mod charset;
mod citations;
mod complete_task;
mod completion;
mod contents;
mod context;
mod diff;
mod discovered;
mod edit;
mod enter_plan_mode;
mod exit_plan_mode;
mod get_internal_docs;
mod glob;
mod google_web_search;
mod grep_search;
mod html;
mod invoke_agent;
mod ledger;
mod line_ends;
mod list_background_processes;
mod list_directory;
mod many_files;
mod placeholder;
mod read_background_output;
mod read_file;
mod read_many_files;
mod replace;
mod run_shell_command;
mod save_memory;
mod side_call;
mod stop_background_process;
mod tracker;
mod update_topic;
mod validation;
mod web_fetch;
mod web_page;
mod write_file;
mod write_todos;

pub use builtin::{builtin, inserted_command};
pub use citations::{OffsetUnit, cite};
pub use complete_task::{SubmittedReport, complete_task};
pub use completion::{BackgroundCompletion, BackgroundEnd, Reporter};
pub use context::{ContextLookup, SandboxInputs, ToolContext, ToolOptions};
pub use diff::{Difference, Figures, Labels, diff_stat};
pub use discovered::{Discovered, DiscoveryCommands, discover};
pub use edit::{EditFailure, EditStrategy, FoundEdit, NearbyLines, find_edit};
pub use html::{MarkdownOptions, html_to_markdown};
pub use invoke_agent::{Subagents, invoke_agent};
pub use ledger::Ledger;
pub use many_files::{FileContent, FileReader, FileSearch, FileText, FoundFiles, LeftOutFiles};
pub use save_memory::with_fact;
pub use tracker::open_tasks;
pub use web_page::WebAccess;
