//! Authorisers that sign requests with Google tokens, and renew them in time.

use std::sync::Arc;

use async_trait::async_trait;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, StatusCode};
use tokio::sync::Mutex;

use super::grants::Grants;
use super::requests::{Requests, sensitive};
use super::search::find;
use super::{CLOUD_PLATFORM, GoogleError, GoogleSetup, GoogleToken, now};
use crate::authoriser::{Authoriser, Renewal};
use crate::client::{HttpClient, HttpRequest};
use crate::error::{Error, StatusError};

/// Time before the expiry at which an access token is renewed, in seconds.
const BUFFER: i64 = 225;
/// The same for ID tokens.
const ID_BUFFER: i64 = 300;

/// Header with the project that a request is billed to.
const QUOTA_PROJECT: HeaderName = HeaderName::from_static("x-goog-user-project");

/// Signs requests with an access token of the credentials of the user or the machine. They are
/// searched for when the first request is signed. Clones share the token.
#[derive(Debug, Clone)]
pub struct GoogleAuthoriser {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    setup: GoogleSetup,
    scopes: Vec<String>,
    requests: Requests,
    /// Locked during a renewal, so that many requests renew the token once.
    held: Mutex<Option<Held>>,
}

/// Token and the project that belongs to it.
#[derive(Debug, Clone)]
struct Held {
    token: GoogleToken,
    quota_project: Option<String>,
    /// Description of the credentials.
    who: String,
}

impl GoogleAuthoriser {
    /// Creates an authoriser. Opens and reads nothing yet.
    ///
    /// # Errors
    /// [`Error::InvalidOptions`] for invalid options of the HTTP client.
    pub fn new(setup: GoogleSetup, scopes: Vec<String>) -> Result<Self, Error> {
        let http = HttpClient::new(setup.client.clone())?;
        let requests = Requests { http, backoff: setup.backoff };
        let shared = Shared { setup, scopes, requests, held: Mutex::default() };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Returns a valid token.
    ///
    /// # Errors
    /// [`GoogleError`].
    pub async fn token(&self) -> Result<GoogleToken, GoogleError> {
        Ok(self.shared.current().await?.token)
    }
}

impl Shared {
    async fn current(&self) -> Result<Held, GoogleError> {
        let mut held = self.held.lock().await;
        if let Some(held) = &*held
            && now() < held.token.expires_at - BUFFER
        {
            return Ok(held.clone());
        }
        match (self.requested().await, &*held) {
            (Ok(new), _) => {
                *held = Some(new.clone());
                Ok(new)
            }
            (Err(_), Some(old)) if now() < old.token.expires_at => Ok(old.clone()),
            (Err(error), _) => Err(error),
        }
    }

    async fn requested(&self) -> Result<Held, GoogleError> {
        let source = find(&self.setup).await?;
        let token = source.token(&self.setup, &self.requests, &self.scopes).await?;
        let own = self.setup.quota_project.as_deref();
        let quota_project = own.or_else(|| source.quota_project()).map(str::to_owned);
        Ok(Held { token, quota_project, who: source.description() })
    }
}

#[async_trait]
impl Authoriser for GoogleAuthoriser {
    async fn authorise(&self, request: &HttpRequest) -> Result<HeaderMap, Error> {
        let held = self.shared.current().await?;
        let mut headers = HeaderMap::new();
        let bearer = sensitive(&format!("Bearer {}", held.token.secret))?;
        headers.insert(AUTHORIZATION, bearer);
        // A header that the user has set takes precedence.
        if let Some(project) = held.quota_project
            && !request.headers.contains_key(QUOTA_PROJECT)
        {
            let mut project = sensitive(&project)?;
            // Messages of the service name the project.
            project.set_sensitive(false);
            headers.insert(QUOTA_PROJECT, project);
        }
        Ok(headers)
    }

    async fn refused(
        &self,
        signed_with: &HeaderMap,
        refusal: &StatusError,
    ) -> Result<Renewal, Error> {
        let mut held = self.shared.held.lock().await;
        Ok(forget(&mut held, |held| &held.token, signed_with, refusal))
    }
}

/// Forgets a token that a service has rejected, so that the next attempt gets another one.
fn forget<T>(
    held: &mut Option<T>,
    token: impl Fn(&T) -> &GoogleToken,
    signed_with: &HeaderMap,
    refusal: &StatusError,
) -> Renewal {
    if refusal.status != StatusCode::UNAUTHORIZED {
        return Renewal::Unchanged;
    }
    let sent = signed_with.get(AUTHORIZATION).map(http::HeaderValue::as_bytes).unwrap_or_default();
    let is_same = |held: &T| sent.strip_prefix(b"Bearer ") == Some(token(held).secret.as_bytes());
    if held.as_ref().is_some_and(is_same) {
        *held = None;
    }
    Renewal::Renewed
}

/// Signs requests with ID tokens of a service account, for services that know users by them, such
/// as Identity-Aware Proxy. The user's credentials must be allowed to create these tokens.
#[derive(Debug)]
pub struct IdTokenAuthoriser {
    /// Credentials that create the tokens.
    access: GoogleAuthoriser,
    account: String,
    audience: String,
    held: Mutex<Option<GoogleToken>>,
}

impl IdTokenAuthoriser {
    /// Creates an authoriser for a service account (its address) and an audience (the client id of
    /// the service). Opens and reads nothing yet.
    ///
    /// # Errors
    /// [`Error::InvalidOptions`] for invalid options of the HTTP client.
    pub fn new(setup: GoogleSetup, account: String, audience: String) -> Result<Self, Error> {
        let access = GoogleAuthoriser::new(setup, vec![CLOUD_PLATFORM.to_owned()])?;
        Ok(Self { access, account, audience, held: Mutex::default() })
    }
}

#[async_trait]
impl Authoriser for IdTokenAuthoriser {
    async fn authorise(&self, _request: &HttpRequest) -> Result<HeaderMap, Error> {
        let mut held = self.held.lock().await;
        if held.as_ref().is_none_or(|token| now() >= token.expires_at - ID_BUFFER) {
            let shared = &self.access.shared;
            let Held { token, who, .. } = shared.current().await?;
            let grants = Grants { requests: &shared.requests, who: &who };
            let iam = &shared.setup.iam;
            let new = grants.id_token(iam, &self.account, &self.audience, &token).await;
            *held = Some(new?);
        }
        let mut headers = HeaderMap::new();
        if let Some(token) = &*held {
            let bearer = sensitive(&format!("Bearer {}", token.secret));
            headers.insert(AUTHORIZATION, bearer?);
        }
        Ok(headers)
    }

    async fn refused(
        &self,
        signed_with: &HeaderMap,
        refusal: &StatusError,
    ) -> Result<Renewal, Error> {
        Ok(forget(&mut *self.held.lock().await, |token| token, signed_with, refusal))
    }
}
