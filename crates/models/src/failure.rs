//! From what went wrong on the wire to what it means for the caller, in words and with a remedy.

use pollux_net::{
    Error, GoogleError, GoogleErrorKind, QuotaReason, RetryAdvice, StatusError, TimeoutPhase,
    is_retryable_code, retry::LONGEST_WISH, retry::retry_after,
};
use pollux_protocol::{ModelError, ModelErrorKind};

mod google;

pub(crate) use google::Google;

/// How one service refuses, and what helps. The answers are sorted into the kinds of Google's errors,
/// whoever speaks: what follows from a kind is the same for all.
pub(crate) trait Speaker: Send + Sync {
    /// What a refusal means.
    fn understood(&self, refusal: &StatusError) -> GoogleError;

    /// What the person can do about it; may be empty. `model` may be empty when it is not known.
    fn hint(&self, error: &GoogleError, kind: ModelErrorKind, model: &str) -> String;

    /// Where the service's address comes from, such as `GOOGLE_GEMINI_BASE_URL`.
    fn address_source(&self) -> &str;
}

/// Whether to try again after a failure before the answer began.
///
/// Connections that fail with a code of Node's list are always tried again; other broken connections
/// only when `general.retryFetchErrors` says so.
pub(crate) fn advice(
    speaker: &dyn Speaker,
    error: &Error,
    retry_fetch_errors: bool,
) -> RetryAdvice {
    match error {
        Error::Status(refusal) => match speaker.understood(refusal).advice() {
            // A header is less than a word of the service itself: one that asks for too much is passed over.
            RetryAdvice::Retry { after: None } => {
                let after = retry_after(&refusal.headers).filter(|after| *after <= LONGEST_WISH);
                RetryAdvice::Retry { after }
            }
            advice => advice,
        },
        other => {
            let listed = other.node_code().is_some_and(is_retryable_code);
            if listed || (retry_fetch_errors && other.is_retryable_transport()) {
                RetryAdvice::Retry { after: None }
            } else {
                RetryAdvice::Fail
            }
        }
    }
}

/// The class of an error, for telemetry and retry notices.
pub(crate) fn class(error: &Error) -> String {
    match error {
        Error::Status(_) => "ApiError".to_owned(),
        other => other.node_code().unwrap_or("Error").to_owned(),
    }
}

/// A short reason for a person who waits for the next attempt.
pub(crate) fn reason(speaker: &dyn Speaker, error: &Error) -> String {
    match error {
        Error::Status(refusal) => {
            let understood = speaker.understood(refusal);
            let message =
                Some(first_line(&understood.message)).filter(|line| !line.starts_with('<'));
            format!("{} {}", understood.code, message.unwrap_or_default()).trim_end().to_owned()
        }
        other => other.to_string(),
    }
}

/// A failure before the answer began, after the last attempt.
pub(crate) fn before_answer(speaker: &dyn Speaker, error: &Error, model: &str) -> ModelError {
    match error {
        Error::Cancelled => ModelError::cancelled(),
        Error::Status(refusal) => refused(speaker, &speaker.understood(refusal), model),
        other => unreachable(speaker, other),
    }
}

/// A failure while the answer arrived. `retry_fetch_errors`: the setting of that name.
pub(crate) fn in_stream(error: &Error, retry_fetch_errors: bool) -> ModelError {
    match error {
        Error::Cancelled => ModelError::cancelled(),
        other => ModelError {
            retryable: retry_fetch_errors || other.node_code().is_some_and(is_retryable_code),
            ..ModelError::new(ModelErrorKind::Broken, display(&other.to_string(), None))
        },
    }
}

/// An error object that came where a piece of the answer was due.
pub(crate) fn in_payload(speaker: &dyn Speaker, error: &GoogleError) -> ModelError {
    let retryable = matches!(error.advice(), RetryAdvice::Retry { .. });
    ModelError { retryable, ..refused(speaker, error, "") }
}

/// The service was not reached, or did not behave like one.
fn unreachable(speaker: &dyn Speaker, error: &Error) -> ModelError {
    let hint = match error {
        Error::Connect { .. } | Error::Dns { .. } => {
            "Check the network; behind a proxy, set HTTPS_PROXY (and NO_PROXY for hosts that need none).".to_owned()
        }
        Error::Timeout { phase: TimeoutPhase::Connect, .. } => {
            "Check the network; behind a proxy, set HTTPS_PROXY.".to_owned()
        }
        Error::Redirect { .. } | Error::InvalidUrl { .. } => {
            format!("Check {}.", speaker.address_source())
        }
        Error::Proxy { .. } => "Check HTTPS_PROXY and NO_PROXY.".to_owned(),
        _ => String::new(),
    };
    let kind = match error {
        Error::InvalidOptions(_) | Error::InvalidUrl { .. } => ModelErrorKind::Config,
        Error::BodyBroken { .. } | Error::BodyTooLarge { .. } | Error::Stream(_) => {
            ModelErrorKind::Broken
        }
        _ => ModelErrorKind::Network,
    };
    ModelError::new(kind, with_hint(display(&error.to_string(), None), &hint))
}

