//! Error responses of Google's Gemini API and of gateways for it.

use pollux_net::StatusError;

use crate::auth::KEY_PAGE;
use crate::failure::RefusalReader;
use crate::refusal::{self, QuotaReason, Refusal, RefusalKind as Kind};

/// Reader of the error responses of Google's service.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GoogleRefusals;

impl RefusalReader for GoogleRefusals {
    fn read(&self, refusal: &StatusError) -> Refusal {
        refusal::understood(refusal.status.as_u16(), &refusal.body)
    }

    fn address_source(&self) -> &'static str {
        "GOOGLE_GEMINI_BASE_URL"
    }

    fn remedy(&self, refusal: &Refusal, model: &str) -> String {
        match &refusal.kind {
            Kind::NotFound => {
                let which =
                    if model.is_empty() { "The model".to_owned() } else { format!("\"{model}\"") };
                format!(
                    "{which} does not exist for this key. Choose another with --model (GET /v1beta/models lists the available models); if GOOGLE_GEMINI_BASE_URL is set, check that address too."
                )
            }
            Kind::Verification { link: Some(link) } => {
                format!("Verify your account at {link} and try again.")
            }
            Kind::Suspended { appeal: Some(url) } => {
                format!("The account is suspended. Appeal at {url}.")
            }
            Kind::Permission => {
                "The key is valid but has no permission for this request. Check its restrictions and that the Gemini API is enabled for its project.".to_owned()
            }
            Kind::Auth | Kind::Verification { link: None } | Kind::Suspended { appeal: None } => {
                format!("Check GEMINI_API_KEY. Get a key at {KEY_PAGE}.")
            }
            Kind::Quota(QuotaReason::Daily) => {
                "The daily quota is used up. Wait until it is reset, choose another model with --model, or use a key with a higher quota.".to_owned()
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
            Kind::TooLong | Kind::Filtered | Kind::Invalid | Kind::Other => String::new(),
        }
    }
}

#[cfg(test)]
mod tests;
