//! Services of a run: vendors of the catalog, and servers on this machine.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pollux_protocol::{
    Abilities, CancellationToken, ModelError, ModelErrorKind, ModelListing, Prices as _,
};
use url::Url;

use crate::auth::{self, SignInContext};
use crate::catalog::{self, Family, SignIn, Vendor};
use crate::configs::{ModelConfigs, ModelTables};
use crate::dialect::{BuiltModel, Connection, DialectClient};
use crate::endpoint::{Endpoint, custom_address, dialect};
use crate::local::{self, LocalModel, LocalServer, ServerKind};
use crate::names;
use crate::prices::{LOCAL, PriceBook};
use crate::route::{Route, unknown_vendor};
use crate::wiring::Wiring;
use crate::{anthropic, gemini, openai, vertex};

/// Maximum time for all attempts to get a service's list of models.
const LIST_LIMIT: Duration = Duration::from_secs(30);

/// Function that creates a client of a dialect.
type Open = fn(Connection) -> Arc<dyn DialectClient>;

/// Dialects, by their names in the catalog.
const DIALECTS: [(&str, Open); 4] = [
    (gemini::DIALECT, gemini::open),
    (openai::DIALECT, openai::open),
    (openai::responses::DIALECT, openai::responses::open),
    (anthropic::DIALECT, anthropic::open),
];

/// Builder of models, which creates each client only once.
pub(crate) struct Services {
    wiring: Wiring,
    configs: Arc<ModelConfigs>,
    sign_in: SignInContext,
    /// Clients by vendor id, or by address for servers on this machine.
    clients: Mutex<HashMap<String, Arc<dyn DialectClient>>>,
}

impl Services {
    pub(crate) fn new(wiring: Wiring, configs: Arc<ModelConfigs>, sign_in: SignInContext) -> Self {
        Self { wiring, configs, sign_in, clients: Mutex::default() }
    }

    /// Checks, without using the network, that a route can be used.
    ///
    /// # Errors
    /// The errors of [`Self::build`] that can be detected without the network.
    pub(crate) fn check(&self, route: &Route) -> Result<(), ModelError> {
        self.check_enforced(route)?;
        if let Route::UnknownVendor(name) = route {
            return Err(unknown_vendor(name));
        }
        if let Route::Vendor { id, .. } = route {
            let vendor = catalog::vendor(id)?;
            if !vendor.quirks.local && self.local_address(vendor).is_none() {
                self.client(id, vendor, None)?;
            }
        }
        Ok(())
    }

    /// Returns the model of a route.
    ///
    /// # Errors
    /// [`ModelErrorKind::Auth`] without credentials, or when another sign-in is enforced;
    /// [`ModelErrorKind::Network`] and [`ModelErrorKind::NotFound`] when no server on this machine
    /// responds or has the model; [`ModelErrorKind::NotFound`] for an unknown vendor; the errors of
    /// requesting the list of models.
    pub(crate) async fn build(&self, route: &Route) -> Result<BuiltModel, ModelError> {
        self.check_enforced(route)?;
        match route {
            Route::Vendor { id, name, alias } => {
                let vendor = catalog::vendor(id)?;
                let client = if vendor.quirks.local {
                    self.on_this_machine(vendor).await?
                } else if let Some(address) = self.local_address(vendor) {
                    let server = local::inspect(address).await;
                    self.client(id, &served_by(vendor, server.as_ref())?, server)?
                } else {
                    self.client(id, vendor, None)?
                };
                let asked = vendor.model_variable.as_deref();
                let asked = asked.and_then(|name| self.sign_in.environment.non_empty(name));
                if let Some(name) = name.as_deref().or(asked.map(str::trim)) {
                    client.model(name, alias.as_deref())
                } else {
                    let name = default_model(vendor, &*client).await?;
                    let built = client.model(&name, alias.as_deref())?;
                    Ok(BuiltModel { is_first_listed: !route.is_geminis(), ..built })
                }
            }
            Route::UnknownVendor(name) => Err(unknown_vendor(name)),
            Route::Local(name) => {
                let ports = local::ports(&self.sign_in.environment);
                let servers = local::discover(&ports).await;
                let Some((server, model)) = local::select(&servers, name) else {
                    return Err(not_found(name, &servers, &ports));
                };
                let vendor = catalog::vendor(server.kind.vendor())?;
                let mut server = server.clone();
                local::complete(&mut server, &model.name).await;
                let client = self.client(&server.address, vendor, Some(server.clone()))?;
                client.model(&model.name, None)
            }
        }
    }

