//! Messages between the user, the model and the tools.
//!
//! The serde form of these types is the interchange form of Gemini CLI's files (session logs,
//! recorded responses, hook payloads): `{"role":"user","parts":[{"text":"hi"}]}`. Dialects convert
//! it to and from their own wire format; data that only one vendor understands is kept unchanged in
//! [`Opaque`].

use std::borrow::Cow;
use std::sync::Arc;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Returns the text of all text parts except thoughts, joined without a separator. The text of a
/// single part, which may be long, is not copied.
pub fn text_of(parts: &[Part]) -> Cow<'_, str> {
    let mut texts = parts.iter().filter_map(Part::as_text);
    match (texts.next(), texts.next()) {
        (None, _) => Cow::Borrowed(""),
        (Some(only), None) => Cow::Borrowed(only),
        (Some(first), Some(second)) => {
            [first, second].into_iter().chain(texts).collect::<String>().into()
        }
    }
}

/// Author of a turn. A chat history has no other roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user, and the results of tools.
    User,
    /// The model.
    Model,
}

/// One turn of one author.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Content {
    /// Author of the turn.
    #[serde(default = "user")]
    pub role: Role,
    /// Parts in order. Missing or null parts are read as an empty list.
    #[serde(default, deserialize_with = "parts_or_null")]
    pub parts: Vec<Part>,
}

fn user() -> Role {
    Role::User
}

fn parts_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Part>, D::Error> {
    Ok(Option::<Vec<Part>>::deserialize(deserializer)?.unwrap_or_default())
}

impl Content {
    /// Creates a turn of the user.
    pub fn user(parts: Vec<Part>) -> Self {
        Self { role: Role::User, parts }
    }

    /// Creates a turn of the model.
    pub fn model(parts: Vec<Part>) -> Self {
        Self { role: Role::Model, parts }
    }

    /// Returns the text of all text parts except thoughts, joined without a separator.
    pub fn text(&self) -> Cow<'_, str> {
        text_of(&self.parts)
    }

    /// Returns the function calls in order.
    pub fn calls(&self) -> impl Iterator<Item = &FunctionCall> {
        self.parts.iter().filter_map(Part::as_call)
    }

    /// Returns the function responses in order.
    pub fn responses(&self) -> impl Iterator<Item = &FunctionResponse> {
        self.parts.iter().filter_map(Part::as_response)
    }
}

/// One piece of a turn: a body, and data that the vendor attached to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Content of the part.
    pub body: Body,
    /// True for a thought of the model, which is not part of its answer.
    pub thought: bool,
    /// Data of the vendor (for Gemini the thought signature), kept byte for byte and sent back only
    /// in the dialect that it came from. A thought with opaque data is one that its vendor requires
    /// to be sent back.
    pub opaque: Option<Opaque>,
}

/// The body of a [`Part`].
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Plain text.
    Text(String),
    /// Bytes inside the message.
    Inline(Blob),
    /// Bytes that the vendor fetches by itself.
    File(FileReference),
    /// Request of the model to call a tool.
    Call(FunctionCall),
    /// Response of the tool.
    Response(FunctionResponse),
    /// Part that Pollux does not interpret (`executableCode`, `codeExecutionResult`, …), with its
    /// keys unchanged.
    Other(Map<String, Value>),
}

/// Inline bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Blob {
    /// Media type, such as `image/png`.
    #[serde(default)]
    pub mime_type: String,
    /// The bytes in standard base64. Shared, so that history, log and request use one copy.
    #[serde(default = "empty")]
    pub data: Arc<str>,
}

fn empty() -> Arc<str> {
    Arc::from("")
}

/// Reference to bytes outside the message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileReference {
    /// Media type, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Location of the bytes.
    pub file_uri: String,
}

/// Request of the model to call a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// Id that pairs the call with its response. Empty until the turn that reads the stream assigns
    /// one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Name of the tool. Some models leave it out.
    #[serde(default)]
    pub name: String,
    /// Arguments. A well-behaved model sends an object; [`crate::History`] stores only objects.
    #[serde(default)]
    pub args: Value,
}

