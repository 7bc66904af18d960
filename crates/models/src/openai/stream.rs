//! Streaming of a response.

use bytes::{Bytes, BytesMut};
use futures::{StreamExt, stream};
use pollux_net::{Error, EventStream, Response, ServerEvent, SseDecoder};
use pollux_protocol::{ChunkStream, FinishReason, ModelError, ResponseChunk};

use super::answer::{Answer, Reading};
use crate::exchange::ANSWER_LIMIT;
use crate::failure;

/// Payload that ends a stream according to the specification.
const DONE: &str = "[DONE]";

/// Response that is being received.
struct Stream {
    source: Source,
    answer: Answer,
    /// Value of the setting `general.retryFetchErrors`.
    retry_fetch_errors: bool,
}

enum Source {
    /// Response whose body has not been read yet.
    Response(Response),
    Events(EventStream),
}

/// Returns the response as chunks. Ends after the first error.
///
/// Servers that cannot stream send one JSON object, failing gateways send one with status 200, and
/// proxies send web pages: a body that begins with a bracket is read whole.
pub(super) fn chunks(
    response: Response,
    reading: Reading,
    retry_fetch_errors: bool,
) -> ChunkStream {
    let answer = Answer::new(reading);
    let source = Source::Response(response);
    let state = Some(Stream { source, answer, retry_fetch_errors });
    stream::unfold(state, |state| async { state?.next().await }).boxed()
}

type Step = Option<(Result<ResponseChunk, ModelError>, Option<Stream>)>;

impl Stream {
    async fn next(mut self) -> Step {
        if let Source::Response(response) = self.source {
            match Body::open(response).await {
                Ok(Body::Events(events)) => self.source = Source::Events(*events),
                Ok(Body::Whole(bytes)) => {
                    return Some((self.answer.take_whole(&bytes), None));
                }
                Err(error) => {
                    return Some((Err(failure::in_stream(&error, self.retry_fetch_errors)), None));
                }
            }
        }
        let Source::Events(mut events) = self.source else { return None };
        loop {
            let Some(event) = events.next().await else { return self.answer.ended(false) };
            let event = match event {
                Ok(event) => event,
                // The response is complete; an error after its end does not matter.
                Err(error) if self.answer.is_finished() && !matches!(error, Error::Cancelled) => {
                    return self.answer.ended(false);
                }
                Err(error) => {
                    return Some((Err(failure::in_stream(&error, self.retry_fetch_errors)), None));
                }
            };
            match self.answer.read_event(&event) {
                ReceivedEvent::Nothing => {}
                ReceivedEvent::Done => return self.answer.ended(true),
                ReceivedEvent::Chunk(chunk) => {
                    let source = Source::Events(events);
                    let next = chunk.is_ok().then_some(Self { source, ..self });
                    return Some((chunk, next));
                }
            }
        }
    }
}

/// Result of processing an event.
enum ReceivedEvent {
    Nothing,
    Done,
    Chunk(Result<ResponseChunk, ModelError>),
}

impl Answer {
    fn read_event(&mut self, event: &ServerEvent) -> ReceivedEvent {
        match event.data.trim() {
            "" => ReceivedEvent::Nothing,
            DONE => ReceivedEvent::Done,
            data => ReceivedEvent::Chunk(self.take_event(&event.name, data.as_bytes())),
        }
    }

    /// Returns the last piece. `[DONE]` replaces a missing finish reason. A stream that stops
    /// without either of them broke off, and its incomplete calls are not made.
    fn ended(&mut self, done: bool) -> Step {
        let chunk = self.last_chunk(done)?;
        Some((Ok(chunk), None))
    }

    fn last_chunk(&mut self, done: bool) -> Option<ResponseChunk> {
        if !done && !self.is_finished() {
            return None;
        }
        let mut chunk = self.finish();
        if !self.is_finished() {
            chunk.finish = Some(FinishReason::Stop);
        }
        (chunk != ResponseChunk::default()).then_some(chunk)
    }
}

/// Decodes a recorded stream of received bytes, with all reading options enabled: calls in blocks,
/// thoughts in tags.
///
/// # Errors
/// The errors of [`decode_chat_chunk`](super::decode_chat_chunk), and
/// [`ModelErrorKind::Broken`](pollux_protocol::ModelErrorKind::Broken) for bytes that are not a
/// stream of events.
pub fn decode_chat_stream(bytes: &[u8]) -> Result<Vec<ResponseChunk>, ModelError> {
    let broken = |error| failure::in_stream(&Error::Stream(error), true);
    let mut decoder = SseDecoder::default();
    decoder.push(bytes).map_err(broken)?;
    let end = decoder.finish();
    let reading = Reading { emulated: true, think_tags: true, ..Reading::default() };
    let mut answer = Answer::new(reading);
    let mut chunks = Vec::new();
    while let Some(event) = decoder.pop() {
        match answer.read_event(&event) {
            ReceivedEvent::Nothing => {}
            ReceivedEvent::Chunk(chunk) => chunks.push(chunk?),
            ReceivedEvent::Done => {
                chunks.extend(answer.last_chunk(true));
                return Ok(chunks);
            }
        }
    }
    if !answer.is_finished() {
        end.map_err(broken)?;
    }
    chunks.extend(answer.last_chunk(false));
    Ok(chunks)
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
