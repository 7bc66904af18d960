//! Responses that the service pauses (`pause_turn`): it expects them back as they are, and
//! continues them. Only tools of the service itself lead to a pause; a gateway may offer some.

use std::sync::{Arc, Mutex, PoisonError};

use futures::{StreamExt, stream};
use pollux_protocol::{
    CancellationToken, ChunkStream, ModelError, ResponseChunk, RetryListener, Usage,
};
use serde_json::Value;

use super::answer::{Answer, Reading};
use super::request::Encoded;
use super::service::{ResponseForm, Service};
use crate::answer_stream;

/// Maximum number of pauses in one response.
const MAX_PAUSES: usize = 16;

/// Place for the blocks of a paused response, shared by its reader and the one who continues it.
#[derive(Debug, Clone, Default)]
pub(super) struct Paused(Option<Arc<Mutex<Vec<Value>>>>);

impl Paused {
    fn expected() -> Self {
        Self(Some(Arc::default()))
    }

    /// Keeps the blocks. Returns false if nobody continues the response.
    pub(super) fn keep(&self, blocks: Vec<Value>) -> bool {
        let Some(place) = self.0.as_ref().filter(|_| !blocks.is_empty()) else { return false };
        *place.lock().unwrap_or_else(PoisonError::into_inner) = blocks;
        true
    }

    fn take(&self) -> Vec<Value> {
        let blocks = self.0.as_ref().map(|place| {
            std::mem::take(&mut *place.lock().unwrap_or_else(PoisonError::into_inner))
        });
        blocks.unwrap_or_default()
    }
}

/// Request whose response may be paused.
pub(super) struct Asked {
    pub(super) service: Arc<Service>,
    pub(super) request: Encoded,
    pub(super) reading: Reading,
    pub(super) max_attempts: Option<u32>,
    pub(super) on_retry: Option<RetryListener>,
    pub(super) cancel: CancellationToken,
}

/// Response that is being received.
struct Answering {
    asked: Asked,
    chunks: ChunkStream,
    /// Blocks of the response up to the last pause.
    blocks: Vec<Value>,
    pauses: usize,
    /// Tokens of the requests up to the last pause, and of the current one.
    used: (Usage, Usage),
}

impl Asked {
    /// Sends the request; returns the response as chunks, whatever pauses it has.
    pub(super) async fn answer(mut self) -> Result<ChunkStream, ModelError> {
        self.reading.paused = Paused::expected();
        let chunks = self.open(&[]).await?;
        let answering =
            Answering { asked: self, chunks, blocks: Vec::new(), pauses: 0, used: <_>::default() };
        let next = |mut answering: Answering| async move {
            let next = answering.next().await?;
            Some((next, answering))
        };
        Ok(stream::unfold(answering, next).boxed())
    }

    /// Sends the request, or the one that continues after these blocks.
    async fn open(&self, blocks: &[Value]) -> Result<ChunkStream, ModelError> {
        let request = match blocks {
            [] => self.request.body(),
            blocks => self.request.clone().continued(blocks).body(),
        };
        let Reading { model, .. } = &self.reading;
        let (form, on_retry) = (ResponseForm::Stream, self.on_retry.as_ref());
        let call = self.service.messages(form, model, request, on_retry, &self.cancel);
        let exchange = &self.service.connection.exchange;
        let response = exchange.open(call.within(self.max_attempts)).await?;
        let answer = Answer::new(self.reading.clone());
        Ok(answer_stream::chunks(response, answer, exchange.retry_fetch_errors))
    }
}

impl Answering {
    async fn next(&mut self) -> Option<Result<ResponseChunk, ModelError>> {
        loop {
            if let Some(chunk) = self.chunks.next().await {
                return Some(chunk.map(|chunk| self.counted(chunk)));
            }
            let blocks = self.asked.reading.paused.take();
            if blocks.is_empty() {
                return None;
            }
            self.blocks.extend(blocks);
            self.pauses += 1;
            self.used.0 += std::mem::take(&mut self.used.1);
            if self.pauses == MAX_PAUSES {
                // The next pause ends the response.
                self.asked.reading.paused = Paused::default();
            }
            match self.asked.open(&self.blocks).await {
                Ok(chunks) => self.chunks = chunks,
                Err(error) => {
                    self.chunks = stream::empty().boxed();
                    return Some(Err(error));
                }
            }
        }
    }

    /// Returns a chunk with the tokens of all requests so far.
    fn counted(&mut self, mut chunk: ResponseChunk) -> ResponseChunk {
        if let Some(usage) = &mut chunk.usage {
            self.used.1 = *usage;
            *usage += self.used.0;
        }
        chunk
    }
}
