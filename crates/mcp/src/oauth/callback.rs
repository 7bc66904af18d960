//! Local listener to which the browser is redirected after the user has signed in.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use pollux_net::is_loopback;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use url::Url;

use super::OAuthError;
use super::redirect::{Expected, Fault, code};
use super::settings::OAuthSettings;

/// Path of the redirect, if the settings name no other.
const PATH: &str = "/oauth/callback";
/// Maximum size of a request, in bytes.
const LARGEST: usize = 32 << 10;
/// Time limit of a request.
const LIMIT: Duration = Duration::from_secs(10);
/// Maximum number of connections at the same time.
const MOST_CONNECTIONS: usize = 16;

/// Settings of the listener for all servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallbackSettings {
    /// Port as the user wrote it (`OAUTH_CALLBACK_PORT`).
    pub port: Option<String>,
    /// Host of a cloud workstation, through which the browser reaches the port.
    pub workstation: Option<String>,
}

impl CallbackSettings {
    /// Returns the port to listen on; 0 for any.
    fn port(&self, settings: &OAuthSettings) -> Result<u16, OAuthError> {
        if let Some(text) = &self.port {
            let port = text.trim().parse().ok().filter(|port| *port > 0);
            return port.ok_or_else(|| {
                let shown = super::shown(text);
                OAuthError::refused(format!("Invalid value for OAUTH_CALLBACK_PORT: \"{shown}\""))
            });
        }
        Ok(settings.redirect_uri.as_ref().and_then(Url::port).unwrap_or(0))
    }
}

/// Open listener.
pub(super) struct Callback {
    listeners: Vec<TcpListener>,
    path: String,
    /// Address of the redirect for the authorization server.
    pub(super) redirect: String,
}

impl Callback {
    /// Opens the listener on this machine's loopback addresses.
    pub(super) async fn open(
        callback: &CallbackSettings,
        settings: &OAuthSettings,
    ) -> Result<Self, OAuthError> {
        let port = callback.port(settings)?;
        let failed = |error: io::Error| {
            OAuthError::refused(format!("Cannot listen on port {port} of this machine: {error}"))
        };
        let first = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
        let port = first.local_addr().map_err(failed)?.port();
        let mut listeners = vec![first];
        // `localhost` may be either address for a browser. Not every machine has the second.
        listeners.extend(TcpListener::bind((Ipv6Addr::LOCALHOST, port)).await.ok());
        let redirect = match (&settings.redirect_uri, &callback.workstation) {
            (Some(uri), _) => redirect_of(uri, port),
            (None, Some(host)) => format!("https://{port}-{host}{PATH}"),
            (None, None) => format!("http://localhost:{port}{PATH}"),
        };
        let path = settings.redirect_uri.as_ref().map_or(PATH, Url::path).to_owned();
        Ok(Self { listeners, path, redirect })
    }

    /// Waits for the redirect, and returns the code in it. Requests that belong to nothing are
    /// refused.
    ///
    /// # Errors
    /// The redirect contains an error, or is from someone else.
    pub(super) async fn code(self, expected: &Expected) -> Result<String, OAuthError> {
        let (sender, mut outcomes) = mpsc::channel(1);
        let service = Arc::new(Service { path: self.path, expected: expected.clone(), sender });
        let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        let mut tasks = JoinSet::new();
        for listener in self.listeners {
            tasks.spawn(accept(listener, Arc::clone(&service), Arc::clone(&room)));
        }
        let outcome = outcomes.recv().await.unwrap_or(Err(Fault::Missing));
        // The response was written before the outcome was sent.
        outcome.map_err(OAuthError::from)
    }
}

/// Returns the address of the settings; a loopback address without port gets that of the listener.
fn redirect_of(uri: &Url, port: u16) -> String {
    let mut uri = uri.clone();
    if is_loopback(&uri) && uri.port().is_none() && uri.set_port(Some(port)).is_err() {
        return uri.into();
    }
    uri.into()
}

struct Service {
    path: String,
    expected: Expected,
    sender: mpsc::Sender<Result<String, Fault>>,
}

async fn accept(listener: TcpListener, service: Arc<Service>, room: Arc<Semaphore>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else { return };
        let service = Arc::clone(&service);
        while connections.try_join_next().is_some() {}
        connections.spawn(async move {
            // A connection that fails or takes too long is dropped.
            drop(tokio::time::timeout(LIMIT, service.answer(stream)).await);
            drop(permit);
        });
    }
}

