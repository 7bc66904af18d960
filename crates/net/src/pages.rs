//! Pages of the web, fetched on a model's word.
//!
//! An address that a model names may lead anywhere, also into the person's own network. So only public addresses are
//! reached, unless a host is allowed by name: a name is resolved here, and the connection goes to exactly the
//! addresses that were looked at. Redirects are followed across the web, and every step is judged anew.

use std::time::Duration;

use http::header::{HeaderMap, LOCATION};
use http::{Method, StatusCode};
use tokio_util::sync::CancellationToken;
use url::{Host, Url};

use crate::client::{ClientOptions, HttpClient, NoProxy, Request, Response};
use crate::error::{Error, RedirectReason};
use crate::public::{is_local_name, is_public};

/// How many redirects are followed, as browsers do.
const MAX_REDIRECTS: usize = 10;

/// How long a name is resolved only to judge it. A proxy may be the only one who can.
const LOOKUP_LIMIT: Duration = Duration::from_secs(2);

/// Fetches pages. Clones share their connections.
#[derive(Debug, Clone)]
pub struct PageClient {
    /// Reaches public addresses only, without a proxy.
    guarded: HttpClient,
    /// Reaches everything, as the options say.
    open: HttpClient,
    /// Hosts that may be private.
    allowed: NoProxy,
}

/// A page whose body is still to be read.
#[derive(Debug)]
pub struct Page {
    /// Where it was in the end.
    pub url: Url,
    /// The answer, whatever its status.
    pub response: Response,
}

/// What is known of a host before it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It is on the public internet, or allowed.
    Public,
    /// It is on this machine or in a private network.
    Private,
    /// Its name cannot be resolved here.
    Unknown,
}

impl PageClient {
    /// A client with these options. Hosts that match `allowed`, a list as in `NO_PROXY`, may be private.
    ///
    /// # Errors
    /// Those of [`HttpClient::new`].
    pub fn new(options: ClientOptions, allowed: &str) -> Result<Self, Error> {
        let guarded = HttpClient::guarded(ClientOptions { proxy: None, ..options.clone() })?;
        Ok(Self { guarded, open: HttpClient::new(options)?, allowed: NoProxy::parse(allowed) })
    }

    /// Where the host of `url` is.
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

    /// Fetches a page; resolves when its headers are there. The body obeys `cancel` too.
    ///
    /// # Errors
    /// [`Error::NotPublic`] when the address, or one that it redirects to, is private; [`Error::Redirect`] for more
    /// than ten redirects; those of [`HttpClient::execute`].
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

    /// One request to one address.
    async fn step(
        &self,
        url: &Url,
        headers: &HeaderMap,
        cancel: &CancellationToken,
    ) -> Result<Response, Error> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Error::InvalidUrl {
                url: format!("{}://…@{}", url.scheme(), url.host_str().unwrap_or_default()),
                cause: "an address with a user name is not fetched".to_owned(),
            });
        }
        let request = Request {
            method: Method::GET,
            url: url.clone(),
            headers: headers.clone(),
            body: Vec::new(),
        };
        let through_proxy = self.open.has_proxy_for(url);
        // The resolver judges a name that is reached directly; nobody else sees what a proxy makes of it.
        let judged_here = through_proxy
            || !matches!(url.host(), Some(Host::Domain(name)) if !is_local_name(name));
        if judged_here && self.reach(url).await == Reach::Private {
            return Err(Error::NotPublic { host: url.host_str().unwrap_or_default().to_owned() });
        }
        let client =
            if through_proxy || self.allowed.matches(url) { &self.open } else { &self.guarded };
        client.once(request, cancel).await
    }
}

fn known(is_public: bool) -> Reach {
    if is_public { Reach::Public } else { Reach::Private }
}

/// Where the answer sends us.
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
            // What stands behind the hash stays when the new address has none.
            if next.fragment().is_none() {
                next.set_fragment(from.fragment());
            }
            Ok(Some(next))
        }
        Ok(_) | Err(_) => Err(Error::redirect(from, &text, RedirectReason::Unreadable)),
    }
}
