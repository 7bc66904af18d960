//! Pollux as a server: other programs drive sessions through a protocol.
//!
//! [`AcpServer`] is an agent of the Agent Client Protocol, which editors speak over standard input
//! and output. Like every frontend it exchanges only `Op`s and `Event`s with the agent, and uses
//! sessions as `protocol` describes them: it neither reads files of the user nor runs programs.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod acp;
mod asking;
mod folders;
mod forms;
mod json_rpc;

pub use acp::{AcpOptions, AcpServer, DescribeOutcome};
