//! Decoding of the service's responses.
//!
//! Typed and tolerant: unknown keys are skipped, `null` is treated as a missing key, and only
//! candidate 0 is used. JSON of another shape gives an error with a message, never a panic.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use pollux_net::{Error, EventStream, Response, SseError};
use pollux_protocol::{ChunkStream, Citation, FinishReason, ModelError, ResponseChunk, Usage};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::refusal::GoogleRefusals;
use crate::failure;
use crate::refusal::understood;
use crate::surrogates;

mod grounding;
mod part;

pub(crate) use grounding::write as write_grounding;

use grounding::{WireGrounding, WireUrlContext};
use part::PartSlot;

/// Decodes one response: the payload of an event of a stream, or the whole body of a
/// `generateContent` response. An empty candidate list gives an empty chunk. Arguments of a call
/// that are not an object are kept unchanged; an unpaired surrogate becomes U+FFFD.
///
/// # Errors
/// [`ModelErrorKind::Broken`] (retryable) for text that is not JSON of this shape; the error of the
/// service for an `{"error": …}` object.
pub fn decode_chunk(json: &[u8]) -> Result<ResponseChunk, ModelError> {
    decode(json, &GoogleRefusals::default())
}

/// Decodes one response like [`decode_chunk`]. `refusals` reads the error of the service.
pub(super) fn decode(json: &[u8], refusals: &GoogleRefusals) -> Result<ResponseChunk, ModelError> {
    match surrogates::decode::<WireResponse>(json) {
        Ok(WireResponse { error: Some(_), .. }) => Err(refusal(json, refusals)),
        Ok(response) => Ok(response.unwrapped().into_chunk()),
        // An error may also be inside an array.
        Err(_) if is_error_list(json) => Err(refusal(json, refusals)),
        Err(error) => Err(error),
    }
}

/// Decodes a whole body as [`decode`] does. A web page, which proxies send with status 200, is
/// reported as such.
///
/// # Errors
/// Those of [`decode`], and [`ModelErrorKind::Broken`] for a web page.
///
/// [`ModelErrorKind::Broken`]: pollux_protocol::ModelErrorKind::Broken
pub(super) fn decode_body(
    body: &[u8],
    refusals: &GoogleRefusals,
) -> Result<ResponseChunk, ModelError> {
    if is_web_page(body) { Err(failure::web_page(refusals)) } else { decode(body, refusals) }
}

fn is_web_page(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"<")
}

/// Converts a response to chunks. Ends after the first error.
pub(super) fn chunks(
    mut response: Response,
    refusals: Arc<GoogleRefusals>,
    retry_fetch_errors: bool,
) -> ChunkStream {
    let (reader, secrets) = (Arc::clone(&refusals), response.secrets().clone());
    let begun = async move {
        match response.chunk().await {
            Ok(Some(first)) if is_web_page(&first) => Err(failure::web_page(&*reader)),
            Ok(first) => {
                let json = first.as_ref().and_then(|first| json_instead_of_events(first));
                let first = stream::iter(first.map(Ok));
                Ok((EventStream::new(first.chain(response.into_stream())), json))
            }
            Err(error) => Err(failure::in_stream(&error, retry_fetch_errors)),
        }
    };
    let chunks = move |begun| match begun {
        Ok((events, json)) => of_events(events, json, Arc::clone(&refusals), retry_fetch_errors),
        Err(error) => stream::iter([Err(error)]).boxed(),
    };
    let chunks = stream::once(begun).flat_map(chunks);
    chunks.map_err(move |error| failure::without_secrets(error, &secrets)).boxed()
}

/// Returns what a body is that begins like JSON: the service ignores the request to stream, or
/// sends an error.
fn json_instead_of_events(first: &[u8]) -> Option<&'static str> {
    match first.trim_ascii_start().first()? {
        b'[' => Some("a JSON array"),
        b'{' => Some("a JSON object"),
        _ => None,
    }
}

/// Converts events to chunks. `json` says what a body that is not a stream of events is.
fn of_events(
    events: EventStream,
    json: Option<&'static str>,
    refusals: Arc<GoogleRefusals>,
    retry_fetch_errors: bool,
) -> ChunkStream {
    stream::unfold(Some((events, refusals)), move |state| async move {
        let (mut events, refusals) = state?;
        loop {
            let item = match events.next().await? {
                Ok(event) if is_filler(&event.data) => continue,
                Ok(event) => decode(event.data.as_bytes(), &refusals),
                Err(error) => Err(match (json, &error) {
                    (Some(what), Error::Stream(SseError::Incomplete)) => {
                        failure::not_a_stream(&*refusals, what)
                    }
                    _ => failure::in_stream(&error, retry_fetch_errors),
                }),
            };
            let next = item.is_ok().then_some((events, refusals));
            return Some((item, next));
        }
    })
    .boxed()
}

