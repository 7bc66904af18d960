//! Transport with server-sent events, of the protocol's version 2024-11-05: the server's messages
//! come over one stream, and the client posts its messages to an address that the first event
//! names. The SDK no longer has this transport.

use std::future::Future;
use std::sync::Arc;

use futures::StreamExt as _;
use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue, Method};
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use url::Url;

use crate::http::{Events, HttpConnection, HttpFailure, event_stream};
use crate::incoming::shown_line;

/// Connection with an open stream of events.
pub(crate) struct SseTransport {
    connection: HttpConnection,
    events: Option<Events>,
    /// Address for messages to the server.
    post_url: Arc<Url>,
}

impl SseTransport {
    /// Opens the stream and waits for the address that messages are posted to.
    ///
    /// # Errors
    /// The server cannot be reached, refuses, or names an address of another server.
    pub(crate) async fn connect(
        connection: HttpConnection,
        url: &Url,
    ) -> Result<Self, HttpFailure> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let response = connection.send(Method::GET, url.clone(), headers, Vec::new()).await?;
        if !response.status().is_success() {
            return Err(HttpConnection::refused(response).await);
        }
        let mut events = event_stream(response);
        while let Some(event) = events.next().await {
            let event = event.map_err(|error| HttpFailure::Stream(error.to_string()))?;
            if event.event.as_deref() != Some("endpoint") {
                continue;
            }
            let data = event.data.unwrap_or_default();
            let named = data.trim();
            let post_url = url.join(named).ok().filter(|next| next.origin() == url.origin());
            let post_url = post_url.ok_or_else(|| HttpFailure::Address(shown_line(named)))?;
            return Ok(Self { connection, events: Some(events), post_url: Arc::new(post_url) });
        }
        Err(HttpFailure::Address("no address at all".to_owned()))
    }
}

impl Transport<RoleClient> for SseTransport {
    type Error = HttpFailure;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (connection, url) = (self.connection.clone(), Arc::clone(&self.post_url));
        async move {
            let url = Url::clone(&url);
            let response = connection.post(url, &message, HeaderMap::new()).await?;
            if response.status().is_success() {
                return Ok(());
            }
            Err(HttpConnection::refused(response).await)
        }
    }

    /// Cancel safe: nothing is lost between two events.
    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let events = self.events.as_mut()?;
        loop {
            let event = events.next().await?.ok()?;
            if matches!(event.event.as_deref(), None | Some("message"))
                && let Some(data) = event.data
                && let Ok(message) = self.connection.reader().read(data.as_bytes())
            {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.events = None;
        Ok(())
    }
}
