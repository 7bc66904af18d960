//! Error responses of Google's Gemini API and of gateways for it.

use pollux_net::StatusError;
use pollux_net::retry::retry_after;
use serde_json::Value;

use crate::auth::KEY_PAGE;
use crate::catalog::{self, GEMINI, SignIn, Vendor};
use crate::failure::RefusalReader;
use crate::openai::{NO_KEYS, says_no_model};
use crate::refusal::{self, QuotaReason, Refusal, RefusalKind as Kind, with_delay};

/// Reader of the error responses of Google's service.
#[derive(Debug, Clone, Default)]
pub(crate) struct GoogleRefusals {
    /// Host of the address that the user has set instead of Google's.
    pub(crate) gateway: Option<String>,
    /// Service and credentials, for the remedies.
    pub(crate) access: Access,
}

/// Service of Google, and how requests to it are signed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Access {
    /// Gemini API with a key.
    #[default]
    GeminiApi,
    /// Vertex AI with a key.
    VertexKey,
    /// Vertex AI with Google credentials.
    Vertex,
    /// Code Assist with Google credentials.
    CodeAssist,
}

impl Access {
    /// Returns the access to a vendor, whose address is complete.
    pub(crate) fn of(vendor: &Vendor) -> Self {
        let path = vendor.models_path.as_deref().unwrap_or_default();
        match vendor.sign_in {
            SignIn::Vertex if path.starts_with("projects/") => Self::Vertex,
            SignIn::Vertex => Self::VertexKey,
            SignIn::CodeAssist => Self::CodeAssist,
            SignIn::Google | SignIn::Key | SignIn::Anthropic => Self::GeminiApi,
        }
    }

    /// Returns the variable with the key, or with the file of credentials.
    fn variable(self) -> &'static str {
        match self {
            Self::GeminiApi => "GEMINI_API_KEY",
            Self::VertexKey => "GOOGLE_API_KEY",
            Self::Vertex | Self::CodeAssist => "GOOGLE_APPLICATION_CREDENTIALS",
        }
    }

    /// Returns advice for a refusal that depends on the service; `None` for the Gemini API.
    fn remedy(self, kind: &Kind, which: &str) -> Option<String> {
        let text = match (self, kind) {
            (Self::GeminiApi, _) => return None,
            (Self::Vertex | Self::VertexKey, Kind::NotFound) => format!(
                "{which} does not exist at Vertex AI for this project and location. Choose another with --model, or set GOOGLE_CLOUD_LOCATION to global."
            ),
            (Self::CodeAssist, Kind::NotFound) => {
                format!("{which} is not available with Code Assist. Choose another with --model.")
            }
            (Self::Vertex | Self::VertexKey, Kind::Permission) => "The credentials do not allow this request. Enable the API aiplatform.googleapis.com in the project, and give the account the role roles/aiplatform.user.".to_owned(),
            (Self::CodeAssist, Kind::Permission) => "The account may not use Code Assist with this project. Check GOOGLE_CLOUD_PROJECT and the license of the account.".to_owned(),
            (_, Kind::Auth) => format!("Google does not accept the credentials. Check {}.", self.variable()),
            _ => return None,
        };
        Some(text)
    }
}

impl GoogleRefusals {
    /// Returns the place in a hint, such as ` at HOST`; empty for Google's service.
    fn place(&self) -> String {
        self.gateway.as_ref().map(|host| format!(" at {host}")).unwrap_or_default()
    }
}

/// Reads what gateways report as an invalid request, with the bodies of other APIs.
fn of_gateway(read: Refusal, body: &[u8]) -> Refusal {
    let kind = match read.kind {
        Kind::Invalid if says_no_model(&read.message) => Kind::NotFound,
        Kind::Invalid if error_type(body).is_some_and(|kind| kind == NO_KEYS) => Kind::Auth,
        kind => kind,
    };
    Refusal { kind, ..read }
}

/// Returns the type of an error, which Google's bodies do not have.
fn error_type(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    Some(body.get("error")?.get("type")?.as_str()?.to_owned())
}

impl RefusalReader for GoogleRefusals {
    fn read(&self, refusal: &StatusError) -> Refusal {
        let read = refusal::understood(refusal.status.as_u16(), &refusal.body);
        let read = with_delay(read, retry_after(&refusal.headers));
        if self.gateway.is_some() { of_gateway(read, &refusal.body) } else { read }
    }

    fn address_source(&self) -> &'static str {
        match self.access {
            Access::GeminiApi => "GOOGLE_GEMINI_BASE_URL",
            Access::Vertex | Access::VertexKey => "GOOGLE_VERTEX_BASE_URL",
            Access::CodeAssist => "CODE_ASSIST_ENDPOINT",
        }
    }

    fn remedy(&self, refusal: &Refusal, model: &str) -> String {
        let which = if model.is_empty() { "The model".to_owned() } else { format!("\"{model}\"") };
        if let Some(remedy) = self.access.remedy(&refusal.kind, &which) {
            return remedy;
        }
        match &refusal.kind {
            Kind::NotFound => {
                format!(
                    "{which} does not exist{} for this key. {}Choose another with --model (GET /v1beta/models lists the available models); if GOOGLE_GEMINI_BASE_URL is set, check that address too.",
                    self.place(),
                    catalog::suggestion(GEMINI, model)
                )
            }
            Kind::Verification { link: Some(link) } => {
                format!("Verify your account at {link} and try again.")
            }
            Kind::Suspended { appeal: Some(url) } => {
                format!("The account is suspended. Appeal at {url}.")
            }
            Kind::Permission => match &self.gateway {
                Some(host) => format!(
                    "{host} accepts the key but does not allow this request. Check the permissions of the key."
                ),
                None => "The key is valid but has no permission for this request. Check its restrictions and that the Gemini API is enabled for its project.".to_owned(),
            },
            Kind::Auth | Kind::Verification { link: None } | Kind::Suspended { appeal: None } => {
                match &self.gateway {
                    Some(host) => format!("Check GEMINI_API_KEY: {host} does not accept it."),
                    None => format!("Check GEMINI_API_KEY. Get a key at {KEY_PAGE}."),
                }
            }
            Kind::Quota(QuotaReason::Daily) => {
                let other = if model.contains("flash") { "flash-lite" } else { "flash" };
                format!("The daily quota is used up. Wait until it is reset, use another model, such as --model {other}, or use a key with a higher quota.")
            }
            Kind::Quota(QuotaReason::ZeroLimit) => {
                "This key has no quota for the model. Choose another with --model, or use another key.".to_owned()
            }
            Kind::Quota(_) => {
                "The quota is used up. Choose another model with --model, or use a key with a higher quota.".to_owned()
            }
            Kind::RateLimited => {
                "The rate limit was still reached after the last attempt. Wait a moment, or use a key with a higher quota.".to_owned()
            }
            Kind::Busy | Kind::NoCapacity | Kind::Server => {
                "The service is overloaded or has an error; try again later, or choose another model with --model.".to_owned()
            }
            Kind::TooLong if self.gateway.is_some() => {
                "The conversation is longer than the context of the model. Start a new conversation, or choose a model with a larger context.".to_owned()
            }
            Kind::TooLong | Kind::Filtered | Kind::Invalid | Kind::Other => String::new(),
        }
    }
}

#[cfg(test)]
mod tests;
