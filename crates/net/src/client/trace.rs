//! Trace of requests for debugging: address, status and times.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use http::{Method, StatusCode};
use url::Url;

/// Receiver of one line for each request, after its end.
#[derive(Clone)]
pub struct RequestTrace(Arc<dyn Fn(&str) + Send + Sync>);

impl RequestTrace {
    /// Creates a trace that calls `line`.
    pub fn new(line: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(line))
    }
}

impl fmt::Debug for RequestTrace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RequestTrace")
    }
}

/// Times of one request. Dropping it ends the request and reports it.
#[derive(Debug)]
pub(super) struct TracedRequest {
    trace: RequestTrace,
    /// Method, address and proxy.
    subject: String,
    started: Instant,
    status: Option<StatusCode>,
    first_byte: Option<Instant>,
}

impl TracedRequest {
    pub(super) fn start(
        trace: &RequestTrace,
        method: &Method,
        url: &Url,
        proxy: Option<&str>,
    ) -> Self {
        let proxy = proxy.map(|proxy| format!(" through the proxy {proxy}")).unwrap_or_default();
        Self {
            trace: trace.clone(),
            subject: format!("{method} {}{proxy}", without_secrets(url)),
            started: Instant::now(),
            status: None,
            first_byte: None,
        }
    }

    pub(super) fn answered(&mut self, status: StatusCode) {
        self.status = Some(status);
    }

    /// Notes that a piece of the body has arrived.
    pub(super) fn received(&mut self) {
        self.first_byte.get_or_insert_with(Instant::now);
    }
}

impl Drop for TracedRequest {
    fn drop(&mut self) {
        let whole = self.started.elapsed().as_secs_f64();
        let first = self.first_byte.map(|at| (at - self.started).as_secs_f64());
        let outcome = match (self.status, first) {
            (None, _) => "no response".to_owned(),
            (Some(status), None) => format!("status {}, no body", status.as_u16()),
            (Some(status), Some(first)) => {
                format!("status {}, first byte after {first:.3} s", status.as_u16())
            }
        };
        (self.trace.0)(&format!("{}: {outcome}, ended after {whole:.3} s", self.subject));
    }
}

/// Returns the address without user name, password, query and fragment, which may contain keys.
fn without_secrets(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_contains_no_secrets() {
        for (url, shown) in [
            (
                "https://me:pass@host.test/v1/models/m:generate?key=k&alt=sse#f",
                "https://host.test/v1/models/m:generate",
            ),
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
        ] {
            assert_eq!(without_secrets(&Url::parse(url).unwrap()), shown);
        }
    }
}