/// The service answered, with a refusal. `model` may be empty when it is not known.
fn refused(speaker: &dyn Speaker, error: &GoogleError, model: &str) -> ModelError {
    let kind = kind(error);
    let message = if error.message.starts_with('<') {
        let code = error.code;
        display(&format!("status {code} with a web page in place of an answer of the API"), None)
    } else {
        display(&error.message, error.status.as_deref())
    };
    ModelError {
        status: Some(error.code),
        vendor_status: error.status.clone(),
        type_name: type_name(&error.kind),
        ..ModelError::new(kind, with_hint(message, &speaker.hint(error, kind, model)))
    }
}

fn kind(error: &GoogleError) -> ModelErrorKind {
    match &error.kind {
        GoogleErrorKind::ModelNotFound => ModelErrorKind::NotFound,
        GoogleErrorKind::Auth
        | GoogleErrorKind::Forbidden
        | GoogleErrorKind::ValidationRequired { .. }
        | GoogleErrorKind::AccountSuspended { .. } => ModelErrorKind::Auth,
        GoogleErrorKind::TerminalQuota { reason: QuotaReason::Capacity }
        | GoogleErrorKind::RetryableQuota { .. }
        | GoogleErrorKind::Server => ModelErrorKind::Busy,
        GoogleErrorKind::TerminalQuota { .. } => ModelErrorKind::Quota,
        GoogleErrorKind::BadRequest if is_bad_key(error) => ModelErrorKind::Auth,
        GoogleErrorKind::BadRequest if is_too_long(error) => ModelErrorKind::TooLong,
        GoogleErrorKind::BadRequest => ModelErrorKind::Invalid,
        GoogleErrorKind::Other => ModelErrorKind::Other,
    }
}

/// The service calls a wrong key a bad request (400).
fn is_bad_key(error: &GoogleError) -> bool {
    matches!(error.reason(), Some("API_KEY_INVALID" | "API_KEY_EXPIRED"))
        || ["API key not valid", "API key expired", "API_KEY_INVALID"]
            .iter()
            .any(|words| error.message.contains(words))
}

/// The conversation is longer than the model takes: each service says so in words of its own.
fn is_too_long(error: &GoogleError) -> bool {
    const WORDS: [&str; 8] = [
        // Gemini, then what speaks Chat Completions: OpenAI and vLLM, llama.cpp, gateways to Anthropic, Mistral.
        "exceeds the maximum number of tokens",
        "context_length_exceeded",
        "maximum context length",
        "exceeds the available context size",
        "context window",
        "prompt is too long",
        "input is too long",
        "too large for model with",
    ];
    let message = error.message.to_ascii_lowercase();
    error.status.as_deref() == Some("context_length_exceeded")
        || WORDS.iter().any(|words| message.contains(words))
}

/// The class that Gemini CLI's JSON output names.
fn type_name(kind: &GoogleErrorKind) -> &'static str {
    match kind {
        GoogleErrorKind::ModelNotFound => "ModelNotFoundError",
        GoogleErrorKind::ValidationRequired { .. } => "ValidationRequiredError",
        GoogleErrorKind::AccountSuspended { .. } => "AccountSuspendedError",
        GoogleErrorKind::TerminalQuota { .. } => "TerminalQuotaError",
        GoogleErrorKind::RetryableQuota { .. } => "RetryableQuotaError",
        GoogleErrorKind::Auth
        | GoogleErrorKind::Forbidden
        | GoogleErrorKind::BadRequest
        | GoogleErrorKind::Server
        | GoogleErrorKind::Other => "ApiError",
    }
}

/// The form that callers of Gemini CLI match on.
pub(crate) fn display(message: &str, status: Option<&str>) -> String {
    // The other side must not be able to write to the terminal.
    let message =
        message.replace(|character: char| character.is_control() && character != '\n', " ");
    let message = message.trim();
    let status = status.filter(|word| word.chars().all(|character| character.is_ascii_graphic()));
    match status {
        _ if message.is_empty() => "[API Error: An unknown error occurred.]".to_owned(),
        Some(status) => format!("[API Error: {message} (Status: {status})]"),
        None => format!("[API Error: {message}]"),
    }
}

fn with_hint(mut message: String, hint: &str) -> String {
    if !hint.is_empty() {
        message.push('\n');
        message.push_str(hint);
    }
    message
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
