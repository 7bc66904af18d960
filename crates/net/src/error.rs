//! Errors of requests.
//!
//! Every variant knows the error code that Node's `fetch` would report for the same failure,
//! because the retry table of Gemini CLI 0.61 uses those codes.

use std::net::Ipv4Addr;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use url::{Host, Url};

use crate::retry::{Cancelled, RetryAdvice, retry_after};
use crate::sse::SseError;

/// Maximum size of the stored body of an unsuccessful response, in bytes.
pub const STATUS_BODY_LIMIT: usize = 1024 * 1024;

/// Error codes after which Gemini CLI 0.61 retries.
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

/// Failure between sending a request and receiving the last byte of its response.
///
/// Messages never contain credentials: hosts are named without user information, and addresses
/// without their query.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The connection could not be made.
    #[error("cannot reach {host}: {cause}")]
    Connect {
        /// Host and port of the connection.
        host: String,
        /// True if the server, or the proxy that was to connect to it, is on this machine.
        is_loopback: bool,
        /// Message of the operating system.
        cause: String,
        /// Nearest Node error code.
        code: &'static str,
    },
    /// The connection broke before the response began.
    #[error("no answer from {host}: {cause}")]
    Unanswered {
        /// Host and port of the connection.
        host: String,
        /// Description of the failure.
        cause: String,
        /// Nearest Node error code.
        code: &'static str,
    },
    /// The host name has no address.
    #[error("cannot resolve {host}: {cause}")]
    Dns {
        /// Host and port of the connection.
        host: String,
        /// Message of the resolver.
        cause: String,
        /// True if the resolver failed, not the name (`EAI_AGAIN`).
        temporary: bool,
    },
    /// The TLS handshake failed, or no certificates could be loaded to verify it.
    #[error("no secure connection to {host}: {cause}{hint}")]
    Tls {
        /// Host and port of the connection.
        host: String,
        /// Message of the TLS library.
        cause: String,
        /// Hint about a possible remedy; empty, or a text that begins with a separator.
        hint: String,
        /// Nearest Node error code.
        code: &'static str,
    },
    /// The proxy refused to connect to the host.
    #[error("the proxy {proxy} does not connect to {host}: {cause}")]
    Proxy {
        /// Proxy address, without its credentials.
        proxy: String,
        /// Host and port of the connection.
        host: String,
        /// Message of the proxy.
        cause: String,
    },
    /// The server or the proxy took too long.
    #[error("{host} {phase} within {} s", limit.as_secs_f32())]
    Timeout {
        /// Phase of the request that took too long.
        phase: TimeoutPhase,
        /// Host and port of the request.
        host: String,
        /// Time limit that was exceeded.
        limit: Duration,
    },
    /// The server redirected the request to an address that is not followed.
    #[error("{from} redirects to {to}: {reason}")]
    Redirect {
        /// Address of the request, without query.
        from: String,
        /// Address that the server redirected to, without query.
        to: String,
        /// Reason for not following the redirect.
        reason: RedirectReason,
    },
    /// The response began and then broke off.
    #[error("the answer of {host} broke off: {cause}")]
    BodyBroken {
        /// Host and port of the request.
        host: String,
        /// Description of the failure.
        cause: String,
        /// Nearest Node error code.
        code: &'static str,
    },
    /// The response is larger than the caller allows.
    #[error("the answer of {host} is larger than {limit} bytes")]
    BodyTooLarge {
        /// Host and port of the request.
        host: String,
        /// Allowed size in bytes.
        limit: usize,
    },
    /// The host is on this machine or in a private network, and only public hosts are allowed.
    #[error("{host} is not on the public internet")]
    NotPublic {
        /// Name or address of the host.
        host: String,
    },
    /// The address cannot be requested.
    #[error("invalid URL {url}: {cause}")]
    InvalidUrl {
        /// Address as given by the caller.
        url: String,
        /// Description of the problem.
        cause: String,
    },
    /// A client cannot be built from these options, for example because of the proxy address.
    #[error("{0}")]
    InvalidOptions(String),
    /// The request has no credentials; the message names a remedy.
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

/// Response with a status that is not a success.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{host} answered {status}")]
pub struct StatusError {
    /// Host and port of the request.
    pub host: String,
    /// Code of the status line.
    pub status: StatusCode,
    /// Headers of the response.
    pub headers: HeaderMap,
    /// Beginning of the response body, at most [`STATUS_BODY_LIMIT`] bytes, without the secrets of
    /// the request: services repeat a key that they refuse.
    pub body: Bytes,
}

