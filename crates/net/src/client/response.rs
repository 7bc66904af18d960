//! What comes back.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::{Stream, stream};
use http::{HeaderMap, StatusCode};
use tokio_util::sync::CancellationToken;

use super::events::EventStream;
use super::exchange::Exchange;
use crate::error::{Error, STATUS_BODY_LIMIT, StatusError, TimeoutPhase};

/// How long the body of an unsuccessful answer is waited for, at most, per piece.
const STATUS_BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// An answer whose body is still to be read. Dropping it closes the connection.
#[derive(Debug)]
pub struct Response {
    inner: reqwest::Response,
    exchange: Exchange,
    idle_timeout: Duration,
    cancel: CancellationToken,
}

impl Response {
    pub(super) fn new(
        inner: reqwest::Response,
        exchange: Exchange,
        idle_timeout: Duration,
        cancel: CancellationToken,
    ) -> Self {
        Self { inner, exchange, idle_timeout, cancel }
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.inner.status()
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        self.inner.headers()
    }

    /// The next bytes of the body, decompressed; `None` at its end.
    ///
    /// # Errors
    /// [`Error::BodyBroken`], [`Error::Timeout`] with [`TimeoutPhase::Idle`], [`Error::Cancelled`].
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
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

    /// The whole body, if it is no larger than `limit` bytes.
    ///
    /// # Errors
    /// Those of [`chunk`](Self::chunk), and [`Error::BodyTooLarge`].
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

    /// The body as a stream of pieces as they arrive; ends after the first error.
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

    /// The body as server-sent events.
    pub fn events(self) -> EventStream {
        EventStream::new(self.into_stream())
    }

    /// The answer as an error. A body that breaks off or stalls is kept as far as it came.
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
            host: self.exchange.host,
            body: body.freeze(),
        }))
    }
}
