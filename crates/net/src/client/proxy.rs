//! Selection of the requests that go through the proxy.

use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use url::{Host, Url};

use super::options::ProxySetting;
use crate::error::{Error, is_loopback};

/// List of hosts that are reached without the proxy.
///
/// Entries are separated by commas or white space: `*` (all), a host (`example.com`, with or
/// without a leading `.` or `*.`: the host and its subdomains), an address (`10.1.2.3`, `::1`), or
/// a network (`10.0.0.0/8`, `fd00::/8`). All entries except networks may end in `:port`; IPv6
/// addresses are then in brackets. The HTTP library's own matcher supports neither ports nor `*.`.
#[derive(Debug, Clone, Default)]
pub struct NoProxy {
    exceptions: Vec<Exception>,
}

#[derive(Debug, Clone)]
struct Exception {
    hosts: Hosts,
    port: Option<u16>,
}

#[derive(Debug, Clone)]
enum Hosts {
    All,
    /// Host name in lower case, without leading or trailing dots.
    Domain(String),
    Network {
        base: IpAddr,
        prefix: u8,
    },
}

impl NoProxy {
    /// Parses a list. Invalid entries match nothing.
    pub fn parse(list: &str) -> Self {
        let exceptions = list
            .split(|character: char| character == ',' || character.is_whitespace())
            .filter(|entry| !entry.is_empty())
            .filter_map(Exception::parse)
            .collect();
        Self { exceptions }
    }

    /// True if `url` is reached without the proxy.
    pub fn matches(&self, url: &Url) -> bool {
        let Some(host) = url.host() else {
            return false;
        };
        let port = url.port_or_known_default();
        self.exceptions.iter().any(|exception| {
            (exception.port.is_none() || exception.port == port) && exception.hosts.contain(&host)
        })
    }
}

impl Exception {
    fn parse(entry: &str) -> Option<Self> {
        if let Some((base, prefix)) = entry.split_once('/') {
            let base = unbracketed(base).parse().ok()?;
            let hosts = Hosts::Network { base, prefix: prefix.parse().ok()? };
            return Some(Self { hosts, port: None });
        }
        let (name, port) = split_port(entry);
        let hosts = if name == "*" {
            Hosts::All
        } else if let Ok(base) = IpAddr::from_str(unbracketed(name)) {
            Hosts::Network { base, prefix: 128 }
        } else {
            let name = name.trim_start_matches('*').trim_matches('.').to_ascii_lowercase();
            if name.is_empty() {
                return None;
            }
            Hosts::Domain(name)
        };
        Some(Self { hosts, port })
    }
}

impl Hosts {
    fn contain(&self, host: &Host<&str>) -> bool {
        match (self, host) {
            (Self::All, _) => true,
            (Self::Domain(name), Host::Domain(host)) => {
                let host = host.trim_end_matches('.').to_ascii_lowercase();
                host.strip_suffix(name.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            }
            (Self::Network { base, prefix }, Host::Ipv4(host)) => {
                in_network(IpAddr::V4(*host), *base, *prefix)
            }
            (Self::Network { base, prefix }, Host::Ipv6(host)) => {
                in_network(IpAddr::V6(*host).to_canonical(), *base, *prefix)
            }
            _ => false,
        }
    }
}

fn unbracketed(address: &str) -> &str {
    address.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(address)
}

/// Splits `host:port` or `[v6]:port`; a bare IPv6 address has no port.
fn split_port(entry: &str) -> (&str, Option<u16>) {
    let Some((name, port)) = entry.rsplit_once(':') else {
        return (entry, None);
    };
    match port.parse() {
        Ok(port) if name.ends_with(']') || !name.contains(':') => (name, Some(port)),
        _ => (entry, None),
    }
}

fn in_network(address: IpAddr, base: IpAddr, prefix: u8) -> bool {
    let (address, base, width) = match (address, base) {
        (IpAddr::V4(address), IpAddr::V4(base)) => {
            (u128::from(address.to_bits()), u128::from(base.to_bits()), 32)
        }
        (IpAddr::V6(address), IpAddr::V6(base)) => (address.to_bits(), base.to_bits(), 128),
        _ => return false,
    };
    let ignored = width - u32::from(prefix).min(width);
    address.checked_shr(ignored).unwrap_or(0) == base.checked_shr(ignored).unwrap_or(0)
}

/// Proxy and the hosts that are reached without it.
#[derive(Debug, Clone)]
pub(super) struct ProxyRule {
    url: Url,
    exceptions: Arc<NoProxy>,
}

impl ProxyRule {
    /// Parses a proxy setting.
    ///
    /// # Errors
    /// [`Error::InvalidOptions`] if the setting is not the address of a proxy. The message names
    /// the setting, not its value, which may contain a password.
    pub(super) fn new(setting: &ProxySetting) -> Result<Self, Error> {
        let text = setting.url.trim();
        let with_scheme =
            if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let url = Url::parse(&with_scheme).ok().filter(|url| {
            let known = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];
            known.contains(&url.scheme()) && url.host_str().is_some_and(|host| !host.is_empty())
        });
        match url {
            Some(url) => {
                Ok(Self { url, exceptions: Arc::new(NoProxy::parse(&setting.exceptions)) })
            }
            None => Err(Error::InvalidOptions(format!(
                "{} is not the address of a proxy; expected scheme://host:port with the scheme \
                 http, https, socks4, socks4a, socks5 or socks5h",
                setting.source
            ))),
        }
    }

    pub(super) fn applies_to(&self, url: &Url) -> bool {
        !self.exceptions.matches(url)
    }

    pub(super) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// True if the proxy is on this machine.
    pub(super) fn is_loopback(&self) -> bool {
        is_loopback(&self.url)
    }

    /// Returns the scheme, host and port, without credentials.
    pub(super) fn name(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        let scheme = self.url.scheme();
        match self.url.port_or_known_default() {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        }
    }

    pub(super) fn to_reqwest(&self) -> reqwest::Proxy {
        let rule = self.clone();
        reqwest::Proxy::custom(move |url| rule.applies_to(url).then(|| rule.url.clone()))
    }
}

#[cfg(test)]
mod tests;
