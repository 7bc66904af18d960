//! The token of a connection: it is sent with each request, renewed before it expires and after the
//! server has rejected it, and replaced if another process has renewed it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::HeaderValue;
use pollux_net::{CredentialStore, StoredCredentials};
use pollux_shell::sandbox::own_change;
use serde_json::Value;
use url::Url;

use super::challenge::scopes;
use super::fetch::Fetcher;
use super::metadata::{identifier, is_usable};
use super::registration::Client;
use super::sign_in::further;
use super::token::{Purpose, TokenError, TokenRequest};
use super::{Authorization, Challenge, OAuthError, OAuthSettings, Refusal, now};
use crate::config::{Remote, ServerConfig};

/// Time before the expiry at which a token is renewed, in milliseconds.
const BUFFER: u64 = 5 * 60 * 1000;
/// Maximum time to wait for another process that renews the same token.
const LOCK_WAIT: Duration = Duration::from_secs(45);

/// Fields of stored credentials that Gemini CLI does not know: the secret of a client that was
/// registered, and true if it belongs into a header.
pub(super) const SECRET: &str = "clientSecret";
pub(super) const BASIC: &str = "clientSecretBasic";
/// Field with the permissions that the token lacks, separated by spaces.
pub(super) const REQUIRED: &str = "requiredScope";
/// Field with the identifier of the server, if it is another than its address.
pub(super) const RESOURCE: &str = "resource";

/// Token of one server.
#[derive(Debug)]
pub(crate) struct ServerTokens {
    authorization: Arc<Authorization>,
    server: String,
    url: Url,
    settings: OAuthSettings,
    held: Mutex<Held>,
}

/// Credentials as far as they are known.
#[derive(Debug, Clone, Default)]
enum Held {
    /// They have not been read yet.
    #[default]
    Unread,
    /// They were read.
    Read(Option<Arc<StoredCredentials>>),
}

impl ServerTokens {
    pub(crate) fn new(
        authorization: &Arc<Authorization>,
        config: &ServerConfig,
        remote: &Remote,
    ) -> Self {
        Self {
            authorization: Arc::clone(authorization),
            server: config.name.clone(),
            url: remote.url.clone(),
            settings: config.oauth.clone(),
            held: Mutex::default(),
        }
    }

    /// Returns the header that signs a request; `None` if the user has not signed in.
    ///
    /// # Errors
    /// The stored credentials cannot be read, or an expired token cannot be renewed now.
    pub(crate) async fn header(&self) -> Result<Option<HeaderValue>, OAuthError> {
        let Some(held) = self.current().await? else { return Ok(None) };
        if !needs_renewal(&held, now()) {
            return Ok(header(&held));
        }
        match self.renew(&held).await {
            Ok(renewed) => Ok(renewed.as_deref().and_then(header)),
            Err(_) if !is_expired(&held, now()) => Ok(header(&held)),
            Err(error) => Err(error),
        }
    }

    /// Records that the server has refused a request.
    pub(crate) fn note_refusal(&self, challenge: Challenge, had_token: bool) {
        self.authorization.set_refusal(&self.server, Refusal { challenge, had_token });
    }

    /// Replaces the token that the server has refused: by one that was stored in the meantime, or
    /// by a renewed one. Returns true if there is another token now.
    ///
    /// # Errors
    /// As for [`header`](Self::header).
    pub(crate) async fn replaced(
        &self,
        sent: Option<&HeaderValue>,
        challenge: &Challenge,
    ) -> Result<bool, OAuthError> {
        self.set(Held::Unread);
        let Some(held) = self.current().await? else { return Ok(false) };
        if header(&held).as_ref() != sent {
            return Ok(true);
        }
        // A renewed token has the same permissions.
        if challenge.lacks_scope {
            self.require(&held, challenge).await?;
            return Ok(false);
        }
        let renewed = self.renew(&held).await?;
        Ok(renewed.is_some_and(|renewed| header(&renewed).as_ref() != sent))
    }

    /// Stores the permissions that the token lacks, for a sign-in in any process.
    async fn require(
        &self,
        held: &StoredCredentials,
        challenge: &Challenge,
    ) -> Result<(), OAuthError> {
        let known = held.rest.get(REQUIRED).and_then(Value::as_str).unwrap_or_default();
        let all = scopes(&format!("{known} {}", challenge.scopes.join(" "))).join(" ");
        if all == known {
            return Ok(());
        }
        let mut changed = held.clone();
        changed.rest.insert(REQUIRED.to_owned(), Value::String(all));
        self.set(Held::Read(Some(Arc::new(changed.clone()))));
        Ok(self.authorization.save(changed).await?)
    }

