//! Streaming of a response that is assembled from events.

use std::future::ready;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use pollux_net::{Error, EventStream, Response};
use pollux_protocol::{
    CancellationToken, ChunkStream, FinishReason, ModelError, ModelErrorKind, ResponseChunk,
};

use crate::exchange::ANSWER_LIMIT;
use crate::failure;

/// Payload that ends a stream in some dialects.
const DONE: &str = "[DONE]";

/// Maximum time to wait for the end of a response after its last event. A connection can be used
/// again only after the end, and some servers keep it open.
const END_WAIT: Duration = Duration::from_millis(200);

/// Response that a dialect assembles from the payloads of events.
pub(crate) trait Assembly: Send + 'static {
    /// Processes an event.
    ///
    /// # Errors
    /// [`ModelErrorKind::Broken`] for a payload that cannot be understood; the error of the service
    /// for an error object.
    fn take_event(&mut self, name: &str, payload: &[u8]) -> Result<ResponseChunk, ModelError>;

    /// Processes a complete body that was sent in response to a streaming request.
    ///
    /// # Errors
    /// As for [`Self::take_event`].
    fn take_whole(&mut self, body: &[u8]) -> Result<ResponseChunk, ModelError>;

    /// True if the model reported why it stopped.
    fn is_finished(&self) -> bool;

    /// True if `[DONE]` replaces a missing finish reason.
    fn ends_with_done(&self) -> bool {
        true
    }

    /// True after the last event of the response. It replaces a missing finish reason.
    fn is_complete(&self) -> bool {
        false
    }

    /// Returns what was held back, at the end of the stream.
    fn finish(&mut self) -> ResponseChunk;
}

/// Response that is being received.
struct Stream<A> {
    /// Response whose body has not been read yet.
    response: Option<Response>,
    /// Rest of the events; `None` before the first and after the last one.
    events: Option<EventStream>,
    /// Rest of the events after the last one that matters.
    rest: Option<EventStream>,
    answer: A,
    /// Value of the setting `general.retryFetchErrors`.
    retry_fetch_errors: bool,
}

/// Returns the response as chunks. Ends after the first error.
///
/// Servers that cannot stream send one JSON object, failing gateways send one with status 200, and
/// proxies send web pages: a body that begins with a bracket is read whole.
pub(crate) fn chunks(
    response: Response,
    answer: impl Assembly,
    retry_fetch_errors: bool,
) -> ChunkStream {
    let secrets = response.secrets().clone();
    let response = Some(response);
    let stream = Stream { response, events: None, rest: None, answer, retry_fetch_errors };
    let chunks = stream.into_chunks();
    chunks.map_err(move |error| failure::without_secrets(error, &secrets)).boxed()
}

/// Returns a streamed response in one piece. Requests for whole responses are streamed too:
/// otherwise a server on a slow machine sends nothing for minutes.
pub(crate) async fn whole(
    stream: impl Future<Output = Result<ChunkStream, ModelError>>,
    cancel: &CancellationToken,
) -> Result<ResponseChunk, ModelError> {
    let whole = async {
        let mut stream = stream.await?;
        let mut answer = ResponseChunk::default();
        while let Some(chunk) = stream.next().await {
            answer.append(chunk?);
        }
        Ok(answer)
    };
    cancel.run_until_cancelled(whole).await.unwrap_or_else(|| Err(ModelError::cancelled()))
}

/// Decodes a recorded stream, received in these pieces.
///
/// # Errors
/// The errors of `answer`, and [`ModelErrorKind::Broken`] for bytes that are not a stream of
/// events, or that stop before the end of the response.
pub(crate) fn decode(
    pieces: Vec<Bytes>,
    answer: impl Assembly,
) -> Result<Vec<ResponseChunk>, ModelError> {
    let events = EventStream::new(stream::iter(pieces.into_iter().map(Ok)));
    let events = Some(events);
    let stream = Stream { response: None, events, rest: None, answer, retry_fetch_errors: true };
    // Nothing has to be waited for.
    stream.into_chunks().try_collect().now_or_never().unwrap_or_else(|| Ok(Vec::new()))
}

