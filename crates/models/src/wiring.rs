//! What every service of a run is reached by.

use pollux_config::{Environment, names as variables};
use pollux_net::{Backoff, ClientOptions, HttpClient};
use pollux_protocol::{ModelError, ModelErrorKind};
use url::Url;

use crate::assemble::ModelsOptions;
use crate::exchange::Exchange;
use crate::gemini::user_agent;
use crate::names;

/// How long a server on this machine may read a prompt before its answer begins.
const LOCAL_PATIENCE: std::time::Duration = std::time::Duration::from_mins(10);

/// Environment, client and patience, as the options give them.
#[derive(Debug)]
pub(crate) struct Wiring {
    pub(crate) environment: Environment,
    pub(crate) user_agent: String,
    /// The delays between unusable answers.
    pub(crate) content: Backoff,
    connection: Backoff,
    http: Option<HttpClient>,
    max_attempts: u32,
    retry_fetch_errors: bool,
}

impl Wiring {
    pub(crate) fn new(options: &ModelsOptions) -> Self {
        let environment = options.environment.clone();
        let surface = [variables::GEMINI_CLI_SURFACE, variables::SURFACE]
            .into_iter()
            .find_map(|name| environment.non_empty(name))
            .unwrap_or("terminal");
        let model = names::resolve(&options.startup_model);
        let lookup = |name: &str| environment.get(name).map(str::to_owned);
        Self {
            user_agent: user_agent(&options.client, model, surface),
            content: Backoff::MID_STREAM.with_environment(&lookup),
            connection: Backoff::CONNECTION.with_environment(&lookup),
            http: options.http.clone(),
            max_attempts: options.settings.general.max_attempts,
            retry_fetch_errors: options.settings.general.retry_fetch_errors,
            environment,
        }
    }

    /// The way to a service. No proxy stands between this machine and itself.
    ///
    /// # Errors
    /// [`ModelErrorKind::Config`] for a wrong proxy.
    pub(crate) fn exchange(&self, base: &Url, direct: bool) -> Result<Exchange, ModelError> {
        let http = match (&self.http, direct) {
            (Some(http), _) => http.clone(),
            (None, true) => client(ClientOptions {
                headers_timeout: LOCAL_PATIENCE,
                ..ClientOptions::default()
            })?,
            (None, false) => {
                let lookup = |name: &str| self.environment.get(name).map(str::to_owned);
                client(ClientOptions::from_environment(&lookup))?
            }
        };
        http.prepare(base);
        Ok(Exchange {
            http,
            connection: self.connection,
            max_attempts: self.max_attempts,
            retry_fetch_errors: self.retry_fetch_errors,
        })
    }
}

fn client(options: ClientOptions) -> Result<HttpClient, ModelError> {
    HttpClient::new(options)
        .map_err(|error| ModelError::new(ModelErrorKind::Config, error.to_string()))
}
