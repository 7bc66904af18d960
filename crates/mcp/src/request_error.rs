//! Error messages of requests to a server, without the SDK's words around them.

use rmcp::service::ServiceError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::http::HttpFailure;
use crate::incoming::shown_line;

/// Returns the message of a request that failed. It may contain text of the server.
pub(crate) fn message(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => {
            format!("the server refused: {}", shown_line(&error.message))
        }
        ServiceError::TransportSend(error) => transport_message(error.error.as_ref()),
        ServiceError::TransportClosed => "the connection was closed".to_owned(),
        ServiceError::Timeout { timeout } => {
            format!("no answer within {} s", timeout.as_secs_f64())
        }
        ServiceError::UnexpectedResponse => "the answer is not valid".to_owned(),
        other => other.to_string(),
    }
}

/// Returns the message of a transport that failed.
pub(crate) fn transport_message(error: &(dyn std::error::Error + 'static)) -> String {
    match http_failure(error) {
        Some(failure) => failure.to_string(),
        None => match error.downcast_ref() {
            Some(StreamableHttpError::<HttpFailure>::UnexpectedServerResponse(text)) => {
                text.to_string()
            }
            _ => error.to_string(),
        },
    }
}

/// Returns the failure of a request over HTTP that made a transport fail.
pub(crate) fn http_failure<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> Option<&'e HttpFailure> {
    match error.downcast_ref() {
        Some(StreamableHttpError::<HttpFailure>::Client(failure)) => Some(failure),
        _ => error.downcast_ref(),
    }
}
