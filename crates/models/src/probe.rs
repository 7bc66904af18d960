//! Test connection to the service that a run would use. It asks for the list of models, which costs
//! nothing.

use std::time::{Duration, Instant};

use http::HeaderMap;
use pollux_net::retry::server_time;
use pollux_net::{ClientOptions, Error, TimeoutPhase};
use pollux_protocol::plain_text::for_terminal;
use pollux_protocol::{CancellationToken, ModelError, ModelErrorKind};

use crate::catalog::GEMINI;
use crate::dialect::Connection;
use crate::failure::WEB_PAGE;
use crate::refusal::{self, RefusalKind};

/// Maximum time of the test.
const LIMIT: Duration = Duration::from_secs(20);

/// Maximum size of a list of models, in bytes.
const MOST_BYTES: usize = 8 << 20;

/// Part of a connection that a problem belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Settings or variables.
    Settings,
    /// Credentials that are missing or refused.
    Credentials,
    /// The proxy.
    Proxy,
    /// The resolution of the host name.
    Dns,
    /// The connection to the host.
    Connection,
    /// The certificate of the service, whose issuer is not trusted, or the trusted certificates.
    Certificates,
    /// The time at which the certificate of the service is valid.
    CertificateTime,
    /// The host name, for which the certificate of the service is not valid.
    CertificateName,
    /// The certificate of the user, which the service asks for.
    ClientCertificate,
    /// The address, at which a web page is instead of the service.
    WebPage,
    /// The quota of the account.
    Quota,
    /// The service itself.
    Service,
}

/// Result of a test connection.
#[derive(Debug, Clone)]
pub struct Probe {
    /// Name of the service.
    pub service: String,
    /// Address of the service, without its query.
    pub address: String,
    /// Proxy of the connection, without its password.
    pub proxy: Option<String>,
    /// Time until the response.
    pub duration: Duration,
    /// Difference between the clock of this machine and that of the service, if the service told
    /// its own. Positive if this machine is ahead.
    pub clock_ahead: Option<jiff::SignedDuration>,
    /// Problem, with a message; `None` if the service accepts requests.
    pub fault: Option<(Fault, String)>,
}

/// Tests a connection.
pub(crate) async fn probe(connection: &Connection, options: &ClientOptions) -> Probe {
    let (vendor, endpoint) = (&connection.vendor, &connection.endpoint);
    let has_list = vendor.id == GEMINI || !vendor.sign_in.is_googles();
    let request = endpoint.request(http::Method::GET, if has_list { "models" } else { "" }, vec![]);
    let (address, cancel) = (shown(endpoint.base()), CancellationToken::new());
    let exchange = &connection.exchange;
    let began = Instant::now();
    let sent = exchange.http.send_signed(request, &*exchange.authoriser, &cancel);
    let outcome = tokio::time::timeout(LIMIT, sent).await;
    let proxy = options.proxy.as_ref().filter(|_| !endpoint.is_loopback());
    let mut probe = Probe {
        service: vendor.name.clone(),
        address,
        proxy: proxy.map(|proxy| {
            url::Url::parse(&proxy.url).map_or_else(|_| proxy.source.clone(), |url| shown(&url))
        }),
        duration: began.elapsed(),
        clock_ahead: None,
        fault: None,
    };
    match outcome {
        Ok(Ok(response)) => {
            probe.clock_ahead = clock_ahead(response.headers());
            let status = response.status().as_u16();
            let beginning = tokio::time::timeout(LIMIT, response.bytes(MOST_BYTES)).await;
            let is_page = matches!(&beginning, Ok(Ok(body)) if is_web_page(body));
            probe.fault = is_page.then(|| web_page(status));
        }
        Ok(Err(Error::Status(refused))) => {
            probe.clock_ahead = clock_ahead(&refused.headers);
            probe.fault = refusal_fault(refused.status.as_u16(), &refused.body, has_list);
        }
        Ok(Err(error)) => {
            let fault = fault(&error);
            let fault = if error.is_through_proxy() { Fault::Proxy } else { fault };
            probe.fault = Some((fault, error.to_string()));
        }
        Err(_) => {
            let message = format!("no response within {} s", LIMIT.as_secs());
            probe.fault = Some((Fault::Connection, message));
        }
    }
    probe
}

/// Returns an address without user, password and query.
fn shown(url: &url::Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{host}{port}", url.scheme())
}

