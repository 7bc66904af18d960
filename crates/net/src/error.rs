//! Why a request failed.
//!
//! Every variant knows the error code that Node's `fetch` would report for the same failure, since
//! the retry table of Gemini CLI 0.61 is written in those names.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use url::Url;

use crate::retry::{Cancelled, RetryAdvice, retry_after};
use crate::sse::SseError;

/// Longest body of an unsuccessful answer that is kept, in bytes.
pub const STATUS_BODY_LIMIT: usize = 1024 * 1024;

/// The codes after which Gemini CLI 0.61 tries again.
const RETRYABLE_CODES: [&str; 12] = [
    "ECONNRESET",
    "ETIMEDOUT",
    "EPIPE",
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ERR_SSL_WRONG_VERSION_NUMBER",
    "EPROTO",
    "UND_ERR_HEADERS_TIMEOUT",
    "UND_ERR_BODY_TIMEOUT",
    "UND_ERR_CONNECT_TIMEOUT",
    "ERR_STREAM_PREMATURE_CLOSE",
];

/// Everything that can go wrong between a request and the last byte of its answer.
///
/// Messages never contain credentials: hosts are named without user information, addresses
/// without their query.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No connection could be made, or it broke before the answer began.
    #[error("cannot reach {host}: {cause}")]
    Connect {
        /// Host and port that were to be reached.
        host: String,
        /// What the system said.
        cause: String,
        /// The nearest Node error code.
        code: &'static str,
    },
    /// The host's name has no address.
    #[error("cannot resolve {host}: {cause}")]
    Dns {
        /// Host and port that were to be reached.
        host: String,
        /// What the resolver said.
        cause: String,
        /// Whether the resolver, not the name, is the trouble (`EAI_AGAIN`).
        temporary: bool,
    },
    /// The TLS handshake failed, or no certificates to check it with could be loaded.
    #[error("no secure connection to {host}: {cause}{hint}")]
    Tls {
        /// Host and port that were to be reached.
        host: String,
        /// What the TLS library said.
        cause: String,
        /// What the user can do about it; empty, or a text that begins with a separator.
        hint: String,
        /// The nearest Node error code.
        code: &'static str,
    },
    /// The proxy refused to connect to the host.
    #[error("the proxy {proxy} does not connect to {host}: {cause}")]
    Proxy {
        /// The proxy, without its credentials.
        proxy: String,
        /// Host and port that were to be reached.
        host: String,
        /// What the proxy said.
        cause: String,
    },
    /// The other side took too long.
    #[error("{host} {phase} within {} s", limit.as_secs_f32())]
    Timeout {
        /// What was waited for.
        phase: TimeoutPhase,
        /// Host and port of the request.
        host: String,
        /// How long it was waited for.
        limit: Duration,
    },
    /// The server sent the request elsewhere and we do not follow.
    #[error("{from} redirects to {to}: {reason}")]
    Redirect {
        /// Address of the request, without query.
        from: String,
        /// Address the server named, without query.
        to: String,
        /// Why it is not followed.
        reason: RedirectReason,
    },
    /// The answer began, then broke off.
    #[error("the answer of {host} broke off: {cause}")]
    BodyBroken {
        /// Host and port of the request.
        host: String,
        /// What happened.
        cause: String,
        /// The nearest Node error code.
        code: &'static str,
    },
    /// The answer is larger than the caller allows.
    #[error("the answer of {host} is larger than {limit} bytes")]
    BodyTooLarge {
        /// Host and port of the request.
        host: String,
        /// The allowed size in bytes.
        limit: usize,
    },
    /// The host is on this machine or in a private network, and only public ones are to be reached.
    #[error("{host} is not on the public internet")]
    NotPublic {
        /// The host.
        host: String,
    },
    /// The address cannot be requested.
    #[error("invalid URL {url}: {cause}")]
    InvalidUrl {
        /// The address as given.
        url: String,
        /// What is wrong with it.
        cause: String,
    },
    /// A client cannot be built from these options, for example because of a proxy's address.
    #[error("{0}")]
    InvalidOptions(String),
    /// There are no credentials for the request: the message says what helps.
    #[error("{0}")]
    Credentials(String),
    /// The event stream is malformed or ended too early.
    #[error(transparent)]
    Stream(#[from] SseError),
    /// The caller's token was cancelled.
    #[error("the request was cancelled")]
    Cancelled,
    /// The server answered with a status outside 200..=299.
    #[error(transparent)]
    Status(#[from] Box<StatusError>),
}

/// An answer that is no success.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{host} answered {status}")]
pub struct StatusError {
    /// Host and port of the request.
    pub host: String,
    /// The status line's code.
    pub status: StatusCode,
    /// The answer's headers.
    pub headers: HeaderMap,
    /// The beginning of the answer's body, at most [`STATUS_BODY_LIMIT`] bytes.
    pub body: Bytes,
}

/// What was waited for when time ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutPhase {
    /// The connection, including the TLS handshake.
    Connect,
    /// The status line and headers, after the request was sent.
    Headers,
    /// The next bytes of the body.
    Idle,
}

