//! Pollux as a server: other programs drive sessions through a protocol.
//!
//! [`AcpServer`] is an agent of the Agent Client Protocol, which editors speak over standard input
//! and output. [`McpServer`] is a server of the Model Context Protocol, whose tools run prompts.
//! Like every frontend they exchange only `Op`s and `Event`s with the agent, and use sessions as
//! `protocol` describes them: they neither read files of the user nor run programs.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod acp;
mod asking;
mod folders;
mod forms;
mod json_rpc;
mod mcp;

pub use acp::{AcpOptions, AcpServer, DescribeOutcome};
pub use mcp::{McpOptions, McpServer};
