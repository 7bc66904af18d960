//! Replies of the scripted server: a model's turn, a plain body, and faults.

mod gate;
mod messages;
pub(crate) mod render;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

pub use gate::ReplyGate;

/// Creates a reply: status 200, one empty model turn, finish reason `STOP`, usage 10 + 5 tokens.
///
/// ```
/// use pollux_testkit::reply;
/// let turn = reply()
///     .thought("**Plan** look first")
///     .call("read_file", serde_json::json!({"file_path": "a.rs"}))
///     .call("glob", serde_json::json!({"pattern": "*.toml"}))
///     .usage(900, 20);
/// ```
pub fn reply() -> ModelReply {
    ModelReply {
        status: 200,
        headers: Vec::new(),
        body: Body::Turn(Vec::new()),
        finish: Some("STOP".to_owned()),
        usage: Some(json!({
            "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15
        })),
        gate: None,
        delay_before: Duration::ZERO,
        delay_between: Duration::ZERO,
        split: None,
        cut: false,
        ending: Ending::Complete,
    }
}

/// One scripted reply. The same reply can be sent by every endpoint: a model's turn becomes events
/// for `streamGenerateContent`, one object for `generateContent`, and the number of its prompt
/// tokens for `countTokens`.
#[derive(Debug, Clone)]
#[must_use = "a reply does nothing until it is in a server's script"]
pub struct ModelReply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Body,
    finish: Option<String>,
    usage: Option<Value>,
    gate: Option<ReplyGate>,
    delay_before: Duration,
    delay_between: Duration,
    split: Option<usize>,
    cut: bool,
    ending: Ending,
}

#[derive(Debug, Clone)]
enum Body {
    /// A model's turn, in order.
    Turn(Vec<Step>),
    /// Body that is sent for every endpoint.
    Whole(ReplyContent),
    /// Pieces of a streamed body that are sent unchanged for every endpoint; the media type is
    /// among the headers.
    Pieces(Vec<Vec<u8>>),
}

#[derive(Debug, Clone)]
enum Step {
    /// A part of candidate 0.
    Part(Value),
    /// A complete response object, sent unchanged.
    Chunk(Value),
    /// Bytes on the wire, not framed as an event.
    Bytes(Vec<u8>),
}

/// End of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The whole body is sent; the connection stays open for the next request.
    Complete,
    /// The connection is reset (RST) after this many chunks.
    ResetAfter(usize),
    /// Nothing is sent after this many chunks; the connection stays open.
    StallAfter(usize),
    /// The request is read and nothing is ever sent.
    NeverAnswer,
    /// The connection is closed before the first byte of an answer.
    HangUp,
}

/// A body with its media type: made from a JSON value, a text or bytes.
#[derive(Debug, Clone)]
pub struct ReplyContent {
    media_type: &'static str,
    bytes: Vec<u8>,
}

impl ReplyContent {
    /// Creates an HTML page, which proxies and gateways send instead of an API error.
    pub fn html(page: &str) -> Self {
        Self::of("text/html; charset=UTF-8", page)
    }

    /// Creates a body of this media type.
    pub fn of(media_type: &'static str, bytes: impl AsRef<[u8]>) -> Self {
        Self { media_type, bytes: bytes.as_ref().to_vec() }
    }
}

impl From<Value> for ReplyContent {
    fn from(value: Value) -> Self {
        Self { media_type: "application/json; charset=UTF-8", bytes: value.to_string().into() }
    }
}

impl From<&str> for ReplyContent {
    fn from(text: &str) -> Self {
        Self { media_type: "text/plain; charset=UTF-8", bytes: text.as_bytes().to_vec() }
    }
}

impl From<Vec<u8>> for ReplyContent {
    fn from(bytes: Vec<u8>) -> Self {
        Self { media_type: "application/octet-stream", bytes }
    }
}

