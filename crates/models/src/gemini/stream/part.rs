//! One part of a response, deserialised without an intermediate tree.

use std::fmt;

use pollux_protocol::{Blob, Body, FileReference, FunctionCall, FunctionResponse, Opaque, Part};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

/// Slot for a part; `None` if the part is empty.
pub(super) struct PartSlot(pub(super) Option<Part>);

impl<'de> Deserialize<'de> for PartSlot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PartVisitor)
    }
}

/// Keys of a part, in the form in which they are received.
#[derive(Default)]
struct Keys {
    text: Option<String>,
    thought: Option<bool>,
    signature: Option<String>,
    call: Option<WireCall>,
    response: Option<FunctionResponse>,
    inline: Option<Blob>,
    file: Option<FileReference>,
    other: Map<String, Value>,
}

/// Function call in a response. Every key may be `null`.
#[derive(Deserialize, Default)]
struct WireCall {
    id: Option<String>,
    name: Option<String>,
    args: Option<Value>,
}

struct PartVisitor;

impl<'de> Visitor<'de> for PartVisitor {
    type Value = PartSlot;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a part")
    }

    fn visit_unit<E>(self) -> Result<PartSlot, E> {
        Ok(PartSlot(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PartSlot, A::Error> {
        let mut keys = Keys::default();
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Text => keys.text = map.next_value()?,
                Key::Thought => keys.thought = map.next_value()?,
                Key::Signature => keys.signature = map.next_value()?,
                Key::Call => keys.call = map.next_value()?,
                Key::Response => keys.response = map.next_value()?,
                Key::Inline => keys.inline = map.next_value()?,
                Key::File => keys.file = map.next_value()?,
                Key::Other(name) => {
                    keys.other.insert(name, map.next_value()?);
                }
            }
        }
        Ok(PartSlot(keys.into_part()))
    }
}

impl Keys {
    fn into_part(self) -> Option<Part> {
        let body = if let Some(WireCall { id, name, args }) = self.call {
            Body::Call(FunctionCall {
                id: id.unwrap_or_default(),
                name: name.unwrap_or_default(),
                args: args.unwrap_or_else(|| Value::Object(Map::new())),
            })
        } else if let Some(response) = self.response {
            Body::Response(response)
        } else if let Some(inline) = self.inline {
            Body::Inline(inline)
        } else if let Some(file) = self.file {
            Body::File(file)
        } else if let Some(text) = self.text {
            Body::Text(text)
        } else if self.other.is_empty() {
            // A signature may come without other keys.
            Body::Text(String::new())
        } else {
            Body::Other(self.other)
        };
        let thought = self.thought.unwrap_or_default();
        // The service expects signatures back on text and calls; thoughts are never sent to it.
        let signature = self.signature.filter(|data| !data.is_empty() && !thought);
        let opaque = signature.map(|data| Opaque { dialect: Opaque::GEMINI.to_owned(), data });
        let part = Part { body, thought, opaque };
        (!part.is_empty()).then_some(part)
    }
}

enum Key {
    Text,
    Thought,
    Signature,
    Call,
    Response,
    Inline,
    File,
    Other(String),
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(KeyVisitor)
    }
}

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = Key;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key of a part")
    }

    fn visit_str<E>(self, key: &str) -> Result<Key, E> {
        Ok(match key {
            "text" => Key::Text,
            "thought" => Key::Thought,
            "thoughtSignature" => Key::Signature,
            "functionCall" => Key::Call,
            "functionResponse" => Key::Response,
            "inlineData" => Key::Inline,
            "fileData" => Key::File,
            other => Key::Other(other.to_owned()),
        })
    }
}
