//! Model with recorded responses: `--fake-responses`, and the bundled demonstration.
//!
//! The file format is that of Gemini CLI: one JSON object per line,
//! `{"method": …, "response": …}`. One script is used for all requested models, in the order of
//! the calls.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::{StreamExt, stream};
use pollux_net::Backoff;
use pollux_protocol::{
    CancellationToken, ChunkStream, JsonRequest, Model, ModelError, ModelErrorKind, ModelRequest,
    ResponseChunk, Usage,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::body::Body;
use crate::gemini::{PartsCache, Takes, decode_chunk};
use crate::json_answer;

/// Maximum size of a file that is read, in bytes.
const FILE_LIMIT: u64 = 256 * 1024 * 1024;

/// Maximum number of bytes of a request that a message shows.
const SHOWN_REQUEST: usize = 64 * 1024;

/// Script of recorded responses. Each response is used once.
#[derive(Debug)]
pub struct Replay {
    answers: Mutex<VecDeque<Answer>>,
    strict: bool,
}

#[derive(Debug)]
struct Answer {
    line: usize,
    /// Method as written in the file. An unknown method is detected only when the response is used.
    method: String,
    response: Box<RawValue>,
}

/// Method of a request, by its name in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordedMethod {
    GenerateContent,
    GenerateContentStream,
    CountTokens,
    EmbedContent,
}

impl RecordedMethod {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::GenerateContent => "generateContent",
            Self::GenerateContentStream => "generateContentStream",
            Self::CountTokens => "countTokens",
            Self::EmbedContent => "embedContent",
        }
    }
}

impl Replay {
    /// Parses a script. If `strict`, the responses are used in exactly the order of the file, and a
    /// request for another method fails; otherwise the first response of the right method is used.
    ///
    /// # Errors
    /// [`ModelErrorKind::Replay`], which names the line that is not a recorded response.
    pub fn from_text(text: &str, strict: bool) -> Result<Self, ModelError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let answers = lines.map(|(index, line)| Answer::read(index + 1, line));
        let answers = answers.collect::<Result<VecDeque<Answer>, ModelError>>()?;
        Ok(Self { answers: Mutex::new(answers), strict })
    }

    /// Reads a script from a file.
    ///
    /// # Errors
    /// [`ModelErrorKind::Replay`]: the file cannot be read, or the errors of [`Self::from_text`].
    pub fn from_file(path: &Path, strict: bool) -> Result<Self, ModelError> {
        let bytes = pollux_fs::read_bytes(path, FILE_LIMIT)
            .map_err(|error| failed(format!("Cannot read the recorded responses: {error}")))?;
        let text = String::from_utf8(bytes).map_err(|_| {
            failed(format!("The recorded responses in {} are not UTF-8.", path.display()))
        })?;
        Self::from_text(&text, strict)
            .map_err(|error| failed(format!("{}: {}", path.display(), error.message)))
    }

    /// Returns the number of unused responses.
    pub fn remaining(&self) -> usize {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn next(
        &self,
        method: RecordedMethod,
        request: impl FnOnce() -> String,
    ) -> Result<Answer, ModelError> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let found = if self.strict {
            answers.pop_front()
        } else {
            let index = answers.iter().position(|answer| answer.method == method.as_str());
            index.and_then(|index| answers.remove(index))
        };
        match found {
            None => Err(failed(format!(
                "No more mock responses for {}, got request:\n{}",
                method.as_str(),
                request()
            ))),
            Some(answer) if answer.method != method.as_str() => Err(failed(format!(
                "Unexpected response type, next response was for {} but expected {}",
                answer.method,
                method.as_str()
            ))),
            Some(answer) => Ok(answer),
        }
    }
}

impl Answer {
    /// Parses a line; `line` is its number, from 1.
    fn read(line: usize, text: &str) -> Result<Self, ModelError> {
        #[derive(Deserialize)]
        struct Line {
            method: String,
            response: Box<RawValue>,
        }
        // A byte-order mark may be at the very start.
        let read = serde_json::from_str(text.trim_start_matches('\u{feff}'));
        let Line { method, response } = read
            .map_err(|error| failed(format!("line {line} of the recorded responses: {error}")))?;
        Ok(Self { line, method, response })
    }

    fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, ModelError> {
        serde_json::from_str(self.response.get()).map_err(|error| {
            failed(format!("line {} of the recorded responses: {error}", self.line))
        })
    }

