//! Signing in to servers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt as _;
use futures::future::ready;
use pollux_config::names;
use pollux_mcp::{
    Authorization, AuthorizationOptions, CallbackSettings, ServerConfig, ServerState, SignInUser,
};
use pollux_net::google::GoogleSetup;
use pollux_net::{ClientOptions, CredentialFormat, CredentialStore};
use pollux_protocol::plain_text::visible;
use pollux_protocol::{
    CommandOutput, Operator, Origin, Question, QuestionChoice, QuestionOutcome, QuestionSubject,
    Severity,
};
use tokio::sync::mpsc;

use super::{SessionServers, StartPermission};
use crate::setup::Setup;

/// Time that a server has to start after the user has signed in.
const RESTART_PATIENCE: Duration = Duration::from_secs(30);

/// Receivers of what the user pastes, by the names of the servers.
pub(super) type WaitingSignIns = Mutex<HashMap<String, mpsc::UnboundedSender<String>>>;

impl Setup {
    /// Returns the sign-ins to servers. Reads nothing yet.
    pub fn authorization(&self) -> Arc<Authorization> {
        let environment = &self.loaded.environment;
        let lookup = |name: &str| environment.get(name).map(str::to_owned);
        let format = if environment.is_true(names::GEMINI_FORCE_ENCRYPTED_FILE_STORAGE) {
            CredentialFormat::Encrypted
        } else {
            CredentialFormat::Plain
        };
        let store = CredentialStore::of_servers(&self.places.gemini_dir(), format);
        let given = |name| environment.non_empty(name).map(str::to_owned);
        let is_workstation = environment.is_true(names::GOOGLE_CLOUD_WORKSTATIONS);
        let callback = CallbackSettings {
            port: given(names::OAUTH_CALLBACK_PORT),
            workstation: given(names::WEB_HOST).filter(|_| is_workstation),
        };
        let document = self.loaded.settings.text("pollux.mcp.clientMetadataUrl");
        let client = ClientOptions::from_environment(&lookup);
        let home = environment.home();
        let options = AuthorizationOptions {
            google: GoogleSetup::from_environment(&lookup, home.as_deref(), client.clone()),
            client,
            callback,
            client_document: document.map(str::to_owned),
        };
        Authorization::new(store, options)
    }

    /// Returns true if pages can be shown to the user in a browser.
    pub fn has_browser(&self) -> bool {
        let environment = &self.loaded.environment;
        pollux_shell::has_browser(&|name| environment.get(name).map(str::to_owned))
    }

    /// Opens a page in the user's browser.
    ///
    /// # Errors
    /// A message for the user.
    pub async fn open_page(&self, address: &str) -> Result<(), String> {
        let address = address.to_owned();
        let opened = tokio::task::spawn_blocking(move || pollux_shell::open_page(&address)).await;
        opened.unwrap_or_else(|error| Err(error.to_string()))
    }
}

impl SessionServers {
    /// Returns the names of the servers that the user can sign in to, as far as is known.
    pub(crate) fn signing(&self) -> Vec<String> {
        let waiting = self.statuses().into_iter();
        let waiting = waiting.filter(|server| server.state == ServerState::NeedsSignIn);
        let mut names: Vec<String> = waiting.map(|server| server.name).collect();
        for server in self.setup.configured_servers() {
            let is_enabled = |config: &ServerConfig| config.oauth.is_enabled;
            if server.config.is_ok_and(|config| config.as_ref().is_some_and(is_enabled))
                && !names.contains(&server.name)
            {
                names.push(server.name);
            }
        }
        names.sort();
        names
    }

    /// Passes on what the user has pasted. Returns false if no sign-in to this server waits for it.
    pub(crate) fn paste(&self, server: &str, text: &str) -> bool {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.get(server).is_some_and(|sender| sender.send(text.to_owned()).is_ok())
    }

