//! Replies of a scripted model, and the faults that can happen to them.

use std::time::Duration;

use pollux_protocol::{
    Citation, FinishReason, ModelError, Part, ResponseChunk, RetryNotice, Usage,
};
use serde_json::Value;

use crate::Gate;

/// Creates a reply: no parts, finish reason `STOP`, a usage of 10 + 5 tokens.
///
/// ```
/// use pollux_scripted::reply;
/// let turn = reply()
///     .thought("**Plan** look first")
///     .call("read_file", serde_json::json!({"file_path": "a.rs"}))
///     .usage(900, 20);
/// ```
pub fn reply() -> ScriptedReply {
    ScriptedReply {
        chunks: Vec::new(),
        finish: Some(FinishReason::Stop),
        usage: Some(usage_of(10, 5)),
        model_version: None,
        retries: Vec::new(),
        opening: Opening::Answers,
        ending: Ending::Complete,
        delay: Duration::ZERO,
        gate: None,
    }
}

/// One scripted reply of a model. Each part becomes a separate chunk; finish reason and usage are
/// in the last chunk.
#[derive(Debug, Clone)]
#[must_use = "a reply does nothing until it is in a model's script"]
pub struct ScriptedReply {
    pub(crate) chunks: Vec<ResponseChunk>,
    pub(crate) finish: Option<FinishReason>,
    pub(crate) usage: Option<Usage>,
    pub(crate) model_version: Option<String>,
    pub(crate) retries: Vec<RetryNotice>,
    pub(crate) opening: Opening,
    pub(crate) ending: Ending,
    /// Time before the reply begins.
    pub(crate) delay: Duration,
    /// Gate that must be open before the reply begins.
    pub(crate) gate: Option<Gate>,
}

/// Outcome of the request before the reply begins.
#[derive(Debug, Clone)]
pub(crate) enum Opening {
    Answers,
    Fails(ModelError),
    NeverAnswers,
}

/// End of the stream after the last chunk.
#[derive(Debug, Clone)]
pub(crate) enum Ending {
    Complete,
    Breaks(ModelError),
    Hangs,
}

impl ScriptedReply {
    /// Adds a text part.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.part(Part::text(text))
    }

    /// Adds a thought; `**Subject** description` is the usual form.
    pub fn thought(self, text: impl Into<String>) -> Self {
        self.part(Part::thought(text))
    }

    /// Adds a function call without an id.
    pub fn call(self, name: &str, arguments: Value) -> Self {
        self.call_with_id("", name, arguments)
    }

    /// Adds a function call with this id.
    pub fn call_with_id(self, id: &str, name: &str, arguments: Value) -> Self {
        self.part(Part::call(id, name, arguments))
    }

    /// Adds a part as it is.
    pub fn part(self, part: Part) -> Self {
        self.chunk(ResponseChunk { parts: vec![part], ..ResponseChunk::default() })
    }

    /// Adds a chunk as it is.
    pub fn chunk(mut self, chunk: ResponseChunk) -> Self {
        self.chunks.push(chunk);
        self
    }

    /// Adds a citation of a source.
    pub fn cites(self, title: &str, uri: &str) -> Self {
        let citation = Citation { title: Some(title.to_owned()), uri: uri.to_owned() };
        self.chunk(ResponseChunk { citations: vec![citation], ..ResponseChunk::default() })
    }

    /// Sets the finish reason.
    pub fn finish(mut self, reason: FinishReason) -> Self {
        self.finish = Some(reason);
        self
    }

    /// Removes the finish reason.
    pub fn no_finish(mut self) -> Self {
        self.finish = None;
        self
    }

    /// Sets the usage: tokens of the prompt and of the answer.
    pub fn usage(mut self, prompt: u64, candidates: u64) -> Self {
        self.usage = Some(usage_of(prompt, candidates));
        self
    }

    /// Sets the usage.
    pub fn usage_of(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Removes the usage.
    pub fn no_usage(mut self) -> Self {
        self.usage = None;
        self
    }

    /// Sets the version of the model that answered.
    pub fn answered_by(mut self, version: &str) -> Self {
        self.model_version = Some(version.to_owned());
        self
    }

    /// Reports a failed attempt to connect first, and waits for the delay of the notice.
    pub fn retried(mut self, notice: RetryNotice) -> Self {
        self.retries.push(notice);
        self
    }

    /// Makes the request fail before the reply begins.
    pub fn fails(mut self, error: ModelError) -> Self {
        self.opening = Opening::Fails(error);
        self
    }

    /// Makes the stream fail after the last chunk.
    pub fn breaks(mut self, error: ModelError) -> Self {
        self.ending = Ending::Breaks(error);
        self
    }

    /// Makes the stream hang after the last chunk.
    pub fn hangs(mut self) -> Self {
        self.ending = Ending::Hangs;
        self
    }

    /// Makes the request hang before the reply begins.
    pub fn never_answers(mut self) -> Self {
        self.opening = Opening::NeverAnswers;
        self
    }

    /// Delays the reply by this time.
    pub fn delayed(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Delays the reply until the gate is open.
    pub fn held_by(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Returns the chunks as they are streamed: the last chunk carries finish reason and usage.
    pub(crate) fn stream_chunks(&self) -> Vec<ResponseChunk> {
        let mut chunks = self.chunks.clone();
        if !matches!(self.ending, Ending::Complete) {
            return chunks;
        }
        if chunks.is_empty() {
            chunks.push(ResponseChunk::default());
        }
        if let Some(last) = chunks.last_mut() {
            last.finish = self.finish.clone().or(last.finish.take());
            last.usage = self.usage.or(last.usage);
            last.model_version = self.model_version.clone().or(last.model_version.take());
        }
        chunks
    }
}

fn usage_of(prompt: u64, candidates: u64) -> Usage {
    Usage { prompt, candidates, total: prompt + candidates, ..Usage::default() }
}