    /// Returns the name of the server.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// Returns the credentials for this server.
    async fn current(&self) -> Result<Option<Arc<StoredCredentials>>, OAuthError> {
        if let Held::Read(held) = self.held.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            return Ok(held);
        }
        let stored = self.authorization.stored(&self.server).await?;
        let stored = stored.filter(|stored| is_for(stored, &self.url)).map(Arc::new);
        self.set(Held::Read(stored.clone()));
        Ok(stored)
    }

    fn set(&self, held: Held) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = held;
    }

    /// Renews a token. Returns the credentials afterwards; `None` if the user must sign in again.
    async fn renew(
        &self,
        held: &StoredCredentials,
    ) -> Result<Option<Arc<StoredCredentials>>, OAuthError> {
        let renewal = Renewal {
            authorization: Arc::clone(&self.authorization),
            server: self.server.clone(),
            url: self.url.clone(),
            settings: self.settings.clone(),
            known: held.token.access_token.clone(),
        };
        // A renewal that has begun uses up the refresh token, so it must not be interrupted.
        let done = tokio::spawn(renewal.run()).await;
        let renewed = done.unwrap_or_else(|error| Err(OAuthError::refused(error.to_string())));
        let renewed = renewed
            .map_err(|error| OAuthError::refused(format!("Failed to refresh auth token. {error}")))?
            .map(Arc::new);
        self.set(Held::Read(renewed.clone()));
        Ok(renewed)
    }
}

/// Renewal of a token.
struct Renewal {
    authorization: Arc<Authorization>,
    server: String,
    url: Url,
    settings: OAuthSettings,
    /// Access token that is to be replaced.
    known: String,
}

impl Renewal {
    async fn run(self) -> Result<Option<StoredCredentials>, OAuthError> {
        let name = self.server.clone();
        let read = move |store: &CredentialStore| {
            let lock = store.lock_refresh(&name, LOCK_WAIT)?;
            Ok((lock, store.get(&name)?))
        };
        let (lock, stored) = self.authorization.with_store(read).await?;
        let renewed = match stored.filter(|stored| is_for(stored, &self.url)) {
            None => Ok(None),
            // Another connection or process was faster.
            Some(stored)
                if stored.token.access_token != self.known && !is_expired(&stored, now()) =>
            {
                Ok(Some(stored))
            }
            Some(stored) => self.request(stored).await,
        };
        // Held until the new token is stored.
        drop(lock);
        renewed
    }

    /// Asks the authorization server for a new token, and stores it.
    async fn request(
        &self,
        mut stored: StoredCredentials,
    ) -> Result<Option<StoredCredentials>, OAuthError> {
        let Some(refresh_token) = stored.token.refresh_token.clone() else { return Ok(None) };
        let endpoint = stored.token_url.as_deref().and_then(|text| Url::parse(text).ok());
        let Some(endpoint) = endpoint.filter(is_usable) else { return Ok(None) };
        let client = self.client(&stored)?;
        let mut parameters = vec![
            ("grant_type", "refresh_token".to_owned()),
            ("refresh_token", refresh_token.clone()),
        ];
        let resource = stored.rest.get(RESOURCE).and_then(Value::as_str).map(str::to_owned);
        let resource = resource.unwrap_or_else(|| identifier(&self.url));
        parameters.extend(further(&self.settings, &resource));
        let request = TokenRequest {
            purpose: Purpose::Refresh,
            endpoint: &endpoint,
            client: &client,
            parameters,
        };
        let fetcher = Fetcher::of(&self.authorization.options.client, &self.url).await?;
        let mut token = match request.send(&fetcher).await {
            Ok(token) => token,
            Err(TokenError::InvalidGrant(_)) => {
                self.forget(refresh_token).await?;
                return Ok(None);
            }
            Err(TokenError::Other(error)) => return Err(error),
        };
        // A response without a refresh token or scope leaves them as they are.
        token.refresh_token = token.refresh_token.or(Some(refresh_token));
        token.scope = token.scope.or_else(|| stored.token.scope.take());
        token.rest = std::mem::take(&mut stored.token.rest);
        stored.token = token;
        stored.updated_at = now();
        self.authorization.save(stored.clone()).await?;
        Ok(Some(stored))
    }

