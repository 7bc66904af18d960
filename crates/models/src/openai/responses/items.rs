//! Conversion of the conversation to items. Each message, call, result and piece of reasoning is an
//! item of its own, so that the items of an entry do not depend on other entries.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use pollux_protocol::{
    Blob, Body as PartBody, Content, FileReference, FunctionCall, FunctionResponse, HistoryEntry,
    Part, Role, estimate,
};
use serde_json::{Value, json};

use super::super::ids::call_id;
use super::super::messages::append;
use super::kept::{self, Origin, Returned};
use crate::body::Body;
use crate::catalog::CallIds;
use crate::entry_cache::EntryCache;
use crate::tool_names::sent_name;
use crate::tool_output::output;
use crate::tool_schema::ToolDialect;

/// Capabilities of the model that determine the form of items.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) vision: bool,
    pub(super) documents: bool,
    /// Receiver of the data that goes back to its sender; `None` if none goes back.
    pub(super) origin: Option<Origin>,
}

/// Encoded entries with their estimated numbers of tokens, shared by all models of a service.
#[derive(Debug, Default)]
pub(super) struct ItemsCache {
    encoded: Mutex<EntryCache<(u64, Shape), (Bytes, f64)>>,
}

impl ItemsCache {
    /// Writes the items of a conversation, separated by commas. Data does not go back with entries
    /// up to the serial `forgotten`. Returns the estimated number of tokens.
    pub(super) fn write(
        &self,
        body: &mut Body,
        entries: &[Arc<HistoryEntry>],
        shape: &Shape,
        forgotten: u64,
    ) -> Result<f64, serde_json::Error> {
        let mut cache = self.encoded.lock().unwrap_or_else(PoisonError::into_inner);
        cache.begin_request();
        let (mut tokens, mut first) = (0.0, true);
        for entry in entries {
            let mut shape = shape.clone();
            if entry.serial() <= forgotten {
                shape.origin = None;
            }
            let content = entry.content();
            let encode = || Ok((items(content, &shape)?, estimate::content(content)));
            let (items, estimated) = cache.get((entry.serial(), shape.clone()), encode)?;
            tokens += estimated;
            if items.is_empty() {
                continue;
            }
            if !std::mem::take(&mut first) {
                body.text(",");
            }
            body.bytes(items);
        }
        cache.end_request();
        Ok(tokens)
    }
}

/// Returns the items of an entry, joined by commas.
fn items(content: &Content, shape: &Shape) -> Result<Bytes, serde_json::Error> {
    let mut draft = Draft { role: content.role, ..Draft::new(shape) };
    for part in &content.parts {
        draft.take(part)?;
    }
    draft.end_message()?;
    Ok(draft.items.into())
}

struct Draft<'a> {
    shape: &'a Shape,
    role: Role,
    items: Vec<u8>,
    /// Content of the message that is not ended yet.
    said: Vec<Value>,
    /// Phase of that message.
    phase: Option<&'static str>,
}

impl<'a> Draft<'a> {
    fn new(shape: &'a Shape) -> Self {
        Self { shape, role: Role::User, items: Vec::new(), said: Vec::new(), phase: None }
    }

    fn take(&mut self, part: &Part) -> Result<(), serde_json::Error> {
        if part.thought {
            return self.give_back(part);
        }
        match &part.body {
            PartBody::Text(text) => say(&mut self.said, text),
            // A model's own media cannot be sent back.
            PartBody::Inline(_) | PartBody::File(_) if self.role == Role::Model => {}
            PartBody::Inline(blob) => show(&mut self.said, blob, self.shape),
            PartBody::File(file) => refer(&mut self.said, file, self.shape),
            PartBody::Call(call) => self.call(call)?,
            PartBody::Response(response) => self.respond(response)?,
            // Parts that only another vendor understands.
            PartBody::Other(_) => {}
        }
        Ok(())
    }

