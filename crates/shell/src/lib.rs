//! Child processes: their own sessions, time limits, bounded output, and an end for all they start.
//!
//! A caller describes a process as a [`ChildSpec`] and runs it in one of these ways:
//! - [`run`]: a command line, with everything it started ended on cancel or time-out. It returns
//!   when the *command* ends, not when the last holder of its output does. Over plain pipes
//!   standard input is closed, and both output streams are merged in the order they were written;
//!   in a terminal of its own ([`TerminalSize`]) the output is what the terminal shows. A command
//!   that waits for input is noticed.
//! - [`BackgroundProcesses`]: the commands of a session that run beside it, with their logs on
//!   disk. [`run_or_hand_over`] can move a running command there.
//! - [`run_piped`]: a program that gets one input and answers on two streams.
//! - [`spawn_duplex`]: a server that runs for a long time and talks over its standard streams.
//! - [`run_in_foreground`]: an editor, which has our terminal to itself.
//!
//! [`reap_all`] ends what they left running; the program calls it before it exits.
//!
//! Also here: [`command_line`] reads which commands a line runs and what programs are known to do
//! with their arguments; [`redact`], [`child_environment`] and [`strip_wrapper`]
//! are pure functions on environments and text.
//!
//! A child may be confined by the kernel, see [`sandbox`].
//!
//! This crate decides nothing about permission, writes no message for the model, and reads no
//! setting. No other crate in the workspace starts a process.

mod attention;
mod background;
mod capture;
mod child;
mod command;
pub mod command_line;
mod deadline;
mod duplex;
mod environment;
mod error;
mod foreground;
mod jobs;
mod output;
mod pipe;
mod piped;
mod redaction;
mod run;
pub mod sandbox;
mod screen;
mod script;
mod sessions;
mod shell;
mod spec;
mod spill;
mod terminal;
mod text;

pub use background::{BackgroundProcess, BackgroundProcesses, ProcessState};
pub use capture::Chunk;
pub use command::{Ended, Outcome, ShellCommand, Wish};
pub use duplex::{Duplex, DuplexProcess, spawn_duplex};
pub use environment::{child_environment, empty_git_config};
pub use error::ShellError;
pub use foreground::{ForegroundEnd, run_in_foreground, status_in_foreground};
pub use output::{BINARY_NOTICE, Limits, Output, TRUNCATION_WARNING};
pub use piped::{PipedCommand, PipedOutcome, run_piped};
pub use redaction::{Redaction, redact};
pub use run::{Ran, run, run_or_hand_over};
pub use script::strip_wrapper;
pub use sessions::reap_all;
pub use shell::{Dialect, Shell};
pub use spec::{ChildSpec, Confinement, Program};
pub use spill::{DEFAULT_SPILL_CAP, Spill, Spilled};
pub use terminal::TerminalSize;
