//! Which way of signing in a run uses.
//!
//! Pure: settings and environment in, a choice out. Whether the choice is usable is for the one
//! who signs in to say.

use crate::environment::names;
use crate::{AuthSettings, Environment};

#[cfg(test)]
mod tests;

/// A way of signing in, with the name it has in settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthType {
    /// Google sign-in.
    OauthPersonal,
    /// A key for the Gemini API.
    GeminiApiKey,
    /// Vertex AI.
    VertexAi,
    /// Credentials of the machine from the metadata server.
    ComputeDefaultCredentials,
    /// A custom address, with or without key.
    Gateway,
    /// A name that Pollux does not know.
    Other(String),
}

impl AuthType {
    /// Reads the name used in settings. `cloud-shell` is the old name for the machine's
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

    /// The name used in settings.
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

/// The way to sign in: the setting, else the first variable that says so, else `None`.
///
/// Where Gemini CLI takes any `GOOGLE_GEMINI_BASE_URL` for a gateway and then refuses to run
/// headless, Pollux takes an address together with `GEMINI_API_KEY` for a key.
pub fn select_auth_type(settings: &AuthSettings, environment: &Environment) -> Option<AuthType> {
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
