//! Creation of the models of a run.

use std::sync::Arc;

use pollux_config::{AuthType, names, select_auth_type};
use pollux_net::ClientOptions;
use pollux_protocol::{ModelError, ModelErrorKind, ModelListing, Models};
use serde_json::Value;

use crate::auth::{self, FoundService, Naming, SignInContext, SignInReport};
use crate::catalog::{
    self, CODE_ASSIST, Family, GEMINI, ModelFacts, VERTEX, VERTEX_ANTHROPIC, Vendor,
};
use crate::configs::ModelConfigs;
use crate::endpoint::custom_address;
use crate::local::{self, LocalServer};
use crate::model_list::{ModelList, Source};
use crate::options::{ModelsOptions, ReplaySource};
use crate::prices::{LOCAL, PriceBook};
use crate::probe::{self, Probe};
use crate::record::ResponseRecorder;
use crate::replay::Replay;
use crate::route::{Defaults, Route, route, unknown_vendor};
use crate::services::Services;
use crate::vertex;
use crate::wiring::Wiring;

/// Creates the models. Cheap: certificates are loaded on a separate thread, and the network is not
/// used.
///
/// # Errors
/// [`ModelErrorKind::Auth`] without usable credentials (also when responses are replayed from a
/// file, as in Gemini CLI), [`ModelErrorKind::Config`] for a wrong base URL or proxy,
/// [`ModelErrorKind::Replay`] for a recording that cannot be read or written.
pub fn assemble(options: &ModelsOptions) -> Result<Arc<dyn Models>, ModelError> {
    let configs = Arc::new(ModelConfigs::of(&options.settings));
    let source = match &options.replay {
        Some(ReplaySource::Text(text)) => Source::Replay(Arc::new(Replay::from_text(text, true)?)),
        Some(ReplaySource::File { path, strict }) => {
            check_sign_in(options)?;
            Source::Replay(Arc::new(Replay::from_file(&options.cwd.join(path), *strict)?))
        }
        None => {
            let defaults = defaults(options);
            let services = services(options, &configs, &defaults)?;
            Source::Services(Box::new(services), defaults)
        }
    };
    let record =
        options.record.as_ref().map(|path| ResponseRecorder::open(&options.cwd.join(path)));
    let recorder = record.transpose()?.map(Arc::new);
    Ok(Arc::new(ModelList::new(source, configs, recorder)))
}

/// Returns the models that are available with the present credentials, and those of servers on this
/// machine. No request leaves this machine. Also for a configuration for which [`assemble`] fails.
pub async fn list(options: &ModelsOptions) -> Vec<ModelListing> {
    let configs = Arc::new(ModelConfigs::of(&options.settings));
    let services = Services::new(Wiring::new(options), configs, sign_in(options));
    services.list().await
}

/// Checks that a model can be requested by this name, by the rules for the startup model. Returns
/// true if the model is known: from the catalog, the settings or the user's own table. Models of
/// servers on this machine count as known. The network is not used.
///
/// # Errors
/// Those of [`assemble`] with this startup model.
pub fn check_name(options: &ModelsOptions, name: &str) -> Result<bool, ModelError> {
    let name = name.trim();
    let configs = Arc::new(ModelConfigs::of(&options.settings));
    let options =
        ModelsOptions { startup_model: name.to_owned(), record_wire: None, ..options.clone() };
    let defaults = defaults(&options);
    if options.replay.is_none() {
        services(&options, &configs, &defaults)?;
    }
    let table = options.prices.as_deref().and_then(|path| PriceBook::load(path).ok());
    let is_listed = |name: &str| table.as_ref().is_some_and(|it| it.own_names().contains(&name));
    if configs.knows(name) || is_listed(name) {
        return Ok(true);
    }
    let Route::Vendor { id, name: Some(model), .. } = route(name, &configs, &defaults) else {
        return Ok(true);
    };
    let vendor = catalog::vendor(id)?;
    let lists = match vendor.family {
        Family::Gemini => catalog::vendor(GEMINI)?,
        Family::Other => vendor,
    };
    Ok(lists.knows(&model)
        || lists.facts(&model) != ModelFacts::default()
        || configs.knows(&model)
        || is_listed(&vendor.full_name(&model)))
}

/// True if the configuration does not determine a vendor: no sign-in is chosen, no key is set, and
/// the model name does not belong to a vendor other than Gemini. [`assemble`] fails in this case;
/// [`local::discover`](crate::local::discover) searches for local servers that could be used.
pub fn is_undecided(options: &ModelsOptions) -> bool {
    let configs = ModelConfigs::of(&options.settings);
    let nobody = Defaults { vendor: GEMINI, is_gateway: false, bare: Vec::new() };
    options.replay.is_none()
        && default_vendor(options).is_none()
        && route(&options.startup_model, &configs, &nobody).is_gemini_api()
}

