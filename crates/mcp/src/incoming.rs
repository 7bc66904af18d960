//! Messages of a server, read leniently and within bounds.
//!
//! A server's mistake must cost as little as possible: an unusable tool of a list does not make the
//! list unusable, and neither does an unknown block of a result. The SDK's types are strict, so
//! [`repair`] corrects what can be corrected before they are used.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pollux_protocol::plain_text::visible;
use rmcp::model::{
    CallToolResult, ClientJsonRpcMessage, ClientNotification, CompleteResult, CustomResult,
    DiscoverResult, EmptyResult, ErrorCode, ErrorData, GetPromptResult, InitializeResult,
    InputRequiredResult, JsonRpcMessage, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, ReadResourceResult, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

pub(crate) use shorten::{Shortener, TooLarge};

mod repair;
mod shorten;

/// Key of `_meta` under which a tool keeps its annotations as the server sent them: policies may
/// refer to annotations that the SDK does not know.
pub(crate) const ANNOTATIONS: &str = "pollux/annotations";

/// Key of a list's `_meta` with messages about the items that could not be used.
pub(crate) const DROPPED: &str = "pollux/dropped";

/// Maximum length of a line of a server in a message, in characters.
const LONGEST_SHOWN: usize = 300;

/// Number of requests that are remembered while they wait for their responses.
const MOST_PENDING: usize = 4096;

/// Reader for the messages of one server. Copies share their state.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reader {
    /// Methods of the requests without a response so far.
    pending: Arc<Mutex<HashMap<RequestId, String>>>,
}

/// Message that is not passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// The text is not a message: usually log output on the wrong stream.
    NoMessage,
    /// A response to no request: the request never existed, is answered already, or was cancelled.
    NotAsked,
}

/// Any message, with its parts unread.
#[derive(Deserialize)]
struct Envelope<'m> {
    #[serde(default, borrow)]
    id: Option<&'m RawValue>,
    #[serde(default, borrow)]
    method: Option<&'m RawValue>,
    #[serde(default, borrow)]
    result: Option<&'m RawValue>,
    #[serde(default, borrow)]
    error: Option<&'m RawValue>,
}

impl Reader {
    /// Records a message to the server: a response can only be read if its request is known.
    pub(crate) fn sent(&self, message: &ClientJsonRpcMessage) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        match message {
            JsonRpcMessage::Request(request) => {
                // A server that answers nothing must not fill the memory.
                if pending.len() >= MOST_PENDING {
                    pending.clear();
                }
                pending.insert(request.id.clone(), request.request.method().to_owned());
            }
            JsonRpcMessage::Notification(sent) => {
                if let ClientNotification::CancelledNotification(cancelled) = &sent.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    pending.remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
    }

    /// Reads one message.
    pub(crate) fn read(&self, text: &[u8]) -> Result<ServerJsonRpcMessage, Unusable> {
        let text = match std::str::from_utf8(text) {
            Ok(text) => Cow::Borrowed(text),
            // The invalid bytes can only be in texts; the rest of the message is usable.
            Err(_) => String::from_utf8_lossy(text),
        };
        let text = text.trim_start_matches('\u{feff}').trim();
        let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|_| Unusable::NoMessage)?;
        if envelope.method.is_some() {
            return serde_json::from_str(text).map_err(|_| Unusable::NoMessage);
        }
        let id = envelope.id.map_or(Ok(None), response_id)?;
        match (envelope.result, envelope.error) {
            (_, Some(error)) if error.get() != "null" => {
                let id = self.answered(id.as_ref())?.0;
                Ok(JsonRpcMessage::error(read_error(error), Some(id)))
            }
            (Some(result), _) => {
                let (id, method) = self.answered(id.as_ref())?;
                Ok(match read_result(&method, result) {
                    Ok(result) => JsonRpcMessage::response(result, id),
                    Err(problem) => JsonRpcMessage::error(unreadable(problem), Some(id)),
                })
            }
            _ => Err(Unusable::NoMessage),
        }
    }

    /// Returns an error as the response to the only request that waits; `None` if several wait.
    /// For a message that is lost together with its id.
    pub(crate) fn lost(&self, problem: &str) -> Option<ServerJsonRpcMessage> {
        let (id, _) = self.answered(None).ok()?;
        Some(JsonRpcMessage::error(unreadable(problem.to_owned()), Some(id)))
    }