    /// Returns the known models of all usable vendors and local servers.
    pub(crate) async fn list(&self) -> Vec<ModelListing> {
        let prices = &**self.wiring.own_models();
        let signed_in = |vendor: &&'static Vendor| {
            let route = Route::Vendor { id: &vendor.id, name: None, alias: None };
            !vendor.quirks.local
                && self.check_enforced(&route).is_ok()
                && auth::authoriser(vendor, &self.sign_in).is_ok()
        };
        let all = catalog::all().iter().filter(signed_in);
        let mut listed: Vec<ModelListing> =
            all.flat_map(|vendor| vendor_models(vendor, prices, self.configs.tables())).collect();
        if self.check_enforced(&Route::Local(String::new())).is_ok() {
            let servers = local::discover(&local::ports(&self.sign_in.environment)).await;
            listed.extend(server_models(&servers, prices));
        }
        listed
    }

    /// Returns the address that the user set for a vendor, if it is a default address of local
    /// servers.
    fn local_address(&self, vendor: &Vendor) -> Option<String> {
        let environment = &self.sign_in.environment;
        let url =
            custom_address(vendor, environment).filter(|_| vendor.dialect == local::DIALECT)?;
        let url = Url::parse(url.trim()).ok().filter(|url| url.scheme() == "http")?;
        let (host, port) = (url.host_str()?, url.port_or_known_default()?);
        let loopback = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        let usual = loopback && local::ports(environment).contains(&port);
        usual.then(|| format!("http://{host}:{port}"))
    }

    /// Checks the enforced sign-in. It may be the vendor of the same name; the sign-in methods of
    /// Google perform their own check.
    fn check_enforced(&self, route: &Route) -> Result<(), ModelError> {
        let Some(enforced) = self.sign_in.settings.enforced_type.as_deref() else { return Ok(()) };
        if let Route::Vendor { id, .. } = route {
            let vendor = catalog::vendor(id)?;
            if vendor.sign_in.is_googles() || (vendor.stands_alone && vendor.id == enforced) {
                return Ok(());
            }
        }
        let message = format!(
            "The auth type '{enforced}' is enforced, so models of other vendors are not available. Choose a model that works with this auth type."
        );
        Err(ModelError::new(ModelErrorKind::Auth, message))
    }

    /// Returns the client of a server that is expected at the address in its catalog entry.
    async fn on_this_machine(&self, vendor: &Vendor) -> Result<Arc<dyn DialectClient>, ModelError> {
        let address = vendor.base_url.trim_end_matches("/v1").to_owned();
        let server = local::inspect(address.clone()).await.ok_or_else(|| {
            let message = format!(
                "{} does not respond at {address}. Start it, or use --model local/NAME to find it at another port.",
                vendor.name
            );
            ModelError::new(ModelErrorKind::Network, message)
        })?;
        self.client(&address, vendor, Some(server))
    }

    fn client(
        &self,
        key: &str,
        vendor: &Vendor,
        server: Option<LocalServer>,
    ) -> Result<Arc<dyn DialectClient>, ModelError> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(key) {
            return Ok(Arc::clone(client));
        }
        let wanted = dialect(vendor, &self.sign_in.environment)?;
        let (_, open) = DIALECTS
            .iter()
            .find(|(dialect, _)| *dialect == wanted)
            .ok_or_else(|| ModelError::new(ModelErrorKind::Config, "The dialect is not known."))?;
        let client = open(self.connection(vendor.clone(), server)?);
        clients.insert(key.to_owned(), Arc::clone(&client));
        Ok(client)
    }

    /// Returns the connection to a service, without using the network.
    ///
    /// # Errors
    /// [`ModelErrorKind::Auth`] without credentials, [`ModelErrorKind::Config`] for a wrong address
    /// or proxy.
    pub(crate) fn connection(
        &self,
        mut vendor: Vendor,
        server: Option<LocalServer>,
    ) -> Result<Connection, ModelError> {
        if let Some(server) = &server {
            vendor.base_url = server.base_url();
        }
        if server.is_some() || vendor.quirks.local {
            // A server on this machine bills nothing.
            vendor.price_list = Some(LOCAL.to_owned());
        }
        vendor.own = Arc::clone(self.wiring.own_models());
        if vendor.sign_in == SignIn::Vertex {
            vertex::place(&mut vendor, &self.sign_in);
        }
        let authoriser = auth::authoriser(&vendor, &self.sign_in)?;
        // Messages name the variable that matters.
        if let Some(variable) = auth::used_variable(&vendor, &self.sign_in.environment) {
            vendor.key_variable = Some(variable.to_owned());
        }
        let Wiring { startup_model, user_agent, content, .. } = &self.wiring;
        let agent = user_agent.naming(startup_model);
        let endpoint = Endpoint::new(&vendor, &self.sign_in.environment, agent)?;
        auth::check_address(&vendor, &endpoint, &self.sign_in)?;
        let direct = endpoint.is_loopback() && vendor.dialect == local::DIALECT;
        let exchange = self.wiring.exchange(endpoint.base(), direct, authoriser)?;
        Ok(Connection {
            vendor,
            endpoint,
            user_agent: user_agent.clone(),
            exchange,
            configs: Arc::clone(&self.configs),
            content: *content,
            project: auth::project(&self.sign_in.environment),
            server,
        })
    }
}