/// Returns a notice for the user if the startup model is requested with `GEMINI_API_KEY` although
/// the configuration selects another sign-in method.
pub fn sign_in_notice(options: &ModelsOptions) -> Option<String> {
    let SignInContext { settings, environment, .. } = &sign_in(options);
    let notice = auth::replacement_notice(settings, environment)?;
    let configs = ModelConfigs::of(&options.settings);
    let startup = route(&options.startup_model, &configs, &defaults(options));
    (options.replay.is_none() && startup.is_gemini_api()).then_some(notice)
}

/// Returns the service of the startup model if nothing but its credentials selects it: neither the
/// settings nor the name of the model.
pub fn found_service(options: &ModelsOptions) -> Option<FoundService> {
    let name = options.startup_model.trim();
    let names_a_service = catalog::split(name).is_some()
        || [GEMINI, LOCAL].iter().any(|id| catalog::after_prefix(name, id).is_some());
    let default = default_vendor(options).filter(|_| !names_a_service)?;
    let configs = ModelConfigs::of(&options.settings);
    let startup = route(name, &configs, &defaults(options));
    let is_default = matches!(startup, Route::Vendor { id, .. } if id == default);
    let is_asked = is_default && options.replay.is_none();
    is_asked.then(|| auth::found_service(&sign_in(options), default)).flatten()
}

/// Explains which sign-in a run with the startup model uses, and why not another one.
pub async fn sign_in_report(options: &ModelsOptions) -> SignInReport {
    let default = default_vendor(options);
    let configs = ModelConfigs::of(&options.settings);
    let named = match route(&options.startup_model, &configs, &defaults(options)) {
        Route::Local(_) => Some(LOCAL),
        // Models of Anthropic on Vertex AI use the same credentials.
        Route::Vendor { id: VERTEX_ANTHROPIC, .. } => Some(VERTEX),
        Route::Vendor { id: GEMINI, .. } if default.is_none() => None,
        Route::Vendor { id, .. } => Some(id),
        // The run names the fault.
        Route::UnknownVendor(_) => None,
    };
    let named = named.filter(|vendor| Some(*vendor) != default);
    let naming = named.map(|vendor| Naming { vendor, model: options.startup_model.trim() });
    auth::report(&sign_in(options), default, naming).await
}

/// Tests the connection to the service that a run would use. `None` if no service is configured, or
/// if it is a server on this machine that is searched for.
pub async fn probe(options: &ModelsOptions) -> Option<Probe> {
    if is_undecided(options) {
        return None;
    }
    let configs = Arc::new(ModelConfigs::of(&options.settings));
    let services = Services::new(Wiring::new(options), Arc::clone(&configs), sign_in(options));
    let unusable = |service: &str, address: &str, error: &ModelError| Probe {
        service: service.to_owned(),
        address: address.to_owned(),
        proxy: None,
        duration: std::time::Duration::ZERO,
        clock_ahead: None,
        fault: Some(probe::unusable(error)),
    };
    let id = match route(&options.startup_model, &configs, &defaults(options)) {
        Route::Vendor { id, .. } => id,
        Route::UnknownVendor(name) => {
            return Some(unusable(&name, "an unknown address", &unknown_vendor(&name)));
        }
        Route::Local(_) => return None,
    };
    let vendor = catalog::vendor(id).ok()?;
    let lookup = |name: &str| options.environment.get(name).map(str::to_owned);
    match services.connection(vendor.clone(), None) {
        Ok(connection) => {
            Some(probe::probe(&connection, &ClientOptions::from_environment(&lookup)).await)
        }
        Err(error) => Some(unusable(&vendor.name, &vendor.base_url, &error)),
    }
}

/// Performs the checks of Gemini CLI before a replay: a sign-in must be chosen, and if it requires
/// a key, the key must be set. A key for another vendor that can be the only one is sufficient too.
fn check_sign_in(options: &ModelsOptions) -> Result<(), ModelError> {
    let is_other = |id| catalog::vendor(id).is_ok_and(|vendor| !vendor.sign_in.is_googles());
    if default_vendor(options).is_some_and(is_other) {
        return Ok(());
    }
    let context = sign_in(options);
    match auth::select(&context)? {
        AuthType::GeminiApiKey => auth::key(&context).map(drop),
        AuthType::VertexAi => vertex::check(&context.environment),
        _ => Ok(()),
    }
}

fn sign_in(options: &ModelsOptions) -> SignInContext {
    let client = names::POLLUX_GOOGLE_OAUTH_CLIENT_ID;
    let environment = auth::with_google_client(&options.environment, &options.settings);
    let named_by = match options.environment.non_empty(client) {
        Some(_) => Some(client),
        None => environment.non_empty(client).map(|_| "pollux.auth.googleClientId"),
    };
    SignInContext {
        settings: options.settings.auth(),
        environment,
        google_client: named_by,
        user_settings: options.user_settings.clone(),
        token_command: options.settings.text("pollux.auth.tokenCommand").map(str::to_owned),
        routing: vertex::routing(&options.settings),
    }
}

