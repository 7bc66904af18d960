//! Signing in to Google, and the explanation of the sign-in that a run uses.

use std::path::PathBuf;

use pollux_config::names;
use pollux_mcp::{CallbackSettings, OAuthError, SignInPage, SignInUser, sign_in_code};
use pollux_models::SignInReport;
use pollux_net::ClientOptions;
use pollux_net::google::{
    CLOUD_PLATFORM, GoogleError, GoogleSetup, Grant, OAuthClient, request_tokens,
};
use url::Url;

use crate::setup::Setup;

/// Page of Google on which users sign in. It gives a refresh token every time.
const PAGE: &str =
    "https://accounts.google.com/o/oauth2/v2/auth?access_type=offline&prompt=consent";
/// Address of this machine to which the browser is redirected, without the port.
const REDIRECT: &str = "http://127.0.0.1/oauth2callback";
/// Permissions of Gemini CLI.
const SCOPES: [&str; 3] = [
    CLOUD_PLATFORM,
    "https://www.googleapis.com/auth/userinfo.email",
    "https://www.googleapis.com/auth/userinfo.profile",
];

/// Failure of signing in to Google.
#[derive(Debug, thiserror::Error)]
pub enum GoogleSignInError {
    /// There is no client to sign in through.
    #[error(
        "Pollux has no OAuth client at Google. Use one of these ways to sign in:\n  a key: export GEMINI_API_KEY=KEY (from https://aistudio.google.com/apikey)\n  Google credentials: gcloud auth application-default login\n  a client of your own: set pollux.auth.googleClientId and pollux.auth.googleClientSecret in your settings (or POLLUX_GOOGLE_OAUTH_CLIENT_ID and POLLUX_GOOGLE_OAUTH_CLIENT_SECRET), and sign in again"
    )]
    NoClient,
    /// The user refused, or the browser brought no code.
    #[error(transparent)]
    SignIn(#[from] OAuthError),
    /// Google refused.
    #[error(transparent)]
    Google(#[from] GoogleError),
    /// The tokens cannot be stored or removed.
    #[error("{0}")]
    Store(String),
}

impl Setup {
    /// Explains which sign-in a run in this folder uses.
    pub async fn sign_in_report(&self) -> SignInReport {
        pollux_models::sign_in_report(&self.models_options()).await
    }

    /// Lets the user sign in to Google, and stores the tokens. Returns the path of their file.
    ///
    /// # Errors
    /// [`GoogleSignInError`].
    pub async fn sign_in_to_google(
        &self,
        user: &dyn SignInUser,
    ) -> Result<PathBuf, GoogleSignInError> {
        let settings = &self.loaded.settings;
        let environment = &pollux_models::with_google_client(&self.loaded.environment, settings);
        let lookup = |name: &str| environment.get(name).map(str::to_owned);
        let client = OAuthClient::from_environment(&lookup)?;
        let client = client.ok_or(GoogleSignInError::NoClient)?;
        let address = |text: &str| {
            Url::parse(text).map_err(|error| GoogleSignInError::Store(error.to_string()))
        };
        let page = SignInPage {
            name: "Google".to_owned(),
            address: address(PAGE)?,
            client_id: client.id.clone(),
            scopes: SCOPES.map(str::to_owned).to_vec(),
            redirect: address(REDIRECT)?,
        };
        let port = environment.non_empty(names::OAUTH_CALLBACK_PORT).map(str::to_owned);
        let callback = CallbackSettings { port, workstation: None };
        let signed_in = sign_in_code(&page, &callback, user).await?;
        let options = ClientOptions::from_environment(&lookup);
        let home = environment.home();
        let setup = GoogleSetup::from_environment(&lookup, home.as_deref(), options);
        let grant = Grant::Code {
            code: &signed_in.code,
            redirect: &signed_in.redirect,
            verifier: &signed_in.verifier,
        };
        let tokens = request_tokens(&setup, &client, grant).await?;
        let path = self.google_sign_in();
        let file = path.clone();
        let written = tokio::task::spawn_blocking(move || {
            pollux_models::write_google_sign_in(&file, &tokens)
        });
        let failed = |error: String| GoogleSignInError::Store(error);
        written.await.map_err(|error| failed(error.to_string()))?.map_err(failed)?;
        Ok(path)
    }

    /// Removes the stored sign-in to Google. Returns the path of its file, and whether it existed.
    ///
    /// # Errors
    /// [`GoogleSignInError::Store`].
    pub fn sign_out_of_google(&self) -> Result<(PathBuf, bool), GoogleSignInError> {
        let path = self.google_sign_in();
        let removed = pollux_shell::sandbox::own_change(&path, || pollux_fs::remove_file(&path));
        match removed {
            Ok(()) => Ok((path, true)),
            Err(error) if error.is_not_found() => Ok((path, false)),
            Err(error) => {
                Err(GoogleSignInError::Store(format!("Cannot remove {}: {error}.", path.display())))
            }
        }
    }

    fn google_sign_in(&self) -> PathBuf {
        self.places.gemini_dir().join(pollux_models::GOOGLE_SIGN_IN)
    }
}