/// True for events without content. Gateways that imitate other services end a stream with
/// `[DONE]`.
fn is_filler(data: &str) -> bool {
    matches!(data.trim(), "" | "[DONE]")
}

fn refusal(json: &[u8], refusals: &GoogleRefusals) -> ModelError {
    // The body contains the status; 500 is used if it does not.
    failure::in_payload(refusals, understood(500, json))
}

fn is_error_list(json: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Refusal {
        #[expect(dead_code, reason = "only its presence matters")]
        error: IgnoredAny,
    }
    serde_json::from_slice::<Vec<Refusal>>(json).is_ok_and(|list| !list.is_empty())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireResponse {
    candidates: Option<Vec<Option<WireCandidate>>>,
    prompt_feedback: Option<WirePromptFeedback>,
    usage_metadata: Option<WireUsage>,
    model_version: Option<String>,
    response_id: Option<String>,
    error: Option<IgnoredAny>,
    /// The response itself, in a response of Code Assist.
    response: Option<Box<Self>>,
    trace_id: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct WireCandidate {
    content: Option<WireContent>,
    finish_reason: Option<String>,
    citation_metadata: Option<WireCitations>,
    grounding_metadata: Option<WireGrounding>,
    url_context_metadata: Option<WireUrlContext>,
}

#[derive(Deserialize)]
struct WireContent {
    parts: Option<Vec<PartSlot>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WirePromptFeedback {
    block_reason: Option<String>,
}

#[derive(Deserialize)]
struct WireCitations {
    /// The service calls them `citationSources`, recorded responses `citations`.
    #[serde(alias = "citationSources")]
    citations: Option<Vec<WireCitation>>,
}

#[derive(Deserialize)]
struct WireCitation {
    uri: Option<String>,
    title: Option<String>,
}

/// Token counts. They are read as floating-point numbers, because some gateways write them so.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names are the wire's")]
struct WireUsage {
    prompt_token_count: Option<f64>,
    candidates_token_count: Option<f64>,
    total_token_count: Option<f64>,
    cached_content_token_count: Option<f64>,
    thoughts_token_count: Option<f64>,
    tool_use_prompt_token_count: Option<f64>,
}

impl WireResponse {
    /// Returns the response in a response of Code Assist. Its id is the one that the service
    /// traces.
    fn unwrapped(self) -> Self {
        match self.response {
            Some(inner) => Self { response_id: self.trace_id.or(inner.response_id), ..*inner },
            None => self,
        }
    }

    fn into_chunk(self) -> ResponseChunk {
        let candidate = self.candidates.into_iter().flatten().next().flatten().unwrap_or_default();
        let parts = candidate.content.and_then(|content| content.parts).unwrap_or_default();
        let blocked = self.prompt_feedback.and_then(|feedback| feedback.block_reason);
        let blocked = blocked.filter(|reason| !matches!(reason.as_str(), "" | UNSPECIFIED));
        let finish = candidate.finish_reason.filter(|reason| !reason.is_empty());
        let grounding =
            grounding::read(candidate.grounding_metadata, candidate.url_context_metadata);
        ResponseChunk {
            parts: parts.into_iter().filter_map(|slot| slot.0).collect(),
            finish: finish.map(finish_reason).or_else(|| blocked.map(FinishReason::PromptBlocked)),
            usage: self.usage_metadata.map(Into::into),
            citations: candidate.citation_metadata.map(WireCitations::named).unwrap_or_default(),
            grounding,
            response_id: self.response_id,
            model_version: self.model_version,
        }
    }
}

/// Default value of the field, which says nothing.
const UNSPECIFIED: &str = "BLOCK_REASON_UNSPECIFIED";

fn finish_reason(word: String) -> FinishReason {
    match word.as_str() {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::MaxTokens,
        "SAFETY" => FinishReason::Safety,
        "RECITATION" => FinishReason::Recitation,
        "MALFORMED_FUNCTION_CALL" => FinishReason::MalformedFunctionCall,
        "UNEXPECTED_TOOL_CALL" => FinishReason::UnexpectedToolCall,
        _ => FinishReason::Other(word),
    }
}

impl WireCitations {
    fn named(self) -> Vec<Citation> {
        let citations = self.citations.into_iter().flatten();
        citations.filter_map(|one| Some(Citation { title: one.title, uri: one.uri? })).collect()
    }
}

impl From<WireUsage> for Usage {
    fn from(wire: WireUsage) -> Self {
        // The cast converts negative numbers and NaN to zero.
        let tokens = |count: Option<f64>| count.unwrap_or_default() as u64;
        Self {
            prompt: tokens(wire.prompt_token_count),
            candidates: tokens(wire.candidates_token_count),
            total: tokens(wire.total_token_count),
            cached: tokens(wire.cached_content_token_count),
            cache_write: 0,
            thoughts: tokens(wire.thoughts_token_count),
            tool: tokens(wire.tool_use_prompt_token_count),
        }
    }
}

#[cfg(test)]
mod tests;