/// Response of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FunctionResponse {
    /// Id of the call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Name of the tool that was called.
    #[serde(default)]
    pub name: String,
    /// `{"output": …}` on success, `{"error": …}` on failure.
    #[serde(default)]
    pub response: Value,
    /// Media inside the response, for models that accept it there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

/// Data that only one vendor understands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opaque {
    /// Dialect that created the data and understands it, such as `gemini`.
    pub dialect: String,
    /// The data in the vendor's own textual form, never decoded.
    pub data: String,
}

impl Opaque {
    /// Dialect whose opaque data the interchange form calls `thoughtSignature`.
    pub const GEMINI: &'static str = "gemini";
}

impl Part {
    /// Creates a part without attached data.
    pub fn new(body: Body) -> Self {
        Self { body, thought: false, opaque: None }
    }

    /// Creates a text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Body::Text(text.into()))
    }

    /// Creates a thought of the model.
    pub fn thought(text: impl Into<String>) -> Self {
        Self { thought: true, ..Self::text(text) }
    }

    /// Creates a part that calls a tool.
    pub fn call(id: impl Into<String>, name: impl Into<String>, args: Value) -> Self {
        Self::new(Body::Call(FunctionCall { id: id.into(), name: name.into(), args }))
    }

    /// Creates the response of a tool that succeeded: `{"output": output}`.
    pub fn output(
        id: impl Into<String>,
        name: impl Into<String>,
        output: impl Into<Value>,
    ) -> Self {
        Self::response(id, name, serde_json::json!({ "output": output.into() }))
    }

    /// Creates the response of a tool that failed: `{"error": message}`.
    pub fn error(id: impl Into<String>, name: impl Into<String>, message: &str) -> Self {
        Self::response(id, name, serde_json::json!({ "error": message }))
    }

    /// Creates a tool's response from its whole JSON.
    pub fn response(id: impl Into<String>, name: impl Into<String>, response: Value) -> Self {
        Self::new(Body::Response(FunctionResponse {
            id: id.into(),
            name: name.into(),
            response,
            parts: Vec::new(),
        }))
    }

    /// Creates a part with inline media.
    pub fn inline(mime_type: impl Into<String>, base64: impl Into<Arc<str>>) -> Self {
        Self::new(Body::Inline(Blob { mime_type: mime_type.into(), data: base64.into() }))
    }

    /// Returns the text of a text part that is not a thought.
    pub fn as_text(&self) -> Option<&str> {
        self.text_body().filter(|_| !self.thought)
    }

    /// Returns the text of a thought.
    pub fn as_thought(&self) -> Option<&str> {
        self.text_body().filter(|_| self.thought)
    }

    fn text_body(&self) -> Option<&str> {
        if let Body::Text(text) = &self.body { Some(text) } else { None }
    }

    /// True for a thought that its vendor requires to be sent back. Its text may be empty: a
    /// dialect that needs more than the text keeps all of it in the opaque data.
    pub fn is_signed_thought(&self) -> bool {
        self.thought
            && self.opaque.is_some()
            && !matches!(self.body, Body::Call(_) | Body::Response(_))
    }

    /// Returns the call if the part is a call.
    pub fn as_call(&self) -> Option<&FunctionCall> {
        if let Body::Call(call) = &self.body { Some(call) } else { None }
    }

    /// Returns the response if the part is a response.
    pub fn as_response(&self) -> Option<&FunctionResponse> {
        if let Body::Response(response) = &self.body { Some(response) } else { None }
    }

    /// True for a part without content: empty text without attached data.
    pub fn is_empty(&self) -> bool {
        self.opaque.is_none() && self.text_body().is_some_and(str::is_empty)
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.body {
            Body::Text(text) => map.serialize_entry("text", text)?,
            Body::Inline(blob) => map.serialize_entry("inlineData", blob)?,
            Body::File(file) => map.serialize_entry("fileData", file)?,
            Body::Call(call) => map.serialize_entry("functionCall", call)?,
            Body::Response(response) => map.serialize_entry("functionResponse", response)?,
            Body::Other(keys) => {
                for (key, value) in keys {
                    map.serialize_entry(key, value)?;
                }
            }
        }
        if self.thought {
            map.serialize_entry("thought", &true)?;
        }
        match &self.opaque {
            Some(opaque) if opaque.dialect == Opaque::GEMINI => {
                map.serialize_entry("thoughtSignature", &opaque.data)?;
            }
            Some(opaque) => map.serialize_entry("$pollux", opaque)?,
            None => {}
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Older session files contain bare strings in place of parts.
        let mut keys = match Value::deserialize(deserializer)? {
            Value::Object(keys) => keys,
            Value::String(text) => return Ok(Self::text(text)),
            other => {
                return Err(D::Error::custom(format!("a part must be an object, not {other}")));
            }
        };
        let thought = matches!(keys.remove("thought"), Some(Value::Bool(true)));
        let opaque = match keys.remove("thoughtSignature") {
            // Gemini accepts signatures on text and calls, but does not accept thoughts.
            Some(Value::String(_)) if thought => None,
            Some(Value::String(data)) => Some(Opaque { dialect: Opaque::GEMINI.to_owned(), data }),
            _ => keys.remove("$pollux").and_then(|value| serde_json::from_value(value).ok()),
        };
        let body = body_of(keys).map_err(D::Error::custom)?;
        Ok(Self { body, thought, opaque })
    }
}

