//! Conversion of one part to the format of the service.

use pollux_protocol::{Body, FunctionCall, FunctionResponse, Opaque, Part};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::tool_names::sent_name;
use crate::tool_schema::ToolDialect;

/// Substitute for the signature of a call that the service did not sign; the service accepts it.
pub(super) const MADE_UP_SIGNATURE: &str = "skip_thought_signature_validator";

/// True if a part is sent: thoughts and empty parts are not.
pub(super) fn is_sent(part: &Part) -> bool {
    !part.thought && !part.is_empty()
}

/// Returns the signature that the service gave the part, if any.
pub(super) fn signature(part: &Part) -> Option<&str> {
    let opaque = part.opaque.as_ref().filter(|opaque| opaque.dialect == Opaque::GEMINI)?;
    Some(&opaque.data)
}

/// Part to send. Opaque data of other vendors is not sent.
pub(super) struct WirePart<'a> {
    pub(super) part: &'a Part,
    /// True if the substitute signature is added when there is no real one.
    pub(super) made_up: bool,
    /// True if media stay inside the response that contains them.
    pub(super) nested: bool,
}

impl Serialize for WirePart<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.part.body {
            Body::Text(text) => map.serialize_entry("text", text)?,
            Body::Inline(blob) => map.serialize_entry("inlineData", blob)?,
            Body::File(file) => map.serialize_entry("fileData", file)?,
            Body::Call(call) => map.serialize_entry("functionCall", &WireCall(call))?,
            Body::Response(response) => {
                map.serialize_entry(
                    "functionResponse",
                    &WireResponse { response, nested: self.nested },
                )?;
            }
            Body::Other(keys) => {
                for (key, value) in keys {
                    map.serialize_entry(key, value)?;
                }
            }
        }
        let made_up = self.made_up.then_some(MADE_UP_SIGNATURE);
        if let Some(signature) = signature(self.part).or(made_up) {
            map.serialize_entry("thoughtSignature", signature)?;
        }
        map.end()
    }
}

struct WireCall<'a>(&'a FunctionCall);

impl Serialize for WireCall<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let FunctionCall { id, name, args } = self.0;
        let mut map = serializer.serialize_map(None)?;
        if !id.is_empty() {
            map.serialize_entry("id", vendor_id(id, name))?;
        }
        map.serialize_entry("name", &sent_name(name, ToolDialect::Gemini))?;
        match args {
            Value::Object(args) => map.serialize_entry("args", args)?,
            _ => map.serialize_entry("args", &Map::new())?,
        }
        map.end()
    }
}

struct WireResponse<'a> {
    response: &'a FunctionResponse,
    nested: bool,
}

impl Serialize for WireResponse<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let FunctionResponse { id, name, response, parts } = self.response;
        let mut map = serializer.serialize_map(None)?;
        if !id.is_empty() {
            map.serialize_entry("id", vendor_id(id, name))?;
        }
        map.serialize_entry("name", &sent_name(name, ToolDialect::Gemini))?;
        match response {
            Value::Object(response) => map.serialize_entry("response", response)?,
            // The service accepts objects only.
            other => map.serialize_entry("response", &serde_json::json!({ "output": other }))?,
        }
        let inside = parts.iter().filter(|_| self.nested);
        let parts: Vec<WirePart<'_>> =
            inside.map(|part| WirePart { part, made_up: false, nested: true }).collect();
        if !parts.is_empty() {
            map.serialize_entry("parts", &parts)?;
        }
        map.end()
    }
}

/// Returns the id without the prefix `<name>__` that makes ids unique inside Pollux.
fn vendor_id<'a>(id: &'a str, name: &str) -> &'a str {
    let rest = id.strip_prefix(name).and_then(|rest| rest.strip_prefix("__"));
    rest.filter(|rest| !rest.is_empty()).unwrap_or(id)
}
