//! Options of the models of a run.

use std::path::PathBuf;

use pollux_config::{Environment, Settings};
use pollux_net::{HttpClient, RequestTrace};

/// Inputs for the creation of the models of a run.
#[derive(Debug, Clone)]
pub struct ModelsOptions {
    /// Settings: `security.auth`, `general.maxAttempts`, `general.retryFetchErrors`,
    /// `modelConfigs`.
    pub settings: Settings,
    /// Environment variables: credentials, addresses, proxies.
    pub environment: Environment,
    /// Path of the user's settings file, for messages.
    pub user_settings: PathBuf,
    /// Folder that relative paths start at.
    pub cwd: PathBuf,
    /// Client for requests; if `None`, it is built from the environment.
    pub http: Option<HttpClient>,
    /// Trace of the requests, for debugging.
    pub trace: Option<RequestTrace>,
    /// Recording that responses are read from.
    pub replay: Option<ReplaySource>,
    /// File that responses are recorded in (`--record-responses`).
    pub record: Option<PathBuf>,
    /// Folder that requests and responses are recorded in (`--record-wire`).
    pub record_wire: Option<PathBuf>,
    /// File with the user's own table of models, with their prices.
    pub prices: Option<PathBuf>,
    /// Model at startup, as requested by the user; part of the `User-Agent`.
    pub startup_model: String,
    /// Frontend, as named in the `User-Agent`: `cli`, `acp`.
    pub client: String,
}

/// Recording that responses are read from.
#[derive(Debug, Clone)]
pub enum ReplaySource {
    /// A file (`--fake-responses` when strict, otherwise `--fake-responses-non-strict`).
    File {
        /// Path of the file; a relative one starts at the working directory.
        path: PathBuf,
        /// True if responses are used in exactly the order of the file.
        strict: bool,
    },
    /// Text of such a file, provided by the program itself: needs no credentials. In strict order.
    Text(String),
}
