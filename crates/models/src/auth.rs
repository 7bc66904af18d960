//! Which credentials a run uses, and what is missing when there are none.
//!
//! Which *way* of signing in was chosen is decided by [`pollux_config::select_auth_type`]; here it is
//! checked and turned into credentials. Unlike Gemini CLI, a key and a base URL together simply work,
//! and a `gateway` is not refused without a terminal.

use std::fmt;
use std::path::Path;

use pollux_config::environment::names;
use pollux_config::{AuthSettings, AuthType, Environment, select_auth_type};
use pollux_protocol::{ModelError, ModelErrorKind};

/// Where a key can be had.
pub(crate) const KEY_PAGE: &str = "https://aistudio.google.com/apikey";

/// What opens the Gemini API, or a gateway that speaks like it.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The key; empty for a gateway that wants none.
    pub key: String,
}

impl fmt::Debug for Credentials {
    /// Never shows the key.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Credentials").field("has_key", &!self.key.is_empty()).finish()
    }
}

/// The way of signing in, checked against what is enforced. `user_settings` is the path that the
/// message names.
///
/// # Errors
/// [`ModelErrorKind::Auth`]: nothing is chosen, another way is enforced, or the name is unknown. The
/// messages are those of Gemini CLI.
pub fn select(
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
            "Please set an Auth method in your {} or specify one of the following environment variables before running: GEMINI_API_KEY, GOOGLE_GENAI_USE_VERTEXAI, GOOGLE_GENAI_USE_GCA\nGet a key at {KEY_PAGE}. The subcommand demo shows the program at work without one.",
            user_settings.display()
        ))),
        (Some(AuthType::Other(_)), _) => Err(refused("Invalid auth method selected.")),
        (Some(chosen), Some(enforced)) if chosen != AuthType::from_name(enforced) => {
            Err(refused(format!(
                "The enforced authentication type is '{enforced}', but the current type is '{}'. Please re-authenticate with the correct type.",
                chosen.as_str()
            )))
        }
        (Some(chosen), _) => Ok(chosen),
    }
}

/// The credentials for a way of signing in.
///
/// # Errors
/// [`ModelErrorKind::Auth`]: the key is missing, or Pollux does not speak this way yet.
pub fn credentials(
    chosen: &AuthType,
    environment: &Environment,
) -> Result<Credentials, ModelError> {
    let key = environment.get(names::GEMINI_API_KEY).unwrap_or_default().trim().to_owned();
    let has_address = environment.non_empty(names::GOOGLE_GEMINI_BASE_URL).is_some();
    match chosen {
        AuthType::GeminiApiKey if key.is_empty() => Err(refused(format!(
            "When using Gemini API, you must specify the GEMINI_API_KEY environment variable. Get a key at {KEY_PAGE}."
        ))),
        AuthType::Gateway if !has_address => Err(refused(
            "The sign-in through a gateway is chosen, but GOOGLE_GEMINI_BASE_URL is not set. Set it to the gateway's address.",
        )),
        AuthType::GeminiApiKey | AuthType::Gateway => Ok(Credentials { key }),
        AuthType::OauthPersonal => Err(not_spoken("the Google sign-in")),
        AuthType::VertexAi => Err(not_spoken("Vertex AI")),
        AuthType::ComputeDefaultCredentials => Err(not_spoken("the credentials of the machine")),
        AuthType::Other(_) => Err(refused("Invalid auth method selected.")),
    }
}

fn not_spoken(way: &str) -> ModelError {
    refused(format!(
        "Pollux does not speak {way} yet. Use a Gemini API key: get one at {KEY_PAGE}, set GEMINI_API_KEY, and set \"security.auth.selectedType\" to \"gemini-api-key\" if another way is chosen there."
    ))
}

fn refused(message: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorKind::Auth, message)
}

#[cfg(test)]
mod tests;