/// Returns the name of the model that is used when no model is named. Dropping the future cancels
/// the request.
async fn default_model(vendor: &Vendor, client: &dyn DialectClient) -> Result<String, ModelError> {
    let cancel = CancellationToken::new();
    let asking = client.default_model(&cancel);
    tokio::time::timeout(LIST_LIMIT, asking).await.unwrap_or_else(|_elapsed| {
        let variable = vendor.model_variable.as_deref();
        let variable = variable.map(|variable| format!(", or set {variable}"));
        let message = format!(
            "{} did not send its list of models within {} s (GET /models). Name a model with --model {}/NAME{}.",
            vendor.name,
            LIST_LIMIT.as_secs(),
            vendor.id,
            variable.unwrap_or_default()
        );
        Err(ModelError::new(ModelErrorKind::Network, message))
    })
}

/// Returns the models of a vendor that its entry or the price table names.
fn vendor_models(
    vendor: &'static Vendor,
    prices: &PriceBook,
    tables: &ModelTables,
) -> Vec<ModelListing> {
    let billed = vendor.price_list();
    let known = vendor.models.keys().map(String::as_str).filter(|name| !name.contains('*'));
    let mut seen = HashSet::new();
    // The user's own tables are about the models of the Gemini family.
    let own = tables.listed().filter(|_| vendor.family == Family::Gemini);
    let is_hidden =
        |name: &&str| vendor.family == Family::Gemini && tables.is_listed(name) == Some(false);
    let names = known.chain(prices.names(billed)).chain(own);
    let names = names.filter(|name| !is_hidden(name) && seen.insert(*name));
    let listing = |name: &str| {
        let facts = prices.facts(billed, name).or(vendor.facts(name));
        let mut limits = match vendor.family {
            Family::Gemini => names::limits(name),
            Family::Other => crate::openai::limits(catalog::UNKNOWN_CONTEXT),
        };
        limits.context = facts.context.unwrap_or(limits.context);
        ModelListing {
            name: vendor.full_name(name),
            vendor: vendor.name.clone(),
            limits,
            abilities: Abilities {
                tools: facts.tools,
                vision: facts.vision,
                max_output: facts.max_output,
            },
            price: prices.price(billed, name),
            dates: prices.dates(billed, name),
            origin: prices.origin(billed, name),
        }
    };
    names.map(listing).collect()
}

/// Returns the models of the servers on this machine.
fn server_models(servers: &[LocalServer], prices: &PriceBook) -> Vec<ModelListing> {
    let listing = |(name, server, model): (String, &LocalServer, &LocalModel)| {
        let vendor = catalog::vendor(server.kind.vendor()).ok();
        let facts = vendor.map(|vendor| vendor.facts(&model.name)).unwrap_or_default();
        let own = prices.facts(LOCAL, &model.name);
        let context = own.context.or(model.context).or(facts.context);
        let context = context.unwrap_or(catalog::UNKNOWN_CONTEXT);
        let facts = own.or(facts);
        ModelListing {
            name: format!("local/{name}"),
            vendor: server.kind.name().to_owned(),
            limits: crate::openai::limits(context),
            abilities: Abilities {
                tools: facts.tools,
                vision: facts.vision,
                max_output: own.max_output,
            },
            price: prices.price(LOCAL, &model.name),
            dates: prices.dates(LOCAL, &model.name),
            origin: prices.origin(LOCAL, &model.name),
        }
    };
    local::selectable(servers).into_iter().map(listing).collect()
}

/// Returns the catalog entry to use for a local server at a vendor's address: address and key are
/// those of the user's configuration, the capabilities are those of the server.
fn served_by(vendor: &Vendor, server: Option<&LocalServer>) -> Result<Vendor, ModelError> {
    let Some(server) = server else { return Ok(vendor.clone()) };
    let Vendor { models, quirks, .. } = catalog::vendor(server.kind.vendor())?.clone();
    Ok(Vendor { models, quirks, embedding_model: None, ..vendor.clone() })
}

fn not_found(name: &str, servers: &[LocalServer], ports: &[u16]) -> ModelError {
    if ports.is_empty() {
        let message = "No model server on this machine is searched for, because POLLUX_LOCAL_PORTS names no port. Unset it, or set it to the ports of your servers, such as 11434.";
        return ModelError::new(ModelErrorKind::Network, message);
    }
    if servers.is_empty() {
        let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
        let message = format!(
            "No model server responds on this machine (ports {}). Start {}, LM Studio, llama.cpp or vLLM, or set POLLUX_LOCAL_PORTS to other ports.",
            ports.join(", "),
            ServerKind::Ollama.name()
        );
        return ModelError::new(ModelErrorKind::Network, message);
    }
    let found: Vec<String> = servers.iter().map(LocalServer::describe).collect();
    let message =
        format!("No server on this machine has the model \"{name}\". Found: {}.", found.join("; "));
    ModelError::new(ModelErrorKind::NotFound, message)
}
