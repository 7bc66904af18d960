//! Conversion of the HTTP library's errors to ours, by searching the chain of causes.

use std::error::Error as StdError;
use std::io;

use rustls::{AlertDescription, CertificateError, InvalidMessage};

use super::issuer::Untrusted;
use super::pinned::is_about_issuer;
use super::secrets::Secrets;
use crate::error::{Error, TimeoutPhase, peer};
use crate::public::NoPublicAddress;

/// Maximum number of causes that are examined. Other crates build the errors, so a chain could be
/// cyclic.
const MAX_CAUSES: usize = 16;

/// Hint about an issuer that is not trusted.
const UNTRUSTED_HINT: &str = "; if this network inspects TLS, set SSL_CERT_FILE or NODE_EXTRA_CA_CERTS to a PEM file with its root certificate; for a server with a certificate of its own, to a file with the certificate that it has now";

/// Information about a request for its error messages.
#[derive(Debug, Clone)]
pub(super) struct Exchange {
    /// Host and port of the request.
    pub(super) host: String,
    /// Proxy that the request goes through, without credentials.
    pub(super) proxy: Option<String>,
    /// True if the connection is made to this machine: to the proxy, or else to the host.
    pub(super) is_loopback: bool,
    /// Problems while loading certificates, for the hint.
    pub(super) certificate_notes: Vec<String>,
    /// Time limit for connecting.
    pub(super) connect_timeout: std::time::Duration,
    /// Secrets of the request, which do not belong in messages.
    pub(super) secrets: Secrets,
}

impl Exchange {
    /// Returns the error for a failure before the response headers arrived.
    pub(super) fn request_failed(&self, error: &reqwest::Error) -> Error {
        if let Some(tls) = find::<rustls::Error>(error) {
            return self.tls_failed(tls);
        }
        if find::<NoPublicAddress>(error).is_some() {
            let host = self.host.rsplit_once(':').map_or(self.host.as_str(), |(host, _)| host);
            return Error::NotPublic { host: host.to_owned() };
        }
        if error.is_timeout() && error.is_connect() {
            return Error::Timeout {
                phase: TimeoutPhase::Connect,
                host: self.peer(),
                limit: self.connect_timeout,
            };
        }
        if error.is_dns() {
            let cause = innermost(error);
            let temporary = cause.contains("Temporary failure") || cause.contains("try again");
            return Error::Dns { host: self.peer(), cause, temporary };
        }
        if let Some(refusal) = self.proxy_refusal(error) {
            return refusal;
        }
        if error.is_builder() {
            return Error::InvalidUrl { url: self.host.clone(), cause: innermost(error) };
        }
        let (code, cause) = broken_connection(error);
        let host = self.peer();
        if error.is_connect() {
            Error::Connect { host, is_loopback: self.is_loopback, cause, code }
        } else {
            Error::Unanswered { host, cause, code }
        }
    }

    /// Returns the error for a failure while the response body was read.
    pub(super) fn body_failed(&self, error: &reqwest::Error) -> Error {
        let (code, cause) = broken_connection(error);
        Error::BodyBroken { host: self.host.clone(), cause, code }
    }

    /// Returns the error for a TLS failure, with a hint about possible remedies.
    pub(super) fn tls_failed(&self, error: &rustls::Error) -> Error {
        let mut hint = String::new();
        let untrusted = untrusted(error);
        match error {
            _ if untrusted.is_some() => hint.push_str(UNTRUSTED_HINT),
            rustls::Error::InvalidCertificate(fault) if is_about_issuer(fault) => {
                hint.push_str(UNTRUSTED_HINT);
            }
            rustls::Error::AlertReceived(
                AlertDescription::CertificateRequired
                | AlertDescription::UnknownCA
                | AlertDescription::BadCertificate,
            ) => hint.push_str(
                "; the server wants a certificate of the client that it accepts: set \
                 pollux.tls.clientCertificate and pollux.tls.clientKey",
            ),
            _ => {}
        }
        self.add_notes(&mut hint);
        let cause = match untrusted {
            Some(untrusted) => format!("invalid peer certificate: {untrusted}"),
            None => error.to_string(),
        };
        Error::Tls { host: self.host.clone(), cause, hint, code: tls_code(error) }
    }

    /// Returns the error for a secure client that could not be built. With valid options, this
    /// means a system without certificates, such as a minimal container.
    pub(super) fn no_certificates(&self, cause: &str) -> Error {
        let mut hint = "; install the system's CA certificates, or set SSL_CERT_FILE".to_owned();
        self.add_notes(&mut hint);
        let code = "UNABLE_TO_GET_ISSUER_CERT_LOCALLY";
        Error::Tls { host: self.host.clone(), cause: cause.to_owned(), hint, code }
    }

