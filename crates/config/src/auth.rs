//! Choice of a run's authentication method.
//!
//! Pure: takes settings and environment, returns a choice. The sign-in code checks whether the
//! choice is usable.

use crate::environment::names;
use crate::{AuthSettings, Environment};

#[cfg(test)]
mod tests;

/// An authentication method, with its name in settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthType {
    /// Google sign-in.
    OauthPersonal,
    /// An API key for the Gemini API.
    GeminiApiKey,
    /// Vertex AI.
    VertexAi,
    /// Credentials of the machine, from the metadata server.
    ComputeDefaultCredentials,
    /// A custom endpoint, with or without an API key.
    Gateway,
    /// A name unknown to Pollux.
    Other(String),
}

impl AuthType {
    /// Parses the name used in settings. `cloud-shell` is the old name for the machine's
    /// credentials.
    pub fn from_name(name: &str) -> Self {
        match name {
            "oauth-personal" => Self::OauthPersonal,
            "gemini-api-key" => Self::GeminiApiKey,
            "vertex-ai" => Self::VertexAi,
            "compute-default-credentials" | "cloud-shell" => Self::ComputeDefaultCredentials,
            "gateway" => Self::Gateway,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Returns the name used in settings.
    pub fn as_str(&self) -> &str {
        match self {
            Self::OauthPersonal => "oauth-personal",
            Self::GeminiApiKey => "gemini-api-key",
            Self::VertexAi => "vertex-ai",
            Self::ComputeDefaultCredentials => "compute-default-credentials",
            Self::Gateway => "gateway",
            Self::Other(name) => name,
        }
    }
}

/// Returns the authentication method that a run uses: the requested one, or the key if the
/// requested method lacks what it needs and the settings do not enforce a method.
pub fn select_auth_type(settings: &AuthSettings, environment: &Environment) -> Option<AuthType> {
    match replaced_auth_type(settings, environment) {
        Some(_) => Some(AuthType::GeminiApiKey),
        None => requested_auth_type(settings, environment),
    }
}

/// Returns the requested authentication method if `GEMINI_API_KEY` is used instead of it.
pub fn replaced_auth_type(settings: &AuthSettings, environment: &Environment) -> Option<AuthType> {
    let has_key = environment.get(names::GEMINI_API_KEY).is_some_and(|key| !key.trim().is_empty());
    requested_auth_type(settings, environment).filter(|requested| {
        has_key && settings.enforced_type.is_none() && !is_equipped(requested, environment)
    })
}

/// True if the environment has what a method needs. A Google sign-in that nothing in the
/// environment speaks of is often the rest of an account that Google no longer serves.
fn is_equipped(method: &AuthType, environment: &Environment) -> bool {
    let has = |name| environment.non_empty(name).is_some();
    match method {
        AuthType::VertexAi => {
            has(names::GOOGLE_API_KEY)
                || (has(names::GOOGLE_CLOUD_PROJECT) && has(names::GOOGLE_CLOUD_LOCATION))
        }
        AuthType::OauthPersonal => {
            has(names::GOOGLE_CLOUD_PROJECT)
                || has(names::GOOGLE_CLOUD_PROJECT_ID)
                || has(names::GOOGLE_CLOUD_ACCESS_TOKEN)
                || has(names::POLLUX_GOOGLE_OAUTH_CLIENT_ID)
        }
        AuthType::ComputeDefaultCredentials => {
            environment.is_true(names::CLOUD_SHELL)
                || environment.is_true(names::GEMINI_CLI_USE_COMPUTE_ADC)
        }
        AuthType::GeminiApiKey | AuthType::Gateway | AuthType::Other(_) => true,
    }
}

/// Returns the authentication method that the settings select, otherwise that of the first variable
/// that selects one, otherwise `None`.
///
/// Gemini CLI treats any `GOOGLE_GEMINI_BASE_URL` as a gateway and then refuses to run headless.
/// Pollux treats such an address together with `GEMINI_API_KEY` as an API key.
fn requested_auth_type(settings: &AuthSettings, environment: &Environment) -> Option<AuthType> {
    if let Some(selected) = settings.selected_type.as_deref() {
        return Some(AuthType::from_name(selected));
    }
    let has = |name| environment.non_empty(name).is_some();
    if environment.is_true(names::GOOGLE_GENAI_USE_GCA) {
        Some(AuthType::OauthPersonal)
    } else if environment.is_true(names::GOOGLE_GENAI_USE_VERTEXAI) {
        Some(AuthType::VertexAi)
    } else if has(names::GEMINI_API_KEY) {
        Some(AuthType::GeminiApiKey)
    } else if has(names::GOOGLE_GEMINI_BASE_URL) {
        Some(AuthType::Gateway)
    } else if environment.is_true(names::CLOUD_SHELL)
        || environment.is_true(names::GEMINI_CLI_USE_COMPUTE_ADC)
    {
        Some(AuthType::ComputeDefaultCredentials)
    } else {
        None
    }
}
