//! Child processes: shell commands with their own session, time limits and bounded output.
//!
//! What this crate is:
//! - [`run`]: one command line through the user's shell, with everything the command
//!   started ended on cancel or time-out. It returns when the *command* ends, not when the last
//!   holder of its output does. Over plain pipes standard input is closed and both output streams are merged in the
//!   order they were written; in a terminal of its own ([`TerminalSize`]) what is told is what that shows. A command
//!   that waits for somebody to type is noticed.
//! - [`run_piped`]: a program that is given one input and answers on two streams.
//! - [`run_in_foreground`]: an editor, which has our terminal to itself.
//! - [`BackgroundProcesses`]: the commands of a session that go on beside it, with their logs on disk; a
//!   command under way goes there with [`run_or_hand_over`].
//! - [`reap_all`]: ends what commands left running; the program calls it before it exits.
//! - [`analyse`]: which programs a command line runs and which files it redirects to, as data, or
//!   that this cannot be told.
//! - the pure pieces around that: [`redact`], [`child_environment`], [`strip_wrapper`], [`strip_ansi`].
//!
//! What it is not: it decides nothing about permission, words no answer for the model, and reads no
//! setting. Nobody else in the workspace starts a process.

pub mod analysis;
mod attention;
mod background;
mod capture;
mod command;
mod environment;
mod error;
mod foreground;
mod jobs;
mod output;
mod pipe;
mod piped;
mod redaction;
mod run;
mod screen;
mod script;
mod sessions;
mod shell;
mod spill;
mod started;
mod terminal;
mod text;

pub use analysis::{Analysis, analyse, analyse_in};
pub use background::{BackgroundProcess, BackgroundProcesses, ProcessState};
pub use capture::{BINARY_NOTICE, Chunk};
pub use command::{Ended, Outcome, ShellCommand, Wish};
pub use environment::child_environment;
pub use error::ShellError;
pub use foreground::run_in_foreground;
pub use output::{Limits, Output, TRUNCATION_WARNING};
pub use piped::{PipedCommand, PipedOutcome, Runnable, run_piped};
pub use redaction::{Redaction, redact};
pub use run::{Ran, run, run_or_hand_over, run_with};
pub use script::strip_wrapper;
pub use sessions::reap_all;
pub use shell::{Dialect, Shell};
pub use spill::{DEFAULT_SPILL_CAP, Spill, Spilled};
pub use terminal::TerminalSize;
pub use text::strip_ansi;
