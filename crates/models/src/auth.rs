//! Credentials for the requests to a vendor, and the errors when they are missing.
//!
//! The *method* of signing in to Google is selected by [`pollux_config::select_auth_type`]; this
//! module checks it and converts it to an [`Authoriser`]. Unlike in Gemini CLI, a key and a base
//! URL together simply work, and a `gateway` is not refused without a terminal.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::HeaderName;
use http::header::AUTHORIZATION;
use pollux_config::environment::names;
use pollux_config::{AuthSettings, AuthType, Environment, replaced_auth_type, select_auth_type};
use pollux_net::{Authoriser, FixedCredentials};
use pollux_protocol::{ModelError, ModelErrorKind};

use crate::catalog::{SignIn, Vendor};
use crate::endpoint::{custom_address, custom_headers, secret};

/// Page where a key for the Gemini API can be obtained.
pub(crate) const KEY_PAGE: &str = "https://aistudio.google.com/apikey";

const KEY_HEADER: HeaderName = HeaderName::from_static("x-goog-api-key");

const ANTHROPIC_KEY_HEADER: HeaderName = HeaderName::from_static("x-api-key");

/// Inputs of signing in.
#[derive(Debug, Clone)]
pub(crate) struct SignInContext {
    pub(crate) settings: AuthSettings,
    pub(crate) environment: Environment,
    /// Path of the user's settings file, for messages.
    pub(crate) user_settings: PathBuf,
}

/// Returns the authoriser of a vendor. Opens nothing.
///
/// # Errors
/// [`ModelErrorKind::Auth`]: credentials are missing or cannot be sent, another sign-in method is
/// enforced, or Pollux does not support the method.
pub(crate) fn authoriser(
    vendor: &Vendor,
    context: &SignInContext,
) -> Result<Arc<dyn Authoriser>, ModelError> {
    let SignInContext { settings, environment, user_settings } = context;
    let credentials = match vendor.sign_in {
        SignIn::Google => {
            let chosen = select(settings, environment, user_settings)?;
            google(vendor, &key(&chosen, environment)?, environment)?
        }
        SignIn::Key => bearer(vendor, environment)?,
        SignIn::Anthropic => anthropic(vendor, environment)?,
    };
    Ok(Arc::new(credentials))
}

/// Returns a key for Google in its own header and, if requested, also as a bearer token.
fn google(
    vendor: &Vendor,
    key: &str,
    environment: &Environment,
) -> Result<FixedCredentials, ModelError> {
    let mut credentials = FixedCredentials::none();
    // A header set by the user takes precedence.
    if !custom_headers(vendor, environment).contains_key(KEY_HEADER) {
        credentials = credentials.with(KEY_HEADER, secret(names::GEMINI_API_KEY, key)?);
    }
    let mechanism = environment.get(names::GEMINI_API_KEY_AUTH_MECHANISM);
    if mechanism == Some("bearer") && !key.is_empty() {
        let token = secret(names::GEMINI_API_KEY, &format!("Bearer {key}"))?;
        credentials = credentials.with(AUTHORIZATION, token);
    }
    Ok(credentials)
}

/// Returns a key as a bearer token. A service at a user-defined address may need no key.
fn bearer(vendor: &Vendor, environment: &Environment) -> Result<FixedCredentials, ModelError> {
    let Some(variable) = &vendor.key_variable else { return Ok(FixedCredentials::none()) };
    let key = environment.get(variable).unwrap_or_default().trim();
    if !key.is_empty() {
        let token = secret(variable, &format!("Bearer {key}"))?;
        return Ok(FixedCredentials::none().with(AUTHORIZATION, token));
    }
    without_key(vendor, environment)
}

/// Returns a key in its own header, or a token as a bearer token. Headers set by the user take
/// precedence.
fn anthropic(vendor: &Vendor, environment: &Environment) -> Result<FixedCredentials, ModelError> {
    let own = custom_headers(vendor, environment);
    let Some(variable) = used_variable(vendor, environment) else {
        return without_key(vendor, environment);
    };
    let credential = environment.get(variable).unwrap_or_default().trim();
    let is_key = vendor.key_variable.as_deref() == Some(variable);
    let mut credentials = FixedCredentials::none();
    if is_key && !own.contains_key(ANTHROPIC_KEY_HEADER) {
        credentials = credentials.with(ANTHROPIC_KEY_HEADER, secret(variable, credential)?);
    }
    let is_gateway = custom_address(vendor, environment).is_some();
    if (!is_key || is_gateway) && !own.contains_key(AUTHORIZATION) {
        let token = secret(variable, &format!("Bearer {credential}"))?;
        credentials = credentials.with(AUTHORIZATION, token);
    }
    Ok(credentials)
}

/// Returns the variable with the credentials of a vendor that are used; `None` if none is set.
pub(crate) fn used_variable<'a>(vendor: &'a Vendor, environment: &Environment) -> Option<&'a str> {
    let is_set = |name: &&String| !environment.get(name).unwrap_or_default().trim().is_empty();
    vendor.credential_variables().find(is_set).map(String::as_str)
}

