//! Address of the requests to a service, and their headers except credentials.

use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};
use pollux_config::Environment;
use pollux_net::is_loopback;
use pollux_protocol::{ModelError, ModelErrorKind};
use url::{Host, Url};

use crate::catalog::Vendor;
use crate::openai;

/// Address of a service and the headers of every request.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    base: Url,
    /// True if the user's environment has set the address.
    is_custom: bool,
    version: Option<String>,
    headers: HeaderMap,
}

impl Endpoint {
    /// Reads the address and the headers of a vendor, and the environment variables that replace
    /// them.
    ///
    /// # Errors
    /// [`ModelErrorKind::Config`] for an address that cannot be requested; [`ModelErrorKind::Auth`]
    /// for a value that is not valid in a header.
    pub(crate) fn new(
        vendor: &Vendor,
        environment: &Environment,
        user_agent: Option<HeaderValue>,
    ) -> Result<Self, ModelError> {
        let custom = custom_address(vendor, environment);
        let base = custom.unwrap_or(&vendor.base_url);
        let version = vendor.api_version_variable.as_deref();
        let version = version.and_then(|name| environment.non_empty(name).map(str::to_owned));
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.extend(user_agent.map(|agent| (USER_AGENT, agent)));
        for (name, value) in &vendor.headers {
            let (source, value) = match value.strip_prefix('$') {
                Some(variable) => (variable, environment.get(variable).unwrap_or_default()),
                None => (name.as_str(), value.as_str()),
            };
            if let (Ok(name), false) = (HeaderName::try_from(name), value.is_empty()) {
                headers.insert(name, header_value(source, value.trim())?);
            }
        }
        // Headers set by the user take precedence.
        headers.extend(custom_headers(vendor, environment));
        let version = version.or_else(|| vendor.api_version.clone());
        Ok(Self { base: parse_base(base)?, is_custom: custom.is_some(), version, headers })
    }

    /// Returns the address that all requests begin with.
    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// True if the user has set the address: the service may be a gateway, not the vendor.
    pub(crate) fn is_custom(&self) -> bool {
        self.is_custom
    }

    /// Returns host and port of the address that the user has set, for messages.
    pub(crate) fn gateway(&self) -> Option<String> {
        let host = self.base.host_str().filter(|_| self.is_custom)?;
        Some(self.base.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
    }

    /// True if the service is on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        is_loopback(&self.base)
    }

    /// True if the address already ends with the version.
    fn has_version(&self, version: &str) -> bool {
        let rest = self.base.path().trim_end_matches('/').strip_suffix(version);
        rest.is_some_and(|rest| rest.ends_with('/'))
    }

    /// True if the host has an address or a name that only private networks have.
    pub(crate) fn is_private(&self) -> bool {
        match self.base.host() {
            Some(Host::Ipv4(address)) => address.is_private() || address.is_link_local(),
            Some(Host::Ipv6(address)) => {
                address.is_unique_local() || address.is_unicast_link_local()
            }
            Some(Host::Domain(name)) => {
                let endings = [".local", ".internal", ".lan", ".home.arpa"];
                !name.contains('.') || endings.iter().any(|ending| name.ends_with(ending))
            }
            None => false,
        }
    }

    /// Creates a request to a path below the address and its version, such as `chat/completions`.
    /// Special characters in the path are escaped; a query in the address is kept. A path that
    /// begins with a colon is a method of the version itself: `v1:method`.
    pub(crate) fn request(
        &self,
        method: http::Method,
        path: &str,
        body: Vec<bytes::Bytes>,
    ) -> pollux_net::HttpRequest {
        let mut url = self.base.clone();
        // A base URL with a host always has a path.
        if let Ok(mut segments) = url.path_segments_mut() {
            let version = self.version.as_deref().filter(|version| !self.has_version(version));
            let version = version.unwrap_or_default();
            let all = if path.starts_with(':') || version.is_empty() {
                format!("{version}{path}")
            } else {
                format!("{version}/{path}")
            };
            segments.pop_if_empty().extend(all.split('/'));
        }
        pollux_net::HttpRequest { method, url, headers: self.headers.clone(), body }
    }
}

