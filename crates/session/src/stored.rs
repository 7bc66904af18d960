//! Messages as read from a file. Any program may have written them, so nothing about their
//! structure is assumed.

use pollux_protocol::{Body, CallStatus, Display, Part, Thought, Usage};
use serde_json::{Map, Value};

use crate::layout::{CallExtra, Extra, Tokens, is_ignorable, without_foreign, words};

/// Message of a session file.
pub(crate) struct StoredMessage {
    pub(crate) id: String,
    /// Type of the message: `user`, `gemini`, `info`, `error`, `warning` or any other value.
    pub(crate) kind: String,
    /// Parts of `content`, or the exact parts if Pollux stored them and `content` still matches
    /// them.
    pub(crate) parts: Vec<Part>,
    pub(crate) calls: Vec<StoredCall>,
    pub(crate) model: Option<String>,
    pub(crate) usage: Option<Usage>,
    pub(crate) extra: Extra,
    /// Remaining fields, which are only for display.
    shown: Map<String, Value>,
}

/// Call inside a message.
#[derive(Debug, Clone)]
pub(crate) struct StoredCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) args: Value,
    pub(crate) status: Option<CallStatus>,
    pub(crate) result: Vec<Part>,
    /// Remaining fields, which are only for display.
    shown: Map<String, Value>,
}

impl StoredMessage {
    /// Parses a message; `None` if the text is not a JSON object with a string `id`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut keys: Map<String, Value> = serde_json::from_str(text).ok()?;
        let id = taken_string(&mut keys, "id")?;
        let content = parts(keys.remove("content"));
        let mut extra: Extra = keys
            .remove("$pollux")
            .and_then(|extra| serde_json::from_value(extra).ok())
            .unwrap_or_default();
        let exact = extra.parts.take().filter(|exact| {
            let visible = without_foreign(exact);
            visible.as_ref().unwrap_or(exact) == &content
        });
        let calls = match keys.remove("toolCalls") {
            Some(Value::Array(calls)) => calls.into_iter().filter_map(StoredCall::read).collect(),
            _ => Vec::new(),
        };
        Some(Self {
            id,
            kind: taken_string(&mut keys, "type").unwrap_or_default(),
            parts: exact.unwrap_or(content),
            calls,
            model: taken_string(&mut keys, "model"),
            usage: keys
                .remove("tokens")
                .and_then(|tokens| serde_json::from_value::<Tokens>(tokens).ok())
                .map(|tokens| tokens.usage(extra.cache_write)),
            extra,
            shown: keys,
        })
    }

    /// True if the message is a user message for the model, or a non-empty message of the model.
    pub(crate) fn is_resumable(&self) -> bool {
        match self.kind.as_str() {
            "user" => self.extra.said || !is_ignorable(&words(&self.parts)),
            "gemini" => {
                !words(&self.parts).trim().is_empty()
                    || !self.calls.is_empty()
                    || self.has_thoughts()
            }
            _ => false,
        }
    }

    fn has_thoughts(&self) -> bool {
        matches!(self.shown.get("thoughts"), Some(Value::Array(list)) if !list.is_empty())
    }

    /// Takes the thoughts of the model.
    pub(crate) fn take_thoughts(&mut self) -> Vec<Thought> {
        let Some(Value::Array(list)) = self.shown.remove("thoughts") else { return Vec::new() };
        list.into_iter().filter_map(|thought| serde_json::from_value(thought).ok()).collect()
    }

    /// Takes the text that the user typed; empty if it is the content.
    pub(crate) fn take_typed(&mut self) -> Vec<Part> {
        parts(self.shown.remove("displayContent"))
    }

    /// Returns the text of the text parts.
    pub(crate) fn text(&self) -> String {
        self.parts.iter().filter_map(Part::as_text).collect()
    }
}

impl StoredCall {
    fn read(value: Value) -> Option<Self> {
        let Value::Object(mut keys) = value else { return None };
        let id = taken_string(&mut keys, "id").unwrap_or_default();
        let name = taken_string(&mut keys, "name").unwrap_or_default();
        let status = keys.remove("status").and_then(|status| serde_json::from_value(status).ok());
        let args = keys.remove("args").unwrap_or_default();
        let result = result(&id, &name, keys.remove("result"));
        Some(Self { id, name, args, status, result, shown: keys })
    }