    /// Decodes a recorded piece of a response. A recorded error keeps its meaning; a wrong shape is
    /// an error of the file, and a retry does not help.
    fn chunk(&self, json: &str) -> Result<ResponseChunk, ModelError> {
        decode_chunk(json.as_bytes()).map_err(|error| match error.kind {
            ModelErrorKind::Broken => {
                failed(format!("line {} of the recorded responses: {error}", self.line))
            }
            _ => error,
        })
    }
}

/// Model that takes its responses from a script.
#[derive(Debug)]
pub(crate) struct ReplayModel {
    replay: Arc<Replay>,
    name: String,
}

impl ReplayModel {
    pub(crate) fn new(replay: Arc<Replay>, name: &str) -> Self {
        Self { replay, name: name.to_owned() }
    }

    fn next(&self, method: RecordedMethod, request: &ModelRequest) -> Result<Answer, ModelError> {
        self.replay.next(method, || self.shown(request))
    }

    /// Returns a request as shown in messages.
    fn shown(&self, request: &ModelRequest) -> String {
        let mut body = Body::default();
        body.text(&format!(r#"{{"model":{},"contents":"#, Value::from(self.name.as_str())));
        let as_it_is = Takes { signatures: false, nested_media: true };
        if PartsCache::default().write_contents(&mut body, &request.entries, as_it_is).is_err() {
            body.text("null");
        }
        body.text("}");
        let bytes = body.finish().concat();
        let shown = &bytes[..bytes.len().min(SHOWN_REQUEST)];
        let mut text = String::from_utf8_lossy(shown).into_owned();
        if bytes.len() > SHOWN_REQUEST {
            text.push('…');
        }
        text
    }
}

#[async_trait]
impl Model for ReplayModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ChunkStream, ModelError> {
        let answer = self.next(RecordedMethod::GenerateContentStream, &request)?;
        let chunks: Vec<Box<RawValue>> = answer.decode()?;
        let state = Some((answer, chunks.into_iter(), cancel));
        let chunks = stream::unfold(state, |state| async {
            let (answer, mut chunks, cancel) = state?;
            // Real responses let other tasks run between their pieces.
            tokio::task::yield_now().await;
            if cancel.is_cancelled() {
                return Some((Err(ModelError::cancelled()), None));
            }
            let chunk = answer.chunk(chunks.next()?.get());
            let next = chunk.is_ok().then_some((answer, chunks, cancel));
            Some((chunk, next))
        });
        Ok(chunks.boxed())
    }

    async fn generate(
        &self,
        request: ModelRequest,
        _cancel: CancellationToken,
    ) -> Result<ResponseChunk, ModelError> {
        let answer = self.next(RecordedMethod::GenerateContent, &request)?;
        answer.chunk(answer.response.get())
    }

    async fn generate_json(
        &self,
        request: JsonRequest,
        cancel: CancellationToken,
    ) -> Result<(Value, Usage), ModelError> {
        let without_delay = Backoff { initial: std::time::Duration::ZERO, ..Backoff::MID_STREAM };
        let ask = || async {
            let answer = self.next(RecordedMethod::GenerateContent, &request.request)?;
            answer.chunk(answer.response.get())
        };
        json_answer::ask(request.max_attempts, without_delay, &cancel, ask).await
    }

    async fn count_tokens(
        &self,
        request: ModelRequest,
        _cancel: CancellationToken,
    ) -> Result<u64, ModelError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Count {
            total_tokens: Option<u64>,
        }
        let answer = self.next(RecordedMethod::CountTokens, &request)?;
        Ok(answer.decode::<Count>()?.total_tokens.unwrap_or_default())
    }

    async fn embed(
        &self,
        texts: Vec<String>,
        _cancel: CancellationToken,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        #[derive(Deserialize)]
        struct Embeddings {
            embeddings: Vec<Embedding>,
        }
        #[derive(Deserialize)]
        struct Embedding {
            #[serde(default)]
            values: Vec<f32>,
        }
        let shown = || serde_json::json!({ "contents": texts }).to_string();
        let answer = self.replay.next(RecordedMethod::EmbedContent, shown)?;
        let Embeddings { embeddings } = answer.decode()?;
        Ok(embeddings.into_iter().map(|embedding| embedding.values).collect())
    }
}

fn failed(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::Replay, message)
}

#[cfg(test)]
mod tests;