fn body_of(mut keys: Map<String, Value>) -> Result<Body, serde_json::Error> {
    if let Some(value) = keys.remove("functionCall") {
        return serde_json::from_value(value).map(Body::Call);
    }
    if let Some(value) = keys.remove("functionResponse") {
        return serde_json::from_value(value).map(Body::Response);
    }
    if let Some(value) = keys.remove("inlineData") {
        return serde_json::from_value(value).map(Body::Inline);
    }
    if let Some(value) = keys.remove("fileData") {
        return serde_json::from_value(value).map(Body::File);
    }
    match keys.remove("text") {
        Some(Value::String(text)) => Ok(Body::Text(text)),
        // A signature may come alone, on a part without any body.
        _ if keys.is_empty() => Ok(Body::Text(String::new())),
        _ => Ok(Body::Other(keys)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn interchange_form_is_gemini_clis() {
        let value = json!({"role": "model", "parts": [
            {"text": "**Plan** look", "thought": true},
            {"functionCall": {"id": "a", "name": "glob", "args": {"pattern": "*"}}, "thoughtSignature": "c2ln"},
            {"functionResponse": {"id": "a", "name": "glob", "response": {"output": "x"}}},
            {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
            {"executableCode": {"code": "1"}},
        ]});
        let content: Content = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(&content).unwrap(), value);
        assert_eq!(content.parts[1].opaque.as_ref().unwrap().data, "c2ln");
    }

    #[test]
    fn a_lone_signature_and_odd_shapes_are_read() {
        let part: Part = serde_json::from_value(json!({"thoughtSignature": "x"})).unwrap();
        assert!(!part.is_empty());
        let part: Part = serde_json::from_value(json!("bare")).unwrap();
        assert_eq!(part.as_text(), Some("bare"));
        let part: Part = serde_json::from_value(json!({"functionCall": {}})).unwrap();
        assert_eq!(part.as_call().unwrap().name, "");
        assert!(serde_json::from_value::<Part>(json!({"functionCall": 7})).is_err());
        assert!(serde_json::from_value::<Part>(json!(7)).is_err());
        let content: Content = serde_json::from_value(json!({"parts": null})).unwrap();
        assert_eq!(content, Content::user(Vec::new()));
    }

    #[test]
    fn another_dialects_bytes_survive_on_text_and_thoughts() {
        for part in [Part::text("x"), Part::thought("hm")] {
            let opaque = Some(Opaque { dialect: "anthropic".into(), data: "sig".into() });
            let part = Part { opaque, ..part };
            let value = serde_json::to_value(&part).unwrap();
            assert_eq!(serde_json::from_value::<Part>(value).unwrap(), part);
        }
    }

    #[test]
    fn gemini_wants_no_thought_back() {
        let value = json!({"text": "hm", "thought": true, "thoughtSignature": "x"});
        let part: Part = serde_json::from_value(value).unwrap();
        assert!(!part.is_signed_thought() && part.as_thought() == Some("hm"));
        assert_eq!(part.as_text(), None);
    }
}
