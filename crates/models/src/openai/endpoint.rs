//! Where requests go, and what they carry in their head.

use http::header::{AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};
use pollux_config::Environment;
use pollux_config::environment::names;
use pollux_protocol::{ModelError, ModelErrorKind};
use url::{Host, Url};

use crate::catalog::{OPENAI, Vendor};

const ORGANIZATION: HeaderName = HeaderName::from_static("openai-organization");
const PROJECT: HeaderName = HeaderName::from_static("openai-project");

/// The address of a service and the headers of every request.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    base: Url,
    headers: HeaderMap,
}

impl Endpoint {
    /// Reads the address and the headers from the environment.
    ///
    /// # Errors
    /// [`ModelErrorKind::Config`] for an address that is none; [`ModelErrorKind::Auth`] for a key that
    /// is missing or cannot be sent.
    pub(super) fn new(
        vendor: &Vendor,
        environment: &Environment,
        user_agent: &str,
    ) -> Result<Self, ModelError> {
        let own = vendor.id == OPENAI;
        let custom = environment.non_empty(names::OPENAI_BASE_URL).filter(|_| own);
        let base = parse_base(custom.unwrap_or(&vendor.base_url))?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Ok(user_agent) = HeaderValue::from_str(user_agent) {
            headers.insert(USER_AGENT, user_agent);
        }
        if let Some(variable) = &vendor.key_variable {
            let key = environment.get(variable).unwrap_or_default().trim();
            if !key.is_empty() {
                headers.insert(AUTHORIZATION, secret(variable, &format!("Bearer {key}"))?);
            } else if custom.is_none() {
                return Err(no_key(vendor, variable));
            }
        }
        if own {
            for (name, variable) in
                [(ORGANIZATION, names::OPENAI_ORG_ID), (PROJECT, names::OPENAI_PROJECT_ID)]
            {
                if let Some(value) = environment.non_empty(variable) {
                    headers.insert(name, secret(variable, value.trim())?);
                }
            }
        }
        Ok(Self { base, headers })
    }

    /// The address that all requests begin with.
    pub(super) fn base(&self) -> &Url {
        &self.base
    }

    /// Whether the service is on this machine: no proxy stands in between then.
    pub(super) fn is_loopback(&self) -> bool {
        match self.base.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
            None => false,
        }
    }

    /// A request to a path below the base, such as `chat/completions`. A query of the base stays.
    pub(super) fn request(
        &self,
        method: http::Method,
        path: &str,
        body: Vec<bytes::Bytes>,
    ) -> pollux_net::Request {
        let mut url = self.base.clone();
        // A base URL with a host always has a path.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path.split('/'));
        }
        pollux_net::Request { method, url, headers: self.headers.clone(), body }
    }
}

fn parse_base(text: &str) -> Result<Url, ModelError> {
    let url = Url::parse(text.trim()).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    url.ok_or_else(|| {
        ModelError::new(ModelErrorKind::Config, format!("Invalid custom base URL: {text}"))
    })
}

fn no_key(vendor: &Vendor, variable: &str) -> ModelError {
    let page = vendor.key_page.as_ref().map(|page| format!(" Get a key at {page}."));
    let message = format!(
        "A model of {} is chosen, but {variable} is not set.{}",
        vendor.name,
        page.unwrap_or_default()
    );
    ModelError::new(ModelErrorKind::Auth, message)
}

fn secret(variable: &str, value: &str) -> Result<HeaderValue, ModelError> {
    let mut value = HeaderValue::from_str(value).map_err(|_| {
        let message = format!(
            "{variable} holds characters that no header can carry (such as a line break). Set it anew."
        );
        ModelError::new(ModelErrorKind::Auth, message)
    })?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    fn endpoint(id: &str, variables: &[(&str, &str)]) -> Result<Endpoint, ModelError> {
        let environment = Environment::from_pairs(variables.iter().copied());
        Endpoint::new(&catalog::vendor(id).unwrap(), &environment, "Pollux-cli/0")
    }

    #[test]
    fn addresses_and_headers() {
        let openai = endpoint(
            "openai",
            &[
                ("OPENAI_API_KEY", " k "),
                ("OPENAI_BASE_URL", "http://localhost:1/v1/?api-version=2"),
                ("OPENAI_ORG_ID", "org"),
            ],
        )
        .unwrap();
        assert!(openai.is_loopback());
        let request = openai.request(http::Method::POST, "chat/completions", Vec::new());
        assert_eq!(request.url.as_str(), "http://localhost:1/v1/chat/completions?api-version=2");
        assert_eq!(request.headers[AUTHORIZATION], "Bearer k");
        assert_eq!(request.headers["openai-organization"], "org");
        assert!(!format!("{openai:?}").contains("Bearer"));

        // Another vendor gets neither OpenAI's address nor its key or organization.
        let others =
            [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "http://x"), ("GROQ_API_KEY", "g")];
        let groq = endpoint("groq", &others).unwrap();
        assert_eq!(groq.base().as_str(), "https://api.groq.com/openai/v1");
        assert_eq!(
            groq.request(http::Method::GET, "models", Vec::new()).headers[AUTHORIZATION],
            "Bearer g"
        );
        assert!(!groq.is_loopback());
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let error = endpoint("groq", &[]).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Auth);
        assert!(error.message.contains("GROQ_API_KEY"), "{error}");
        assert!(endpoint("openai", &[("OPENAI_BASE_URL", "http://h/v1")]).is_ok(), "no key wanted");
        let error = endpoint("openai", &[("OPENAI_BASE_URL", "nope")]).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Config);
        let error = endpoint("xai", &[("XAI_API_KEY", "a\nb")]).unwrap_err();
        assert!(error.message.contains("XAI_API_KEY"), "{error}");
    }
}