/// Methods that add to the model's turn. Each text and each thought is a separate chunk;
/// consecutive calls share one chunk, as the service sends them. The finish reason and the usage
/// are part of the last of these chunks.
impl ModelReply {
    /// Adds a text part.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.part(json!({"text": text.into()}))
    }

    /// Adds a thought; the service writes thoughts as `**Subject** description`.
    pub fn thought(self, text: impl Into<String>) -> Self {
        self.part(json!({"text": text.into(), "thought": true}))
    }

    /// Adds a function call without an id, as the public API sends it.
    pub fn call(self, name: &str, arguments: Value) -> Self {
        let mut call = json!({"name": name});
        call["args"] = arguments;
        self.part(json!({"functionCall": call}))
    }

    /// Adds a function call with this id, as the service can send it.
    pub fn call_with_id(self, id: &str, name: &str, arguments: Value) -> Self {
        let mut call = json!({"id": id, "name": name});
        call["args"] = arguments;
        self.part(json!({"functionCall": call}))
    }

    /// Adds a thought signature to the last part. Signatures are base64, but any text is sent
    /// unchanged.
    pub fn signature(mut self, signature: &str) -> Self {
        let Body::Turn(steps) = &mut self.body else { panic!("signature() needs a part") };
        let Some(Step::Part(part)) = steps.last_mut() else { panic!("signature() needs a part") };
        part["thoughtSignature"] = signature.into();
        self
    }

    /// Adds inline data: `bytes` in base64 under the media type `media_type`.
    pub fn inline_data(self, media_type: &str, bytes: &[u8]) -> Self {
        let data = STANDARD.encode(bytes);
        self.part(json!({"inlineData": {"mimeType": media_type, "data": data}}))
    }

    /// Adds a part of any form, also an invalid one.
    pub fn part(self, part: Value) -> Self {
        self.step(Step::Part(part))
    }

    /// Sets the usage: tokens of the prompt and of the answer; the total is their sum.
    pub fn usage(self, prompt: u64, candidates: u64) -> Self {
        self.usage_metadata(json!({
            "promptTokenCount": prompt,
            "candidatesTokenCount": candidates,
            "totalTokenCount": prompt + candidates
        }))
    }

    /// Sets the whole `usageMetadata` object (cached, thought and tool tokens too).
    pub fn usage_metadata(mut self, usage: Value) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sends no usage.
    pub fn no_usage(mut self) -> Self {
        self.usage = None;
        self
    }

    /// Sets the finish reason (`STOP`, `MAX_TOKENS`, `SAFETY`, `MALFORMED_FUNCTION_CALL` …).
    pub fn finish(mut self, reason: &str) -> Self {
        self.finish = Some(reason.to_owned());
        self
    }

    /// Sends no finish reason: the stream just ends.
    pub fn no_finish(mut self) -> Self {
        self.finish = None;
        self
    }

    /// Adds complete response objects, each sent unchanged as one event.
    pub fn chunks(self, chunks: Vec<Value>) -> Self {
        chunks.into_iter().fold(self, |reply, chunk| reply.step(Step::Chunk(chunk)))
    }

    /// Adds raw bytes, each element as one chunk of the HTTP body. The bytes are sent without
    /// framing, so that an event, a line or a character can be split anywhere.
    pub fn sse_bytes(self, pieces: Vec<Vec<u8>>) -> Self {
        pieces.into_iter().fold(self, |reply, piece| reply.step(Step::Bytes(piece)))
    }

    /// Adds `count` text parts: the numbers from 0, each followed by a space.
    pub fn many_text_chunks(self, count: usize) -> Self {
        (0..count).fold(self, |reply, number| reply.text(format!("{number} ")))
    }

    /// Adds one text part of `length` bytes, which makes an even longer line.
    pub fn huge_line(self, length: usize) -> Self {
        self.text("x".repeat(length))
    }

    fn step(mut self, step: Step) -> Self {
        match &mut self.body {
            Body::Turn(steps) => steps.push(step),
            _ => panic!("this reply already has a whole body; it takes no parts"),
        }
        self
    }
}