/// Returns the address that the environment sets instead of the vendor's.
pub(crate) fn custom_address<'a>(vendor: &Vendor, environment: &'a Environment) -> Option<&'a str> {
    environment.non_empty(vendor.base_url_variable.as_deref()?)
}

/// Returns the wire format of the requests to a vendor: a folder of this crate.
///
/// # Errors
/// [`ModelErrorKind::Config`] for a value of the vendor's variable that is not a wire format.
pub(crate) fn dialect<'a>(
    vendor: &'a Vendor,
    environment: &Environment,
) -> Result<&'a str, ModelError> {
    let variable = vendor.dialect_variable.as_deref();
    let asked = variable.and_then(|name| Some((name, environment.non_empty(name)?.trim())));
    match (asked, &vendor.native_dialect) {
        (Some((_, "chat")), _) => Ok(openai::DIALECT),
        (Some((_, "responses")), _) => Ok(openai::responses::DIALECT),
        (Some((name, other)), _) => {
            let message = format!("{name} is \"{other}\". Set it to chat or responses.");
            Err(ModelError::new(ModelErrorKind::Config, message))
        }
        (None, Some(native)) if custom_address(vendor, environment).is_none() => Ok(native),
        (None, _) => Ok(&vendor.dialect),
    }
}

/// Returns the headers that the user wants in every request to a vendor.
pub(crate) fn custom_headers(vendor: &Vendor, environment: &Environment) -> HeaderMap {
    let text = vendor.headers_variable.as_deref().and_then(|name| environment.get(name));
    parse_headers(text.unwrap_or_default())
}

/// Returns a header value that is never shown, and removed from the messages of the service.
/// `source` is the variable that contains it.
///
/// # Errors
/// [`ModelErrorKind::Auth`] for a value that is not valid in a header.
pub(crate) fn secret(source: &str, value: &str) -> Result<HeaderValue, ModelError> {
    let mut value = header_value(source, value)?;
    value.set_sensitive(true);
    Ok(value)
}

fn header_value(source: &str, value: &str) -> Result<HeaderValue, ModelError> {
    HeaderValue::from_str(value).map_err(|_| {
        let message = format!(
            "{source} contains characters that are not allowed in a header (such as a line break). Set it again."
        );
        ModelError::new(ModelErrorKind::Auth, message)
    })
}

fn parse_base(text: &str) -> Result<Url, ModelError> {
    let url = Url::parse(text.trim()).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    url.ok_or_else(|| {
        ModelError::new(ModelErrorKind::Config, format!("Invalid custom base URL: {text}"))
    })
}

/// Parses `Name: value, Name: value`, or one header in each line. A comma ends a header only if
/// another `name:` comes before the next comma, so that values may contain commas. If a name occurs
/// several times, the last value is used. Invalid headers and those that control the connection are
/// skipped.
fn parse_headers(text: &str) -> HeaderMap {
    let mut pairs: Vec<String> = Vec::new();
    for piece in text.split([',', '\n']) {
        match pairs.last_mut() {
            Some(last) if matches!(piece.find(':'), None | Some(0)) => {
                last.push(',');
                last.push_str(piece);
            }
            _ => pairs.push(piece.to_owned()),
        }
    }
    let mut headers = HeaderMap::new();
    for pair in pairs {
        let Some((name, value)) = pair.split_once(':') else { continue };
        let name = HeaderName::from_bytes(name.trim().as_bytes());
        let value = HeaderValue::from_str(value.trim());
        if let (Ok(name), Ok(mut value)) = (name, value)
            && ![CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION].contains(&name)
        {
            // Many are keys of gateways.
            value.set_sensitive(true);
            headers.insert(name, value);
        }
    }
    headers
}

#[cfg(test)]
mod tests;