    /// Removes the credentials with this refresh token, which is no longer valid.
    async fn forget(&self, refresh_token: String) -> Result<(), OAuthError> {
        let name = self.server.clone();
        let removing = move |store: &CredentialStore| {
            let stored = store.get(&name)?;
            // The user may have signed in again in the meantime.
            if stored.is_some_and(|stored| stored.token.refresh_token == Some(refresh_token)) {
                own_change(store.path(), || store.remove(&name))?;
            }
            Ok(())
        };
        Ok(self.authorization.with_store(removing).await?)
    }

    fn client(&self, stored: &StoredCredentials) -> Result<Client, OAuthError> {
        let id = stored.client_id.clone().or_else(|| self.settings.client_id.clone());
        let id =
            id.ok_or_else(|| OAuthError::refused("Missing required clientId for token refresh"))?;
        // A secret of the settings belongs to the client of the settings.
        let given = self.settings.client_secret.clone();
        let given = given.filter(|_| self.settings.client_id.as_ref() == Some(&id));
        let registered = stored.rest.get(SECRET).and_then(Value::as_str).map(str::to_owned);
        let is_basic = stored.rest.get(BASIC) == Some(&Value::Bool(true));
        Ok(Client { id, secret: given.or(registered), is_basic })
    }
}

/// True if credentials are for the server at this address. The name of a server is not enough: a
/// project can give any name to any address.
pub(super) fn is_for(stored: &StoredCredentials, url: &Url) -> bool {
    let named = stored.mcp_server_url.as_deref().and_then(|text| Url::parse(text).ok());
    let bare = |url: &Url| identifier(url).trim_end_matches('/').to_owned();
    named.is_some_and(|named| bare(&named) == bare(url))
}

fn header(stored: &StoredCredentials) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(&format!("Bearer {}", stored.token.access_token)).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn is_expired(stored: &StoredCredentials, now: u64) -> bool {
    stored.token.expires_at.is_some_and(|expires_at| expires_at <= now)
}

/// True if a token expires soon: within five minutes, or in the second half of a shorter life.
fn needs_renewal(stored: &StoredCredentials, now: u64) -> bool {
    stored.token.expires_at.is_some_and(|expires_at| {
        let life = expires_at.saturating_sub(stored.updated_at);
        expires_at <= now + BUFFER.min(life / 2)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stored(url: &str, updated_at: u64, expires_at: Option<u64>) -> StoredCredentials {
        serde_json::from_value(json!({
            "serverName": "s", "token": {"accessToken": "a", "expiresAt": expires_at},
            "mcpServerUrl": url, "updatedAt": updated_at,
        }))
        .unwrap()
    }

    #[test]
    fn tokens_are_renewed_in_time() {
        const MINUTE: u64 = 60_000;
        for (life, passed, expected) in [
            (60 * MINUTE, 54 * MINUTE, false),
            (60 * MINUTE, 55 * MINUTE, true),
            (2 * MINUTE, MINUTE / 2, false),
            (2 * MINUTE, MINUTE, true),
            (0, 0, true),
        ] {
            let start = 1_000_000;
            let stored = stored("https://h", start, Some(start + life));
            assert_eq!(needs_renewal(&stored, start + passed), expected, "{life} {passed}");
            assert!(!is_expired(&stored, start + passed) || life == 0);
        }
        assert!(!needs_renewal(&stored("https://h", 0, None), u64::MAX));
    }

    #[test]
    fn a_token_is_only_for_its_server() {
        let url = Url::parse("https://h/mcp?key=1").unwrap();
        for (named, is_same) in [
            ("https://h/mcp", true),
            ("https://h/mcp/", true),
            ("https://H:443/mcp?x", true),
            ("https://h/other", false),
            ("https://evil/mcp", false),
            ("http://h/mcp", false),
            ("", false),
        ] {
            assert_eq!(is_for(&stored(named, 0, None), &url), is_same, "{named}");
        }
        let mut nameless = stored("https://h/mcp", 0, None);
        nameless.mcp_server_url = None;
        assert!(!is_for(&nameless, &url));
    }
}
