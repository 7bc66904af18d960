//! Test support: implementations of the ports in `pollux-protocol` that follow a script and record
//! how they were used, for tests inside one process.
//!
//! - [`ScriptedModels`]: models that answer with [`reply()`]s and keep every request.
//! - [`FakeTool`]: a tool whose effects, confirmation and behaviour the test chooses.
//! - [`MemoryJournal`] and [`replay`]: a journal in memory, and the history that results from its
//!   records.
//! - [`ScriptedOperator`]: an operator that replies as the test specifies, or never.
//! - [`EventLog`]: an observer that keeps all events and can wait for a given event.
//! - [`Gate`]: a point at which a reply or a tool waits until the test lets it continue.
//!
//! This crate is a development dependency only. Tests that drive the built program use
//! `pollux-testkit`.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "for tests")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code: a script that does not fit the test must fail the test at once, and loudly"
)]

mod command;
mod gate;
mod journal;
mod model;
mod observer;
mod operator;
mod reply;
mod sent;
mod tool;

pub use command::{CommandTrace, run_command, trace_command};
pub use gate::Gate;
pub use journal::{MemoryJournal, replay};
pub use model::ScriptedModels;
pub use observer::EventLog;
pub use operator::ScriptedOperator;
pub use reply::{ScriptedReply, reply};
pub use sent::{SentAs, SentRequest};
pub use tool::FakeTool;
