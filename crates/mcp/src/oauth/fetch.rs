//! Requests to addresses that a server or its authorization server names.
//!
//! A server on the public internet must not make Pollux send requests into the user's own network.
//! Such a server's addresses are therefore reached only if they are public, too. Redirects are
//! followed within one origin only, bodies and times are limited.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use pollux_net::{ClientOptions, HttpClient, HttpRequest, PageClient, Reach, Response};
use pollux_protocol::CancellationToken;
use url::Url;

use super::OAuthError;
use super::metadata::is_usable;

/// Maximum size of a response, in bytes.
const LARGEST: usize = 1 << 20;
/// Time limit of one request with its response.
const LIMIT: Duration = Duration::from_secs(30);

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// Client for the addresses that one server names.
pub(super) struct Fetcher {
    open: HttpClient,
    /// Client for public addresses; `None` if the server itself is not public.
    public: Option<PageClient>,
}

/// Response that was read to its end.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

impl Fetcher {
    /// Creates a client for the addresses that this server names.
    pub(super) async fn of(options: &ClientOptions, server: &Url) -> Result<Self, OAuthError> {
        let options =
            ClientOptions { headers_timeout: LIMIT, idle_timeout: LIMIT, ..options.clone() };
        let pages = PageClient::new(options.clone(), "")?;
        let is_private = pages.reach(server).await == Reach::Private;
        Ok(Self { open: HttpClient::new(options)?, public: (!is_private).then_some(pages) })
    }

    /// Gets a document.
    pub(super) async fn get(&self, url: &Url) -> Result<Reply, OAuthError> {
        let request = HttpRequest::get(url.clone());
        self.reply(request.header(ACCEPT, HeaderValue::from_static(JSON))).await
    }

    /// Posts a JSON document.
    pub(super) async fn post_json(&self, url: &Url, body: Vec<u8>) -> Result<Reply, OAuthError> {
        let request = HttpRequest::post_json(url.clone(), vec![body.into()]);
        self.reply(request.header(ACCEPT, HeaderValue::from_static(JSON))).await
    }

    /// Posts a form. The response may be JSON or a form.
    pub(super) async fn post_form(
        &self,
        url: &Url,
        form: String,
        authorization: Option<HeaderValue>,
    ) -> Result<Reply, OAuthError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(FORM));
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, application/x-www-form-urlencoded"),
        );
        headers.extend(authorization.map(|value| (AUTHORIZATION, value)));
        let body = vec![form.into()];
        self.reply(HttpRequest { method: Method::POST, url: url.clone(), headers, body }).await
    }

    /// Sends a request to the server itself, and returns the headers of its response.
    pub(super) async fn headers(
        &self,
        request: HttpRequest,
    ) -> Result<(StatusCode, HeaderMap), OAuthError> {
        let cancel = CancellationToken::new();
        let response = limited(&request.url.clone(), self.open.execute(request, &cancel)).await?;
        Ok((response.status(), response.headers().clone()))
    }

    async fn reply(&self, request: HttpRequest) -> Result<Reply, OAuthError> {
        let url = request.url.clone();
        if !is_usable(&url) {
            let url = super::shown(url.as_str());
            return Err(OAuthError::refused(format!("{url} is not an https address")));
        }
        let cancel = CancellationToken::new();
        let sending = async {
            let response: Response = match &self.public {
                Some(public) => public.execute(request, &cancel).await?,
                None => self.open.execute(request, &cancel).await?,
            };
            let status = response.status();
            Ok(Reply { status, body: response.bytes(LARGEST).await? })
        };
        limited(&url, sending).await
    }
}

async fn limited<T>(
    url: &Url,
    work: impl Future<Output = Result<T, pollux_net::Error>>,
) -> Result<T, OAuthError> {
    let done = tokio::time::timeout(LIMIT, work).await.map_err(|_| {
        let host = url.host_str().unwrap_or_default();
        OAuthError::refused(format!("{host} did not answer within {} s", LIMIT.as_secs()))
    })?;
    Ok(done?)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_public_server_cannot_lead_into_a_private_network() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Url::parse("https://93.184.216.34/mcp").unwrap();
        let public = Fetcher::of(&ClientOptions::default(), &server).await.unwrap();
        for address in [
            format!("http://127.0.0.1:{port}/"),
            format!("http://localhost:{port}/"),
            format!("https://[::1]:{port}/"),
            "https://10.0.0.1/".to_owned(),
            "https://169.254.169.254/latest".to_owned(),
        ] {
            let url = Url::parse(&address).unwrap();
            let error = public.get(&url).await.err().unwrap();
            assert!(
                matches!(error, OAuthError::Network(pollux_net::Error::NotPublic { .. })),
                "{address}: {error}"
            );
            let sent = public.post_form(&url, "secret=1".to_owned(), None).await;
            assert!(sent.is_err(), "{address}");
        }
        let waiting = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
        assert!(waiting.is_err(), "nothing has connected");
    }

    #[tokio::test]
    async fn nothing_is_sent_in_plain_text_to_another_machine() {
        let server = Url::parse("http://10.0.0.1/mcp").unwrap();
        let fetcher = Fetcher::of(&ClientOptions::default(), &server).await.unwrap();
        let url = Url::parse("http://10.0.0.1/token").unwrap();
        let error = fetcher.get(&url).await.err().unwrap().to_string();
        assert_eq!(error, "http://10.0.0.1/token is not an https address");
    }
}
