//! Conversion of a reply to the bytes on the wire. Pure functions without I/O.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Body, Ending, ModelReply, ReplyGate, Step};
use crate::endpoint::Endpoint;

/// Bytes of a response, its timing and its end.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// Pieces of the body, before the HTTP framing.
    pub(crate) chunks: Vec<Bytes>,
    /// True if the length is not known in advance (`Transfer-Encoding: chunked`).
    pub(crate) streamed: bool,
    pub(crate) gate: Option<ReplyGate>,
    pub(crate) delay_before: Duration,
    pub(crate) delay_between: Duration,
    pub(crate) ending: Ending,
}

impl ModelReply {
    /// Renders the reply as the answer of `endpoint`; `None` is an address outside the APIs.
    /// `is_streamed` says whether the body of the request asks for a stream.
    pub(crate) fn render(&self, endpoint: Option<Endpoint>, is_streamed: bool) -> Rendered {
        let is_messages = endpoint == Some(Endpoint::Messages);
        let is_stream =
            endpoint == Some(Endpoint::StreamGenerateContent) || is_messages && is_streamed;
        let streamed = match self.body {
            Body::Turn(_) => is_stream,
            Body::Whole(_) => false,
            Body::Pieces(_) => true,
        };
        let (media_type, mut chunks) = match &self.body {
            Body::Whole(content) => (content.media_type, vec![content.bytes.clone()]),
            Body::Pieces(pieces) => ("", pieces.clone()),
            Body::Turn(steps) if is_messages && streamed => {
                ("text/event-stream; charset=utf-8", self.message_events(steps))
            }
            Body::Turn(steps) if is_messages => ("application/json", self.message(steps)),
            Body::Turn(steps) if streamed => ("text/event-stream", self.events(steps)),
            Body::Turn(steps) => ("application/json; charset=UTF-8", self.object(steps, endpoint)),
        };
        if self.cut
            && let Some(last) = chunks.last_mut()
        {
            last.truncate(last.len() / 2);
        }
        if let Some(length) = self.split {
            chunks = chunks.concat().chunks(length).map(<[u8]>::to_vec).collect();
        }
        let mut headers = Vec::new();
        if !media_type.is_empty() {
            headers.push(("content-type".to_owned(), media_type.to_owned()));
        }
        headers.extend(self.headers.iter().cloned());
        Rendered {
            status: self.status,
            headers,
            chunks: chunks.into_iter().map(Bytes::from).collect(),
            streamed,
            gate: self.gate.clone(),
            delay_before: self.delay_before,
            delay_between: self.delay_between,
            ending: self.ending,
        }
    }

    /// Returns the body of `streamGenerateContent?alt=sse`, one element per chunk.
    fn events(&self, steps: &[Step]) -> Vec<Vec<u8>> {
        let mut chunks = group(steps);
        if chunks.is_empty() {
            chunks.push(Chunk::Parts(Vec::new()));
        }
        let last = chunks.iter().rposition(|chunk| matches!(chunk, Chunk::Parts(_)));
        chunks
            .into_iter()
            .enumerate()
            .map(|(index, chunk)| match chunk {
                Chunk::Bytes(bytes) => bytes.to_vec(),
                Chunk::Response(response) => event(response),
                Chunk::Parts(parts) => event(&self.response(parts, Some(index) == last)),
            })
            .collect()
    }

    /// Returns the body of an endpoint that answers with one object.
    fn object(&self, steps: &[Step], endpoint: Option<Endpoint>) -> Vec<Vec<u8>> {
        if endpoint == Some(Endpoint::CountTokens) {
            let usage = self.usage.as_ref();
            let total = usage.map_or(Value::from(0), |usage| usage["promptTokenCount"].clone());
            return vec![json!({"totalTokens": total}).to_string().into_bytes()];
        }
        let mut parts = Vec::new();
        let mut whole = Vec::new();
        for step in steps {
            match step {
                Step::Part(part) => parts.push(part),
                Step::Chunk(response) => whole.push(response.to_string().into_bytes()),
                Step::Bytes(bytes) => whole.push(bytes.clone()),
            }
        }
        if whole.is_empty() || !parts.is_empty() {
            whole.insert(0, self.response(parts, true).to_string().into_bytes());
        }
        whole
    }

    fn response(&self, parts: Vec<&Value>, last: bool) -> Value {
        let mut content = json!({"role": "model"});
        if !parts.is_empty() {
            content["parts"] = parts.into_iter().cloned().collect();
        }
        let mut candidate = json!({"content": content, "index": 0});
        let mut response = json!({});
        if last && let Some(reason) = &self.finish {
            candidate["finishReason"] = reason.as_str().into();
        }
        response["candidates"] = json!([candidate]);
        if last && let Some(usage) = &self.usage {
            response["usageMetadata"] = usage.clone();
        }
        response
    }
}

enum Chunk<'a> {
    Parts(Vec<&'a Value>),
    Response(&'a Value),
    Bytes(&'a [u8]),
}

/// Groups the steps into chunks: consecutive calls share one chunk.
fn group(steps: &[Step]) -> Vec<Chunk<'_>> {
    let is_call = |part: &Value| part.get("functionCall").is_some();
    let mut chunks: Vec<Chunk<'_>> = Vec::new();
    for step in steps {
        match step {
            Step::Chunk(response) => chunks.push(Chunk::Response(response)),
            Step::Bytes(bytes) => chunks.push(Chunk::Bytes(bytes)),
            Step::Part(part) => match chunks.last_mut() {
                Some(Chunk::Parts(parts))
                    if is_call(part) && parts.iter().all(|part| is_call(part)) =>
                {
                    parts.push(part);
                }
                _ => chunks.push(Chunk::Parts(vec![part])),
            },
        }
    }
    chunks
}

/// Formats one server-sent event, with the line ends that the service uses.
fn event(response: &Value) -> Vec<u8> {
    format!("data: {response}\r\n\r\n").into_bytes()
}
