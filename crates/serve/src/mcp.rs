//! Server of the Model Context Protocol on standard input and output: other agents and programs run
//! prompts in sessions of Pollux by its tools.
//!
//! [`McpServer`] reads messages; each call of a [tool](tools) is a task ([`call`]). The sessions of
//! all calls are in [`sessions`], so that a later call can continue one. A [`session`] sends the
//! prompt to the agent and handles its events. Questions go to the client as forms
//! ([`elicitation`]), [`progress`] tells what happens.
//!
//! A call can only restrict what the settings and flags of the user allow, because the model of the
//! client writes its arguments: see [`opening`].
//!
//! The SDK (`rmcp`) is not used here. It bounds neither the length of a message nor what waits for
//! a client that does not read, and the few messages of a server with tools need no further types.
//! Batches, which the version 2025-03-26 alone has, are answered with an error.

mod answer;
mod call;
mod elicitation;
mod initialize;
mod opening;
mod progress;
mod server;
mod session;
mod sessions;
mod tools;

pub use server::{McpOptions, McpServer};
