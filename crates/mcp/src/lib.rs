//! Model Context Protocol servers as tools of a session.
//!
//! | module | contents |
//! |---|---|
//! | `config` | [`ServerConfig`]: one entry of `mcpServers` |
//! | `names` | names of the servers' tools for models |
//! | `incoming` | messages of a server, read leniently and within bounds |
//! | `stdio`, `http`, `legacy_sse` | transports |
//! | `connection` | handshake with a server |
//! | `listing` | tools, prompts and resources of a server |
//! | `handler` | requests and notifications of a server: progress, roots, changed lists |
//! | `elicitation` | questions of a server to the user |
//! | `sampling` | requests of a server for an answer of the user's model |
//! | `request_error` | error messages of requests to a server |
//! | `requests` | questions and requests of a server from bytes, for fuzzing |
//! | `tool`, `result` | a server's tool as a [`Tool`](pollux_protocol::Tool), and its results |
//! | `oauth` | [`Authorization`]: signing in to servers, and their tokens |
//! | `google` | Google credentials for a server |
//! | `prompts` | a server's prompt as a slash command |
//! | `resources`, `resource_tools` | contents of resources, for prompts and for models |
//! | `servers` | [`Servers`]: all servers of a session, started in the background |
//! | `status` | states and changes of the servers, for the rest of the program |
//! | `trial` | [`probe`]: connection to a server for a report, step by step; [`reach`]: connection only |
//!
//! The protocol itself (handshake, ids, time-outs, cancellation, HTTP sessions) is the official
//! SDK's, `rmcp`. No other crate uses it. Everything that a server sends is hostile input: it is
//! read within bounds, and one unusable item does not make the rest unusable.
//!
//! Out of scope: this crate reads no settings files and decides about no call.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod config;
mod connection;
mod elicitation;
mod google;
mod handler;
mod http;
mod incoming;
mod legacy_sse;
mod listing;
mod log;
mod names;
mod oauth;
mod prompts;
mod request_error;
mod requests;
mod resource_tools;
mod resources;
mod result;
mod sampling;
mod servers;
mod starts;
mod status;
mod stdio;
mod tool;
mod trial;

pub use config::{ServerAddress, ServerConfig};
pub use google::GoogleAccess;
pub use handler::CallProgress;
pub use incoming::read_message;
pub use names::{qualified_name, sanitized};
pub use oauth::{
    Authorization, AuthorizationOptions, CallbackSettings, OAuthError, OAuthReading, OAuthSettings,
    SignInCode, SignInPage, SignInUser, read_oauth, sign_in_code,
};
pub use prompts::ServerPrompt;
pub use requests::{RequestReading, read_request};
pub use resource_tools::resource_tools;
pub use resources::{ResourceBlock, ServerResource};
pub use sampling::{Sampler, SamplerResult};
pub use servers::Servers;
pub use status::{EventSink, ServerChange, ServerState, ServerStatus, ServersOptions};
pub use trial::{Probed, ProbedPrompt, ProbedStep, Unreachable, probe, reach};