impl Service {
    async fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        let Some(target) = target(&mut stream).await? else { return Ok(()) };
        let (status, text, outcome) = self.judge(&target);
        let body =
            format!("<!doctype html><meta charset=\"utf-8\"><title>Pollux</title><p>{text}</p>\n");
        let head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
             Cache-Control: no-store\r\nConnection: close\r\n\r\n",
            status.as_u16(),
            status.canonical_reason().unwrap_or_default(),
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).await?;
        stream.shutdown().await?;
        if let Some(outcome) = outcome {
            // Only the first outcome counts.
            drop(self.sender.try_send(outcome));
        }
        Ok(())
    }

    /// Returns the response to a request, and the outcome if the request decides it.
    fn judge(&self, target: &str) -> (StatusCode, &'static str, Option<Result<String, Fault>>) {
        let url = Url::parse("http://localhost").and_then(|base| base.join(target));
        let Some(url) = url.ok().filter(|url| url.path() == self.path) else {
            return (StatusCode::NOT_FOUND, "Not found", None);
        };
        match code(&url, &self.expected) {
            Ok(code) => {
                let text = "You are signed in. You can close this page and return to Pollux.";
                (StatusCode::OK, text, Some(Ok(code)))
            }
            Err(Fault::Missing) => {
                (StatusCode::BAD_REQUEST, "Missing code or state parameter", None)
            }
            Err(Fault::State) => {
                (StatusCode::BAD_REQUEST, "Invalid state parameter", Some(Err(Fault::State)))
            }
            Err(fault @ Fault::Issuer(_)) => {
                (StatusCode::BAD_REQUEST, "Invalid issuer parameter", Some(Err(fault)))
            }
            Err(fault @ Fault::Refused(_)) => {
                let text = "Signing in failed. You can close this page and return to Pollux.";
                (StatusCode::OK, text, Some(Err(fault)))
            }
        }
    }
}

/// Reads a request and returns its target; `None` if it is no GET request.
async fn target(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    while bytes.len() < LARGEST {
        let count = stream.read(&mut piece).await?;
        bytes.extend_from_slice(&piece[..count]);
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(&bytes) {
            Ok(httparse::Status::Complete(_)) => {
                let is_get = request.method == Some("GET");
                return Ok(request.path.filter(|_| is_get).map(str::to_owned));
            }
            Ok(httparse::Status::Partial) if count > 0 => {}
            _ => return Ok(None),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    async fn redirect(
        port: Option<&str>,
        workstation: Option<&str>,
        uri: Option<&str>,
    ) -> Result<(String, u16), String> {
        let callback = CallbackSettings {
            port: port.map(str::to_owned),
            workstation: workstation.map(str::to_owned),
        };
        let redirect_uri = uri.map(|uri| Url::parse(uri).unwrap());
        let settings = OAuthSettings { redirect_uri, ..OAuthSettings::default() };
        let opened = Callback::open(&callback, &settings).await;
        let opened = opened.map_err(|error| error.to_string())?;
        let port = opened.listeners[0].local_addr().unwrap().port();
        Ok((opened.redirect, port))
    }

    #[tokio::test]
    async fn the_address_of_the_redirect_follows_the_settings() {
        let (address, port) = redirect(None, None, None).await.unwrap();
        assert_eq!(address, format!("http://localhost:{port}/oauth/callback"));
        let (address, port) = redirect(None, Some("w.example"), None).await.unwrap();
        assert_eq!(address, format!("https://{port}-w.example/oauth/callback"));
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let wanted = free.local_addr().unwrap().port();
        let busy = redirect(Some(&wanted.to_string()), None, None).await.unwrap_err();
        assert!(busy.starts_with(&format!("Cannot listen on port {wanted}")), "{busy}");
        drop(free);
        let own = format!("http://localhost:{wanted}/mine");
        let found = redirect(None, Some("w.example"), Some(&own)).await.unwrap();
        assert_eq!(found, (own, wanted));
        let far = "https://proxy.example/callback";
        let (address, port) = redirect(Some(&wanted.to_string()), None, Some(far)).await.unwrap();
        assert_eq!((address.as_str(), port), (far, wanted));
        for text in ["0", "x", "65536", "-1"] {
            let error = redirect(Some(text), None, None).await.unwrap_err();
            assert_eq!(error, format!("Invalid value for OAUTH_CALLBACK_PORT: \"{text}\""));
        }
    }
}
