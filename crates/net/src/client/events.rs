//! Server-sent events of a response, as they arrive.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};

use crate::error::Error;
use crate::sse::{ServerEvent, SseDecoder};

/// Stream of [`ServerEvent`]s that are decoded from a stream of bytes.
///
/// Ends after the first error. Dropping it closes the connection.
pub struct EventStream {
    /// Source of the bytes; `None` after its end.
    bytes: Option<BoxStream<'static, Result<Bytes, Error>>>,
    decoder: SseDecoder,
    /// Error that is returned after the events that are still to be delivered.
    failure: Option<Error>,
}

impl EventStream {
    /// Creates a stream that decodes events from `bytes` and passes on the errors of `bytes`.
    pub fn new(bytes: impl Stream<Item = Result<Bytes, Error>> + Send + 'static) -> Self {
        Self { bytes: Some(bytes.boxed()), decoder: SseDecoder::default(), failure: None }
    }

    /// Handles the end of the bytes, or an error in them.
    fn close(&mut self, failure: Option<Error>) {
        self.bytes = None;
        self.failure = failure.or_else(|| self.decoder.finish().err().map(Error::from));
    }
}

impl Stream for EventStream {
    type Item = Result<ServerEvent, Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(event) = this.decoder.pop() {
                return Poll::Ready(Some(Ok(event)));
            }
            let Some(bytes) = &mut this.bytes else {
                return Poll::Ready(this.failure.take().map(Err));
            };
            match bytes.poll_next_unpin(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(chunk))) => {
                    if let Err(error) = this.decoder.push(&chunk) {
                        this.close(Some(error.into()));
                    }
                }
                Poll::Ready(Some(Err(error))) => this.close(Some(error)),
                Poll::Ready(None) => this.close(None),
            }
        }
    }
}

impl std::fmt::Debug for EventStream {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("EventStream")
            .field("open", &self.bytes.is_some())
            .finish_non_exhaustive()
    }
}