/// Returns no credentials, for a service at a user-defined address, which may need none.
fn without_key(vendor: &Vendor, environment: &Environment) -> Result<FixedCredentials, ModelError> {
    if custom_address(vendor, environment).is_some() {
        return Ok(FixedCredentials::none());
    }
    let page = vendor.key_page.as_ref().map(|page| format!(" Get a key at {page}."));
    Err(refused(format!(
        "A model of {} is selected, but {} is not set.{}",
        vendor.name,
        vendor.key_variable.as_deref().unwrap_or_default(),
        page.unwrap_or_default()
    )))
}

/// Returns the method of signing in to Google, checked against the enforced one. `user_settings` is
/// the path shown in messages.
///
/// # Errors
/// [`ModelErrorKind::Auth`]: no method is chosen, another method is enforced, or the name is
/// unknown. Except for the missing key, the messages are those of Gemini CLI.
pub(crate) fn select(
    settings: &AuthSettings,
    environment: &Environment,
    user_settings: &Path,
) -> Result<AuthType, ModelError> {
    let chosen = select_auth_type(settings, environment);
    let enforced = settings.enforced_type.as_deref();
    match (chosen, enforced) {
        (None, Some(enforced)) => Err(refused(format!(
            "The auth type '{enforced}' is enforced, but no authentication is configured."
        ))),
        (None, None) => Err(refused(format!(
            "No API key is set. Get one at {KEY_PAGE}, then run:\n  export GEMINI_API_KEY=KEY\nTo keep it, write the line GEMINI_API_KEY=KEY to {}\nWithout a key, use a model server on this machine with --model local/NAME. The subcommand demo shows the program at work. The key of another vendor, such as OPENAI_API_KEY, works as well.",
            user_settings.with_file_name(".env").display()
        ))),
        (Some(AuthType::Other(_)), _) => Err(refused("Invalid auth method selected.")),
        (Some(chosen), Some(enforced)) if chosen != AuthType::from_name(enforced) => {
            Err(refused(format!(
                "The enforced authentication type is '{enforced}', but the current type is '{}'. Please re-authenticate with the correct type.",
                chosen.as_str()
            )))
        }
        (Some(chosen), Some(_)) if !chosen.is_supported() => Err(refused(format!(
            "The settings enforce {} (security.auth.enforcedType), which Pollux does not support yet.",
            described(&chosen)
        ))),
        (Some(chosen), _) => Ok(chosen),
    }
}

/// Returns the notice that a key is used instead of the requested sign-in method, if it is.
pub(crate) fn replacement_notice(
    settings: &AuthSettings,
    environment: &Environment,
) -> Option<String> {
    let replaced = replaced_auth_type(settings, environment)?;
    let (method, name) = (described(&replaced), replaced.as_str());
    Some(format!(
        "The configuration selects {method} ({name}), which Pollux does not support yet. GEMINI_API_KEY is used instead."
    ))
}

/// Returns a description of a sign-in method that Pollux does not support.
fn described(method: &AuthType) -> &str {
    match method {
        AuthType::OauthPersonal => "the Google sign-in",
        AuthType::VertexAi => "Vertex AI",
        AuthType::ComputeDefaultCredentials => "the credentials of the machine",
        supported => supported.as_str(),
    }
}

/// Returns the key for a sign-in method; empty for a gateway that needs no key.
///
/// # Errors
/// [`ModelErrorKind::Auth`]: the key is missing, or Pollux does not support the method yet.
pub(crate) fn key(chosen: &AuthType, environment: &Environment) -> Result<String, ModelError> {
    let key = environment.get(names::GEMINI_API_KEY).unwrap_or_default().trim().to_owned();
    let has_address = environment.non_empty(names::GOOGLE_GEMINI_BASE_URL).is_some();
    match chosen {
        AuthType::GeminiApiKey if key.is_empty() => Err(refused(format!(
            "When using Gemini API, you must specify the GEMINI_API_KEY environment variable. Get a key at {KEY_PAGE}."
        ))),
        AuthType::Gateway if !has_address => Err(refused(
            "The sign-in through a gateway is selected, but GOOGLE_GEMINI_BASE_URL is not set. Set it to the gateway's address.",
        )),
        AuthType::GeminiApiKey | AuthType::Gateway => Ok(key),
        AuthType::OauthPersonal | AuthType::VertexAi | AuthType::ComputeDefaultCredentials => {
            Err(refused(format!(
                "Pollux does not support {} yet. Get a Gemini API key at {KEY_PAGE} and set GEMINI_API_KEY. It is used whatever the settings select.",
                described(chosen)
            )))
        }
        AuthType::Other(_) => Err(refused("Invalid auth method selected.")),
    }
}

fn refused(message: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorKind::Auth, message)
}

#[cfg(test)]
mod tests;
