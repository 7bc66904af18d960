//! A sign-in at a service that is no MCP server, whose addresses and client are known.

use url::Url;

use super::OAuthError;
use super::callback::{Callback, CallbackSettings};
use super::redirect::Expected;
use super::settings::OAuthSettings;
use super::sign_in::{SignInUser, challenged, code_of, random};

/// Page on which a user signs in.
#[derive(Debug, Clone)]
pub struct SignInPage {
    /// Name of the service, for the user.
    pub name: String,
    /// Address of the page. Its query is kept.
    pub address: Url,
    /// Id of the client.
    pub client_id: String,
    /// Permissions to ask for.
    pub scopes: Vec<String>,
    /// Address of this machine to which the browser is redirected; the port is added.
    pub redirect: Url,
}

/// Code of a sign-in, with everything that the exchange for a token needs.
#[derive(Clone)]
pub struct SignInCode {
    /// The code.
    pub code: String,
    /// Address to which the browser was redirected.
    pub redirect: String,
    /// Secret of PKCE.
    pub verifier: String,
}

/// Lets the user sign in on a page. Takes at most five minutes. Dropping the future cancels it.
///
/// # Errors
/// [`OAuthError`].
pub async fn sign_in_code(
    page: &SignInPage,
    callback: &CallbackSettings,
    user: &dyn SignInUser,
) -> Result<SignInCode, OAuthError> {
    let settings =
        OAuthSettings { redirect_uri: Some(page.redirect.clone()), ..OAuthSettings::default() };
    let callback = Callback::open(callback, &settings).await?;
    let (redirect, verifier) = (callback.redirect.clone(), random::<64>());
    let expected = Expected { state: random::<16>(), issuer: None, names_issuer: false };
    let mut address = page.address.clone();
    address
        .query_pairs_mut()
        .append_pair("client_id", &page.client_id)
        .append_pair("response_type", "code")
        .append_pair("redirect_uri", &redirect)
        .append_pair("state", &expected.state)
        .append_pair("code_challenge", &challenged(&verifier))
        .append_pair("code_challenge_method", "S256")
        .append_pair("scope", &page.scopes.join(" "));
    if !user.agrees(&page.name, address.as_str()).await {
        return Err(OAuthError::Cancelled);
    }
    let code = code_of(callback, &expected, &address, user).await?;
    Ok(SignInCode { code, redirect, verifier })
}
