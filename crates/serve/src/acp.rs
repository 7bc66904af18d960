//! Agent of the Agent Client Protocol, version 1: JSON-RPC 2.0, one message per line, on standard
//! input and output. The types of the protocol come from its schema; the loop is Pollux's own.
//!
//! [`AcpServer`] reads messages and passes them on. Each [`session`] is a task: it sends operations
//! to the agent and turns events into [`updates`]. [`connection`] holds the requests to the client,
//! which [`questions`] and [`files`] send. [`outbox`] writes, and holds back everybody if the
//! client does not read.

mod authenticate;
mod calls;
mod commands;
mod connection;
mod content;
mod costs;
mod elicitation;
mod errors;
mod files;
mod folders;
mod initialize;
mod notices;
mod opening;
mod options;
mod outcome;
mod prompt;
mod questions;
mod replay;
mod server;
mod servers;
mod session;
mod updates;

pub use outcome::DescribeOutcome;
pub use server::{AcpOptions, AcpServer};