    fn add_notes(&self, hint: &mut String) {
        for note in &self.certificate_notes {
            hint.push_str("; ");
            hint.push_str(note);
        }
    }

    /// Returns the host of the connection for messages, with the proxy if one is used.
    fn peer(&self) -> String {
        peer(&self.host, self.proxy.as_deref())
    }

    /// Returns the error of a proxy that was reached but did not connect to the host.
    fn proxy_refusal(&self, error: &reqwest::Error) -> Option<Error> {
        let proxy = self.proxy.clone()?;
        // The error types are private to the HTTP library, so they can be recognised only by their
        // messages. A proxy that could not be reached at all is an ordinary connection error.
        let cause = causes(error)
            .map(ToString::to_string)
            .find(|cause| cause.starts_with("tunnel error") || cause.starts_with("SOCKS error"))?;
        if cause.contains("failed to create underlying connection") {
            return None;
        }
        Some(Error::Proxy { proxy, host: self.host.clone(), cause })
    }
}

/// Returns the error and its causes, outermost first. Also looks inside `io::Error`, whose `source`
/// skips the error it contains.
fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn StdError + 'static)| {
        let error: &'a (dyn StdError + 'static) = *error;
        let carried = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
            .map(|inner| inner as &(dyn StdError + 'static));
        match carried {
            Some(inner) => Some(inner),
            None => error.source(),
        }
    })
    .take(MAX_CAUSES)
}

fn find<T: StdError + 'static>(error: &reqwest::Error) -> Option<&T> {
    causes(error).find_map(|cause| cause.downcast_ref::<T>())
}

/// Returns the message of the last cause: the outer causes only say "error sending request".
fn innermost(error: &reqwest::Error) -> String {
    causes(error).last().map(ToString::to_string).unwrap_or_default()
}

/// Returns Node's error code and the message for a connection that failed or broke.
fn broken_connection(error: &reqwest::Error) -> (&'static str, String) {
    let cause = innermost(error);
    let kind = causes(error)
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .map(io::Error::kind)
        .find(|kind| *kind != io::ErrorKind::Other);
    let code = match kind {
        Some(io::ErrorKind::ConnectionRefused) => "ECONNREFUSED",
        Some(io::ErrorKind::BrokenPipe) => "EPIPE",
        Some(io::ErrorKind::TimedOut) => "ETIMEDOUT",
        Some(io::ErrorKind::HostUnreachable) => "EHOSTUNREACH",
        Some(io::ErrorKind::NetworkUnreachable) => "ENETUNREACH",
        Some(io::ErrorKind::AddrNotAvailable) => "EADDRNOTAVAIL",
        Some(io::ErrorKind::PermissionDenied) => "EACCES",
        // Node's stream code reports a server that closes mid-body as a premature close.
        Some(io::ErrorKind::UnexpectedEof) => "ERR_STREAM_PREMATURE_CLOSE",
        _ => "ECONNRESET",
    };
    (code, cause)
}

/// Returns the error about an issuer that is not trusted.
fn untrusted(error: &rustls::Error) -> Option<&Untrusted> {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::Other(other)) => {
            other.0.downcast_ref::<Untrusted>()
        }
        _ => None,
    }
}

/// Returns Node's code for a TLS failure (OpenSSL's names).
fn tls_code(error: &rustls::Error) -> &'static str {
    use rustls::Error as Tls;
    match error {
        Tls::InvalidCertificate(certificate) => {
            certificate_code(untrusted(error).map_or(certificate, |untrusted| &untrusted.fault))
        }
        Tls::AlertReceived(AlertDescription::CertificateRequired) => {
            "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED"
        }
        Tls::AlertReceived(AlertDescription::UnknownCA) => "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA",
        Tls::AlertReceived(AlertDescription::BadCertificate) => {
            "ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE"
        }
        Tls::InvalidMessage(
            InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion,
        ) => "ERR_SSL_WRONG_VERSION_NUMBER",
        Tls::DecryptError | Tls::AlertReceived(AlertDescription::BadRecordMac) => {
            "ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC"
        }
        _ => "EPROTO",
    }
}

fn certificate_code(error: &CertificateError) -> &'static str {
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "CERT_HAS_EXPIRED",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "CERT_NOT_YET_VALID"
        }
        CertificateError::Revoked => "CERT_REVOKED",
        CertificateError::UnknownIssuer => "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "ERR_TLS_CERT_ALTNAME_INVALID"
        }
        _ => "CERT_REJECTED",
    }
}
