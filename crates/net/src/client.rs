//! HTTP client: one connection pool for the whole program.
//!
//! Time limits, proxies and certificates are those of [`ClientOptions`]. Redirects are followed
//! within one origin only. Every wait ends within 100 ms after the caller's token is cancelled, and
//! the connection is closed.

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::header::LOCATION;
use http::{HeaderValue, StatusCode};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::error::{Error, RedirectReason, TimeoutPhase, host_and_port, is_loopback};
use crate::public::PublicOnly;

mod certificates;
mod events;
mod exchange;
mod issuer;
mod options;
mod pinned;
mod proxy;
mod record;
mod request;
mod response;
mod reuse;
mod secrets;
mod trace;

pub use certificates::{ClientCertificate, install_crypto_provider};
pub use events::EventStream;
pub use options::{ClientOptions, ProxySetting};
pub use proxy::NoProxy;
pub use record::WireRecorder;
pub use request::HttpRequest;
pub use response::Response;
pub use secrets::Secrets;
pub use trace::RequestTrace;

use certificates::{Roots, tls_config};
use exchange::Exchange;
use proxy::ProxyRule;
use request::SendProgress;
use reuse::WatchConnector;
use trace::TracedRequest;

/// Maximum number of redirects that are followed within one origin.
const MAX_REDIRECTS: usize = 3;

/// Maximum number of closed connections over which one request is sent, one after the other.
const MAX_STALE: usize = 8;

/// HTTP client. Clones share their connections.
///
/// Loading the system's certificates takes milliseconds, so it happens at the first secure request
/// only, or earlier on a separate thread: see [`prepare`](Self::prepare). Requests to plain `http`
/// never load certificates.
#[derive(Debug, Clone)]
pub struct HttpClient {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    options: ClientOptions,
    proxy: Option<ProxyRule>,
    /// True if host names are resolved to public addresses only.
    guarded: bool,
    plain: OnceLock<Built>,
    secure: OnceLock<Built>,
}

/// Client that was built, or the error of building it.
#[derive(Debug)]
struct Built {
    client: Result<reqwest::Client, String>,
    certificate_notes: Vec<String>,
}

impl HttpClient {
    /// Creates a client with these options. Cheap: nothing is loaded or opened yet.
    ///
    /// # Errors
    /// [`Error::InvalidOptions`] if the proxy address or the user agent is invalid.
    pub fn new(options: ClientOptions) -> Result<Self, Error> {
        Self::build(options, false)
    }

    /// Creates a client that resolves host names to public addresses only. The caller must check
    /// hosts that are IP addresses.
    pub(crate) fn guarded(options: ClientOptions) -> Result<Self, Error> {
        Self::build(options, true)
    }