/// Methods that set a body that is not a model's turn.
impl ModelReply {
    /// Sends this status and body: a JSON value, a text, bytes, or [`ReplyContent::html`].
    pub fn status(mut self, status: u16, body: impl Into<ReplyContent>) -> Self {
        self.status = status;
        self.body = Body::Whole(body.into());
        self
    }

    /// Sends status 200 and this JSON for every endpoint.
    pub fn json(self, body: Value) -> Self {
        self.status(200, body)
    }

    /// Sends this total, as an answer to `countTokens`.
    pub fn tokens(self, total: u64) -> Self {
        self.json(json!({"totalTokens": total}))
    }

    /// Sends these vectors, as an answer to `batchEmbedContents`.
    pub fn embeddings(self, vectors: &[Vec<f64>]) -> Self {
        let embeddings: Vec<Value> =
            vectors.iter().map(|values| json!({"values": values})).collect();
        self.json(json!({"embeddings": embeddings}))
    }

    /// Sends this status and these pieces of a body, with no header that is not added.
    pub(crate) fn pieces(mut self, status: u16, pieces: Vec<Vec<u8>>) -> Self {
        self.status = status;
        self.body = Body::Pieces(pieces);
        self
    }

    /// Adds a response header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// Methods for timing and faults. Chunks are counted after the head of the response:
/// `drop_after(0)` sends the head and no event.
impl ModelReply {
    /// Waits before the first byte of the answer until the gate is open.
    pub fn held_by(mut self, gate: &ReplyGate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Waits before the first byte of the answer.
    pub fn delay_before(mut self, delay: Duration) -> Self {
        self.delay_before = delay;
        self
    }

    /// Waits between two chunks; each chunk is then a separate write.
    pub fn delay_between(mut self, delay: Duration) -> Self {
        self.delay_between = delay;
        self
    }

    /// Splits the bytes on the wire again into chunks of `length` bytes, also within events and
    /// characters.
    pub fn split_every(mut self, length: usize) -> Self {
        assert!(length > 0, "split_every() needs a length");
        self.split = Some(length);
        self
    }

    /// Resets the connection after `chunks` chunks.
    pub fn drop_after(mut self, chunks: usize) -> Self {
        self.ending = Ending::ResetAfter(chunks);
        self
    }

    /// Sends `chunks` chunks and then nothing more, while the connection stays open.
    pub fn stall_after(mut self, chunks: usize) -> Self {
        self.ending = Ending::StallAfter(chunks);
        self
    }

    /// Reads the request and never answers.
    pub fn never_answer(mut self) -> Self {
        self.ending = Ending::NeverAnswer;
        self
    }

    /// Closes the connection before the first byte of an answer.
    pub fn hang_up(mut self) -> Self {
        self.ending = Ending::HangUp;
        self
    }

    /// Adds bytes that are neither an event nor UTF-8.
    pub fn garbage(self) -> Self {
        self.step(Step::Bytes(b"\xff\xfe\x00{{]} not: an event \xc3\x28\n\n".to_vec()))
    }

    /// Cuts the last event (or the JSON body) in half; the HTTP body itself ends correctly.
    pub fn truncated_json(mut self) -> Self {
        self.cut = true;
        self
    }

    /// Redirects (307) to an address that redirects again, without end.
    pub fn redirect_loop(self) -> Self {
        self.redirect_to(1)
    }

    pub(crate) fn redirect_to(self, hop: u64) -> Self {
        let target = format!("{REDIRECT_LOOP}{hop}");
        self.status(307, "moved\n").header("location", &target)
    }
}

/// Path prefix of the hops of [`ModelReply::redirect_loop`].
pub(crate) const REDIRECT_LOOP: &str = "/redirect-loop/";

#[cfg(test)]
mod tests;
