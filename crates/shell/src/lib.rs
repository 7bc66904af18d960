//! Child processes: separate sessions, time limits, bounded output, and the end of everything they
//! start.
//!
//! A caller describes a process as a [`ChildSpec`] and runs it in one of these ways:
//! - [`run`]: a command line. On cancel or time-out, everything that the command started is ended.
//!   It returns when the *command* ends, not when the last process with its output open ends. Over
//!   plain pipes, standard input is closed, and both output streams are merged in the order they
//!   were written; in a separate terminal ([`TerminalSize`]), the output is the content of the
//!   terminal. A command that waits for input is detected.
//! - [`BackgroundProcesses`]: the commands that run in the background of a session, with their logs
//!   on disk. [`run_or_hand_over`] can move a running command there.
//! - [`run_piped`]: a program that gets one input and writes two output streams.
//! - [`spawn_duplex`]: a long-running server that communicates over its standard streams.
//! - [`run_in_foreground`]: an editor, which has exclusive use of the terminal.
//! - [`open_page`]: the user's web browser.
//!
//! [`reap_all`] ends the processes that are left running; `main` calls it before it exits.
//!
//! Also here: [`command_line`] reads the commands of a line and their known effects; [`redact`],
//! [`child_environment`] and [`strip_wrapper`] are functions on environments and text.
//!
//! A child may be confined by the kernel, see [`sandbox`].
//!
//! This crate makes no decisions about permission, writes no message for the model, and reads no
//! setting. No other crate in the workspace starts a process.

#![allow(clippy::disallowed_types, reason = "starts programs")]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod attention;
mod background;
mod browser;
mod capture;
mod child;
mod command;
pub mod command_line;
mod deadline;
mod duplex;
mod environment;
mod error;
mod foreground;
mod helper_process;
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
mod sniffer;
mod spec;
mod spill;
mod temporary;
mod terminal;
mod text;

pub use background::{BackgroundProcess, BackgroundProcesses, ProcessState};
pub use browser::{has_browser, open_page};
pub use capture::OutputChunk;
pub use command::{CommandOp, Ended, ShellCommand, ShellOutcome};
pub use duplex::{Duplex, DuplexProcess, spawn_duplex};
pub use environment::{child_environment, empty_git_config};
pub use error::ShellError;
pub use foreground::{ForegroundEnd, run_in_foreground, status_in_foreground};
pub use helper_process::{helper, set_helper};
pub use output::{BINARY_NOTICE, Output, OutputLimits, TRUNCATION_WARNING, plain};
pub use piped::{PipedCommand, PipedOutcome, run_piped};
pub use redaction::{Redaction, redact};
pub use run::{Ran, run, run_or_hand_over};
pub use script::{CannotQuote, quoted, strip_wrapper, with_argument};
pub use sessions::reap_all;
pub use shell::{Dialect, Shell};
pub use spec::{ChildSpec, Confinement, Program};
pub use spill::{DEFAULT_SPILL_CAP, Spill, Spilled};
pub use terminal::TerminalSize;
