//! Putting the models of a run together.

use std::path::PathBuf;
use std::sync::Arc;

use pollux_config::{AuthType, Environment, Settings, names as variables, select_auth_type};
use pollux_net::HttpClient;
use pollux_protocol::{ModelError, ModelErrorKind, Models};

use crate::auth;
use crate::catalog::{self, Vendor};
use crate::chat_models::{AUTH_NAME, ChatModels};
use crate::choice::{Door, Doors, Roster, Route, Services, Source, route};
use crate::configs::ModelConfigs;
use crate::gemini::{Endpoint, PartsCache, Service};
use crate::local::{LocalModel, LocalServer};
use crate::record::Recorder;
use crate::replay::Replay;
use crate::wiring::Wiring;

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

/// Puts the models together. Cheap: certificates are loaded on a thread of their own, and there is no
/// network.
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
        None => Source::Services(Box::new(services(options, &configs)?)),
    };
    let record = options.record.as_ref().map(|path| Recorder::open(&options.cwd.join(path)));
    let recorder = record.transpose()?.map(Arc::new);
    Ok(Arc::new(Roster::new(source, configs, recorder)))
}

/// True when nothing says who is to answer: no sign-in is chosen, no key is set, and the name of the model
/// belongs to nobody else. [`assemble`] fails then; [`local::discover`](crate::local::discover) finds who
/// could answer all the same.
pub fn is_undecided(options: &ModelsOptions) -> bool {
    options.replay.is_none()
        && default_door(options).is_none()
        && leads_to_gemini(options, &ModelConfigs::new(Some(&options.settings.model.configs)))
}

fn leads_to_gemini(options: &ModelsOptions, configs: &ModelConfigs) -> bool {
    let nobody = Doors { default: Door::Gemini, has_openai: false };
    matches!(route(&options.startup_model, configs, nobody), Route::Gemini(_))
}

fn select_auth(options: &ModelsOptions) -> Result<AuthType, ModelError> {
    auth::select(&options.settings.security.auth, &options.environment, &options.user_settings)
}

/// What Gemini CLI checks before a recording answers: a sign-in is chosen, and a key is there if it is
/// the one with a key. A key for OpenAI is as good.
fn check_sign_in(options: &ModelsOptions) -> Result<(), ModelError> {
    if default_door(options) == Some(Door::OpenAi) {
        return Ok(());
    }
    let chosen = select_auth(options)?;
    if chosen == AuthType::GeminiApiKey {
        auth::credentials(&chosen, &options.environment)?;
    }
    Ok(())
}

/// Who answers when the name of a model does not say; none when nothing is configured. Any sign-in for
/// Gemini wins over a key for OpenAI.
fn default_door(options: &ModelsOptions) -> Option<Door> {
    let auth = &options.settings.security.auth;
    let has = |name| options.environment.non_empty(name).is_some();
    match select_auth_type(auth, &options.environment) {
        Some(AuthType::Other(name)) if name == AUTH_NAME => Some(Door::OpenAi),
        Some(_) => Some(Door::Gemini),
        None if has(variables::OPENAI_API_KEY) || has(variables::OPENAI_BASE_URL) => {
            Some(Door::OpenAi)
        }
        None => None,
    }
}

/// The services of a run. What the model at start-up needs is checked at once.
fn services(options: &ModelsOptions, configs: &Arc<ModelConfigs>) -> Result<Services, ModelError> {
    let wiring = Wiring::new(options);
    let door = default_door(options);
    let gemini = match door {
        Some(Door::OpenAi) => Err(not_signed_in(options)),
        _ => gemini(options, &wiring, Arc::clone(configs)).map(Arc::new),
    };
    let auth = &options.settings.security.auth;
    let enforced = auth.enforced_type.clone();
    let doors = Doors {
        default: door.unwrap_or(Door::Gemini),
        has_openai: options.environment.non_empty(variables::OPENAI_API_KEY).is_some(),
    };
    let chat = ChatModels::new(wiring, Arc::clone(configs), enforced);
    match (route(&options.startup_model, configs, doors), &gemini) {
        (Route::Gemini(_), Err(_)) if door.is_none() => return Err(undecided(options, &[])),
        (Route::Gemini(_), Err(error)) => return Err(error.clone()),
        (Route::Gemini(_), Ok(_)) => {}
        (other, _) => chat.check(&other)?,
    }
    Ok(Services { gemini, chat, doors })
}

fn gemini(
    options: &ModelsOptions,
    wiring: &Wiring,
    configs: Arc<ModelConfigs>,
) -> Result<Service, ModelError> {
    let credentials = auth::credentials(&select_auth(options)?, &options.environment)?;
    let endpoint = Endpoint::new(&options.environment, &credentials, &wiring.user_agent)?;
    Ok(Service {
        exchange: wiring.exchange(endpoint.base(), false)?,
        endpoint,
        configs,
        content: wiring.content,
        parts: PartsCache::default(),
    })
}

/// Why a model of the Gemini API cannot be used where only OpenAI is configured.
fn not_signed_in(options: &ModelsOptions) -> ModelError {
    select_auth(options).err().unwrap_or_else(|| {
        let message = "Models of the Gemini API need GEMINI_API_KEY.";
        ModelError::new(ModelErrorKind::Auth, message)
    })
}

/// The error of an [undecided](is_undecided) run: what is missing, and what could be used without it,
/// these servers among it.
pub fn undecided(options: &ModelsOptions, servers: &[LocalServer]) -> ModelError {
    let mut error = not_signed_in(options);
    let mut found = Vec::new();
    for id in catalog::ids() {
        if let Ok(Vendor { key_variable: Some(variable), name, .. }) = catalog::vendor(id)
            && options.environment.non_empty(&variable).is_some()
        {
            found.push(format!("{variable} is set: use a model of {name} with --model {id}/NAME."));
        }
    }
    for server in servers {
        let described = server.describe();
        found.push(match server.models.first() {
            Some(LocalModel { name, .. }) => {
                format!("{described} was found on this machine: use it with --model local/{name}.")
            }
            None => format!("{described} was found on this machine."),
        });
    }
    for line in found {
        error.message.push('\n');
        error.message.push_str(&line);
    }
    error
}
