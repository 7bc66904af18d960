//! Errors as the client gets them. Codes and messages that clients match are those of Gemini CLI
//! 0.61.

use agent_client_protocol_schema::v1::{Error, ErrorCode};
use pollux_protocol::{ModelError, ModelErrorKind, SessionFailure, SessionsError};
use serde_json::json;

/// Code of a failure that has no HTTP status.
const FAILED: i32 = 500;
/// Message for a request that the service refuses because there are too many of them.
const RATE_LIMIT: &str = "Rate limit exceeded. Try again later.";

/// Start of the message at the terminal about a session that cannot be opened again, which clients
/// do not get.
const RESUMING: &str = "Error resuming session: ";

/// Returns the error for a method that the agent does not have.
pub(crate) fn unknown_method(method: &str) -> Error {
    let code = ErrorCode::MethodNotFound.into();
    Error::new(code, format!("\"Method not found\": {method}")).data(json!({ "method": method }))
}

/// Returns the error for a session that is not open.
pub(crate) fn unknown_session(id: &str) -> Error {
    Error::new(ErrorCode::InvalidParams.into(), format!("Session not found: {id}"))
}

/// Returns the error for a request that cannot be carried out, with the reason.
pub(crate) fn internal(details: impl Into<String>) -> Error {
    Error::internal_error().data(json!({ "details": details.into() }))
}

/// Returns the error for parameters that are well-formed and cannot be used.
pub(crate) fn unusable(details: impl Into<String>) -> Error {
    Error::invalid_params().data(json!({ "details": details.into() }))
}

/// Returns the error for a request that the user or the end of the session has stopped.
pub(crate) fn stopped() -> Error {
    Error::request_cancelled()
}

/// Returns the error for a prompt that failed, with the message for the user.
pub(crate) fn failed(message: impl Into<String>) -> Error {
    Error::new(FAILED, message)
}

/// Returns the error for a request to a model that failed: its code is the HTTP status.
pub(crate) fn model(error: &ModelError) -> Error {
    match error.status() {
        Some(429) => Error::new(429, RATE_LIMIT),
        Some(status) => Error::new(status.into(), &error.message),
        None if error.kind == ModelErrorKind::Auth => auth_required(&error.message),
        None => failed(&error.message),
    }
}

/// Returns the error for a session that cannot be opened.
pub(crate) fn opening(error: &SessionsError) -> Error {
    match error.failure.as_ref() {
        SessionFailure::Model(error) if error.kind == ModelErrorKind::Auth => {
            auth_required(&error.message)
        }
        failure => {
            let message = failure.to_string();
            internal(message.strip_prefix(RESUMING).unwrap_or(&message))
        }
    }
}

fn auth_required(message: &str) -> Error {
    Error::new(ErrorCode::AuthRequired.into(), message)
}