impl std::fmt::Display for TimeoutPhase {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Connect => "accepted no connection",
            Self::Headers => "did not begin to answer",
            Self::Idle => "sent nothing more",
        })
    }
}

/// Why a redirect is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectReason {
    /// The chain comes back to an address it has been at.
    Loop,
    /// The chain is longer than the limit.
    TooMany,
    /// Scheme, host or port differ, so the request's credentials would go to a stranger.
    OtherOrigin,
    /// The status (301, 302, 303) would turn a request with a body into a plain GET.
    WouldDropBody,
    /// The `Location` header is no address.
    Unreadable,
}

impl std::fmt::Display for RedirectReason {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Loop => "redirect loop",
            Self::TooMany => "too many redirects",
            Self::OtherOrigin => {
                "not followed, because the credentials would go to another server; \
                 if that is the right one, set it as the base URL"
            }
            Self::WouldDropBody => "not followed, because the request's body would be lost",
            Self::Unreadable => "the Location header is no address",
        })
    }
}

impl Error {
    /// A redirect that is not followed. Messages name addresses without user information, query and fragment: those
    /// may be secrets.
    pub(crate) fn redirect(from: &Url, to: &str, reason: RedirectReason) -> Self {
        let to = from.join(to).map_or_else(|_| "an unreadable address".to_owned(), |to| bare(&to));
        Self::Redirect { from: bare(from), to, reason }
    }

    /// The code Node's `fetch` (undici) reports for this failure; `None` where it reports none.
    pub fn node_code(&self) -> Option<&'static str> {
        match self {
            Self::Connect { code, .. } | Self::Tls { code, .. } | Self::BodyBroken { code, .. } => {
                Some(code)
            }
            Self::Dns { temporary: true, .. } => Some("EAI_AGAIN"),
            Self::Dns { temporary: false, .. } => Some("ENOTFOUND"),
            Self::Timeout { phase: TimeoutPhase::Connect, .. } => Some("UND_ERR_CONNECT_TIMEOUT"),
            Self::Timeout { phase: TimeoutPhase::Headers, .. } => Some("UND_ERR_HEADERS_TIMEOUT"),
            Self::Timeout { phase: TimeoutPhase::Idle, .. } => Some("UND_ERR_BODY_TIMEOUT"),
            Self::InvalidUrl { .. } => Some("ERR_INVALID_URL"),
            Self::Cancelled => Some("ABORT_ERR"),
            Self::Proxy { .. } => Some("UND_ERR_ABORTED"),
            Self::Redirect { .. }
            | Self::BodyTooLarge { .. }
            | Self::NotPublic { .. }
            | Self::InvalidOptions(_)
            | Self::Credentials(_)
            | Self::Stream(_)
            | Self::Status(_) => None,
        }
    }

    /// Whether the network, not the request, is to blame, so that the same request may succeed.
    ///
    /// Beyond the original's list of codes, any broken connection counts, as its `fetch failed`
    /// rule does. A certificate that is not trusted never counts: it will not be trusted the
    /// next time either.
    pub fn is_retryable_transport(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::BodyBroken { .. } | Self::Stream(SseError::Incomplete) => {
                true
            }
            other => other.node_code().is_some_and(is_retryable_code),
        }
    }

    /// What the retry loop should do, going by the transport and the bare status: 429, 499 and
    /// 5xx are tried again, after the time a `Retry-After` header names.
    ///
    /// Callers that know the vendor look into the body first.
    pub fn advice(&self) -> RetryAdvice {
        match self {
            Self::Status(status) if is_retryable_status(status.status.as_u16()) => {
                RetryAdvice::Retry { after: retry_after(&status.headers) }
            }
            other if other.is_retryable_transport() => RetryAdvice::Retry { after: None },
            _ => RetryAdvice::Fail,
        }
    }
}

fn bare(url: &Url) -> String {
    match host_and_port(url) {
        Ok(host) => format!("{}://{host}{}", url.scheme(), url.path()),
        Err(_) => format!("{}:…", url.scheme()),
    }
}

/// Host and port for messages.
///
/// # Errors
/// [`Error::InvalidUrl`] if the scheme is not http or https.
pub(crate) fn host_and_port(url: &Url) -> Result<String, Error> {
    match (url.scheme(), url.host(), url.port_or_known_default()) {
        ("http" | "https", Some(host), Some(port)) => Ok(format!("{host}:{port}")),
        _ => Err(Error::InvalidUrl {
            url: format!("{}:…", url.scheme()),
            cause: "only http and https addresses can be requested".to_owned(),
        }),
    }
}

impl From<Cancelled> for Error {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// Whether Gemini CLI 0.61 tries again after this Node error code.
pub fn is_retryable_code(code: &str) -> bool {
    let upper = code.to_ascii_uppercase();
    RETRYABLE_CODES.contains(&upper.as_str())
        || (upper.starts_with("ERR_SSL_") && upper.contains("BAD_RECORD_MAC"))
}

/// Whether Gemini CLI 0.61 tries again after this HTTP status (429, 499 and 5xx).
pub(crate) fn is_retryable_status(status: u16) -> bool {
    status == 429 || status == 499 || (500..=599).contains(&status)
}

#[cfg(test)]
mod tests;
