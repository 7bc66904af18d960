//! Sign-in of the user to Google, in the file that Gemini CLI keeps it in.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, StatusCode};
use pollux_fs::WriteOptions;
use pollux_net::google::{
    CLOUD_PLATFORM, GoogleAuthoriser, GoogleSetup, Grant, OAuthClient, UserTokens, request_tokens,
};
use pollux_net::{Authoriser, Error, HttpRequest, RefreshLock, Renewal, StatusError};
use pollux_shell::sandbox::own_change;
use tokio::sync::Mutex;

/// Name of the file, in the user's folder of settings.
pub const FILE: &str = "oauth_creds.json";
/// Maximum size of the file, in bytes.
const LARGEST: u64 = 1 << 20;
/// Maximum time to wait for another process that renews the same token.
const LOCK_WAIT: Duration = Duration::from_secs(45);

/// Signs requests with the token of the stored sign-in; without one, with other Google credentials.
#[derive(Debug)]
pub(crate) struct StoredSignIn {
    renewal: Renewing,
    fallback: GoogleAuthoriser,
    held: Mutex<Held>,
}

/// Everything that the renewal of a token needs.
#[derive(Debug, Clone)]
struct Renewing {
    path: PathBuf,
    /// Client that the sign-in was made with.
    client: Option<OAuthClient>,
    setup: GoogleSetup,
}

#[derive(Debug, Default)]
struct Held {
    tokens: Option<UserTokens>,
    /// Access token that a service has rejected.
    rejected: Option<String>,
}

impl StoredSignIn {
    /// Creates an authoriser for this file. Reads nothing yet.
    ///
    /// # Errors
    /// [`Error::InvalidOptions`] for invalid options of the HTTP client.
    pub(crate) fn new(
        path: PathBuf,
        client: Option<OAuthClient>,
        setup: GoogleSetup,
    ) -> Result<Self, Error> {
        let fallback = GoogleAuthoriser::new(setup.clone(), vec![CLOUD_PLATFORM.to_owned()])?;
        let renewal = Renewing { path, client, setup };
        Ok(Self { renewal, fallback, held: Mutex::default() })
    }

    /// Returns the token; `None` if there is no sign-in, or none that is still valid.
    async fn current(&self) -> Result<Option<UserTokens>, Error> {
        let mut held = self.held.lock().await;
        let usable = |tokens: &UserTokens, held: &Held| {
            !tokens.needs_renewal() && held.rejected.as_ref() != Some(&tokens.access_token)
        };
        if let Some(tokens) = held.tokens.as_ref().filter(|tokens| usable(tokens, &held)) {
            return Ok(Some(tokens.clone()));
        }
        let path = self.renewal.path.clone();
        let Some(stored) = blocking(move || read(&path)).await? else { return Ok(None) };
        let is_rejected = held.rejected.as_ref() == Some(&stored.access_token);
        let tokens = if usable(&stored, &held) {
            Some(stored)
        } else {
            let renewal = self.renewal.clone();
            let known = stored.access_token.clone();
            // A renewal that has begun must not be interrupted.
            let renewed = tokio::spawn(renewal.run(known)).await;
            let renewed =
                renewed.unwrap_or_else(|error| Err(Error::Credentials(error.to_string())));
            match renewed {
                Ok(Some(renewed)) => Some(renewed),
                Err(error) if !stored.is_valid() || is_rejected => return Err(error),
                _ => Some(stored).filter(|stored| stored.is_valid() && !is_rejected),
            }
        };
        held.tokens.clone_from(&tokens);
        Ok(tokens)
    }
}

