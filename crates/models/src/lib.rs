//! How a vendor is spoken to.
//!
//! | module | what lives there |
//! |---|---|
//! | `options`, `assemble` | [`assemble`]: the models of a run from settings, environment and flags |
//! | `roster`, `route` | which model answers the next request, and who is behind it |
//! | `services`, `wiring` | the services of a run, opened when they are first needed; the list of dialects |
//! | [`catalog`] | vendors as data, one JSON file each: dialect, address, way of signing in, limits, quirks |
//! | `endpoint` | where requests to a vendor go, and their headers beside credentials |
//! | `auth` | who signs requests, and what is missing when nobody can |
//! | `dialect` | what every dialect is given and gives |
//! | `gemini` | the dialect of the Gemini API: requests, streams, JSON answers, counts, embeddings |
//! | `openai` | the dialect of OpenAI's Chat Completions: the same |
//! | [`names`] | what the names of models stand for, their limits and families |
//! | [`configs`] | aliases and overrides: how a model is asked |
//! | [`local`] | model servers on this machine: how they are found |
//! | `exchange` | one request, its signature and its repetitions |
//! | `body`, `json_answer`, `surrogates` | what the dialects share: bodies in pieces, JSON answers, broken characters |
//! | `replay`, `record` | models from a recording, and the recording of models |
//! | `refusal` | what services answer when they refuse, in neutral terms |
//! | `failure` | what went wrong on the wire, as a typed error with a remedy |
//!
//! What this crate is not: it keeps no history, runs no tool and repeats no answer that began (that is
//! the agent's); it counts no costs and writes no telemetry.

mod adjustments;
mod assemble;
mod auth;
mod body;
pub mod catalog;
pub mod configs;
mod dialect;
mod endpoint;
mod exchange;
mod failure;
mod gemini;
mod json_answer;
pub mod local;
pub mod names;
mod openai;
mod options;
mod prices;
mod record;
mod refusal;
mod replay;
mod roster;
mod route;
mod services;
mod surrogates;
mod wiring;

pub use assemble::{assemble, is_undecided, undecided};
pub use gemini::decode_chunk;
pub use openai::{decode_chat_chunk, decode_chat_stream};
pub use options::{ModelsOptions, ReplaySource};
pub use prices::{PriceBook, PriceTable, PricesError};
pub use record::Recorder;
pub use replay::Replay;
