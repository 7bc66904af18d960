//! Options of the HTTP client.

use std::path::PathBuf;
use std::time::Duration;

use super::certificates::ClientCertificate;
use super::record::WireRecorder;
use super::trace::RequestTrace;

/// Options of an [`HttpClient`](super::HttpClient). The default has no proxy, no extra
/// certificates, and the time limits of Gemini CLI 0.61.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// `User-Agent` of requests that do not set this header themselves.
    pub user_agent: String,
    /// Time limit for connecting, including the TLS handshake. 10 s by default.
    pub connect_timeout: Duration,
    /// Time limit for the response headers, counted from the last part of the request that was
    /// sent. 60 s by default.
    pub headers_timeout: Duration,
    /// Time limit for the next bytes of the response. 300 s by default.
    pub idle_timeout: Duration,
    /// PEM files whose certificates are trusted in addition to the system's.
    pub ca_files: Vec<PathBuf>,
    /// Certificate of the user, for services that ask for one.
    pub client_certificate: Option<ClientCertificate>,
    /// Proxy for all requests.
    pub proxy: Option<ProxySetting>,
    /// Trace of all requests, for debugging.
    pub trace: Option<RequestTrace>,
    /// Recorder of all requests, for bug reports.
    pub recorder: Option<WireRecorder>,
}

/// Proxy as configured by the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxySetting {
    /// Address of the proxy: `http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h`, with user
    /// name and password if the proxy requires them. An address without a scheme (`host:3128`)
    /// means `http`.
    pub url: String,
    /// Name of the variable or setting that contains the address, for error messages.
    pub source: String,
    /// Hosts that are reached without the proxy, in the format of `NO_PROXY`.
    pub exceptions: String,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            user_agent: concat!("Pollux/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect_timeout: Duration::from_secs(10),
            headers_timeout: Duration::from_mins(1),
            idle_timeout: Duration::from_mins(5),
            ca_files: Vec::new(),
            client_certificate: None,
            proxy: None,
            trace: None,
            recorder: None,
        }
    }
}

impl ClientOptions {
    /// Returns the default options with values from the environment, which is read through
    /// `lookup`:
    ///
    /// - `SSL_CERT_FILE` and `NODE_EXTRA_CA_CERTS` name PEM files; both add to the system's
    ///   certificates.
    /// - `HTTPS_PROXY`, `https_proxy`, `HTTP_PROXY`, `http_proxy`: the first that is not empty is
    ///   the proxy for every request, whatever its scheme, as in Gemini CLI 0.61.
    /// - `NO_PROXY`, otherwise `no_proxy`: see [`NoProxy`](super::NoProxy). Loopback addresses go
    ///   through the proxy too unless they are listed there.
    pub fn from_environment(lookup: &dyn Fn(&str) -> Option<String>) -> Self {
        let present = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let ca_files = ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"]
            .into_iter()
            .filter_map(present)
            .map(PathBuf::from)
            .collect();
        let proxy = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"]
            .into_iter()
            .find_map(|name| present(name).map(|url| (name, url)))
            .map(|(name, url)| ProxySetting {
                url,
                source: name.to_owned(),
                exceptions: present("NO_PROXY").or_else(|| present("no_proxy")).unwrap_or_default(),
            });
        Self { ca_files, proxy, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(variables: &[(&str, &str)]) -> ClientOptions {
        ClientOptions::from_environment(&|name| {
            variables
                .iter()
                .find(|(variable, _)| *variable == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_first_proxy_variable_that_is_not_empty_wins() {
        let proxy = options(&[("https_proxy", "b:2"), ("HTTPS_PROXY", ""), ("HTTP_PROXY", "c:3")])
            .proxy
            .unwrap();
        assert_eq!((proxy.url.as_str(), proxy.source.as_str()), ("b:2", "https_proxy"));
        assert_eq!(options(&[("NO_PROXY", "*")]).proxy, None);
    }

    #[test]
    fn exceptions_and_certificates_come_along() {
        let options = options(&[
            ("HTTP_PROXY", "p:1"),
            ("no_proxy", "a.b"),
            ("NODE_EXTRA_CA_CERTS", "/n.pem"),
            ("SSL_CERT_FILE", "/s.pem"),
        ]);
        assert_eq!(options.proxy.unwrap().exceptions, "a.b");
        assert_eq!(options.ca_files, [PathBuf::from("/s.pem"), PathBuf::from("/n.pem")]);
    }
}
