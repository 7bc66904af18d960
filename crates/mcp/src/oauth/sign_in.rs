//! The steps from a server to a stored token.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method};
use pollux_net::{HttpRequest, StoredCredentials, StoredToken};
use rand::RngCore as _;
use serde_json::{Map, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::callback::Callback;
use super::challenge::scopes;
use super::discovery::{Discovered, discover, registrar, undiscovered};
use super::fetch::Fetcher;
use super::metadata::{AuthorizationServer, BASIC_SECRET, NO_SECRET, identifier, is_document};
use super::redirect::{Expected, pasted};
use super::registration::{Client, register};
use super::token::{Purpose, TokenRequest};
use super::tokens::{BASIC, REQUIRED, RESOURCE, SECRET, is_for};
use super::{Authorization, Challenge, OAuthError, OAuthSettings, now};
use crate::config::{Remote, ServerConfig};

/// Time that the user has to sign in.
const PATIENCE: Duration = Duration::from_mins(5);

/// The user who signs in.
#[async_trait]
pub trait SignInUser: Send + Sync {
    /// Asks whether the user wants to sign in to a server on this page.
    async fn agrees(&self, server: &str, page: &str) -> bool;

    /// Shows the address of the page, and opens it if that is possible and wanted.
    async fn show(&self, page: &str);

    /// Waits until the user pastes the address to which the browser was redirected, or the code in
    /// it. Never returns if the user cannot paste anything.
    async fn pasted(&self) -> String;
}

/// Everything that a request to the authorization server needs.
struct Plan {
    authorization_endpoint: Url,
    token_endpoint: Url,
    /// Metadata of the authorization server, if they were read.
    server: Option<AuthorizationServer>,
    /// Identifier of the server, for the parameter `resource`.
    resource: String,
    scopes: Vec<String>,
}

impl Authorization {
    /// Lets the user sign in to a server, and stores the token. Takes at most five minutes and the
    /// time for some requests. Dropping the future cancels it.
    ///
    /// # Errors
    /// [`OAuthError`].
    pub async fn sign_in(
        self: &Arc<Self>,
        config: &ServerConfig,
        user: &dyn SignInUser,
    ) -> Result<(), OAuthError> {
        let remote = config.endpoint.remote().ok_or_else(|| {
            OAuthError::refused("only servers with an address can require authentication")
        })?;
        let settings = &config.oauth;
        let fetcher = Fetcher::of(&self.options.client, &remote.url).await?;
        let plan = self.plan(config, remote, &fetcher).await?;
        let verifier = random::<64>();
        let callback = Callback::open(&self.options.callback, settings).await?;
        let document = self.options.client_document.as_deref();
        let client = match known_client(settings, &plan, document)? {
            Some(client) => client,
            None => registered_client(&fetcher, settings, &plan, &callback.redirect).await?,
        };
        let names_issuer = plan.server.as_ref().is_some_and(|server| server.names_itself);
        let issuer = plan.server.as_ref().map(|server| server.issuer.clone());
        let issuer = issuer.filter(|issuer| !issuer.is_empty());
        let expected = Expected { state: random::<16>(), issuer, names_issuer };
        let page = page(&plan, settings, &client, &callback.redirect, &verifier, &expected.state);
        if !user.agrees(&config.name, page.as_str()).await {
            return Err(OAuthError::Cancelled);
        }
        let redirect = callback.redirect.clone();
        let code = code_of(callback, &expected, &page, user).await?;
        let mut parameters = vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code", code),
            ("redirect_uri", redirect),
            ("code_verifier", verifier),
        ];
        parameters.extend(further(settings, &plan.resource));
        let endpoint = &plan.token_endpoint;
        let request =
            TokenRequest { purpose: Purpose::Exchange, endpoint, client: &client, parameters };
        let token = request.send(&fetcher).await?;
        self.save(credentials(config, &remote.url, plan, client, token)).await?;
        self.refusals().remove(&config.name);
        Ok(())
    }

    /// Determines endpoints and permissions.
    async fn plan(
        self: &Arc<Self>,
        config: &ServerConfig,
        remote: &Remote,
        fetcher: &Fetcher,
    ) -> Result<Plan, OAuthError> {
        let settings = &config.oauth;
        let challenge = match self.refusal(&config.name) {
            Some(refusal) => refusal.challenge,
            None => challenge(fetcher, config, remote).await,
        };
        let given = settings.authorization_url.clone().zip(settings.token_url.clone());
        let (endpoints, server, resource, known) = if let Some(endpoints) = given {
            (endpoints, None, None, Vec::new())
        } else {
            let found = discover(fetcher, &remote.url, &challenge).await?;
            let Discovered { server, resource, scopes } = found;
            let either = |given: &Option<Url>, found: &Url| given.as_ref().unwrap_or(found).clone();
            let endpoints = (
                either(&settings.authorization_url, &server.authorization_endpoint),
                either(&settings.token_url, &server.token_endpoint),
            );
            (endpoints, Some(server), resource, scopes)
        };
        let (authorization_endpoint, token_endpoint) = endpoints;
        let mut wanted = if !settings.scopes.is_empty() {
            settings.scopes.clone()
        } else if !challenge.scopes.is_empty() {
            challenge.scopes.clone()
        } else {
            known
        };
        let stored = self.stored(&config.name).await?;
        let stored = stored.filter(|stored| is_for(stored, &remote.url));
        let required = stored.as_ref().and_then(|stored| stored.rest.get(REQUIRED)?.as_str());
        if challenge.lacks_scope || required.is_some() {
            // More permissions, in addition to those that the token has.
            let granted = stored.as_ref().and_then(|stored| stored.token.scope.as_deref());
            let (asked, lacking) = (wanted.join(" "), challenge.scopes.join(" "));
            let all = [granted.unwrap_or_default(), &asked, &lacking, required.unwrap_or_default()];
            wanted = scopes(&all.join(" "));
        }
        let resource = resource.unwrap_or_else(|| identifier(&remote.url));
        Ok(Plan { authorization_endpoint, token_endpoint, server, resource, scopes: wanted })
    }
}

