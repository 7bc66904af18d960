//! Child processes: shell commands with their own session, time limits and bounded output.
//!
//! What this crate is:
//! - [`run`]: one command line through the user's shell, over plain pipes, with standard input
//!   closed, both output streams merged in the order they were written, and everything the command
//!   started ended on cancel or time-out. It returns when the *command* ends, not when the last
//!   holder of its pipe does.
//! - [`reap_all`]: ends what commands left running; the program calls it before it exits.
//! - the pure pieces around that: [`redact`], [`child_environment`], [`strip_wrapper`], [`strip_ansi`].
//!
//! What it is not: it decides nothing about permission, words no answer for the model, and reads no
//! setting. Nobody else in the workspace starts a process.

mod capture;
mod environment;
mod error;
mod jobs;
mod output;
mod pipe;
mod redaction;
mod run;
mod script;
mod sessions;
mod shell;
mod spill;
mod text;

pub use capture::{BINARY_NOTICE, Chunk};
pub use environment::child_environment;
pub use error::ShellError;
pub use output::{Limits, Output, TRUNCATION_WARNING};
pub use redaction::{Redaction, redact};
pub use run::{Ended, Outcome, ShellCommand, run, run_with};
pub use script::strip_wrapper;
pub use sessions::reap_all;
pub use shell::{Dialect, Shell};
pub use spill::{DEFAULT_SPILL_CAP, Spill, Spilled};
pub use text::strip_ansi;