impl Renewing {
    /// Renews the access token `known`. Returns `None` if that is not possible without the user.
    async fn run(self, known: String) -> Result<Option<UserTokens>, Error> {
        let Some(client) = &self.client else { return Ok(None) };
        let path = self.path.clone();
        let (lock, stored) = blocking(move || {
            let folder = path.parent().unwrap_or(Path::new("."));
            let lock = RefreshLock::of_user(folder, LOCK_WAIT).map_err(|error| refused(&error))?;
            Ok((lock, read(&path)?))
        })
        .await?;
        let Some(stored) = stored else { return Ok(None) };
        // Another process was faster.
        if stored.access_token != known && !stored.needs_renewal() {
            return Ok(Some(stored));
        }
        let Some(refresh_token) = stored.refresh_token.clone() else { return Ok(None) };
        let mut tokens =
            request_tokens(&self.setup, client, Grant::Refresh(&refresh_token)).await?;
        tokens.refresh_token = tokens.refresh_token.or(Some(refresh_token));
        for (name, value) in stored.rest {
            tokens.rest.entry(name).or_insert(value);
        }
        let (path, written) = (self.path, tokens.clone());
        blocking(move || write(&path, &written)).await?;
        // Held until the new token is stored.
        drop(lock);
        Ok(Some(tokens))
    }

    /// Returns what to do if the sign-in is missing or has expired.
    fn remedy(&self, cause: &str) -> String {
        let path = self.path.display();
        let state = if pollux_fs::info(&self.path).is_ok() {
            format!("The Google sign-in in {path} has expired")
        } else {
            format!("You are not signed in to Google: {path} does not exist")
        };
        let login = if self.client.is_some() {
            "run pollux auth login"
        } else {
            "set pollux.auth.googleClientId and pollux.auth.googleClientSecret to an OAuth client of your own and run pollux auth login"
        };
        format!(
            "{state}. Use a key (GEMINI_API_KEY), or {login}. Or use other credentials: {cause}"
        )
    }
}

#[async_trait]
impl Authoriser for StoredSignIn {
    async fn authorise(&self, request: &HttpRequest) -> Result<HeaderMap, Error> {
        let Some(tokens) = self.current().await? else {
            return self.fallback.authorise(request).await.map_err(|error| match error {
                Error::Credentials(cause) => Error::Credentials(self.renewal.remedy(&cause)),
                other => other,
            });
        };
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, bearer(&tokens)?);
        Ok(headers)
    }

    async fn refused(
        &self,
        signed_with: &HeaderMap,
        refusal: &StatusError,
    ) -> Result<Renewal, Error> {
        let mut held = self.held.lock().await;
        let Some(tokens) = held.tokens.take() else {
            drop(held);
            return self.fallback.refused(signed_with, refusal).await;
        };
        if refusal.status != StatusCode::UNAUTHORIZED {
            held.tokens = Some(tokens);
            return Ok(Renewal::Unchanged);
        }
        if signed_with.get(AUTHORIZATION) == Some(&bearer(&tokens)?) {
            held.rejected = Some(tokens.access_token);
        } else {
            held.tokens = Some(tokens);
        }
        Ok(Renewal::Renewed)
    }
}

fn bearer(tokens: &UserTokens) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::from_str(&format!("Bearer {}", tokens.access_token))
        .map_err(|_| Error::Credentials("The stored token is not valid.".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Reads the file; `None` if it is missing.
fn read(path: &Path) -> Result<Option<UserTokens>, Error> {
    let bytes = match pollux_fs::read_bytes(path, LARGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(refused(&error)),
    };
    let failed = |cause| {
        let path = path.display();
        Error::Credentials(format!("Cannot use {path}: {cause}. Delete it and sign in again."))
    };
    UserTokens::read(&bytes).map(Some).map_err(failed)
}

/// Writes the file of a sign-in to Google, as a change of Pollux's own. Blocks.
///
/// # Errors
/// A message for the user.
pub fn write_google_sign_in(path: &Path, tokens: &UserTokens) -> Result<(), String> {
    write(path, tokens).map_err(|error| error.to_string())
}

fn write(path: &Path, tokens: &UserTokens) -> Result<(), Error> {
    let writing =
        || pollux_fs::write_atomic(path, &tokens.to_bytes(), &WriteOptions::private()).map(drop);
    own_change(path, writing).map_err(|error| refused(&error))
}

fn refused(error: &pollux_fs::Error) -> Error {
    Error::Credentials(format!("Cannot use the Google sign-in: {error}."))
}

/// Runs work with files on a thread that may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Error::Credentials(error.to_string())))
}