/// Returns the part that an error belongs to.
fn fault(error: &Error) -> Fault {
    match error {
        Error::Dns { .. } => Fault::Dns,
        Error::Tls { code: "CERT_HAS_EXPIRED" | "CERT_NOT_YET_VALID", .. } => {
            Fault::CertificateTime
        }
        Error::Tls { code: "ERR_TLS_CERT_ALTNAME_INVALID", .. } => Fault::CertificateName,
        Error::Tls { .. } if error.wants_client_certificate() => Fault::ClientCertificate,
        Error::Tls { .. } => Fault::Certificates,
        Error::Proxy { .. } => Fault::Proxy,
        Error::Credentials(_) => Fault::Credentials,
        Error::InvalidOptions(_) | Error::InvalidUrl { .. } => Fault::Settings,
        Error::Connect { .. }
        | Error::Unanswered { .. }
        | Error::Timeout { phase: TimeoutPhase::Connect, .. } => Fault::Connection,
        _ => Fault::Service,
    }
}

/// Returns the problem that a refusal shows; `None` if the service only lacks a list of models.
fn refusal_fault(status: u16, body: &[u8], has_list: bool) -> Option<(Fault, String)> {
    let read = refusal::understood(status, body);
    let fault = match read.kind {
        RefusalKind::Auth
        | RefusalKind::Permission
        | RefusalKind::Verification { .. }
        | RefusalKind::Suspended { .. } => Fault::Credentials,
        RefusalKind::Quota(_) | RefusalKind::RateLimited => Fault::Quota,
        RefusalKind::Busy | RefusalKind::NoCapacity | RefusalKind::Server => Fault::Service,
        _ if status == 407 => Fault::Proxy,
        // The address of other services answers with a page, too.
        _ if has_list && is_web_page(body) => return Some(web_page(status)),
        _ => return None,
    };
    // The address of other services answers nothing without a method.
    let counts = has_list || fault == Fault::Service || fault == Fault::Proxy;
    let message = for_terminal(read.shown.lines().next().unwrap_or_default());
    counts.then(|| (fault, format!("status {status}: {message}")))
}

/// True if the body of a response is a web page.
fn is_web_page(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"<")
}

fn web_page(status: u16) -> (Fault, String) {
    (Fault::WebPage, format!("status {status}: received {WEB_PAGE}"))
}

fn clock_ahead(headers: &HeaderMap) -> Option<jiff::SignedDuration> {
    Some(jiff::Timestamp::now().duration_since(server_time(headers)?))
}

/// Returns the problem of a service that cannot be asked at all.
pub(crate) fn unusable(error: &ModelError) -> (Fault, String) {
    let fault = match error.kind {
        ModelErrorKind::Auth => Fault::Credentials,
        _ if error.message.contains("PROXY") => Fault::Proxy,
        _ => Fault::Settings,
    };
    (fault, error.message.clone())
}

#[cfg(test)]
mod tests {
    use http::header::DATE;
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn refusals_name_the_part() {
        let fault = |status, body: &str, has_list| {
            refusal_fault(status, body.as_bytes(), has_list).map(|(fault, _)| fault)
        };
        for (status, body, expected) in [
            (401, "", Some(Fault::Credentials)),
            (403, "", Some(Fault::Credentials)),
            (400, r#"{"error": {"message": "API key not valid."}}"#, Some(Fault::Credentials)),
            (429, "", Some(Fault::Quota)),
            (503, "", Some(Fault::Service)),
            (407, "", Some(Fault::Proxy)),
            // Gateways without a list of models.
            (404, "", None),
            (405, "", None),
            (400, "", None),
        ] {
            assert_eq!(fault(status, body, true), expected, "{status} {body}");
        }
        for (status, expected) in [(404, Fault::WebPage), (403, Fault::Credentials)] {
            assert_eq!(fault(status, " <!doctype html><p>No.", true), Some(expected), "{status}");
        }
        assert_eq!(fault(404, "<html>", false), None);
        assert_eq!(fault(403, "", false), None);
        assert_eq!(fault(500, "", false), Some(Fault::Service));
    }

    #[test]
    fn faults_of_certificates_are_told_apart() {
        for (code, expected) in [
            ("UNABLE_TO_GET_ISSUER_CERT_LOCALLY", Fault::Certificates),
            ("CERT_HAS_EXPIRED", Fault::CertificateTime),
            ("ERR_TLS_CERT_ALTNAME_INVALID", Fault::CertificateName),
            ("ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", Fault::ClientCertificate),
        ] {
            let (host, cause, hint) = ("h:443".to_owned(), "x".to_owned(), String::new());
            assert_eq!(fault(&Error::Tls { host, cause, hint, code }), expected, "{code}");
        }
    }

    #[test]
    fn the_clock_is_compared() {
        let headers = |date: &str| [(DATE, date.parse().unwrap())].into_iter().collect();
        let ahead = clock_ahead(&headers("Thu, 01 Jan 1970 00:00:00 GMT")).unwrap();
        assert!(ahead.as_hours() > 24 * 365 * 50, "{ahead:?}");
        assert_eq!(clock_ahead(&headers("soon")), None);
        assert_eq!(clock_ahead(&HeaderMap::new()), None);
    }
}