/// Phase of a request in which a time limit was exceeded.
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

/// Reason for not following a redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectReason {
    /// The redirect leads back to an address that was already visited.
    Loop,
    /// The chain is longer than the limit.
    TooMany,
    /// Scheme, host or port differ, so the credentials would be sent to another server.
    OtherOrigin,
    /// The status (301, 302, 303) would turn a request with a body into a plain GET.
    WouldDropBody,
    /// The `Location` header is not a valid address.
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
            Self::Unreadable => "the Location header is not an address",
        })
    }
}

/// Text between the host of a connection and its proxy.
const THROUGH_PROXY: &str = " (through the proxy ";

/// Returns the host of a connection for messages, with the proxy if one is used.
pub(crate) fn peer(host: &str, proxy: Option<&str>) -> String {
    match proxy {
        Some(proxy) => format!("{host}{THROUGH_PROXY}{proxy})"),
        None => host.to_owned(),
    }
}

impl Error {
    /// Creates the error for a redirect that is not followed. Messages show addresses without user
    /// information, query and fragment, because these may contain secrets.
    pub(crate) fn redirect(from: &Url, to: &str, reason: RedirectReason) -> Self {
        let to = from.join(to).map_or_else(|_| "an unreadable address".to_owned(), |to| bare(&to));
        Self::Redirect { from: bare(from), to, reason }
    }

    /// Returns the code that Node's `fetch` (undici) reports for this failure, or `None` if it
    /// reports no code.
    pub fn node_code(&self) -> Option<&'static str> {
        match self {
            Self::Connect { code, .. }
            | Self::Unanswered { code, .. }
            | Self::Tls { code, .. }
            | Self::BodyBroken { code, .. } => Some(code),
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

    /// True if the server asked for a certificate of the client, and did not get one that it
    /// accepts.
    pub fn wants_client_certificate(&self) -> bool {
        let codes = [
            "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
            "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA",
            "ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE",
        ];
        matches!(self, Self::Tls { code, .. } if codes.contains(code))
    }

    /// True if the connection was to go through a proxy.
    pub fn is_through_proxy(&self) -> bool {
        match self {
            Self::Proxy { .. } => true,
            Self::Connect { host, .. }
            | Self::Unanswered { host, .. }
            | Self::Dns { host, .. }
            | Self::Timeout { host, .. } => host.contains(THROUGH_PROXY),
            _ => false,
        }
    }

    /// True if the network caused the error, not the request, so that the same request may succeed.
    ///
    /// In addition to the codes in the list of Gemini CLI, any broken connection counts, as in the
    /// `fetch failed` rule of Gemini CLI. An untrusted certificate never counts, because it will
    /// not be trusted on the next attempt either.
    pub fn is_retryable_transport(&self) -> bool {
        match self {
            Self::Connect { .. }
            | Self::Unanswered { .. }
            | Self::BodyBroken { .. }
            | Self::Stream(SseError::Incomplete) => true,
            other => other.node_code().is_some_and(is_retryable_code),
        }
    }

    /// Returns advice for the retry loop, based on the transport and the status alone: 429, 499 and
    /// 5xx are retried, after the time in the `Retry-After` header if there is one.
    ///
    /// Callers that know the vendor examine the body first.
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

/// Returns host and port for messages.
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

/// True if the host of an address is this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        // In addresses of SOCKS proxies, IPv4 addresses are names.
        Some(Host::Domain(name)) => {
            name.eq_ignore_ascii_case("localhost")
                || name.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback())
        }
        None => false,
    }
}

impl From<Cancelled> for Error {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// True if Gemini CLI 0.61 retries after this Node error code.
pub fn is_retryable_code(code: &str) -> bool {
    let upper = code.to_ascii_uppercase();
    RETRYABLE_CODES.contains(&upper.as_str())
        || (upper.starts_with("ERR_SSL_") && upper.contains("BAD_RECORD_MAC"))
}

/// True if Gemini CLI 0.61 retries after this HTTP status (429, 499 and 5xx).
pub(crate) fn is_retryable_status(status: u16) -> bool {
    status == 429 || status == 499 || (500..=599).contains(&status)
}

#[cfg(test)]
mod tests;
