//! Signing in to servers with OAuth 2.1, as the authorization part of the Model Context Protocol
//! (2025-11-25) describes it.
//!
//! | module | contents |
//! |---|---|
//! | `settings` | `oauth` of an entry of `mcpServers` |
//! | `challenge` | header with which a server refuses a request (pure) |
//! | `metadata` | documents about a server and its authorization server, and their addresses (pure) |
//! | `fetch` | requests to addresses that a server names |
//! | `discovery` | from a server to the endpoints of its authorization server |
//! | `registration` | registration of Pollux as a client |
//! | `redirect` | answer of the authorization server in the address of the redirect (pure) |
//! | `callback` | local listener to which the browser is redirected |
//! | `code` | sign-in at a service that is no MCP server |
//! | `token` | exchange of a code, and renewal of a token |
//! | `reading` | everything that is read from servers, for fuzzing (pure) |
//! | `sign_in` | the steps from a server to a stored token |
//! | `tokens` | the token of a connection: it is sent, renewed, and replaced |
//!
//! The SDK has a client of its own. It is not used: it would bring in a second HTTP client's
//! features, a second generation of cryptographic crates, and other messages than Gemini CLI's; and
//! it does not accept token responses in form encoding, which some services send.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pollux_net::google::GoogleSetup;
use pollux_net::{ClientOptions, CredentialError, CredentialStore, StoredCredentials};
use pollux_protocol::plain_text::visible;

mod callback;
mod challenge;
mod code;
mod discovery;
mod fetch;
mod metadata;
mod reading;
mod redirect;
mod registration;
mod settings;
mod sign_in;
mod token;
mod tokens;

pub use callback::CallbackSettings;
pub(crate) use challenge::Challenge;
pub use code::{SignInCode, SignInPage, sign_in_code};
pub use reading::{OAuthReading, read_oauth};
pub use settings::OAuthSettings;
pub use sign_in::SignInUser;
pub(crate) use sign_in::challenge_of;
pub(crate) use tokens::ServerTokens;

/// Maximum length of a text of a server in a message, in characters.
const LONGEST_TEXT: usize = 300;

/// Failure of signing in or of renewing a token.
#[derive(Debug, thiserror::Error)]
pub enum OAuthError {
    /// The user refused.
    #[error("Authentication cancelled by user.")]
    Cancelled,
    /// The browser was not redirected in time.
    #[error("OAuth callback timeout")]
    Timeout,
    /// The stored credentials cannot be read or written.
    #[error(transparent)]
    Store(#[from] CredentialError),
    /// A request was not answered.
    #[error(transparent)]
    Network(#[from] pollux_net::Error),
    /// The server or its authorization server refused, or is not usable.
    #[error("{0}")]
    Refused(String),
}

impl OAuthError {
    fn refused(text: impl Into<String>) -> Self {
        Self::Refused(text.into())
    }
}

/// Options of the sign-ins to all servers.
#[derive(Debug, Clone, Default)]
pub struct AuthorizationOptions {
    /// Options of the HTTP client.
    pub client: ClientOptions,
    /// Settings of the listener for the browser.
    pub callback: CallbackSettings,
    /// Places of Google credentials.
    pub google: GoogleSetup,
    /// Address of a document that describes Pollux as a client (Client ID Metadata Document), as
    /// the user wrote it.
    pub client_document: Option<String>,
}

/// Sign-ins of all servers of a user.
#[derive(Debug)]
pub struct Authorization {
    store: CredentialStore,
    options: AuthorizationOptions,
    /// Last refusal of each server, by name.
    refusals: Mutex<HashMap<String, Refusal>>,
}

/// Refusal of a server.
#[derive(Debug, Clone, Default)]
struct Refusal {
    challenge: Challenge,
    /// True if the request had a stored token.
    had_token: bool,
}

impl Authorization {
    /// Creates the sign-ins with the credentials of this store. Reads nothing yet.
    pub fn new(store: CredentialStore, options: AuthorizationOptions) -> Arc<Self> {
        Arc::new(Self { store, options, refusals: Mutex::default() })
    }

    /// Returns the places of Google credentials.
    pub(crate) fn google(&self) -> GoogleSetup {
        self.options.google.clone()
    }

    /// Returns the message for a server that wants the user to sign in.
    pub fn remedy(&self, server: &str) -> String {
        let had_token = self.refusal(server).is_some_and(|refusal| refusal.had_token);
        let name = visible(server);
        if had_token {
            format!(
                "MCP server '{name}' rejected stored OAuth token. Please re-authenticate using: \
                 /mcp auth {name}"
            )
        } else {
            format!("MCP server '{name}' requires authentication using: /mcp auth {name}")
        }
    }

    /// Removes the stored credentials of a server. Returns false if there are none.
    ///
    /// # Errors
    /// [`CredentialError`].
    pub async fn sign_out(self: &Arc<Self>, server: &str) -> Result<bool, CredentialError> {
        let name = server.to_owned();
        self.with_store(move |store| {
            pollux_shell::sandbox::own_change(store.path(), || store.remove(&name))
        })
        .await
    }

    fn refusal(&self, server: &str) -> Option<Refusal> {
        self.refusals().get(server).cloned()
    }

    fn refusals(&self) -> std::sync::MutexGuard<'_, HashMap<String, Refusal>> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_refusal(&self, server: &str, refusal: Refusal) {
        self.refusals().insert(server.to_owned(), refusal);
    }

    async fn stored(
        self: &Arc<Self>,
        server: &str,
    ) -> Result<Option<StoredCredentials>, CredentialError> {
        let name = server.to_owned();
        self.with_store(move |store| store.get(&name)).await
    }

    /// Saves credentials, as a change of Pollux's own.
    async fn save(self: &Arc<Self>, credentials: StoredCredentials) -> Result<(), CredentialError> {
        self.with_store(move |store| {
            pollux_shell::sandbox::own_change(store.path(), || store.set(&credentials))
        })
        .await
    }

    /// Runs work with the store on a thread that may block.
    async fn with_store<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&CredentialStore) -> Result<T, CredentialError> + Send + 'static,
    ) -> Result<T, CredentialError> {
        let this = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&this.store)).await;
        done.unwrap_or_else(|error| Err(CredentialError::NoKey(error.to_string())))
    }
}

/// Returns a text of a server in the form that is shown: one line, without control characters.
fn shown(text: &str) -> String {
    let head: String = text.chars().take(4 * LONGEST_TEXT).collect();
    let line = visible(&pollux_protocol::plain_text::one_line(&head));
    line.chars().take(LONGEST_TEXT).collect()
}

/// Returns the time in milliseconds since 1970.
fn now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| since.as_millis() as u64)
}
