//! Conversion of one entry to pieces of messages.

use bytes::Bytes;
use pollux_protocol::{Blob, Body, Content, FunctionCall, FunctionResponse, Part, Role};
use serde_json::{Value, json};

use super::super::emulation;
use super::super::ids::call_id;
use super::super::reasoning;
use super::shape::Shape;
use crate::tool_names::sent_name;
use crate::tool_output::output;
use crate::tool_schema::ToolDialect;

/// Pieces of an entry. All of them are JSON; an empty piece is not sent.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Pieces {
    /// Whole messages with the results of tools, joined by commas.
    pub(super) results: Bytes,
    /// Text as the content of a JSON string, without the quotation marks.
    pub(super) text: Bytes,
    /// Text and media as content parts, joined by commas; empty if there are no media.
    pub(super) media: Bytes,
    /// Elements of `tool_calls`, joined by commas.
    pub(super) calls: Bytes,
    /// Keys of the message that send reasoning back.
    pub(super) reasoning: Bytes,
}

impl Pieces {
    pub(super) fn is_empty(&self) -> bool {
        let Self { results, text, media, calls, .. } = self;
        [results, text, media, calls].iter().all(|piece| piece.is_empty())
    }
}

/// Returns the content of a JSON string, without the quotation marks.
pub(in crate::openai) fn escaped(text: &str) -> Result<Bytes, serde_json::Error> {
    let json = Bytes::from(serde_json::to_vec(text)?);
    // A JSON string has a quotation mark at each end.
    Ok(json.slice(1..json.len() - 1))
}

pub(super) fn pieces(content: &Content, shape: &Shape) -> Result<Pieces, serde_json::Error> {
    let mut draft = Draft::new(shape);
    for part in &content.parts {
        draft.carry(part);
        if !part.thought {
            draft.take(part, content.role)?;
        }
    }
    draft.finish()
}

/// Lists that grow part by part.
struct Draft<'a> {
    shape: &'a Shape,
    results: Vec<u8>,
    /// Text and media in their order.
    said: Vec<MessageContent>,
    calls: Vec<u8>,
    reasoning: Vec<u8>,
}

enum MessageContent {
    Words(String),
    Media(Value),
}

impl<'a> Draft<'a> {
    fn new(shape: &'a Shape) -> Self {
        let (results, calls, reasoning) = (Vec::new(), Vec::new(), Vec::new());
        Self { shape, results, said: Vec::new(), calls, reasoning }
    }

    fn take(&mut self, part: &Part, role: Role) -> Result<(), serde_json::Error> {
        match &part.body {
            Body::Text(text) => self.say(text),
            // A model's own media cannot be sent back.
            Body::Inline(_) | Body::File(_) if role == Role::Model => {}
            Body::Inline(blob) => self.show(blob),
            Body::File(file) => {
                let image =
                    file.mime_type.as_deref().is_some_and(|kind| kind.starts_with("image/"));
                let fetched = file.file_uri.starts_with("https://");
                if image && fetched && self.shape.vision {
                    self.said.push(MessageContent::Media(image_part(&file.file_uri)));
                } else {
                    self.say(&format!("[The model cannot read the file {}.]", file.file_uri));
                }
            }
            Body::Call(call) if self.shape.emulated => self.say(&emulation::written_call(call)),
            Body::Call(call) => self.call(call)?,
            Body::Response(response) => self.respond(response)?,
            // Parts that only another vendor understands.
            Body::Other(_) => {}
        }
        Ok(())
    }

    /// Stores the reasoning that is sent back with the calls.
    fn carry(&mut self, part: &Part) {
        if self.shape.emulated || !self.reasoning.is_empty() {
            return;
        }
        let keys = reasoning::carried(part, &self.shape.reasoning);
        let keys: Vec<String> =
            keys.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        self.reasoning = keys.join(",").into_bytes();
    }

    fn say(&mut self, words: &str) {
        match self.said.last_mut() {
            Some(MessageContent::Words(text)) => text.push_str(words),
            _ if words.is_empty() => {}
            _ => self.said.push(MessageContent::Words(words.to_owned())),
        }
    }

    fn show(&mut self, blob: &Blob) {
        let Blob { mime_type, data } = blob;
        let media = match mime_type.as_str() {
            kind if kind.starts_with("image/") && self.shape.vision => {
                Some(image_part(&format!("data:{kind};base64,{data}")))
            }
            "application/pdf" if self.shape.documents => Some(json!({"type": "file", "file": {
                "filename": "document.pdf",
                "file_data": format!("data:application/pdf;base64,{data}"),
            }})),
            kind if self.shape.audio => sound_format(kind).map(|format| {
                json!({"type": "input_audio", "input_audio": {"data": &**data, "format": format}})
            }),
            _ => None,
        };
        match media {
            Some(part) => self.said.push(MessageContent::Media(part)),
            None => self.say(&format!("[{mime_type}: this model cannot read it.]")),
        }
    }

    fn call(&mut self, call: &FunctionCall) -> Result<(), serde_json::Error> {
        let arguments = match &call.args {
            Value::Object(arguments) => serde_json::to_string(arguments)?,
            _ => "{}".to_owned(),
        };
        let value = json!({
            "id": call_id(&call.id, self.shape.call_ids),
            "type": "function",
            "function": {"name": sent_name(&call.name, ToolDialect::Chat), "arguments": arguments},
        });
        append(&mut self.calls, &value)
    }

    fn respond(&mut self, response: &FunctionResponse) -> Result<(), serde_json::Error> {
        let output = output(&response.response);
        if self.shape.emulated {
            self.say(&emulation::written_result(response, &output));
        } else {
            let value = json!({
                "role": "tool",
                "tool_call_id": call_id(&response.id, self.shape.call_ids),
                "content": output,
            });
            append(&mut self.results, &value)?;
        }
        for part in &response.parts {
            if let Body::Inline(blob) = &part.body {
                self.show(blob);
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Pieces, serde_json::Error> {
        let Self { results, said, calls, reasoning, .. } = self;
        let has_media = said.iter().any(|one| matches!(one, MessageContent::Media(_)));
        let (mut text, mut media) = (Bytes::new(), Vec::new());
        for one in said {
            match one {
                MessageContent::Words(words) if has_media => {
                    append(&mut media, &json!({"type": "text", "text": words}))?;
                }
                MessageContent::Words(words) => text = escaped(&words)?,
                MessageContent::Media(part) => append(&mut media, &part)?,
            }
        }
        Ok(Pieces {
            results: results.into(),
            text,
            media: media.into(),
            calls: calls.into(),
            reasoning: reasoning.into(),
        })
    }
}

pub(in crate::openai) fn append(
    list: &mut Vec<u8>,
    value: &Value,
) -> Result<(), serde_json::Error> {
    if !list.is_empty() {
        list.push(b',');
    }
    serde_json::to_writer(list, value)
}

fn image_part(url: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": url}})
}

fn sound_format(mime_type: &str) -> Option<&'static str> {
    match mime_type {
        "audio/wav" | "audio/x-wav" | "audio/wave" => Some("wav"),
        "audio/mpeg" | "audio/mp3" => Some("mp3"),
        _ => None,
    }
}