impl<A: Assembly> Stream<A> {
    fn into_chunks(self) -> ChunkStream {
        let next = |mut stream: Self| async move {
            let next = stream.next().await;
            if next.is_err() {
                stream.events = None;
            }
            next.transpose().map(|next| (next, stream))
        };
        stream::unfold(self, next).boxed()
    }

    async fn next(&mut self) -> Result<Option<ResponseChunk>, ModelError> {
        let retry_fetch_errors = self.retry_fetch_errors;
        let failed = move |error| failure::in_stream(&error, retry_fetch_errors);
        self.drain().await;
        if let Some(response) = self.response.take() {
            match Body::open(response).await.map_err(failed)? {
                Body::Events(events) => self.events = Some(*events),
                Body::Whole(bytes) => return self.answer.take_whole(&bytes).map(Some),
            }
        }
        while let Some(events) = &mut self.events {
            let event = match events.next().await {
                Some(Ok(event)) => event,
                Some(Err(error))
                    if !self.answer.is_finished() || matches!(error, Error::Cancelled) =>
                {
                    return Err(failed(error));
                }
                // An error after the end of a complete response does not matter.
                Some(Err(_)) | None => {
                    self.events = None;
                    return self.end(false);
                }
            };
            match event.data.trim() {
                "" => {}
                DONE => {
                    self.rest = self.events.take();
                    match self.end(true)? {
                        Some(chunk) => return Ok(Some(chunk)),
                        None => self.drain().await,
                    }
                }
                data => {
                    let mut chunk = self.answer.take_event(&event.name, data.as_bytes())?;
                    if self.answer.is_complete() {
                        self.rest = self.events.take();
                        chunk.append(self.end(true)?.unwrap_or_default());
                    }
                    return Ok(Some(chunk));
                }
            }
        }
        Ok(None)
    }

    /// Waits for the end of the response.
    async fn drain(&mut self) {
        let Some(rest) = self.rest.take() else { return };
        let mut rest = rest.take_while(|event| ready(event.is_ok())).for_each(|_| ready(()));
        // The rest of a recorded stream is always there, and no timer can run.
        if (&mut rest).now_or_never().is_none() {
            tokio::time::timeout(END_WAIT, rest).await.ok();
        }
    }

    /// Returns the last piece.
    ///
    /// # Errors
    /// [`ModelErrorKind::Broken`] (retryable) for a stream that stops without a finish reason and
    /// without `[DONE]`. Its incomplete calls are not made.
    fn end(&mut self, done: bool) -> Result<Option<ResponseChunk>, ModelError> {
        let is_finished = self.answer.is_finished();
        let has_ended = is_finished || (done && self.answer.ends_with_done());
        if !has_ended {
            let message = "The answer broke off before its end: no finish reason arrived.";
            let message = failure::display(message, None);
            let error = ModelError::new(ModelErrorKind::Broken, message);
            return Err(ModelError { retryable: true, ..error });
        }
        let mut chunk = self.answer.finish();
        if !is_finished {
            chunk.finish = Some(FinishReason::Stop);
        }
        Ok((chunk != ResponseChunk::default()).then_some(chunk))
    }
}

/// Body whose kind is known.
enum Body {
    Events(Box<EventStream>),
    Whole(Bytes),
}

impl Body {
    /// Reads up to the first byte that is not white space, and determines the kind.
    async fn open(mut response: Response) -> Result<Self, Error> {
        let mut begun = BytesMut::new();
        loop {
            let Some(bytes) = response.chunk().await? else {
                return Ok(Self::Whole(begun.freeze()));
            };
            begun.extend_from_slice(&bytes);
            match begun.iter().find(|byte| !byte.is_ascii_whitespace()) {
                Some(b'{' | b'[' | b'<') => break,
                None if begun.len() < ANSWER_LIMIT => {}
                _ => {
                    let first = stream::iter([Ok(begun.freeze())]);
                    let events = EventStream::new(first.chain(response.into_stream()));
                    return Ok(Self::Events(Box::new(events)));
                }
            }
        }
        let rest = response.bytes(ANSWER_LIMIT).await?;
        begun.extend_from_slice(&rest);
        Ok(Self::Whole(begun.freeze()))
    }
}