    /// Returns the status of a call that has ended; `None` for any other call.
    pub(crate) fn final_status(&self) -> Option<CallStatus> {
        let is_error = |part: &Part| {
            part.as_response().is_some_and(|response| response.response.get("error").is_some())
        };
        match self.status {
            Some(status) => Some(status).filter(|status| status.is_final()),
            None if self.result.iter().any(is_error) => Some(CallStatus::Error),
            None => Some(CallStatus::Success),
        }
    }

    /// Takes the output for the user.
    pub(crate) fn take_display(&mut self) -> Option<Display> {
        let display = self.shown.remove("resultDisplay").filter(|display| !display.is_null())?;
        serde_json::from_value(display).ok()
    }

    /// Takes a text for display; empty if the call has none.
    pub(crate) fn take_shown(&mut self, key: &str) -> String {
        taken_string(&mut self.shown, key).unwrap_or_default()
    }

    /// True if the result is Markdown.
    pub(crate) fn is_markdown(&self) -> bool {
        self.shown.get("renderOutputAsMarkdown") == Some(&Value::Bool(true))
    }

    /// Takes the fields that Pollux adds.
    pub(crate) fn take_extra(&mut self) -> CallExtra {
        let extra = self.shown.remove("$pollux");
        extra.and_then(|extra| serde_json::from_value(extra).ok()).unwrap_or_default()
    }

    /// Creates a call that the model requested and that has no record: it never ran.
    pub(crate) fn requested(id: &str, name: &str, args: Value) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            args,
            status: Some(CallStatus::Validating),
            result: Vec::new(),
            shown: Map::new(),
        }
    }

    /// Parses a call that was recorded in a separate line.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::read(serde_json::from_str(text).ok()?)
    }

    /// True if the call has ended.
    pub(crate) fn is_final(&self) -> bool {
        // An unknown status comes from a later version of Gemini CLI, which records only calls that
        // have ended.
        self.status.is_none_or(CallStatus::is_final)
    }
}

/// Returns the result of one call: exactly one response, which is that of the call, then the parts
/// that belong to it. Gemini CLI sometimes records the responses of all siblings with each call.
fn result(id: &str, name: &str, value: Option<Value>) -> Vec<Part> {
    let found = match value {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::String(output)) if output.is_empty() => return Vec::new(),
        Some(Value::String(output)) => return vec![Part::output(id, name, output)],
        value => parts(value),
    };
    let own = |part: &Part| part.as_response().is_some_and(|response| response.id == id);
    let chosen = found.iter().position(own).or_else(|| {
        // No response has this id, so the first response without an id is used.
        found.iter().position(|part| part.as_response().is_some_and(|found| found.id.is_empty()))
    });
    let Some(chosen) = chosen else { return Vec::new() };
    let mut kept = Vec::new();
    for (index, mut part) in found.into_iter().enumerate() {
        if let Body::Response(response) = &mut part.body {
            if index != chosen {
                continue;
            }
            id.clone_into(&mut response.id);
            name.clone_into(&mut response.name);
        }
        kept.push(part);
    }
    kept
}

/// Reads a string, a part, or a list of both. Values that are not parts are omitted.
fn parts(value: Option<Value>) -> Vec<Part> {
    let list = match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) if text.is_empty() => Vec::new(),
        Some(Value::Array(list)) => list,
        Some(part) => vec![part],
    };
    let read = list.into_iter().filter_map(|part| serde_json::from_value(part).ok());
    read.flat_map(with_media).collect()
}

/// Splits media off a response. Gemini CLI keeps the audio or video that a tool has read inside the
/// response, where a model does not accept it: the media must follow the response.
fn with_media(mut part: Part) -> Vec<Part> {
    const KEY: &str = "__binary_injection__";
    let media = match &mut part.body {
        Body::Response(response) => {
            response.response.as_object_mut().and_then(|fields| fields.remove(KEY))
        }
        _ => None,
    };
    let mut all = vec![part];
    all.extend(media.into_iter().flat_map(|media| parts(Some(media))));
    all
}

fn taken_string(keys: &mut Map<String, Value>, key: &str) -> Option<String> {
    match keys.remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}
