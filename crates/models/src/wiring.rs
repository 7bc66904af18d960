//! Shared parts of the connections to all services of a run.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use http::HeaderValue;
use pollux_config::{Environment, Settings, names as variables};
use pollux_net::{
    Authoriser, Backoff, ClientCertificate, ClientOptions, HttpClient, RequestTrace, WireRecorder,
};
use pollux_protocol::{ModelError, ModelErrorKind};
use url::Url;

use crate::exchange::Exchange;
use crate::names;
use crate::options::ModelsOptions;
use crate::prices::PriceBook;

/// Maximum time that a server on this machine may take to read a prompt before its response begins.
const LOCAL_PATIENCE: std::time::Duration = std::time::Duration::from_mins(10);

/// Environment, client and retry rules, as given by the options.
#[derive(Debug)]
pub(crate) struct Wiring {
    environment: Environment,
    /// Model at startup, with Gemini's names resolved.
    pub(crate) startup_model: String,
    pub(crate) user_agent: UserAgent,
    /// Delays after unusable responses.
    pub(crate) content: Backoff,
    connection: Backoff,
    http: Option<HttpClient>,
    trace: Option<RequestTrace>,
    recorder: Option<WireRecorder>,
    max_attempts: u32,
    retry_fetch_errors: bool,
    /// Files with the user's certificate and its key, for services that ask for one.
    client_certificate: Option<(PathBuf, PathBuf)>,
    /// File with the user's own table of models.
    prices: Option<PathBuf>,
    own: OnceLock<Arc<PriceBook>>,
}

impl Wiring {
    pub(crate) fn new(options: &ModelsOptions) -> Self {
        let environment = options.environment.clone();
        let surface = [variables::GEMINI_CLI_SURFACE, variables::SURFACE]
            .into_iter()
            .find_map(|name| environment.non_empty(name))
            .unwrap_or("terminal");
        let lookup = |name: &str| environment.get(name).map(str::to_owned);
        Self {
            startup_model: names::resolve(&options.startup_model).to_owned(),
            user_agent: UserAgent { client: options.client.clone(), surface: surface.to_owned() },
            content: Backoff::MID_STREAM.with_environment(&lookup),
            connection: Backoff {
                max_wait: max_wait(&options.settings),
                ..Backoff::CONNECTION.with_environment(&lookup)
            },
            http: options.http.clone(),
            trace: options.trace.clone(),
            recorder: options
                .record_wire
                .as_ref()
                .map(|folder| WireRecorder::new(options.cwd.join(folder))),
            max_attempts: options.settings.max_attempts(),
            retry_fetch_errors: options.settings.boolean("general.retryFetchErrors"),
            environment,
            client_certificate: client_certificate(options),
            prices: options.prices.clone(),
            own: OnceLock::new(),
        }
    }

    /// Returns the user's own table of models, which is read on first use. An unreadable file
    /// counts as empty: the session reports it.
    pub(crate) fn own_models(&self) -> &Arc<PriceBook> {
        self.own.get_or_init(|| {
            let read = self.prices.as_deref().and_then(|path| PriceBook::load(path).ok());
            Arc::new(read.unwrap_or_default())
        })
    }

    /// Returns the connection to a service. Requests to this machine use no proxy.
    ///
    /// # Errors
    /// [`ModelErrorKind::Config`] for an invalid proxy or client certificate.
    pub(crate) fn exchange(
        &self,
        base: &Url,
        direct: bool,
        authoriser: Arc<dyn Authoriser>,
    ) -> Result<Exchange, ModelError> {
        let (trace, recorder) = (self.trace.clone(), self.recorder.clone());
        let http = match (&self.http, direct) {
            (Some(http), _) => http.clone(),
            (None, true) => client(ClientOptions {
                headers_timeout: LOCAL_PATIENCE,
                trace,
                recorder,
                ..ClientOptions::default()
            })?,
            (None, false) => {
                let lookup = |name: &str| self.environment.get(name).map(str::to_owned);
                let certificate = self.client_certificate.as_ref();
                let certificate = certificate.map(|(file, key)| ClientCertificate::read(file, key));
                client(ClientOptions {
                    client_certificate: certificate
                        .transpose()
                        .map_err(|error| unusable(&error))?,
                    trace,
                    recorder,
                    ..ClientOptions::from_environment(&lookup)
                })?
            }
        };
        http.prepare(base);
        Ok(Exchange {
            http,
            authoriser,
            connection: self.connection,
            max_attempts: self.max_attempts,
            retry_fetch_errors: self.retry_fetch_errors,
            was_reached: AtomicBool::new(false),
        })
    }
}

