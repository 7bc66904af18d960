//! The answers of a scripted model, and the faults on their way.

use std::time::Duration;

use pollux_protocol::{Chunk, Citation, FinishReason, ModelError, Part, RetryNotice, Usage};
use serde_json::Value;

use crate::Gate;

/// Starts a reply: no parts, finish reason `STOP`, a usage of 10 + 5 tokens.
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

/// One scripted answer of a model. Each part is a chunk of its own; finish reason and usage come
/// with the last one.
#[derive(Debug, Clone)]
#[must_use = "a reply does nothing until it is in a model's script"]
pub struct ScriptedReply {
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) finish: Option<FinishReason>,
    pub(crate) usage: Option<Usage>,
    pub(crate) model_version: Option<String>,
    pub(crate) retries: Vec<RetryNotice>,
    pub(crate) opening: Opening,
    pub(crate) ending: Ending,
    /// The wait before the answer begins.
    pub(crate) delay: Duration,
    /// Held back until the gate is open.
    pub(crate) gate: Option<Gate>,
}

/// The fate of the request before the answer begins.
#[derive(Debug, Clone)]
pub(crate) enum Opening {
    Answers,
    Fails(ModelError),
    NeverAnswers,
}

/// The end of the stream after the last chunk.
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
        self.chunk(Chunk { parts: vec![part], ..Chunk::default() })
    }

    /// Adds a chunk as it is.
    pub fn chunk(mut self, chunk: Chunk) -> Self {
        self.chunks.push(chunk);
        self
    }

    /// Names a source.
    pub fn cites(self, title: &str, uri: &str) -> Self {
        let citation = Citation { title: Some(title.to_owned()), uri: uri.to_owned() };
        self.chunk(Chunk { citations: vec![citation], ..Chunk::default() })
    }

    /// Ends for this reason.
    pub fn finish(mut self, reason: FinishReason) -> Self {
        self.finish = Some(reason);
        self
    }

    /// Ends without a reason.
    pub fn no_finish(mut self) -> Self {
        self.finish = None;
        self
    }

    /// Reports this many tokens of prompt and answer.
    pub fn usage(mut self, prompt: u64, candidates: u64) -> Self {
        self.usage = Some(usage_of(prompt, candidates));
        self
    }

    /// Reports these tokens.
    pub fn usage_of(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Reports no tokens.
    pub fn no_usage(mut self) -> Self {
        self.usage = None;
        self
    }

    /// Names the model that answered.
    pub fn answered_by(mut self, version: &str) -> Self {
        self.model_version = Some(version.to_owned());
        self
    }

    /// Reports a failed attempt to connect first, and waits as long as the notice says.
    pub fn retried(mut self, notice: RetryNotice) -> Self {
        self.retries.push(notice);
        self
    }

    /// Fails before the answer begins.
    pub fn fails(mut self, error: ModelError) -> Self {
        self.opening = Opening::Fails(error);
        self
    }

    /// Breaks off after the last chunk.
    pub fn breaks(mut self, error: ModelError) -> Self {
        self.ending = Ending::Breaks(error);
        self
    }

    /// Never goes on after the last chunk.
    pub fn hangs(mut self) -> Self {
        self.ending = Ending::Hangs;
        self
    }

    /// Never begins.
    pub fn never_answers(mut self) -> Self {
        self.opening = Opening::NeverAnswers;
        self
    }

    /// Begins after this time.
    pub fn delayed(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Begins when the gate is open.
    pub fn held_by(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// The chunks as they stream: the last one carries finish reason and usage.
    pub(crate) fn stream_chunks(&self) -> Vec<Chunk> {
        let mut chunks = self.chunks.clone();
        if !matches!(self.ending, Ending::Complete) {
            return chunks;
        }
        if chunks.is_empty() {
            chunks.push(Chunk::default());
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