    /// Adds data that goes back to its sender, byte for byte.
    fn give_back(&mut self, part: &Part) -> Result<(), serde_json::Error> {
        let origin = self.shape.origin.as_ref();
        match origin.and_then(|origin| kept::returned(part, origin)) {
            Some(Returned::Item(item)) => {
                self.end_message()?;
                if !self.items.is_empty() {
                    self.items.push(b',');
                }
                self.items.extend_from_slice(item.as_bytes());
            }
            Some(Returned::Phase(phase)) => {
                self.end_message()?;
                self.phase = Some(phase);
            }
            None => {}
        }
        Ok(())
    }

    fn call(&mut self, call: &FunctionCall) -> Result<(), serde_json::Error> {
        self.end_message()?;
        let arguments = match &call.args {
            Value::Object(arguments) => serde_json::to_string(arguments)?,
            _ => "{}".to_owned(),
        };
        let item = json!({
            "type": "function_call",
            "call_id": call_id(&call.id, CallIds::Standard),
            "name": sent_name(&call.name, ToolDialect::Chat),
            "arguments": arguments,
        });
        append(&mut self.items, &item)
    }

    /// Adds a result. Media stay inside of it.
    fn respond(&mut self, response: &FunctionResponse) -> Result<(), serde_json::Error> {
        let mut content = Vec::new();
        say(&mut content, &output(&response.response));
        for part in &response.parts {
            if let PartBody::Inline(blob) = &part.body {
                show(&mut content, blob, self.shape);
            }
        }
        let item = json!({
            "type": "function_call_output",
            "call_id": call_id(&response.id, CallIds::Standard),
            "output": plain(content),
        });
        append(&mut self.items, &item)
    }

    fn end_message(&mut self) -> Result<(), serde_json::Error> {
        let (content, phase) = (std::mem::take(&mut self.said), self.phase.take());
        if content.is_empty() {
            return Ok(());
        }
        let role = match self.role {
            Role::User => "user",
            Role::Model => "assistant",
        };
        let mut item = json!({"role": role, "content": plain(content)});
        if let Some(phase) = phase {
            item["phase"] = phase.into();
        }
        append(&mut self.items, &item)
    }
}

/// Adds text to a content, which continues the text before it.
fn say(content: &mut Vec<Value>, words: &str) {
    match content.last_mut().and_then(|last| last.get_mut("text")) {
        Some(Value::String(text)) => text.push_str(words),
        _ if words.is_empty() => {}
        _ => content.push(json!({"type": "input_text", "text": words})),
    }
}

fn show(content: &mut Vec<Value>, blob: &Blob, shape: &Shape) {
    let Blob { mime_type, data } = blob;
    let address = || format!("data:{mime_type};base64,{data}");
    match mime_type.as_str() {
        kind if kind.starts_with("image/") && shape.vision => content.push(image(&address())),
        "application/pdf" if shape.documents => content.push(json!({
            "type": "input_file", "filename": "document.pdf", "file_data": address(),
        })),
        _ => say(content, &format!("[{mime_type}: this model cannot read it.]")),
    }
}

fn refer(content: &mut Vec<Value>, file: &FileReference, shape: &Shape) {
    let FileReference { mime_type, file_uri } = file;
    let fetched = file_uri.starts_with("https://");
    match mime_type.as_deref() {
        Some(kind) if kind.starts_with("image/") && fetched && shape.vision => {
            content.push(image(file_uri));
        }
        Some("application/pdf") if fetched && shape.documents => {
            content.push(json!({"type": "input_file", "file_url": file_uri}));
        }
        _ => say(content, &format!("[The model cannot read the file {file_uri}.]")),
    }
}

fn image(address: &str) -> Value {
    json!({"type": "input_image", "detail": "auto", "image_url": address})
}

/// Returns a content that is only text as text.
fn plain(mut content: Vec<Value>) -> Value {
    match content.as_mut_slice() {
        [] => "".into(),
        [only] if only["type"] == "input_text" => only["text"].take(),
        _ => content.into(),
    }
}

#[cfg(test)]
mod tests;
