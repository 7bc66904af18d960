//! Tests of the testkit itself, with real sockets, processes and terminals.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "not part of the product")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[cfg(unix)]
#[path = "suite/program.rs"]
mod program;
#[path = "suite/samples.rs"]
mod samples;
#[path = "suite/server.rs"]
mod server;
#[cfg(unix)]
#[path = "suite/terminal.rs"]
mod terminal;
