//! Conversion of network errors to errors for the caller, with a message and a remedy.

use pollux_net::{Error, RetryAdvice, Secrets, StatusError, TimeoutPhase, is_retryable_code};
use pollux_protocol::plain_text::for_terminal;
use pollux_protocol::{ModelError, ModelErrorKind, VendorRefusal};

use crate::refusal::{QuotaReason, Refusal, RefusalKind};

/// Description of a body that is no response.
pub(crate) const WEB_PAGE: &str = "a web page instead of a response of the API";

/// Reader of the error responses of one service, which also knows remedies.
pub(crate) trait RefusalReader: Send + Sync {
    /// Interprets an error response.
    fn read(&self, refusal: &StatusError) -> Refusal;

    /// Returns advice for the user; may be empty. `model` is empty if it is not known.
    fn remedy(&self, refusal: &Refusal, model: &str) -> String;

    /// Returns the source of the service's address, such as `GOOGLE_GEMINI_BASE_URL`.
    fn address_source(&self) -> &str;
}

/// Returns whether to retry after a failure before the response began.
///
/// Connections that fail with a code of Node's list are always retried; other broken connections
/// only if `general.retryFetchErrors` is set.
pub(crate) fn advice(
    reader: &dyn RefusalReader,
    error: &Error,
    retry_fetch_errors: bool,
) -> RetryAdvice {
    match error {
        Error::Status(refusal) => reader.read(refusal).advice(),
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

/// True if an attempt ended before anything was reached: the name of the host was not resolved, or
/// no program listens at an address of this machine.
pub(crate) fn is_unreached(error: &Error) -> bool {
    match error {
        Error::Dns { .. } => true,
        Error::Connect { is_loopback, code, .. } => *is_loopback && *code == "ECONNREFUSED",
        _ => false,
    }
}

/// Returns the class of an error, for telemetry and retry notices.
pub(crate) fn class(error: &Error) -> String {
    match error {
        Error::Status(_) => "ApiError".to_owned(),
        other => other.node_code().unwrap_or("Error").to_owned(),
    }
}

/// Returns a short reason for the user, who waits for the next attempt.
pub(crate) fn reason(reader: &dyn RefusalReader, error: &Error) -> String {
    let mut reason = match error {
        Error::Status(refusal) => {
            let refusal = reader.read(refusal);
            let message = refusal.shown.lines().next().filter(|line| !line.starts_with('<'));
            format!("{} {}", refusal.status, message.unwrap_or_default()).trim_end().to_owned()
        }
        other => other.to_string(),
    };
    // A sentence follows.
    if !reason.ends_with(['.', '!', '?', ':']) {
        reason.push('.');
    }
    reason
}

/// Converts a failure before the response began, after the last attempt.
pub(crate) fn before_answer(reader: &dyn RefusalReader, error: &Error, model: &str) -> ModelError {
    match error {
        Error::Cancelled => ModelError::cancelled(),
        Error::Credentials(message) => ModelError::new(ModelErrorKind::Auth, message),
        Error::Status(refusal) => refused(reader, reader.read(refusal), model),
        other => unreachable(reader, other),
    }
}

/// Converts a failure during the response. `retry_fetch_errors` is the setting of that name.
pub(crate) fn in_stream(error: &Error, retry_fetch_errors: bool) -> ModelError {
    match error {
        Error::Cancelled => ModelError::cancelled(),
        other => ModelError {
            retryable: retry_fetch_errors || other.node_code().is_some_and(is_retryable_code),
            ..ModelError::new(ModelErrorKind::Broken, display(&other.to_string(), None))
        },
    }
}

/// Converts an error object that arrived in place of a piece of the response.
pub(crate) fn in_payload(reader: &dyn RefusalReader, refusal: Refusal) -> ModelError {
    let retryable = matches!(refusal.advice(), RetryAdvice::Retry { .. });
    ModelError { retryable, ..refused(reader, refusal, "") }
}

/// Returns an error without the secrets of its request: some services repeat a key that they
/// refuse. Error responses have none since they were received.
pub(crate) fn without_secrets(mut error: ModelError, secrets: &Secrets) -> ModelError {
    secrets.remove_from(&mut error.message);
    if let Some(VendorRefusal { code, message, .. }) = &mut error.refusal {
        secrets.remove_from(message);
        if let Some(code) = code {
            secrets.remove_from(code);
        }
    }
    error
}

/// Returns the error for a service that was not reached, or did not respond like a service.
fn unreachable(reader: &dyn RefusalReader, error: &Error) -> ModelError {
    let hint = match error {
        Error::Connect { .. }
        | Error::Dns { .. }
        | Error::Timeout { phase: TimeoutPhase::Connect, .. }
            if error.is_through_proxy() =>
        {
            "Check that the proxy runs, and check HTTPS_PROXY and NO_PROXY.".to_owned()
        }
        Error::Connect { host, code: "ECONNREFUSED", .. } => {
            format!(
                "Check that a server runs at {host}, and check {}; behind a proxy, set HTTPS_PROXY.",
                reader.address_source()
            )
        }
        Error::Connect { .. } | Error::Dns { .. } | Error::Unanswered { .. } => {
            "Check the network; behind a proxy, set HTTPS_PROXY (and NO_PROXY for hosts that need no proxy).".to_owned()
        }
        Error::Timeout { phase: TimeoutPhase::Connect, .. } => {
            "Check the network; behind a proxy, set HTTPS_PROXY.".to_owned()
        }
        Error::Redirect { .. } | Error::InvalidUrl { .. } => {
            format!("Check {}.", reader.address_source())
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

/// Returns the error for a web page with a success status. A retry can help: proxies may recover.
pub(crate) fn web_page(reader: &dyn RefusalReader) -> ModelError {
    let message = display(&format!("received {WEB_PAGE}"), None);
    let error = ModelError::new(ModelErrorKind::Broken, with_hint(message, &intercepted(reader)));
    ModelError { retryable: true, ..error }
}

/// Returns the error for a body with a success status that is JSON instead of a stream of events. A
/// gateway that cannot stream sends it again and again, so a retry does not help.
pub(crate) fn not_a_stream(reader: &dyn RefusalReader, what: &str) -> ModelError {
    let message = display(&format!("received {what} instead of a stream of events"), None);
    let hint = format!("It may not support streaming; check {}.", reader.address_source());
    ModelError::new(ModelErrorKind::Broken, with_hint(message, &hint))
}

fn intercepted(reader: &dyn RefusalReader) -> String {
    format!("A proxy may intercept the request, or {} may be wrong.", reader.address_source())
}

/// Converts an error response of the service. `model` may be empty if it is not known.
fn refused(reader: &dyn RefusalReader, refusal: Refusal, model: &str) -> ModelError {
    let is_page = refusal.shown.starts_with('<');
    let status = refusal.status;
    let shown = match &*refusal.shown {
        _ if is_page => display(&format!("HTTP {status}: received {WEB_PAGE}"), None),
        "" => {
            let shown = format!("HTTP {status} without an error message");
            display(&shown, refusal.code.as_deref())
        }
        shown => display(shown, refusal.code.as_deref()),
    };
    let hint =
        if is_page && status < 500 { intercepted(reader) } else { reader.remedy(&refusal, model) };
    let message = with_hint(shown, &(asked_wait(&refusal) + &hint));
    let Refusal { kind, code, message: own, .. } = refusal;
    ModelError {
        refusal: Some(VendorRefusal { status, code, message: own }),
        type_name: kind.type_name(),
        limit: kind.limit(),
        ..ModelError::new(kind.error_kind(), message)
    }
}

/// Returns a sentence with the wait that the service asks for, if it is too long for another
/// attempt; otherwise nothing.
fn asked_wait(refusal: &Refusal) -> String {
    let is_long = refusal.kind == RefusalKind::Quota(QuotaReason::LongDelay);
    let wait = refusal.retry_after.filter(|_| is_long);
    let wait = wait.and_then(|wait| i64::try_from(wait.as_secs()).ok());
    let wait = wait.map(jiff::SignedDuration::from_secs);
    wait.map(|wait| format!("The service asks for a wait of {wait:#}. ")).unwrap_or_default()
}

/// Formats a message in the form that callers of Gemini CLI match.
pub(crate) fn display(message: &str, status: Option<&str>) -> String {
    // The service must not be able to write control characters to the terminal.
    let message = for_terminal(message);
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