    fn build(options: ClientOptions, guarded: bool) -> Result<Self, Error> {
        if HeaderValue::from_str(&options.user_agent).is_err() {
            let agent = options.user_agent.escape_debug();
            return Err(Error::InvalidOptions(format!(
                "\"{agent}\" cannot be a User-Agent header"
            )));
        }
        let proxy = options.proxy.as_ref().map(ProxyRule::new).transpose()?;
        let (plain, secure) = (OnceLock::new(), OnceLock::new());
        let shared = Shared { options, proxy, guarded, plain, secure };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Builds the client for requests to `url` on a separate thread and returns immediately. A
    /// request that is made before the thread has finished waits for the thread.
    pub fn prepare(&self, url: &Url) {
        if !self.shared.needs_certificates(url) {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name("certificates".to_owned());
        // If no thread can be started, the first request builds the client itself.
        drop(
            thread
                .spawn(move || shared.secure.get_or_init(|| shared.build_secure()).client.is_ok()),
        );
    }

    /// Sends a request and returns the response, whatever its status.
    ///
    /// Reading the response body can be cancelled with `cancel` too.
    ///
    /// # Errors
    /// All errors of [`Error`] except [`Error::Status`] and those of reading the body.
    pub async fn execute(
        &self,
        request: HttpRequest,
        cancel: &CancellationToken,
    ) -> Result<Response, Error> {
        match cancel.run_until_cancelled(Box::pin(self.follow(request, cancel))).await {
            Some(result) => result,
            None => Err(Error::Cancelled),
        }
    }

    /// Like [`execute`](Self::execute), but returns [`Error::Status`] with the beginning of the
    /// body if the status is outside 200..=299.
    pub async fn send(
        &self,
        request: HttpRequest,
        cancel: &CancellationToken,
    ) -> Result<Response, Error> {
        let response = self.execute(request, cancel).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(response.into_status_error().await)
    }

    /// Sends a request and returns the response. Redirects are returned, not followed.
    pub(crate) async fn once(
        &self,
        request: HttpRequest,
        cancel: &CancellationToken,
    ) -> Result<Response, Error> {
        let exchange = self.exchange(&request, cancel);
        cancel.run_until_cancelled(exchange).await.unwrap_or(Err(Error::Cancelled))
    }

    /// True if a request to `url` goes through a proxy.
    pub(crate) fn has_proxy_for(&self, url: &Url) -> bool {
        self.shared.proxy_for(url).is_some()
    }

    async fn follow(
        &self,
        mut request: HttpRequest,
        cancel: &CancellationToken,
    ) -> Result<Response, Error> {
        let mut visited = vec![request.url.clone()];
        loop {
            let response = self.exchange(&request, cancel).await?;
            let Some(next) = redirect_target(&request, &response)? else {
                return Ok(response);
            };
            let reason = if visited.contains(&next) {
                Some(RedirectReason::Loop)
            } else if visited.len() > MAX_REDIRECTS {
                Some(RedirectReason::TooMany)
            } else {
                None
            };
            if let Some(reason) = reason {
                return Err(Error::redirect(&request.url, next.as_str(), reason));
            }
            visited.push(next.clone());
            request.url = next;
        }
    }

    /// Makes one request and returns its response.
    async fn exchange(
        &self,
        request: &HttpRequest,
        cancel: &CancellationToken,
    ) -> Result<Response, Error> {
        let host = host_and_port(&request.url)?;
        let built = self.shared.client_for(&request.url).await?;
        let exchange = Exchange {
            proxy: self.shared.proxy_for(&request.url).map(ProxyRule::name),
            is_loopback: self
                .shared
                .proxy_for(&request.url)
                .map_or_else(|| is_loopback(&request.url), ProxyRule::is_loopback),
            certificate_notes: built.certificate_notes.clone(),
            connect_timeout: self.shared.options.connect_timeout,
            host,
            secrets: Secrets::of(request),
        };
        let client = built.client.as_ref().map_err(|cause| exchange.no_certificates(cause))?;
        let trace = self.shared.options.trace.as_ref();
        let mut traced = trace.map(|trace| {
            TracedRequest::start(trace, &request.method, &request.url, exchange.proxy.as_deref())
        });
        let recorder = self.shared.options.recorder.as_ref();
        let mut recorded = recorder.map(|recorder| recorder.start(request)).transpose()?.flatten();
        let answer = self.answered(client, request, &exchange).await.inspect_err(|error| {
            if let Some(recorded) = &mut recorded {
                recorded.ended(Err(error));
            }
        })?;
        let idle = self.shared.options.idle_timeout;
        if let Some(traced) = &mut traced {
            traced.answered(answer.status());
        }
        if let Some(recorded) = &mut recorded {
            recorded.answered(answer.status(), answer.headers());
        }
        Ok(Response::new(answer, exchange, idle, cancel.clone()).observed(traced, recorded))
    }

    /// Returns the beginning of the response. A request over a connection that the server has
    /// closed since the last response is sent again at once.
    async fn answered(
        &self,
        client: &reqwest::Client,
        request: &HttpRequest,
        exchange: &Exchange,
    ) -> Result<reqwest::Response, Error> {
        let mut stale = 0;
        loop {
            let progress = SendProgress::start();
            let sending = reuse::watched(client.execute(request.build(&progress)));
            let limit = self.shared.options.headers_timeout;
            let Some((answer, is_reused)) = within(limit, &progress, sending).await else {
                let phase = TimeoutPhase::Headers;
                return Err(Error::Timeout { phase, host: exchange.host.clone(), limit });
            };
            match answer.map_err(|error| exchange.request_failed(&error)) {
                Err(Error::Unanswered { .. }) if is_reused && stale < MAX_STALE => stale += 1,
                answer => return answer,
            }
        }
    }
}

impl Shared {
    fn proxy_for(&self, url: &Url) -> Option<&ProxyRule> {
        self.proxy.as_ref().filter(|rule| rule.applies_to(url))
    }

    /// True if a request to `url` uses TLS, with the server or with the proxy.
    fn needs_certificates(&self, url: &Url) -> bool {
        url.scheme() == "https" || self.proxy_for(url).is_some_and(ProxyRule::is_https)
    }

    async fn client_for(self: &Arc<Self>, url: &Url) -> Result<BuiltRef, Error> {
        let secure = self.needs_certificates(url);
        if secure && self.secure.get().is_none() {
            let shared = Arc::clone(self);
            let building = tokio::task::spawn_blocking(move || {
                shared.secure.get_or_init(|| shared.build_secure()).client.is_ok()
            });
            // Building errors are reported below; an error here means that the runtime is shutting
            // down.
            building.await.map_err(|_| Error::Cancelled)?;
        }
        Ok(BuiltRef { shared: Arc::clone(self), secure })
    }

    fn build_secure(&self) -> Built {
        let roots = Roots::load(&self.options);
        let config = tls_config(&roots, self.options.client_certificate.as_ref());
        let client =
            config.and_then(|config| finish(self.builder().tls_backend_preconfigured(config)));
        Built { client, certificate_notes: roots.notes }
    }

    fn build_plain(&self) -> Built {
        // Not even the system's roots: this client never uses TLS.
        Built { client: finish(self.builder().tls_certs_only([])), certificate_notes: Vec::new() }
    }

    fn builder(&self) -> reqwest::ClientBuilder {
        install_crypto_provider();
        let builder = reqwest::Client::builder()
            .user_agent(self.options.user_agent.clone())
            .connect_timeout(self.options.connect_timeout)
            .connector_layer(WatchConnector)
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            // The proxy variables of the environment are read by our own rules only.
            .no_proxy();
        let builder = if self.guarded { builder.dns_resolver(PublicOnly) } else { builder };
        match &self.proxy {
            Some(rule) => builder.proxy(rule.to_reqwest()),
            None => builder,
        }
    }
}

/// Reference to one of the two built clients, which keeps it alive.
struct BuiltRef {
    shared: Arc<Shared>,
    secure: bool,
}

impl std::ops::Deref for BuiltRef {
    type Target = Built;

    fn deref(&self) -> &Built {
        if self.secure {
            self.shared.secure.get_or_init(|| self.shared.build_secure())
        } else {
            self.shared.plain.get_or_init(|| self.shared.build_plain())
        }
    }
}

fn finish(builder: reqwest::ClientBuilder) -> Result<reqwest::Client, String> {
    builder.build().map_err(|error| {
        std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string)
    })
}

/// Runs `future`, but no longer than `limit` after the last part of the request was sent.
async fn within<T>(
    limit: Duration,
    progress: &SendProgress,
    future: impl Future<Output = T>,
) -> Option<T> {
    let mut future = pin!(future);
    loop {
        let deadline = progress.last() + limit;
        if let Ok(value) = tokio::time::timeout_at(deadline, &mut future).await {
            return Some(value);
        }
        if progress.last() + limit <= Instant::now() {
            return None;
        }
    }
}

/// Returns the address that a response redirects to, or `None` if the response is no redirect.
fn redirect_target(request: &HttpRequest, response: &Response) -> Result<Option<Url>, Error> {
    let drops_body = match response.status() {
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER => true,
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => false,
        _ => return Ok(None),
    };
    let Some(location) = response.headers().get(LOCATION) else {
        return Ok(None);
    };
    let refuse = |to: &str, reason| Err(Error::redirect(&request.url, to, reason));
    let text = String::from_utf8_lossy(location.as_bytes());
    let Ok(next) = request.url.join(&text) else {
        return refuse(&text, RedirectReason::Unreadable);
    };
    if next.origin() != request.url.origin() {
        return refuse(&text, RedirectReason::OtherOrigin);
    }
    if drops_body && !request.body.is_empty() {
        return refuse(&text, RedirectReason::WouldDropBody);
    }
    Ok(Some(next))
}
