//! Options of the models of a run.

use std::path::PathBuf;

use pollux_config::{Environment, Settings};
use pollux_net::HttpClient;

/// What the models of a run are made from.
#[derive(Debug, Clone)]
pub struct ModelsOptions {
    /// The settings: `security.auth`, `general.maxAttempts`, `general.retryFetchErrors`, `modelConfigs`.
    pub settings: Settings,
    /// The environment: credentials, addresses, proxies.
    pub environment: Environment,
    /// The path of the person's settings, for the message that names it.
    pub user_settings: PathBuf,
    /// What relative paths are relative to.
    pub cwd: PathBuf,
    /// The client for requests; without one it is built from the environment.
    pub http: Option<HttpClient>,
    /// Answers come from a recording.
    pub replay: Option<ReplaySource>,
    /// Answers are recorded in this file (`--record-responses`).
    pub record: Option<PathBuf>,
    /// The person's own prices, for the list of models.
    pub prices: Option<PathBuf>,
    /// The model at start-up as it was asked for; the `User-Agent` names it.
    pub startup_model: String,
    /// The frontend, as the `User-Agent` names it: `cli`, `acp`.
    pub client: String,
}

/// A recording.
#[derive(Debug, Clone)]
pub enum ReplaySource {
    /// A file (`--fake-responses` when strict, else `--fake-responses-non-strict`).
    File {
        /// Its path; a relative one starts at the working directory.
        path: PathBuf,
        /// Answers come in exactly the order of the file.
        strict: bool,
    },
    /// The text of such a file, given by the program itself: needs no credentials. In strict order.
    Text(String),
}