/// Returns the vendor that is used when the model name does not determine one; `None` when nothing
/// is configured. Any sign-in to Google takes precedence over a key for another vendor.
fn default_vendor(options: &ModelsOptions) -> Option<&'static str> {
    let SignInContext { settings, environment, .. } = &sign_in(options);
    let mut alone = catalog::all().iter().filter(|vendor| vendor.stands_alone);
    match select_auth_type(settings, environment) {
        Some(AuthType::Other(name)) => {
            Some(alone.find(|vendor| vendor.id == name).map_or(GEMINI, |vendor| &vendor.id))
        }
        Some(AuthType::VertexAi) => Some(VERTEX),
        Some(AuthType::OauthPersonal | AuthType::ComputeDefaultCredentials) => Some(CODE_ASSIST),
        Some(_) => Some(GEMINI),
        None => {
            let is_set = |name: &String| environment.non_empty(name).is_some();
            let is_configured = |vendor: &&Vendor| {
                vendor.credential_variables().chain(&vendor.base_url_variable).any(is_set)
            };
            alone.find(is_configured).map(|vendor| &*vendor.id)
        }
    }
}

/// Returns the vendors that model names may omit.
fn defaults(options: &ModelsOptions) -> Defaults {
    let has_key = |vendor: &&Vendor| {
        let is_set = |name: &String| options.environment.non_empty(name).is_some();
        vendor.credential_variables().any(is_set)
    };
    let alone = catalog::all().iter().filter(|vendor| vendor.stands_alone);
    let id = default_vendor(options).unwrap_or(GEMINI);
    let vendor = catalog::vendor(id).ok();
    let address = vendor.and_then(|vendor| custom_address(vendor, &options.environment));
    Defaults { vendor: id, is_gateway: address.is_some(), bare: alone.filter(has_key).collect() }
}

/// Creates the services of a run. The requirements of the startup model are checked immediately.
fn services(
    options: &ModelsOptions,
    configs: &Arc<ModelConfigs>,
    defaults: &Defaults,
) -> Result<Services, ModelError> {
    let services = Services::new(Wiring::new(options), Arc::clone(configs), sign_in(options));
    let route: Route = route(&options.startup_model, configs, defaults);
    if route.is_gemini_api() && default_vendor(options).is_none() {
        return Err(undecided(options, &[]));
    }
    services.check(&route)?;
    check_settings(options, configs, defaults)?;
    Ok(services)
}

/// Checks the vendors of the models that the settings name for other purposes than conversations.
///
/// # Errors
/// [`ModelErrorKind::Config`] for an unknown vendor.
fn check_settings(
    options: &ModelsOptions,
    configs: &ModelConfigs,
    defaults: &Defaults,
) -> Result<(), ModelError> {
    const CHAIN: &str = "pollux.fallback.chain";
    let chain = options.settings.texts(CHAIN).unwrap_or_default();
    let chain = chain.iter().map(|name| (CHAIN.to_owned(), name.as_str()));
    let roles = options.settings.value("pollux.roles").and_then(Value::as_object);
    let roles = roles
        .into_iter()
        .flatten()
        .filter_map(|(role, name)| Some((format!("pollux.roles.{role}"), name.as_str()?)));
    for (setting, name) in chain.chain(roles) {
        if let Route::UnknownVendor(name) = route(name, configs, defaults) {
            let message = format!("{setting}: {}", unknown_vendor(&name));
            return Err(ModelError::new(ModelErrorKind::Config, message));
        }
    }
    Ok(())
}

/// Returns the error of a run without a sign-in to Google.
fn not_signed_in(options: &ModelsOptions) -> ModelError {
    auth::select(&sign_in(options)).err().unwrap_or_else(|| {
        let message = "Models of the Gemini API need GEMINI_API_KEY.";
        ModelError::new(ModelErrorKind::Auth, message)
    })
}

/// Returns the error of an [undecided](is_undecided) run: it names the missing configuration and
/// the possible alternatives, including these servers.
pub fn undecided(options: &ModelsOptions, servers: &[LocalServer]) -> ModelError {
    let mut error = not_signed_in(options);
    let environment = &options.environment;
    let mut found = Vec::new();
    for vendor in catalog::all() {
        let Vendor { id, name, .. } = vendor;
        if let Some(variable) = auth::used_variable(vendor, environment) {
            found.push(format!("{variable} is set: use a model of {name} with --model {id}/NAME."));
        }
    }
    let models = local::selectable(servers);
    for server in servers {
        let described = server.describe();
        let first = models.iter().find(|(_, on, _)| on.address == server.address);
        found.push(match first {
            Some((name, ..)) => {
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
