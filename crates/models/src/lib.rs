//! Access to model vendors.
//!
//! | module | contents |
//! |---|---|
//! | `options`, `assemble` | [`assemble`]: the models of a run, from settings and environment |
//! | `model_list`, `route` | selection of the model and the vendor for the next request |
//! | `services`, `wiring` | the services of a run, opened when first needed; the list of dialects |
//! | [`catalog`] | vendors as data, one JSON file each: dialect, address, sign-in, limits, quirks |
//! | `endpoint` | address of the requests to a vendor, and their headers except credentials |
//! | `auth` | credentials for requests, and the errors when they are missing |
//! | `vertex` | address of Vertex AI for a project and a region |
//! | `dialect` | interface of every dialect |
//! | `gemini` | Gemini API dialect: requests, streams, JSON responses, counts, embeddings |
//! | `openai` | OpenAI's dialects, Chat Completions and Responses: the same functions |
//! | `anthropic` | Anthropic's Messages dialect: the same functions |
//! | [`names`] | model names, their abbreviations, limits and families |
//! | [`configs`] | aliases and overrides: settings of requests to models |
//! | [`local`] | model servers on this machine, and the search for them |
//! | `exchange` | one request, its signature and its retries |
//! | `body`, `json_answer`, `surrogates` | shared: bodies, JSON responses, bad characters |
//! | `answer_stream`, `thoughts`, `call_arguments`, `tool_output` | shared: streams of events, pieces of responses, results |
//! | `tool_schema`, `tool_names`, `declarations` | tools in the form that a dialect accepts |
//! | `probe` | test connection to the service that a run would use |
//! | `replay`, `record` | models from a recording, and the recording of models |
//! | `refusal` | error responses of services, in neutral terms |
//! | `refused_tools` | tools that a service refuses a whole request for |
//! | `failure` | network failures, as typed errors with a remedy |
//!
//! Out of scope: this crate keeps no history, runs no tool and does not repeat a response that has
//! begun (these are tasks of the agent); it counts no costs and writes no telemetry.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types))]

mod adjustments;
mod answer_stream;
mod anthropic;
mod assemble;
mod auth;
mod body;
mod call_arguments;
pub mod catalog;
pub mod configs;
mod declarations;
mod dialect;
mod endpoint;
mod entry_cache;
mod exchange;
mod failure;
mod gemini;
mod json_answer;
pub mod local;
mod model_list;
pub mod names;
mod openai;
mod options;
mod prices;
mod probe;
mod record;
mod refusal;
mod refused_tools;
mod replay;
mod route;
mod services;
mod surrogates;
mod thoughts;
mod tool_names;
mod tool_output;
mod tool_schema;
mod vertex;
mod wiring;

pub use anthropic::decode_messages_stream;
pub use assemble::{
    assemble, check_name, found_service, is_undecided, list, probe, sign_in_notice, sign_in_report,
    undecided,
};
pub use auth::{
    FoundService, GOOGLE_SIGN_IN, SignInReport, SignInWay, with_google_client, write_google_sign_in,
};
pub use gemini::decode_chunk;
pub use openai::{decode_chat_chunk, decode_chat_stream, decode_responses_stream};
pub use options::{ModelsOptions, ReplaySource};
pub use prices::{PriceBook, PriceTable, PricesError};
pub use probe::{Fault, Probe};
pub use record::ResponseRecorder;
pub use replay::Replay;
pub use tool_schema::{Compiled, ToolDialect, Unusable, compile};
