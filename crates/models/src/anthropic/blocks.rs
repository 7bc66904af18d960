//! Conversion of one entry of the conversation to blocks of a message.

use std::sync::Arc;

use bytes::Bytes;
use pollux_protocol::{
    Blob, Body, Content, FileReference, FunctionCall, FunctionResponse, Part, Role,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::thinking::Thought;
use crate::catalog::CallIds;
use crate::openai::call_id;
use crate::tool_names::sent_name;
use crate::tool_output::output;
use crate::tool_schema::ToolDialect;

/// Types of images that the service accepts.
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

const PDF: &str = "application/pdf";

/// Capabilities of the model; the form of blocks depends on nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    /// Model whose thoughts are sent back; `None` if no thoughts are.
    pub(super) thoughts_of: Option<Arc<str>>,
    pub(super) vision: bool,
    pub(super) documents: bool,
}

/// Blocks of an entry as JSON, joined by commas. Lists without blocks are empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Blocks {
    /// Results of tools. The service requires them before all other blocks of a message.
    pub(super) results: Bytes,
    pub(super) others: Bytes,
}

impl Blocks {
    pub(super) fn is_empty(&self) -> bool {
        self.results.is_empty() && self.others.is_empty()
    }
}

/// Returns the blocks of an entry.
pub(super) fn blocks(content: &Content, shape: &Shape) -> Result<Blocks, serde_json::Error> {
    let mut draft = Draft { shape, results: List::default(), others: List::default() };
    for part in &content.parts {
        draft.take(part, content.role)?;
    }
    Ok(Blocks { results: draft.results.0.into(), others: draft.others.0.into() })
}

/// JSON values, joined by commas.
#[derive(Default)]
struct List(Vec<u8>);

impl List {
    fn push(&mut self, value: &impl Serialize) -> Result<(), serde_json::Error> {
        if !self.0.is_empty() {
            self.0.push(b',');
        }
        serde_json::to_writer(&mut self.0, value)
    }
}

struct Draft<'a> {
    shape: &'a Shape,
    results: List,
    others: List,
}

impl Draft<'_> {
    fn take(&mut self, part: &Part, role: Role) -> Result<(), serde_json::Error> {
        if part.thought {
            let model = self.shape.thoughts_of.as_deref();
            let thought = model.and_then(|model| Thought::of_part(part, model));
            return thought.map_or(Ok(()), |thought| self.others.push(&thought));
        }
        match &part.body {
            Body::Text(text) => text_block(text).map_or(Ok(()), |block| self.others.push(&block)),
            // A model's own media cannot be sent back.
            Body::Inline(_) | Body::File(_) if role == Role::Model => Ok(()),
            Body::Inline(blob) => self.others.push(&self.media(blob)),
            Body::File(file) => self.others.push(&self.file(file)),
            Body::Call(call) => self.others.push(&call_block(call)),
            Body::Response(response) => self.results.push(&self.result(response)),
            // Parts that only another vendor understands.
            Body::Other(_) => Ok(()),
        }
    }

    fn media(&self, blob: &Blob) -> Value {
        let Blob { mime_type, data } = blob;
        // Parameters such as a character set are not part of the type.
        let kind = mime_type.split(';').next().unwrap_or_default().trim();
        let source = json!({"type": "base64", "media_type": kind, "data": &**data});
        if self.shape.vision && IMAGES.contains(&kind) {
            json!({"type": "image", "source": source})
        } else if self.shape.documents && kind == PDF {
            json!({"type": "document", "source": source})
        } else {
            unreadable(&format!("[{mime_type}: this model cannot read it.]"))
        }
    }

    fn file(&self, file: &FileReference) -> Value {
        let kind = file.mime_type.as_deref().unwrap_or_default();
        let source = json!({"type": "url", "url": file.file_uri});
        let is_fetched = file.file_uri.starts_with("https://");
        if is_fetched && self.shape.vision && kind.starts_with("image/") {
            json!({"type": "image", "source": source})
        } else if is_fetched && self.shape.documents && kind == PDF {
            json!({"type": "document", "source": source})
        } else {
            unreadable(&format!("[The model cannot read the file {}.]", file.file_uri))
        }
    }

    fn result(&self, response: &FunctionResponse) -> Value {
        let text = output(&response.response);
        let mut block = json!({
            "type": "tool_result",
            "tool_use_id": call_id(&response.id, CallIds::Standard),
        });
        let mut content: Vec<Value> = response
            .parts
            .iter()
            .filter_map(|part| match &part.body {
                Body::Inline(blob) => Some(self.media(blob)),
                Body::File(file) => Some(self.file(file)),
                _ => None,
            })
            .collect();
        if !content.is_empty() {
            content.splice(..0, text_block(&text));
            block["content"] = content.into();
        } else if !text.trim().is_empty() {
            block["content"] = text.into();
        }
        let is_error = response.response.as_object().is_some_and(|keys| keys.contains_key("error"));
        if is_error {
            block["is_error"] = true.into();
        }
        block
    }
}

/// Returns a block with a text; the service refuses texts without visible characters.
fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

/// Returns a block that stands for something that the model cannot read.
fn unreadable(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call_block(call: &FunctionCall) -> Value {
    let input = match &call.args {
        Value::Object(arguments) => arguments.clone(),
        _ => Map::new(),
    };
    json!({
        "type": "tool_use",
        "id": call_id(&call.id, CallIds::Standard),
        "name": sent_name(&call.name, ToolDialect::Anthropic),
        "input": input,
    })
}
