//! Web pages that are fetched at the request of a model, and other addresses that must be public.
//!
//! An address from a model or a server may point anywhere, including the user's own network.
//! Therefore only public addresses are reached, unless a host is explicitly allowed: the host name
//! is resolved here, and the connection uses exactly the addresses that were checked. Redirects to
//! pages are followed to any public host, and every redirect is checked again.

use std::time::Duration;

use http::StatusCode;
use http::header::{HeaderMap, LOCATION};
use tokio_util::sync::CancellationToken;
use url::{Host, Url};

use crate::client::{ClientOptions, HttpClient, HttpRequest, NoProxy, Response};
use crate::error::{Error, RedirectReason};
use crate::public::{is_local_name, is_public};

/// Maximum number of redirects that are followed, as in browsers.
const MAX_REDIRECTS: usize = 10;

/// Time limit for resolving a name only to check it. Behind a proxy, possibly only the proxy can
/// resolve names.
const LOOKUP_LIMIT: Duration = Duration::from_secs(2);

/// Client that fetches pages. Clones share their connections.
#[derive(Debug, Clone)]
pub struct PageClient {
    /// Client that reaches public addresses only, without a proxy.
    guarded: HttpClient,
    /// Client that reaches every address, with the proxy of the options.
    open: HttpClient,
    /// Hosts that may be private.
    allowed: NoProxy,
}

/// Page whose body has not been read yet.
#[derive(Debug)]
pub struct Page {
    /// Address of the page after all redirects.
    pub url: Url,
    /// Response, whatever its status.
    pub response: Response,
}

/// Location of a host, as known before a request to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The host is on the public internet, or allowed.
    Public,
    /// The host is on this machine or in a private network.
    Private,
    /// The host name cannot be resolved here.
    Unknown,
}

impl PageClient {
    /// Creates a client with these options. Hosts that match `allowed`, a list in the format of
    /// `NO_PROXY`, may be private.
    ///
    /// # Errors
    /// The errors of [`HttpClient::new`].
    pub fn new(options: ClientOptions, allowed: &str) -> Result<Self, Error> {
        let guarded = HttpClient::guarded(ClientOptions { proxy: None, ..options.clone() })?;
        Ok(Self { guarded, open: HttpClient::new(options)?, allowed: NoProxy::parse(allowed) })
    }

    /// Returns the location of the host of `url`.
    pub async fn reach(&self, url: &Url) -> Reach {
        if self.allowed.matches(url) {
            return Reach::Public;
        }
        let port = url.port_or_known_default().unwrap_or(0);
        match url.host() {
            Some(Host::Ipv4(address)) => known(is_public(address.into())),
            Some(Host::Ipv6(address)) => known(is_public(address.into())),
            Some(Host::Domain(name)) if !is_local_name(name) => {
                let looking = tokio::net::lookup_host((name, port));
                match tokio::time::timeout(LOOKUP_LIMIT, looking).await {
                    Ok(Ok(found)) => known(found.into_iter().any(|one| is_public(one.ip()))),
                    Ok(Err(_)) | Err(_) => Reach::Unknown,
                }
            }
            Some(Host::Domain(_)) | None => Reach::Private,
        }
    }

    /// Fetches a page and returns when its headers have arrived. Reading the body can be cancelled
    /// with `cancel` too.
    ///
    /// # Errors
    /// [`Error::NotPublic`] when the address, or one that it redirects to, is private;
    /// [`Error::Redirect`] after more than ten redirects; the errors of [`HttpClient::execute`].
    pub async fn get(
        &self,
        url: Url,
        headers: &HeaderMap,
        cancel: &CancellationToken,
    ) -> Result<Page, Error> {
        let fetching = async {
            let mut url = url;
            for _ in 0..=MAX_REDIRECTS {
                let response = self.step(&url, headers, cancel).await?;
                match next(&url, &response)? {
                    None => return Ok(Page { url, response }),
                    Some(next) => url = next,
                }
            }
            Err(Error::redirect(&url, url.as_str(), RedirectReason::TooMany))
        };
        cancel.run_until_cancelled(fetching).await.unwrap_or(Err(Error::Cancelled))
    }

    /// Sends a request to a public address. Redirects are followed within one origin only.
    ///
    /// # Errors
    /// [`Error::NotPublic`] when the address is private; the errors of [`HttpClient::execute`].
    pub async fn execute(
        &self,
        request: HttpRequest,
        cancel: &CancellationToken,
    ) -> Result<Response, Error> {
        let sending = async { self.client_for(&request.url).await?.execute(request, cancel).await };
        cancel.run_until_cancelled(sending).await.unwrap_or(Err(Error::Cancelled))
    }

    /// Makes one request to one address.
    async fn step(
        &self,
        url: &Url,
        headers: &HeaderMap,
        cancel: &CancellationToken,
    ) -> Result<Response, Error> {
        let request = HttpRequest { headers: headers.clone(), ..HttpRequest::get(url.clone()) };
        self.client_for(url).await?.once(request, cancel).await
    }

    /// Returns the client for an address, which reaches it only if it is public or allowed.
    async fn client_for(&self, url: &Url) -> Result<&HttpClient, Error> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Error::InvalidUrl {
                url: format!("{}://…@{}", url.scheme(), url.host_str().unwrap_or_default()),
                cause: "an address with a user name is not fetched".to_owned(),
            });
        }
        let through_proxy = self.open.has_proxy_for(url);
        // If the connection is direct, the guarded resolver checks the name. If a proxy resolves
        // the name, this is the only check.
        let judged_here = through_proxy
            || !matches!(url.host(), Some(Host::Domain(name)) if !is_local_name(name));
        if judged_here && self.reach(url).await == Reach::Private {
            return Err(Error::NotPublic { host: url.host_str().unwrap_or_default().to_owned() });
        }
        let is_open = through_proxy || self.allowed.matches(url);
        Ok(if is_open { &self.open } else { &self.guarded })
    }
}

fn known(is_public: bool) -> Reach {
    if is_public { Reach::Public } else { Reach::Private }
}

/// Returns the address that the response redirects to.
fn next(from: &Url, response: &Response) -> Result<Option<Url>, Error> {
    let moved = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let Some(location) = response.headers().get(LOCATION).filter(|_| moved) else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(location.as_bytes());
    match from.join(&text) {
        Ok(mut next) if matches!(next.scheme(), "http" | "https") => {
            // The fragment (after `#`) is kept when the new address has none.
            if next.fragment().is_none() {
                next.set_fragment(from.fragment());
            }
            Ok(Some(next))
        }
        Ok(_) | Err(_) => Err(Error::redirect(from, &text, RedirectReason::Unreadable)),
    }
}
