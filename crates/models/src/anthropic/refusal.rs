//! Error responses of services with the Messages API.
//!
//! The specified body is `{"type": "error", "error": {"type", "message"}}`; gateways also send
//! those of other APIs.

use std::time::Duration;

use http::HeaderMap;
use pollux_net::StatusError;
use pollux_net::retry::{retry_after, server_time};
use pollux_protocol::ModelError;
use serde::Deserialize;

use crate::failure::{self, RefusalReader};
use crate::openai::{NO_KEYS, Refusals as ServiceRefusals, says_no_model};
use crate::refusal::{self, QuotaReason, Refusal, RefusalKind as Kind, invalid, with_delay};

/// Limits for which the service sends headers.
const LIMITS: [&str; 4] = ["requests", "tokens", "input-tokens", "output-tokens"];

/// Types of errors, with the status that a response with them has.
const TYPES: [(&str, u16); 9] = [
    ("invalid_request_error", 400),
    ("authentication_error", 401),
    ("billing_error", 402),
    ("permission_error", 403),
    ("not_found_error", 404),
    ("request_too_large", 413),
    ("rate_limit_error", 429),
    ("timeout_error", 504),
    ("overloaded_error", 529),
];

/// Description of a service for error messages.
#[derive(Debug, Clone, Default)]
pub(super) struct Refusals(pub(super) ServiceRefusals);

impl RefusalReader for Refusals {
    fn read(&self, refusal: &StatusError) -> Refusal {
        let headers = &refusal.headers;
        let asked = retry_after(headers).or_else(|| reset_after(headers));
        with_delay(understood(refusal.status.as_u16(), &refusal.body), asked)
    }

    fn remedy(&self, refusal: &Refusal, model: &str) -> String {
        self.0.remedy(refusal, model)
    }

    fn address_source(&self) -> &str {
        self.0.address_source()
    }
}

impl Refusals {
    /// Converts an error object that arrived in place of a piece of the response.
    pub(super) fn in_payload(&self, json: &[u8]) -> ModelError {
        // The type of the error contains the status; 500 is used if it does not.
        failure::in_payload(self, with_delay(understood(500, json), None))
    }

    /// Returns an error if the first byte shows that a body with status 200 is not a response of
    /// the API.
    pub(super) fn no_answer(&self, body: &[u8]) -> Option<ModelError> {
        self.0.no_answer(body)
    }
}

#[derive(Deserialize)]
struct Envelope {
    error: Option<ErrorType>,
}

#[derive(Deserialize)]
struct ErrorType {
    #[serde(rename = "type")]
    kind: Option<String>,
}

fn understood(status: u16, body: &[u8]) -> Refusal {
    let envelope = serde_json::from_slice::<Envelope>(body).ok();
    let kind = envelope.and_then(|envelope| envelope.error?.kind);
    let word = TYPES.iter().find(|(word, _)| kind.as_deref() == Some(word));
    // An error inside a stream has no status but that of its type.
    let status = word.map_or(status, |(_, own)| if status == 500 { *own } else { status });
    let mut refusal = refusal::understood(status, body);
    if let Some((word, _)) = word {
        refusal.code = Some((*word).to_owned());
    }
    let message = refusal.message.to_ascii_lowercase();
    let has_no_keys = kind.as_deref() == Some(NO_KEYS);
    let kind = match (word.map(|(word, _)| *word).unwrap_or_default(), refusal.status) {
        _ if message.contains("credit balance is too low") => Kind::Quota(QuotaReason::Credits),
        ("billing_error", _) | (_, 402) => Kind::Quota(QuotaReason::Credits),
        ("request_too_large", _) | (_, 413) => Kind::TooLong,
        _ if has_no_keys => Kind::Auth,
        // Gateways also report a model that does not exist as an invalid request.
        (_, 400 | 422) if says_no_model(&message) => Kind::NotFound,
        (_, 422) => invalid(None, &message),
        ("rate_limit_error", _) => Kind::RateLimited,
        ("overloaded_error", _) => Kind::Busy,
        _ => return refusal,
    };
    Refusal { kind, ..refusal }
}

/// Returns the time until all limits that are used up are reset, as the headers
/// `anthropic-ratelimit-LIMIT-remaining` and `anthropic-ratelimit-LIMIT-reset` say. The time is
/// relative to that of the response, so that a wrong clock does not matter.
fn reset_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let now = server_time(headers).unwrap_or_else(jiff::Timestamp::now);
    let resets = LIMITS.iter().filter_map(|limit| {
        let is_used_up = text(&format!("anthropic-ratelimit-{limit}-remaining")) == Some("0");
        let reset = text(&format!("anthropic-ratelimit-{limit}-reset")).filter(|_| is_used_up)?;
        let reset: jiff::Timestamp = reset.parse().ok()?;
        Duration::try_from(reset.duration_since(now)).ok()
    });
    resets.max()
}

#[cfg(test)]
mod tests;
