//! Error responses of services with Chat Completions, and remedies.
//!
//! The specified body is `{"error": {"message", "type", "code"}}`; other services send
//! `{"error": "text"}`, `{"object": "error", "message"}` or `{"detail": …}`.

use pollux_net::StatusError;
use pollux_net::retry::{rate_limit_reset, retry_after};
use pollux_protocol::{InvalidStream, ModelError, ModelErrorKind};
use serde::Deserialize;
use serde_json::Value;

use crate::catalog;
use crate::dialect::Connection;
use crate::failure::{self, RefusalReader};
use crate::refusal::{self, QuotaReason, Refusal, RefusalKind as Kind, invalid, with_delay};

/// Status of an error inside of a response whose body contains none.
const ASSUMED: u16 = 500;

/// Maximum length of an error code that is shown, in bytes.
const MAX_WORD: usize = 64;

/// Error of LiteLLM for an unknown key, if it has no database of keys.
pub(crate) const NO_KEYS: &str = "no_db_connection";

/// Description of a service for error messages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refusals {
    /// Vendor id before the slash in `--model`.
    pub(crate) id: String,
    /// Display name of the service: the host if the user has set the address.
    pub(crate) name: String,
    /// Environment variable with the key.
    pub(crate) key_variable: Option<String>,
    /// Page where a key can be obtained.
    pub(crate) key_page: Option<String>,
    /// Variable that sets the address, or the address itself.
    pub(crate) address: String,
}

impl RefusalReader for Refusals {
    fn read(&self, refusal: &StatusError) -> Refusal {
        let headers = &refusal.headers;
        let asked = retry_after(headers).or_else(|| rate_limit_reset(headers));
        with_delay(understood(refusal.status.as_u16(), &refusal.body), asked)
    }

    fn remedy(&self, refusal: &Refusal, model: &str) -> String {
        let Self { id, name, address, .. } = self;
        match &refusal.kind {
            Kind::NotFound => {
                let meant = catalog::suggestion(id, model);
                let which =
                    if model.is_empty() { "The model".to_owned() } else { format!("\"{model}\"") };
                format!(
                    "{which} does not exist at {name} for this key. {meant}Choose another with --model {id}/NAME (GET /models lists the available models), or check {address}."
                )
            }
            Kind::Permission => {
                format!("{name} accepts the key but does not allow this request. Check the permissions of the key.")
            }
            Kind::Auth | Kind::Verification { .. } | Kind::Suspended { .. } => {
                match (&self.key_variable, &self.key_page) {
                    (Some(variable), Some(page)) => {
                        format!("Check {variable}. Get a key at {page}.")
                    }
                    (Some(variable), None) => format!("Check {variable}."),
                    (None, _) => format!(
                        "The server requires a key. Set OPENAI_BASE_URL to {address} and OPENAI_API_KEY to the key."
                    ),
                }
            }
            Kind::Quota(QuotaReason::Credits) => {
                format!("The account at {name} has no credit left. Add credit, or choose another model with --model.")
            }
            Kind::Quota(_) => {
                "The quota is used up. Wait until it is reset, or choose another model with --model.".to_owned()
            }
            Kind::RateLimited => {
                "The rate limit was still reached after the last attempt. Wait a moment, or use a key with a higher limit.".to_owned()
            }
            Kind::Busy | Kind::NoCapacity | Kind::Server => {
                "The service is overloaded or has an error; try again later, or choose another model with --model.".to_owned()
            }
            // Often the server has a small context, and a new conversation does not fit either.
            Kind::TooLong if id == "local" => {
                format!("The request is longer than the context that {name} gives the model. Start it with a larger context (32,768 tokens or more), or start a new conversation.")
            }
            Kind::TooLong => {
                "The conversation is longer than the context of the model. Start a new conversation, or choose a model with a larger context.".to_owned()
            }
            Kind::Filtered | Kind::Invalid | Kind::Other => String::new(),
        }
    }

    fn address_source(&self) -> &str {
        &self.address
    }
}

impl Refusals {
    /// Describes the service at the other end of a connection.
    pub(crate) fn new(connection: &Connection) -> Self {
        let Connection { vendor, endpoint, server, .. } = connection;
        let address = vendor.base_url_variable.as_deref().unwrap_or(endpoint.base().as_str());
        // A gateway has neither the name nor the key page of the vendor.
        let gateway = endpoint.gateway();
        let name = match server {
            Some(server) => server.kind.name(),
            None => gateway.as_deref().unwrap_or(&vendor.name),
        };
        Self {
            id: if server.is_some() { "local".to_owned() } else { vendor.id.clone() },
            name: name.to_owned(),
            key_variable: vendor.key_variable.clone(),
            key_page: vendor.key_page.clone().filter(|_| gateway.is_none()),
            address: address.to_owned(),
        }
    }

    /// Converts an error object that arrived in place of a piece of the response.
    pub(crate) fn in_payload(&self, json: &[u8]) -> ModelError {
        sharpened(failure::in_payload(self, with_status(understood(ASSUMED, json))))
    }

