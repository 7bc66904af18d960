//! Models of everyone who speaks Chat Completions: vendors of the catalog, and servers on this machine.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pollux_config::environment::names as variables;
use pollux_protocol::{CancellationToken, ModelError, ModelErrorKind};
use serde_json::Map;
use url::Url;

use crate::catalog::{self, OPENAI, Vendor};
use crate::choice::{Built, Route};
use crate::configs::{ModelConfigs, Purpose};
use crate::local::{self, LocalServer, ServerKind};
use crate::openai::{ChatModel, Service};
use crate::wiring::Wiring;

/// The name that `security.auth` has for OpenAI.
pub(crate) const AUTH_NAME: &str = "openai";

/// Builds models, and the services behind them once.
pub(crate) struct ChatModels {
    wiring: Wiring,
    configs: Arc<ModelConfigs>,
    /// `security.auth.enforcedType`: nobody else may be spoken to.
    enforced: Option<String>,
    /// By id, or by address for servers on this machine.
    services: Mutex<HashMap<String, Arc<Service>>>,
}

impl ChatModels {
    pub(crate) fn new(
        wiring: Wiring,
        configs: Arc<ModelConfigs>,
        enforced: Option<String>,
    ) -> Self {
        Self { wiring, configs, enforced, services: Mutex::default() }
    }

    /// Checks, without any network, that a route can be taken.
    ///
    /// # Errors
    /// Those of [`Self::build`] that can be known.
    pub(crate) fn check(&self, route: &Route) -> Result<(), ModelError> {
        self.check_enforced(route)?;
        if let Route::Vendor { id, .. } = route {
            let vendor = catalog::vendor(id)?;
            if !vendor.quirks.local && self.local_address(&vendor).is_none() {
                self.service((*id).to_owned(), vendor, None)?;
            }
        }
        Ok(())
    }

    /// The model of a route that does not lead to Gemini.
    ///
    /// # Errors
    /// [`ModelErrorKind::Auth`] without a key, or when another sign-in is enforced;
    /// [`ModelErrorKind::Network`] and [`ModelErrorKind::NotFound`] when no server on this machine
    /// answers or has the model; those of asking for the list of models.
    pub(crate) async fn build(&self, route: &Route) -> Result<Built, ModelError> {
        self.check_enforced(route)?;
        match route {
            Route::Vendor { id, name, alias } => {
                let vendor = catalog::vendor(id)?;
                let service = if vendor.quirks.local {
                    self.on_this_machine(vendor).await?
                } else if let Some(address) = self.local_address(&vendor) {
                    let server = local::inspect(address).await;
                    self.service((*id).to_owned(), served_by(vendor, server.as_ref())?, server)?
                } else {
                    self.service((*id).to_owned(), vendor, None)?
                };
                let asked = self.wiring.environment.non_empty(variables::OPENAI_MODEL);
                let asked = asked.map(str::trim).filter(|_| *id == OPENAI);
                let name = match name.as_deref().or(asked) {
                    Some(name) => name.to_owned(),
                    None => service.first_model(&CancellationToken::new()).await?,
                };
                self.model(service, &name, alias.as_deref())
            }
            Route::Local(name) => {
                let ports = local::ports(&self.wiring.environment);
                let servers = local::discover(&ports).await;
                let found = servers.iter().find_map(|server| Some((server, server.model(name)?)));
                let Some((server, model)) = found else {
                    return Err(not_found(name, &servers, &ports));
                };
                let vendor = catalog::vendor(server.kind.vendor())?;
                let key = server.address.clone();
                let service = self.service(key, vendor, Some(server.clone()))?;
                self.model(service, &model.name, None)
            }
            Route::Gemini(alias) => {
                let message = format!("\"{alias}\" is a model of the Gemini API.");
                Err(ModelError::new(ModelErrorKind::Config, message))
            }
        }
    }

    /// Where `OPENAI_BASE_URL` points, if a server on this machine stands there by default.
    fn local_address(&self, vendor: &Vendor) -> Option<String> {
        let environment = &self.wiring.environment;
        let url =
            environment.non_empty(variables::OPENAI_BASE_URL).filter(|_| vendor.id == OPENAI)?;
        let url = Url::parse(url.trim()).ok().filter(|url| url.scheme() == "http")?;
        let (host, port) = (url.host_str()?, url.port_or_known_default()?);
        let loopback = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        let usual = loopback && local::ports(environment).contains(&port);
        usual.then(|| format!("http://{host}:{port}"))
    }

    fn check_enforced(&self, route: &Route) -> Result<(), ModelError> {
        let Some(enforced) = self.enforced.as_deref() else { return Ok(()) };
        let openai = matches!(route, Route::Vendor { id, .. } if *id == OPENAI);
        if enforced == AUTH_NAME && openai {
            return Ok(());
        }
        let message = format!(
            "The auth type '{enforced}' is enforced, so models of other vendors cannot be used. Choose a model that it opens."
        );
        Err(ModelError::new(ModelErrorKind::Auth, message))
    }

    /// The service of a server that should stand at the address of its entry in the catalog.
    async fn on_this_machine(&self, vendor: Vendor) -> Result<Arc<Service>, ModelError> {
        let address = vendor.base_url.trim_end_matches("/v1").to_owned();
        let server = local::inspect(address.clone()).await.ok_or_else(|| {
            let message = format!(
                "{} does not answer at {address}. Start it, or use --model local/NAME to find it at another port.",
                vendor.name
            );
            ModelError::new(ModelErrorKind::Network, message)
        })?;
        self.service(address, vendor, Some(server))
    }

    fn service(
        &self,
        key: String,
        vendor: Vendor,
        server: Option<LocalServer>,
    ) -> Result<Arc<Service>, ModelError> {
        let mut services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(service) = services.get(&key) {
            return Ok(Arc::clone(service));
        }
        let service = Arc::new(Service::new(&self.wiring, vendor, server)?);
        services.insert(key, Arc::clone(&service));
        Ok(service)
    }

    fn model(
        &self,
        service: Arc<Service>,
        name: &str,
        alias: Option<&str>,
    ) -> Result<Built, ModelError> {
        let config = match alias {
            Some(alias) => self.configs.resolve(alias, Purpose::default())?.config,
            None => Map::new(),
        };
        let model = ChatModel::new(service, name, &config);
        Ok(Built { limits: model.limits(), family: "modern", model: Arc::new(model) })
    }
}

/// OpenAI's entry as it holds for the server that speaks in its place: its address and key are the
/// person's, what it takes is the server's.
fn served_by(vendor: Vendor, server: Option<&LocalServer>) -> Result<Vendor, ModelError> {
    let Some(server) = server else { return Ok(vendor) };
    let theirs = catalog::vendor(server.kind.vendor())?;
    Ok(Vendor { models: theirs.models, quirks: theirs.quirks, embedding_model: None, ..vendor })
}

fn not_found(name: &str, servers: &[LocalServer], ports: &[u16]) -> ModelError {
    if servers.is_empty() {
        let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
        let message = format!(
            "No model server answers on this machine (ports {}). Start {}, LM Studio, llama.cpp or vLLM; POLLUX_LOCAL_PORTS names other ports.",
            ports.join(", "),
            ServerKind::Ollama.name()
        );
        return ModelError::new(ModelErrorKind::Network, message);
    }
    let found: Vec<String> = servers.iter().map(LocalServer::describe).collect();
    let message =
        format!("No server on this machine has \"{name}\". There is {}.", found.join("; "));
    ModelError::new(ModelErrorKind::NotFound, message)
}