/// Shows the page to the user, and returns the code that the browser brings or the user pastes.
pub(super) async fn code_of(
    callback: Callback,
    expected: &Expected,
    page: &Url,
    user: &dyn SignInUser,
) -> Result<String, OAuthError> {
    // The listener answers while the page is being opened.
    let showing = async {
        user.show(page.as_str()).await;
        user.pasted().await
    };
    let waiting = async {
        tokio::select! {
            code = callback.code(expected) => code,
            text = showing => pasted(&text, expected).map_err(OAuthError::from),
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.map_err(|_| OAuthError::Timeout)?
}

/// Returns the challenge of PKCE for a verifier.
pub(super) fn challenged(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

/// Returns the result of a sign-in as it is stored.
fn credentials(
    config: &ServerConfig,
    server: &Url,
    plan: Plan,
    client: Client,
    mut token: StoredToken,
) -> StoredCredentials {
    // A response without scope grants what was asked for (RFC 6749, section 5.1).
    let wanted = (!plan.scopes.is_empty()).then(|| plan.scopes.join(" "));
    token.scope = token.scope.or(wanted);
    let mut rest = Map::new();
    // Gemini CLI forgets a secret from the registration, so that it cannot renew the token.
    if config.oauth.client_secret.is_none() {
        rest.extend(client.secret.map(|secret| (SECRET.to_owned(), json!(secret))));
    }
    rest.extend(client.is_basic.then(|| (BASIC.to_owned(), json!(true))));
    let address = identifier(server);
    rest.extend((plan.resource != address).then(|| (RESOURCE.to_owned(), json!(plan.resource))));
    StoredCredentials {
        server_name: config.name.clone(),
        token,
        client_id: Some(client.id),
        token_url: Some(plan.token_endpoint.into()),
        mcp_server_url: Some(address),
        updated_at: now(),
        rest,
    }
}

/// Returns the client of the settings: the one that is registered with the server, or the one that
/// `document` describes, if the server reads such documents and the settings name no address for
/// registrations.
fn known_client(
    settings: &OAuthSettings,
    plan: &Plan,
    document: Option<&str>,
) -> Result<Option<Client>, OAuthError> {
    if let Some(id) = settings.client_id.clone() {
        let secret = settings.client_secret.clone();
        let method = plan.server.as_ref().map_or(NO_SECRET, |server| server.client_method);
        let is_basic = method == BASIC_SECRET && secret.is_some();
        return Ok(Some(Client { id, secret, is_basic }));
    }
    let reads_documents = plan.server.as_ref().is_some_and(|server| server.reads_documents);
    let Some(document) = document.filter(|_| reads_documents) else { return Ok(None) };
    if settings.registration_url.is_some() {
        return Ok(None);
    }
    if !is_document(document) {
        return Err(OAuthError::refused(
            "`pollux.mcp.clientMetadataUrl` must begin with https:// and have a path",
        ));
    }
    Ok(Some(Client { id: document.to_owned(), secret: None, is_basic: false }))
}

/// Registers a client.
async fn registered_client(
    fetcher: &Fetcher,
    settings: &OAuthSettings,
    plan: &Plan,
    redirect: &str,
) -> Result<Client, OAuthError> {
    let found;
    let endpoint = match (&settings.registration_url, &plan.server) {
        (Some(endpoint), _) => Some(endpoint),
        (None, Some(server)) => server.registration_endpoint.as_ref(),
        (None, None) => {
            let page = &plan.authorization_endpoint;
            found = registrar(fetcher, settings.issuer.as_ref(), page).await?;
            found.registration_endpoint.as_ref()
        }
    };
    let endpoint = endpoint.ok_or_else(|| {
        OAuthError::refused("No client ID provided and dynamic registration not supported")
    })?;
    let method = plan.server.as_ref().map_or(NO_SECRET, |server| server.client_method);
    let registered = register(fetcher, endpoint, redirect, &plan.scopes, method).await;
    // Many servers without metadata have no sign-in at all: then the guess explains nothing.
    let is_assumed = plan.server.as_ref().is_some_and(|server| server.is_assumed);
    if is_assumed { registered.map_err(|_| undiscovered(&[])) } else { registered }
}

/// Returns the address of the page on which the user signs in.
fn page(
    plan: &Plan,
    settings: &OAuthSettings,
    client: &Client,
    redirect: &str,
    verifier: &str,
    state: &str,
) -> Url {
    let mut page = plan.authorization_endpoint.clone();
    let challenge = challenged(verifier);
    page.set_fragment(None);
    let mut query = page.query_pairs_mut();
    query.extend_pairs([
        ("client_id", client.id.as_str()),
        ("response_type", "code"),
        ("redirect_uri", redirect),
        ("state", state),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ]);
    if !plan.scopes.is_empty() {
        query.append_pair("scope", &plan.scopes.join(" "));
    }
    query.extend_pairs(further(settings, &plan.resource));
    drop(query);
    page
}

/// Returns the parameters that all requests for a token have.
pub(super) fn further(
    settings: &OAuthSettings,
    resource: &str,
) -> impl Iterator<Item = (&'static str, String)> {
    let audience = settings.audiences.join(" ");
    let audience = (!audience.is_empty()).then_some(("audience", audience));
    audience.into_iter().chain([("resource", resource.to_owned())])
}

/// Sends a request without a token to a server, and returns what its refusal says.
async fn challenge(fetcher: &Fetcher, config: &ServerConfig, remote: &Remote) -> Challenge {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    let mut request = HttpRequest { headers, ..HttpRequest::get(remote.url.clone()) };
    if config.transport() == "http" {
        let message = json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "gemini-cli-mcp-client", "version": env!("CARGO_PKG_VERSION")},
            },
        });
        request.method = Method::POST;
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request.body = vec![message.to_string().into_bytes().into()];
    }
    // A server that cannot be reached is reported by the discovery.
    let Ok((_, headers)) = fetcher.headers(request).await else { return Challenge::default() };
    challenge_of(&headers)
}

/// Reads the challenge in the headers of a response.
pub(crate) fn challenge_of(headers: &HeaderMap) -> Challenge {
    let values = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
    Challenge::parse(&values.collect::<Vec<_>>().join(", "))
}

/// Returns random bytes in base64.
pub(super) fn random<const BYTES: usize>() -> String {
    let mut bytes = [0; BYTES];
    rand::rng().fill_bytes(&mut bytes);
    URL_SAFE_NO_PAD.encode(bytes)
}