    /// Takes the request that a response belongs to. A response without an id belongs to the only
    /// request that waits.
    fn answered(&self, id: Option<&RequestId>) -> Result<(RequestId, String), Unusable> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let only = || (pending.len() == 1).then(|| pending.keys().next()).flatten();
        let id = id.or_else(only).cloned().ok_or(Unusable::NotAsked)?;
        let method = pending.remove(&id).ok_or(Unusable::NotAsked)?;
        Ok((id, method))
    }
}

/// Reads the id of a response; `None` for null. Our ids are whole numbers, which some servers
/// repeat as text or as `1.0`.
fn response_id(id: &RawValue) -> Result<Option<RequestId>, Unusable> {
    let id: Value = serde_json::from_str(id.get()).map_err(|_| Unusable::NotAsked)?;
    let number = match &id {
        Value::Null => return Ok(None),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => return Err(Unusable::NotAsked),
    };
    let whole = number.strip_suffix(".0").unwrap_or(&number);
    whole.parse().map(|id| Some(RequestId::Number(id))).map_err(|_| Unusable::NotAsked)
}

/// Returns a line of a server in the form that is shown.
pub(crate) fn shown_line(line: &str) -> String {
    // Cut before it is made visible, because it may be very long.
    let line: String = line.trim().chars().take(LONGEST_SHOWN).collect();
    visible(&line).chars().take(LONGEST_SHOWN).collect()
}

fn unreadable(problem: String) -> ErrorData {
    ErrorData::new(ErrorCode::INTERNAL_ERROR, problem, None)
}

/// Reads the error of a response. Missing parts are filled in.
fn read_error(error: &RawValue) -> ErrorData {
    let error: Value = serde_json::from_str(error.get()).unwrap_or_default();
    let code = error.get("code").and_then(Value::as_i64).and_then(|code| code.try_into().ok());
    let message = match error.get("message").unwrap_or(&error) {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let code = code.map_or(ErrorCode::INTERNAL_ERROR, ErrorCode);
    ErrorData::new(code, message, error.get("data").cloned())
}

/// Reads the result of a request with this method.
fn read_result(method: &str, result: &RawValue) -> Result<ServerResult, String> {
    fn typed<T: DeserializeOwned + Into<ServerResult>>(
        result: Value,
    ) -> Result<ServerResult, String> {
        let read = serde_json::from_value::<T>(result);
        read.map(Into::into).map_err(|error| format!("The server's result is not valid: {error}"))
    }
    let mut result: Value = serde_json::from_str(result.get())
        .map_err(|error| format!("The server's result cannot be read: {error}"))?;
    // Without this, a repair would turn the question into an empty result.
    if result.get("resultType").and_then(Value::as_str) == Some("input_required") {
        return typed::<InputRequiredResult>(result);
    }
    repair::repair(method, &mut result);
    match method {
        "server/discover" => typed::<DiscoverResult>(result),
        "initialize" => typed::<InitializeResult>(result),
        "tools/list" => typed::<ListToolsResult>(result),
        "tools/call" => typed::<CallToolResult>(result),
        "prompts/list" => typed::<ListPromptsResult>(result),
        "prompts/get" => typed::<GetPromptResult>(result),
        "resources/list" => typed::<ListResourcesResult>(result),
        "resources/templates/list" => typed::<ListResourceTemplatesResult>(result),
        "resources/read" => typed::<ReadResourceResult>(result),
        "completion/complete" => typed::<CompleteResult>(result),
        "ping" | "logging/setLevel" => Ok(ServerResult::EmptyResult(EmptyResult {})),
        _ => Ok(ServerResult::CustomResult(CustomResult(result))),
    }
}

/// Reads one message as if requests with all numbers below 16 had been sent, one for each method.
/// For fuzzing.
#[doc(hidden)]
pub fn read_message(text: &[u8]) -> bool {
    const METHODS: [&str; 9] = [
        "initialize",
        "tools/list",
        "tools/call",
        "prompts/list",
        "prompts/get",
        "resources/list",
        "resources/read",
        "ping",
        "server/discover",
    ];
    let reader = Reader::default();
    {
        let mut pending = reader.pending.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, method) in (0_i64..16).zip(METHODS.into_iter().cycle()) {
            pending.insert(RequestId::Number(number), method.to_owned());
        }
    }
    let mut shortener = Shortener::new(4096);
    let mut line = Vec::new();
    if shortener.push(text, &mut line).is_err() {
        return false;
    }
    reader.read(&line).is_ok()
}

#[cfg(test)]
mod tests;
