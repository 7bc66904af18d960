//! Google's Gemini API and gateways for it.

use pollux_net::{GoogleError, GoogleErrorKind, QuotaReason, StatusError, classify};
use pollux_protocol::ModelErrorKind;

use super::Speaker;
use crate::auth::KEY_PAGE;

/// Speaks as Google's service does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Google;

impl Speaker for Google {
    fn understood(&self, refusal: &StatusError) -> GoogleError {
        classify(refusal.status.as_u16(), &refusal.body)
    }

    fn address_source(&self) -> &'static str {
        "GOOGLE_GEMINI_BASE_URL"
    }

    fn hint(&self, error: &GoogleError, kind: ModelErrorKind, model: &str) -> String {
        match (&error.kind, kind) {
        (GoogleErrorKind::ModelNotFound, _) => {
            let which =
                if model.is_empty() { "The model".to_owned() } else { format!("\"{model}\"") };
            format!(
                "{which} does not exist for this key. Choose another with --model (GET /v1beta/models lists those there are); if GOOGLE_GEMINI_BASE_URL is set, check that address too."
            )
        }
        (GoogleErrorKind::ValidationRequired { link: Some(link), .. }, _) => {
            format!("Verify your account at {link} and try again.")
        }
        (GoogleErrorKind::AccountSuspended { appeal_url: Some(url) }, _) => {
            format!("The account is suspended. Appeal at {url}.")
        }
        (GoogleErrorKind::Forbidden, _) => {
            "The key is known but may not do this: check its restrictions and that the Gemini API is enabled for its project.".to_owned()
        }
        (_, ModelErrorKind::Auth) => {
            format!("Check GEMINI_API_KEY. A key can be had at {KEY_PAGE}.")
        }
        (GoogleErrorKind::TerminalQuota { reason: QuotaReason::Daily }, _) => {
            "The daily quota is used up. Wait until it is renewed, choose another model with --model, or use a key with a higher quota.".to_owned()
        }
        (GoogleErrorKind::TerminalQuota { reason: QuotaReason::ZeroLimit }, _) => {
            "This key has no quota for the model. Choose another with --model, or use another key.".to_owned()
        }
        (_, ModelErrorKind::Quota) => {
            "The quota is used up. Choose another model with --model, or use a key with a higher quota.".to_owned()
        }
        (GoogleErrorKind::RetryableQuota { .. }, _) if error.code == 429 => {
            "The rate limit was still reached after the last attempt. Wait a little, or use a key with a higher quota.".to_owned()
        }
        (_, ModelErrorKind::Busy) => {
            "The service is overloaded or broken; try again later, or choose another model with --model.".to_owned()
        }
        _ => String::new(),
    }
    }
}
