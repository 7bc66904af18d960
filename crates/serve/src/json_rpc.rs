//! JSON-RPC 2.0 with one client, one message per line: bounded reading and writing, requests to the
//! client, and their answers. Both protocols use it, with the message types of the Agent Client
//! Protocol's schema.

pub(crate) mod connection;
pub(crate) mod input;
pub(crate) mod message;
pub(crate) mod outbox;
pub(crate) mod service;
