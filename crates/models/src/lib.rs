//! How a vendor is spoken to.
//!
//! | module | what lives there |
//! |---|---|
//! | `assemble` | [`assemble`]: the models of a run from settings, environment and flags |
//! | `choice` | which model answers the next request |
//! | [`names`] | what the names of models stand for, their limits and families |
//! | [`configs`] | aliases and overrides: how a model is asked |
//! | [`auth`] | which credentials are used, and what is missing |
//! | `gemini` | the dialect of the Gemini API: requests, streams, JSON answers, counts, embeddings |
//! | `replay`, `record` | models from a recording, and the recording of models |
//! | `failure` | what went wrong on the wire, as a typed error with a remedy |
//!
//! What this crate is not: it keeps no history, runs no tool and repeats no answer that began (that is
//! the agent's); it counts no costs and writes no telemetry.

mod assemble;
pub mod auth;
mod choice;
pub mod configs;
mod failure;
mod gemini;
mod json_answer;
pub mod names;
mod record;
mod replay;

pub use assemble::{ModelsOptions, ReplaySource, assemble};
pub use gemini::decode_chunk;
pub use record::Recorder;
pub use replay::Replay;
