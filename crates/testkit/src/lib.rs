//! Test support: everything that a test needs to drive the built program from outside.
//!
//! - [`ModelServer`]: a scripted Gemini server on loopback with faults, capture of requests and a
//!   check of every request against the service's rules; [`reply()`] and [`errors`] write its
//!   script.
//! - [`responses`]: streams of OpenAI's Responses.
//! - [`TestHome`] and [`Pollux`]: a temporary home, and the program running in it with a clean
//!   environment and a time limit.
//! - [`Terminal`]: the program in a pseudo-terminal whose screen can be read, also as a
//!   [`Picture`].
//! - [`samples`], [`Tree`]: projects to work on, and snapshots that show the changes of a run.
//! - [`tiny_disk()`]: a file system with little space.
//! - [`write_executable`], [`copy_executable`]: files that a test executes.
//! - [`StoppedClock`]: a clock that only the test advances; [`timed_test`]: a lock for tests that
//!   measure time.
//! - [`cannot_run`]: the report of a test that the machine does not support.
//!
//! This crate is a development dependency only. It depends on no other crate of the workspace, so
//! that a mistake in one of them cannot hide itself in the tools that test it.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "for tests")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "test code: a means that does not work must fail the test at once, and loudly"
)]

mod clock;
mod endpoint;
pub mod errors;
mod executable;
mod exit;
mod home;
mod ignored;
mod picture;
mod program;
mod pty;
mod recording;
mod reply;
pub mod responses;
pub mod samples;
mod server;
mod timed;
mod tiny_disk;
mod tree;
mod validate;

pub use clock::StoppedClock;
pub use endpoint::Endpoint;
pub use executable::{copy_executable, write_executable};
pub use home::TestHome;
pub use ignored::cannot_run;
pub use picture::Picture;
pub use program::{Finished, Pollux, RunningProgram};
pub use pty::{Key, Screen, Terminal};
pub use reply::{ModelReply, ReplyContent, ReplyGate, reply};
#[cfg(unix)]
pub use rustix::process::Signal;
pub use server::{CapturedRequest, ModelServer};
pub use timed::{TimedTest, timed_test};
pub use tiny_disk::{TinyDisk, tiny_disk, tiny_disk_at};
pub use tree::{Tree, TreeEntry, tree_hash};
pub use validate::{validate_contents, validate_messages};
