//! Metadata server of machines in Google Cloud. It is reached directly, never through a proxy.

use std::time::Duration;

use http::{HeaderName, HeaderValue};
use url::Url;

use super::addresses::is_metadata_server;
use super::requests::{Reply, Requests};
use super::{GoogleError, GoogleSetup, GoogleToken, shown};
use crate::client::{ClientOptions, HttpClient, HttpRequest};
use crate::error::is_loopback;

/// Header that requests and responses have, so that neither can be taken for another one.
const FLAVOR: HeaderName = HeaderName::from_static("metadata-flavor");
const GOOGLE: HeaderValue = HeaderValue::from_static("Google");

/// Metadata server.
#[derive(Debug)]
pub(super) struct Metadata {
    requests: Requests,
    base: Url,
    timeout: Duration,
}

impl Metadata {
    /// Describes the server of this setup.
    ///
    /// # Errors
    /// The name of the server is not one that tokens may be received from over a connection that
    /// is not encrypted.
    pub(super) fn new(setup: &GoogleSetup) -> Result<Self, GoogleError> {
        let host = &setup.metadata_host;
        let base = Url::parse(&format!("http://{host}/")).ok();
        let base = base.filter(|url| {
            let is_bare = url.path() == "/" && url.query().is_none() && url.username().is_empty();
            is_bare && (is_loopback(url) || is_metadata_server(url))
        });
        let base = base.ok_or_else(|| {
            GoogleError::Refused(format!(
                "GCE_METADATA_HOST is {}, which is not a metadata server: it must be a link-local or loopback address, or metadata.google.internal.",
                shown(host)
            ))
        })?;
        let client = ClientOptions {
            connect_timeout: setup.metadata_timeout,
            headers_timeout: Duration::from_secs(10).max(setup.metadata_timeout),
            proxy: None,
            ..setup.client.clone()
        };
        let requests = Requests { http: HttpClient::new(client)?, backoff: setup.backoff };
        Ok(Self { requests, base, timeout: setup.metadata_timeout })
    }

    /// True if the server answers.
    pub(super) async fn responds(&self) -> bool {
        let asking = self.get("");
        matches!(tokio::time::timeout(self.timeout, asking).await, Ok(Ok(_)))
    }

    /// Returns a token of the machine's service account.
    pub(super) async fn token(&self, scopes: &[String]) -> Result<GoogleToken, GoogleError> {
        let path = "computeMetadata/v1/instance/service-accounts/default/token";
        let mut url = path.to_owned();
        if !scopes.is_empty() {
            let scopes = scopes.join(",");
            let mut query = url::form_urlencoded::Serializer::new(String::new());
            url = format!("{path}?{}", query.append_pair("scopes", &scopes).finish());
        }
        self.get(&url).await?.token("the service account of this machine")
    }

    async fn get(&self, path: &str) -> Result<Reply, GoogleError> {
        let refuse = |what: &str| {
            GoogleError::Refused(format!("The metadata server {} {what}.", self.base.authority()))
        };
        let url = self.base.join(path).map_err(|_| refuse("has no such address"))?;
        let reply = self.requests.ask(HttpRequest::get(url).header(FLAVOR, GOOGLE)).await?;
        if reply.headers.get(FLAVOR) != Some(&GOOGLE) {
            return Err(refuse("is not one of Google Cloud"));
        }
        Ok(reply)
    }
}
