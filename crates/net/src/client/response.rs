//! HTTP responses.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::{Stream, stream};
use http::{HeaderMap, StatusCode};
use tokio_util::sync::CancellationToken;

use super::events::EventStream;
use super::exchange::Exchange;
use super::record::RecordedExchange;
use super::secrets::Secrets;
use super::trace::TracedRequest;
use crate::error::{Error, STATUS_BODY_LIMIT, StatusError, TimeoutPhase};

/// Maximum time to wait for each piece of the body of an unsuccessful response.
const STATUS_BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Response whose body has not been read yet. Dropping it closes the connection.
#[derive(Debug)]
pub struct Response {
    inner: reqwest::Response,
    exchange: Exchange,
    idle_timeout: Duration,
    cancel: CancellationToken,
    traced: Option<TracedRequest>,
    recorded: Option<Box<RecordedExchange>>,
}

impl Response {
    pub(super) fn new(
        inner: reqwest::Response,
        exchange: Exchange,
        idle_timeout: Duration,
        cancel: CancellationToken,
    ) -> Self {
        Self { inner, exchange, idle_timeout, cancel, traced: None, recorded: None }
    }

    /// Traces and records the response until it is dropped.
    pub(super) fn observed(
        self,
        traced: Option<TracedRequest>,
        recorded: Option<Box<RecordedExchange>>,
    ) -> Self {
        Self { traced, recorded, ..self }
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> StatusCode {
        self.inner.status()
    }

    /// Returns the response headers.
    pub fn headers(&self) -> &HeaderMap {
        self.inner.headers()
    }

    /// Returns the secrets of the request, which a service may repeat in the body.
    pub fn secrets(&self) -> &Secrets {
        &self.exchange.secrets
    }

    /// Returns the next bytes of the body, decompressed; `None` at its end.
    ///
    /// # Errors
    /// [`Error::BodyBroken`], [`Error::Timeout`] with [`TimeoutPhase::Idle`], [`Error::Cancelled`].
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let outcome = self.next_chunk().await;
        if let (Some(traced), Ok(Some(_))) = (&mut self.traced, &outcome) {
            traced.received();
        }
        if let Some(recorded) = &mut self.recorded {
            match &outcome {
                Ok(Some(chunk)) => recorded.received(chunk),
                Ok(None) => recorded.ended(Ok(())),
                Err(error) => recorded.ended(Err(error)),
            }
        }
        outcome
    }

    async fn next_chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let limit = self.idle_timeout;
        let reading = tokio::time::timeout(limit, self.inner.chunk());
        match self.cancel.run_until_cancelled(reading).await {
            None => Err(Error::Cancelled),
            Some(Err(_elapsed)) => {
                let host = self.exchange.host.clone();
                Err(Error::Timeout { phase: TimeoutPhase::Idle, host, limit })
            }
            Some(Ok(Err(error))) => Err(self.exchange.body_failed(&error)),
            Some(Ok(Ok(chunk))) => Ok(chunk),
        }
    }

    /// Reads the whole body, if it is no larger than `limit` bytes.
    ///
    /// # Errors
    /// The errors of [`chunk`](Self::chunk), and [`Error::BodyTooLarge`].
    pub async fn bytes(mut self, limit: usize) -> Result<Bytes, Error> {
        let mut body = BytesMut::new();
        while let Some(chunk) = self.chunk().await? {
            if body.len() + chunk.len() > limit {
                return Err(Error::BodyTooLarge { host: self.exchange.host, limit });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }

    /// Returns the body as a stream of pieces as they arrive. The stream ends after the first
    /// error.
    pub fn into_stream(self) -> impl Stream<Item = Result<Bytes, Error>> + Send + 'static {
        stream::unfold(Some(self), |state| async {
            let mut response = state?;
            match response.chunk().await {
                Ok(Some(chunk)) => Some((Ok(chunk), Some(response))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    /// Returns the body as server-sent events.
    pub fn events(self) -> EventStream {
        EventStream::new(self.into_stream())
    }

    /// Converts the response to an error, without the secrets of the request. If the body breaks
    /// off or stalls, the part received so far is kept.
    pub(super) async fn into_status_error(mut self) -> Error {
        self.idle_timeout = self.idle_timeout.min(STATUS_BODY_TIMEOUT);
        let mut body = BytesMut::new();
        while body.len() < STATUS_BODY_LIMIT {
            match self.chunk().await {
                Ok(Some(chunk)) => {
                    let room = STATUS_BODY_LIMIT - body.len();
                    body.extend_from_slice(&chunk[..chunk.len().min(room)]);
                }
                Err(Error::Cancelled) => return Error::Cancelled,
                Ok(None) | Err(_) => break,
            }
        }
        Error::Status(Box::new(StatusError {
            status: self.status(),
            headers: self.headers().clone(),
            body: self.exchange.secrets.removed_from(body.freeze()),
            host: self.exchange.host,
        }))
    }
}