/// Returns the maximum time of all waits of one request together.
fn max_wait(settings: &Settings) -> std::time::Duration {
    let seconds = settings.number("pollux.retry.maxWait").unwrap_or_default();
    std::time::Duration::try_from_secs_f64(seconds).unwrap_or(Backoff::CONNECTION.max_wait)
}

fn client(options: ClientOptions) -> Result<HttpClient, ModelError> {
    HttpClient::new(options).map_err(|error| unusable(&error))
}

fn unusable(error: &pollux_net::Error) -> ModelError {
    ModelError::new(ModelErrorKind::Config, error.to_string())
}

/// Returns the files with the user's certificate and its key. Relative paths begin at the folder of
/// the user's settings.
fn client_certificate(options: &ModelsOptions) -> Option<(PathBuf, PathBuf)> {
    let file = |name: &str| {
        let path = name.trim();
        let home = options.environment.home().filter(|_| path.starts_with("~/"));
        match home {
            Some(home) => home.join(&path[2..]),
            None => options.user_settings.with_file_name("").join(path),
        }
    };
    let settings = &options.settings;
    let certificate = settings.text("pollux.tls.clientCertificate").map(&file)?;
    let key = settings.text("pollux.tls.clientKey").map_or_else(|| certificate.clone(), &file);
    Some((certificate, key))
}

/// Parts of the `User-Agent` that are the same in all requests.
#[derive(Debug, Clone)]
pub(crate) struct UserAgent {
    /// Frontend: `cli` or `acp`.
    client: String,
    /// Environment that the program runs in, such as `terminal`.
    surface: String,
}

impl UserAgent {
    /// Returns the header in the format of Gemini CLI 0.61. `model` is empty if it is not known.
    pub(crate) fn naming(&self, model: &str) -> Option<HeaderValue> {
        let platform = match std::env::consts::OS {
            "macos" => "darwin",
            "windows" => "win32",
            other => other,
        };
        let architecture = match std::env::consts::ARCH {
            "x86_64" => "x64",
            "aarch64" => "arm64",
            "x86" => "ia32",
            other => other,
        };
        let Self { client, surface } = self;
        let version = env!("CARGO_PKG_VERSION");
        let separator = if model.is_empty() { "" } else { "/" };
        let text = format!(
            "Pollux-{client}/{version}{separator}{model} ({platform}; {architecture}; {surface})"
        );
        // Model and surface are user input; a header accepts printable ASCII only.
        let text = text.replace(|character: char| !matches!(character, ' '..='~'), "?");
        HeaderValue::from_str(&text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_agent_follows_the_pattern() {
        let agent = UserAgent { client: "cli".to_owned(), surface: "terminal".to_owned() };
        let text = |model: &str| agent.naming(model).unwrap().to_str().unwrap().to_owned();
        let version = env!("CARGO_PKG_VERSION");
        let named = text("gemini-2.5-pro");
        assert!(named.starts_with(&format!("Pollux-cli/{version}/gemini-2.5-pro (")), "{named}");
        assert!(named.ends_with("; terminal)"), "{named}");
        assert!(text("").starts_with(&format!("Pollux-cli/{version} (")), "{}", text(""));
        assert!(text("mödel\n").contains("/m?del? ("), "{}", text("mödel\n"));
    }
}
