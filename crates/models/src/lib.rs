//! How a vendor is spoken to.
//!
//! | module | what lives there |
//! |---|---|
//! | `assemble` | [`assemble`]: the models of a run from settings, environment and flags |
//! | `choice` | which model answers the next request, and who is behind it |
//! | `chat_models` | the models of vendors and of servers on this machine |
//! | [`names`] | what the names of models stand for, their limits and families |
//! | [`configs`] | aliases and overrides: how a model is asked |
//! | [`auth`] | which credentials are used, and what is missing |
//! | [`catalog`] | the vendors that speak Chat Completions, one JSON file each |
//! | [`local`] | model servers on this machine: how they are found |
//! | `gemini` | the dialect of the Gemini API: requests, streams, JSON answers, counts, embeddings |
//! | `openai` | the dialect of OpenAI's Chat Completions: the same |
//! | `exchange`, `wiring` | one request and its repetitions; what every service is reached by |
//! | `body`, `json_answer`, `surrogates` | what the dialects share: bodies in pieces, JSON answers, broken characters |
//! | `replay`, `record` | models from a recording, and the recording of models |
//! | `failure` | what went wrong on the wire, as a typed error with a remedy |
//!
//! What this crate is not: it keeps no history, runs no tool and repeats no answer that began (that is
//! the agent's); it counts no costs and writes no telemetry.

mod adjustments;
mod assemble;
pub mod auth;
mod body;
pub mod catalog;
mod chat_models;
mod choice;
pub mod configs;
mod exchange;
mod failure;
mod gemini;
mod json_answer;
pub mod local;
pub mod names;
mod openai;
mod prices;
mod record;
mod replay;
mod surrogates;
mod wiring;

pub use assemble::{ModelsOptions, ReplaySource, assemble, is_undecided, undecided};
pub use gemini::decode_chunk;
pub use openai::{decode_chat_chunk, decode_chat_stream};
pub use prices::{PriceBook, PriceTable, PricesError};
pub use record::Recorder;
pub use replay::Replay;