    /// Returns an error if the first byte shows that a body with status 200 is not a response of
    /// the API.
    pub(crate) fn no_answer(&self, body: &[u8]) -> Option<ModelError> {
        let what = match body.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'<') => "a web page",
            // Some gateways put an error into an array.
            Some(b'[') if has_error(body) => return Some(self.in_payload(body)),
            Some(b'[') => "a JSON array",
            None => "nothing",
            Some(_) => return None,
        };
        let message =
            failure::display(&format!("received {what} instead of a response of the API"), None);
        let hint = if self.address.is_empty() {
            String::new()
        } else {
            format!("\nA proxy may intercept the request, or {} may be wrong.", self.address)
        };
        // A stream that breaks off before its first byte is empty.
        let retryable = what == "nothing";
        let error = ModelError::new(ModelErrorKind::Broken, message + &hint);
        Some(ModelError { retryable, ..error })
    }
}

/// Completes an error without a status: with the meaning of its code, and with the status that an
/// error response of its kind has.
fn with_status(mut refusal: Refusal) -> Refusal {
    if refusal.status != ASSUMED {
        return refusal;
    }
    if refusal.code.as_deref().is_some_and(is_about_the_request) && refusal.kind == Kind::Server {
        refusal.kind = invalid(refusal.code.as_deref(), &refusal.message);
    }
    let status = match refusal.kind {
        Kind::Auth => 401,
        Kind::Permission => 403,
        Kind::NotFound => 404,
        Kind::RateLimited | Kind::Quota(_) => 429,
        Kind::Invalid | Kind::Filtered | Kind::TooLong => 400,
        _ => ASSUMED,
    };
    Refusal { status, ..refusal }
}

/// True for a JSON array whose first item is an error object.
fn has_error(body: &[u8]) -> bool {
    let items: Vec<Value> = serde_json::from_slice(body).unwrap_or_default();
    items.first().is_some_and(|item| item.get("error").is_some())
}

/// Changes the error for a malformed call of the model to a retryable one, because a retry can
/// help.
pub(super) fn sharpened(error: ModelError) -> ModelError {
    let code = error.refusal.as_ref().and_then(|refusal| refusal.code.as_deref());
    if code == Some("tool_use_failed") {
        return ModelError::unusable(InvalidStream::MalformedFunctionCall);
    }
    error
}

/// True if an error response says that the model, or the server with its current options, does not
/// support tools.
pub(super) fn says_no_tools(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    let about_tools = message.contains("tool") || message.contains("function calling");
    let refused = [
        "not support",
        "unsupported",
        "requires --jinja",
        "requires --enable-auto-tool-choice",
        "no endpoints found that support",
    ];
    about_tools && refused.iter().any(|words| message.contains(words))
}

/// True for the code of an error in a request that the service had already accepted.
fn is_about_the_request(code: &str) -> bool {
    matches!(code, "invalid_request_error" | "data_residency_mismatch" | "failed_to_download_image")
        || ["invalid_", "image_", "empty_image", "unsupported_"]
            .iter()
            .any(|start| code.starts_with(start))
}

/// True if an error response says that there is no such model.
pub(crate) fn says_no_model(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    let wordings = ["invalid model name", "is not a valid model", "unknown model", "no such model"];
    wordings.iter().any(|words| message.contains(words))
}

/// Fields that may contain the error code or the message.
#[derive(Deserialize)]
struct Envelope {
    error: Option<Value>,
    code: Option<Value>,
    #[serde(rename = "type")]
    kind: Option<Value>,
    detail: Option<Value>,
}

fn understood(status: u16, body: &[u8]) -> Refusal {
    let mut refusal = refusal::understood(status, body);
    if let Ok(envelope) = serde_json::from_slice::<Envelope>(body) {
        refusal.code = word(&envelope).or(refusal.code);
        if let (Some(detail), None) = (envelope.detail, envelope.error) {
            refusal.message = detail.as_str().map_or_else(|| detail.to_string(), str::to_owned);
            refusal.shown.clone_from(&refusal.message);
        }
    }
    let word = refusal.code.as_deref();
    let kind = match (word.unwrap_or_default(), refusal.status) {
        _ if says_no_tools(&refusal.message) => Kind::Invalid,
        ("insufficient_quota" | "billing_hard_limit_reached" | "billing_not_active", _)
        | (_, 402) => Kind::Quota(QuotaReason::Credits),
        ("invalid_api_key" | NO_KEYS, _) => Kind::Auth,
        ("model_not_found", _) => Kind::NotFound,
        (
            "content_filter"
            | "content_policy_violation"
            | "image_content_policy_violation"
            | "invalid_prompt"
            | "bio_policy"
            | "misalignment_policy_violation",
            _,
        ) => Kind::Filtered,
        ("server_is_overloaded" | "slow_down", _) => Kind::Busy,
        // Gateways also report a model that does not exist as an invalid request.
        (_, 400 | 422) if says_no_model(&refusal.message) => Kind::NotFound,
        ("context_length_exceeded" | "exceed_context_size_error", _) | (_, 413 | 422) => {
            invalid(word, &refusal.message)
        }
        ("rate_limit_exceeded", _) => Kind::RateLimited,
        _ => return with_delay(refusal, None),
    };
    with_delay(Refusal { kind, retry_after: None, ..refusal }, None)
}

/// Returns the error code if there is a textual one, otherwise the error type. Gateways send the
/// HTTP status as a code.
fn word(envelope: &Envelope) -> Option<String> {
    let error = envelope.error.as_ref();
    let inner = |key: &str| error.and_then(|error| error.get(key));
    [inner("code"), inner("type"), envelope.code.as_ref(), envelope.kind.as_ref()]
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .find(|word| word.len() <= MAX_WORD && word.chars().any(|one| !one.is_ascii_digit()))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests;