    /// Lets the user sign in to a server, and starts it again.
    ///
    /// # Errors
    /// A message for the user.
    pub(crate) async fn sign_in(
        &self,
        name: &str,
        operator: &Arc<dyn Operator>,
        origin: Origin,
        say: &CommandOutput,
    ) -> Result<(), String> {
        let found = self.setup.configured_servers().into_iter().find(|one| one.name == name);
        let shown = visible(name);
        let (Some(server), Some(servers)) = (found, self.servers.get()) else {
            return Err(format!("MCP server '{shown}' not found."));
        };
        let failed =
            |reason: &str| format!("Failed to authenticate with MCP server '{shown}': {reason}");
        let config = match (&server.permission, &server.config) {
            (StartPermission::Blocked(reason), _) => return Err(failed(reason)),
            (_, Ok(Some(config))) => config.clone(),
            (_, Err(problem)) => return Err(failed(problem)),
            (_, Ok(None)) => return Err(failed("the entry has no address")),
        };
        say(format!("Starting OAuth authentication for MCP server '{shown}'..."));
        let (sender, pasted) = mpsc::unbounded_channel();
        let waiting = || self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting().insert(name.to_owned(), sender);
        let user = SessionUser {
            setup: &self.setup,
            server: name,
            operator,
            origin: Arc::new(origin),
            say,
            opens: Mutex::new(false),
            pasted: tokio::sync::Mutex::new(pasted),
        };
        let signed_in = servers.authorization().sign_in(&config, &user).await;
        signed_in.map_err(|error| failed(&error.to_string()))?;
        waiting().remove(name);
        say(format!("✅ Successfully authenticated with MCP server '{shown}'!"));
        say(format!("Restarting MCP server '{shown}'..."));
        self.launch(servers, server);
        let mut settling = servers.settling().filter(|server| ready(server.name == name));
        let settled = tokio::time::timeout(RESTART_PATIENCE, settling.next()).await;
        match settled.ok().flatten().map(|server| server.state) {
            Some(ServerState::Disconnected(reason)) => Err(failed(&reason)),
            Some(ServerState::NeedsSignIn) => Err(failed("the server rejects the new token")),
            _ => {
                say(format!("Successfully authenticated and reloaded tools for '{shown}'"));
                Ok(())
            }
        }
    }

    /// Lets the user sign in to a server that requires it, if its entry has `oauth.enabled`.
    pub(super) async fn sign_in_if_enabled(
        &self,
        name: &str,
        operator: &Arc<dyn Operator>,
        notices: &mpsc::UnboundedSender<(Severity, String)>,
    ) {
        let mut configured = self.setup.configured_servers().into_iter();
        let is_enabled = configured.any(|server| {
            let config = server.config.ok().flatten();
            server.name == name && config.is_some_and(|config| config.oauth.is_enabled)
        });
        if !is_enabled {
            return;
        }
        let sender = notices.clone();
        // The session has ended if nobody receives.
        let say: CommandOutput = Arc::new(move |text| drop(sender.send((Severity::Info, text))));
        let origin = Origin { session: self.session.as_str().into(), ..Origin::default() };
        if let Err(reason) = self.sign_in(name, operator, origin, &say).await {
            let name = visible(name);
            let text = format!(
                "OAuth configuration failed for '{name}'. Please authenticate manually with \
                 /mcp auth {name}\n{reason}"
            );
            drop(notices.send((Severity::Warning, text)));
        }
    }
}

/// The user of a session who signs in.
pub(crate) struct SessionUser<'s> {
    setup: &'s Setup,
    server: &'s str,
    operator: &'s Arc<dyn Operator>,
    origin: Arc<Origin>,
    say: &'s CommandOutput,
    /// True if the user wants the page to be opened.
    opens: Mutex<bool>,
    pasted: tokio::sync::Mutex<mpsc::UnboundedReceiver<String>>,
}

impl SessionUser<'_> {
    fn opens(&self) -> std::sync::MutexGuard<'_, bool> {
        self.opens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SignInUser for SessionUser<'_> {
    async fn agrees(&self, server: &str, page: &str) -> bool {
        let host = page.split('/').nth(2).unwrap_or_default();
        let text =
            format!("Authentication required for MCP Server: '{server}.'\nYou sign in at {host}.");
        let has_browser = self.setup.has_browser();
        let opening = has_browser.then(|| "Open the page in the browser".to_owned());
        let labels = ["Show the address of the page".to_owned(), "Do not sign in".to_owned()];
        let choices = QuestionChoice::options(opening.into_iter().chain(labels));
        let subject = QuestionSubject::SignIn { text };
        let question = Question::new(Arc::clone(&self.origin), subject, choices, None);
        let last = question.choices.len() - 1;
        match self.operator.ask(question).await.outcome {
            QuestionOutcome::Option(index) if index < last => {
                *self.opens() = has_browser && index == 0;
                true
            }
            _ => false,
        }
    }

    async fn show(&self, page: &str) {
        let name = visible(self.server);
        (self.say)(format!(
            "Sign in on this page:\n\n{page}\n\nIf the browser cannot reach this machine \
             afterwards, copy its address and type: /mcp auth {name} ADDRESS"
        ));
        let opens = *self.opens();
        if opens && let Err(error) = self.setup.open_page(page).await {
            (self.say)(format!("The browser cannot be opened: {}", visible(&error)));
        }
    }

    async fn pasted(&self) -> String {
        match self.pasted.lock().await.recv().await {
            Some(text) => text,
            // A later sign-in to this server has taken over.
            None => std::future::pending().await,
        }
    }
}
