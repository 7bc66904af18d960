//! Recording of responses in the file that [`Replay`](crate::Replay) reads: `--record-responses`.
//!
//! Only the data that a replay needs is kept, as in Gemini CLI: candidates and usage, the total of
//! a count, the vectors of an embedding. A response that was cancelled or broke off is not
//! recorded.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::{StreamExt, stream};
use pollux_fs::AppendLog;
use pollux_protocol::{
    CancellationToken, ChunkStream, FinishReason, JsonRequest, Model, ModelError, ModelErrorKind,
    ModelRequest, Part, ResponseChunk, Usage,
};
use serde_json::{Map, Value, json};

use crate::gemini::write_grounding;
use crate::replay::RecordedMethod;

/// Recorder that writes responses to a file.
#[derive(Debug)]
pub struct ResponseRecorder {
    log: Mutex<AppendLog>,
}

impl ResponseRecorder {
    /// Opens the file, or creates it. Existing content is kept.
    ///
    /// # Errors
    /// [`ModelErrorKind::Replay`] when the file cannot be written.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let log = AppendLog::open(path).map_err(|error| not_recorded(&error))?;
        Ok(Self { log: Mutex::new(log) })
    }

    fn record(&self, method: RecordedMethod, response: &Value) -> Result<(), ModelError> {
        let line = json!({ "method": method.as_str(), "response": response }).to_string();
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.append(line.as_bytes()).map_err(|error| not_recorded(&error))
    }
}

/// Model whose responses are recorded while they pass through.
pub(crate) struct RecordingModel {
    inner: Arc<dyn Model>,
    recorder: Arc<ResponseRecorder>,
}

impl RecordingModel {
    pub(crate) fn new(inner: Arc<dyn Model>, recorder: Arc<ResponseRecorder>) -> Self {
        Self { inner, recorder }
    }
}

/// Stream that is being recorded.
struct Recording {
    inner: ChunkStream,
    chunks: Vec<Value>,
    recorder: Arc<ResponseRecorder>,
}

#[async_trait]
impl Model for RecordingModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn vendor(&self) -> &str {
        self.inner.vendor()
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ChunkStream, ModelError> {
        let inner = self.inner.stream(request, cancel).await?;
        let recorder = Arc::clone(&self.recorder);
        let recording = Some(Recording { inner, chunks: Vec::new(), recorder });
        let chunks = stream::unfold(recording, |recording| async {
            let mut recording = recording?;
            match recording.inner.next().await {
                Some(Ok(chunk)) => {
                    recording.chunks.push(chunk_response(&chunk));
                    Some((Ok(chunk), Some(recording)))
                }
                Some(Err(error)) => Some((Err(error), None)),
                None => {
                    let response = Value::from(recording.chunks);
                    let method = RecordedMethod::GenerateContentStream;
                    let failed = recording.recorder.record(method, &response).err()?;
                    Some((Err(failed), None))
                }
            }
        });
        Ok(chunks.boxed())
    }

    async fn generate(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ResponseChunk, ModelError> {
        let chunk = self.inner.generate(request, cancel).await?;
        self.recorder.record(RecordedMethod::GenerateContent, &chunk_response(&chunk))?;
        Ok(chunk)
    }

    async fn generate_json(
        &self,
        request: JsonRequest,
        cancel: CancellationToken,
    ) -> Result<(Value, Usage), ModelError> {
        let (value, usage) = self.inner.generate_json(request, cancel).await?;
        let chunk = ResponseChunk {
            parts: vec![Part::text(value.to_string())],
            finish: Some(FinishReason::Stop),
            usage: Some(usage),
            ..ResponseChunk::default()
        };
        self.recorder.record(RecordedMethod::GenerateContent, &chunk_response(&chunk))?;
        Ok((value, usage))
    }

    async fn count_tokens(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<u64, ModelError> {
        let total = self.inner.count_tokens(request, cancel).await?;
        self.recorder.record(RecordedMethod::CountTokens, &json!({ "totalTokens": total }))?;
        Ok(total)
    }

    async fn embed(
        &self,
        texts: Vec<String>,
        cancel: CancellationToken,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        let vectors = self.inner.embed(texts, cancel).await?;
        let embeddings: Vec<Value> =
            vectors.iter().map(|values| json!({ "values": values })).collect();
        let response = json!({ "embeddings": embeddings });
        self.recorder.record(RecordedMethod::EmbedContent, &response)?;
        Ok(vectors)
    }
}

/// Converts a piece of a response to the format of the file.
fn chunk_response(chunk: &ResponseChunk) -> Value {
    let mut response = Map::new();
    let grounding = chunk.grounding.as_deref().map(write_grounding).unwrap_or_default();
    let finish = match &chunk.finish {
        Some(FinishReason::PromptBlocked(reason)) => {
            response.insert("promptFeedback".to_owned(), json!({ "blockReason": reason }));
            None
        }
        finish => finish.as_ref(),
    };
    if !chunk.parts.is_empty()
        || finish.is_some()
        || !chunk.citations.is_empty()
        || !grounding.is_empty()
    {
        let mut candidate = Map::new();
        candidate.insert("content".to_owned(), json!({ "role": "model", "parts": chunk.parts }));
        if let Some(finish) = finish {
            candidate.insert("finishReason".to_owned(), finish.as_str().into());
        }
        candidate.insert("index".to_owned(), 0.into());
        if !chunk.citations.is_empty() {
            let citations: Vec<Value> = chunk
                .citations
                .iter()
                .map(|citation| json!({ "uri": citation.uri, "title": citation.title }))
                .collect();
            candidate.insert("citationMetadata".to_owned(), json!({ "citations": citations }));
        }
        candidate.extend(grounding.into_iter().map(|(key, value)| (key.to_owned(), value)));
        response.insert("candidates".to_owned(), json!([candidate]));
    }
    if let Some(usage) = &chunk.usage {
        response.insert("usageMetadata".to_owned(), usage_response(usage));
    }
    Value::Object(response)
}

fn usage_response(usage: &Usage) -> Value {
    let mut response = Map::new();
    let counts = [
        ("promptTokenCount", usage.prompt),
        ("candidatesTokenCount", usage.candidates),
        ("totalTokenCount", usage.total),
        ("cachedContentTokenCount", usage.cached),
        ("thoughtsTokenCount", usage.thoughts),
        ("toolUsePromptTokenCount", usage.tool),
    ];
    for (name, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        response.insert(name.to_owned(), count.into());
    }
    Value::Object(response)
}

fn not_recorded(error: &pollux_fs::Error) -> ModelError {
    ModelError::new(ModelErrorKind::Replay, format!("Cannot record the responses: {error}"))
}

#[cfg(test)]
mod tests;
