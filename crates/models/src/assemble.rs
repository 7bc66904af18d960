//! Putting the models of a run together.

use std::path::PathBuf;
use std::sync::Arc;

use pollux_config::{AuthType, Environment, Settings, names as variables};
use pollux_net::{Backoff, ClientOptions, HttpClient};
use pollux_protocol::{ModelError, ModelErrorKind, Models};

use crate::choice::{Catalog, Source};
use crate::configs::ModelConfigs;
use crate::gemini::{Endpoint, PartsCache, Service, user_agent};
use crate::record::Recorder;
use crate::replay::Replay;
use crate::{auth, names};

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

/// Puts the models together. Cheap: no network, and certificates are loaded on a thread of their own.
///
/// # Errors
/// [`ModelErrorKind::Auth`] without usable credentials (also when a recorded file answers, as in Gemini
/// CLI), [`ModelErrorKind::Config`] for a wrong base URL or proxy, [`ModelErrorKind::Replay`] for a
/// recording that cannot be read or written.
pub fn assemble(options: &ModelsOptions) -> Result<Arc<dyn Models>, ModelError> {
    let configs = Arc::new(ModelConfigs::new(Some(&options.settings.model.configs)));
    let source = match &options.replay {
        Some(ReplaySource::Text(text)) => Source::Replay(Arc::new(Replay::from_text(text, true)?)),
        Some(ReplaySource::File { path, strict }) => {
            check_sign_in(options)?;
            Source::Replay(Arc::new(Replay::from_file(&options.cwd.join(path), *strict)?))
        }
        None => Source::Gemini(Arc::new(service(options, Arc::clone(&configs))?)),
    };
    let record = options.record.as_ref().map(|path| Recorder::open(&options.cwd.join(path)));
    let recorder = record.transpose()?.map(Arc::new);
    Ok(Arc::new(Catalog::new(source, configs, recorder)))
}

fn select_auth(options: &ModelsOptions) -> Result<AuthType, ModelError> {
    auth::select(&options.settings.security.auth, &options.environment, &options.user_settings)
}

/// What Gemini CLI checks before a recording answers: a sign-in is chosen, and a key is there if it is
/// the one with a key.
fn check_sign_in(options: &ModelsOptions) -> Result<(), ModelError> {
    let chosen = select_auth(options)?;
    if chosen == AuthType::GeminiApiKey {
        auth::credentials(&chosen, &options.environment)?;
    }
    Ok(())
}

fn service(options: &ModelsOptions, configs: Arc<ModelConfigs>) -> Result<Service, ModelError> {
    let environment = &options.environment;
    let credentials = auth::credentials(&select_auth(options)?, environment)?;
    let surface = [variables::GEMINI_CLI_SURFACE, variables::SURFACE]
        .into_iter()
        .find_map(|name| environment.non_empty(name))
        .unwrap_or("terminal");
    let model = names::resolve(&options.startup_model);
    let agent = user_agent(&options.client, model, surface);
    let endpoint = Endpoint::new(environment, &credentials, &agent)?;

    let lookup = |name: &str| environment.get(name).map(str::to_owned);
    let http = match options.http.clone() {
        Some(http) => http,
        None => HttpClient::new(ClientOptions::from_environment(&lookup))
            .map_err(|error| ModelError::new(ModelErrorKind::Config, error.to_string()))?,
    };
    http.prepare(endpoint.base());
    Ok(Service {
        http,
        endpoint,
        configs,
        connection: Backoff::CONNECTION.with_environment(&lookup),
        content: Backoff::MID_STREAM.with_environment(&lookup),
        max_attempts: options.settings.general.max_attempts,
        retry_fetch_errors: options.settings.general.retry_fetch_errors,
        parts: PartsCache::default(),
    })
}
