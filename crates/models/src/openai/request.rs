//! Body of a request: model, instruction, messages, then the data that is the same in every turn.

use std::sync::Arc;

use bytes::Bytes;
use pollux_protocol::{ModelRequest, estimate};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::emulation;
use super::frame::{FrameCache, Settings, Surroundings};
use super::messages::{MessagesCache, Shape, escaped};
use crate::body::Body;
use crate::catalog::{JsonFormat, Quirks};
use crate::declarations::{DeclarationCache, SentTool, SentTools, report_omissions};
use crate::refused_tools::SentName;
use crate::tool_names::Names;
use crate::tool_schema::ToolDialect;

/// Parameter names in a configuration and in a request.
pub(super) type Parameters = [(&'static str, &'static str)];

/// Parameters of this dialect. Only parameters that the user configured
/// for the model are sent: many models refuse parameter values intended for other models.
pub(super) const PARAMETERS: &Parameters = &[
    ("temperature", "temperature"),
    ("topP", "top_p"),
    ("maxOutputTokens", OUTPUT_LIMIT),
    ("stopSequences", "stop"),
    ("presencePenalty", "presence_penalty"),
    ("frequencyPenalty", "frequency_penalty"),
    ("seed", "seed"),
];

/// Key of the maximum number of tokens of the response.
pub(super) const OUTPUT_LIMIT: &str = "max_completion_tokens";

/// Settings of one kind of request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallSettings {
    /// Name of the model at the vendor.
    pub(super) model: String,
    pub(super) parameters: Map<String, Value>,
    /// `none` or `required`; `None` if the model may choose.
    pub(super) tool_choice: Option<&'static str>,
    /// Schema of a JSON response.
    pub(super) schema: Option<Value>,
    pub(super) stream: bool,
    /// True if a streamed response shall report its usage.
    pub(super) stream_usage: bool,
    pub(super) shape: Shape,
    pub(super) quirks: Arc<Quirks>,
}

/// Converts the parameters of a `generateContentConfig` to those of a dialect.
pub(super) fn parameters(names: &Parameters, config: &Map<String, Value>) -> Map<String, Value> {
    let present = names.iter().filter_map(|(theirs, ours)| {
        let value = config.get(*theirs).filter(|value| !value.is_null())?;
        Some(((*ours).to_owned(), value.clone()))
    });
    present.collect()
}

/// Body that is ready to be sent.
#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) body: Vec<Bytes>,
    /// Estimated number of tokens.
    pub(super) tokens: u64,
    pub(super) names: Arc<Names>,
    /// The tools, in the order in which they are sent.
    pub(super) tools: Arc<[SentName]>,
}

/// Conversation and tools that are already encoded, shared by all models of a vendor.
#[derive(Debug)]
pub(super) struct Encodings {
    messages: MessagesCache,
    declarations: DeclarationCache,
}

impl Default for Encodings {
    fn default() -> Self {
        let declarations = DeclarationCache::new(ToolDialect::Chat);
        Self { messages: MessagesCache::default(), declarations }
    }
}

impl Settings for CallSettings {
    fn surroundings(
        &self,
        request: &ModelRequest,
        tools: &SentTools<'_>,
    ) -> Result<Surroundings, serde_json::Error> {
        let instruction = instruction(request, tools, self);
        let mut head = format!(r#"{{"model":{},"messages":["#, json!(self.model)).into_bytes();
        if !instruction.is_empty() {
            head.extend_from_slice(br#"{"role":"system","content":""#);
            head.extend_from_slice(&escaped(&instruction)?);
            head.extend_from_slice(br#""}"#);
        }
        let keys = serde_json::to_vec(&Tail::new(tools, self))?;
        let separator: &[u8] = if keys == b"{}" { b"]" } else { b"]," };
        let native = if self.shape.emulated { 0.0 } else { estimate::declarations(&request.tools) };
        Ok(Surroundings {
            head: head.into(),
            instructed: !instruction.is_empty(),
            tail: [separator, &keys[1..]].concat().into(),
            tokens: estimate::text(&instruction) + native,
        })
    }
}

/// Encodes the whole body.
pub(super) fn encode(
    request: &ModelRequest,
    settings: CallSettings,
    encodings: &Encodings,
    frames: &FrameCache<CallSettings>,
) -> Result<Encoded, serde_json::Error> {
    let frame = frames.get(request, settings, &encodings.declarations)?;
    report_omissions(request, &frame.omissions);
    let Surroundings { head, instructed, tail, tokens } = &frame.surroundings;
    let mut body = Body::default();
    body.bytes(head);
    let shape = &frame.settings.shape;
    let said = encodings.messages.write(&mut body, &request.entries, shape, !instructed)?;
    body.bytes(tail);
    let tokens = (tokens + said) as u64;
    let (names, tools) = (Arc::clone(&frame.names), Arc::clone(&frame.sent));
    Ok(Encoded { body: body.finish(), tokens, names, tools })
}

/// Returns the instruction, with additions for features that have no field in the request.
fn instruction(request: &ModelRequest, tools: &SentTools<'_>, settings: &CallSettings) -> String {
    let mut sections: Vec<String> =
        request.system.as_deref().map(str::to_owned).into_iter().collect();
    if settings.shape.emulated && !tools.is_empty() {
        sections.push(emulation::instruction(tools));
    }
    if let Some(schema) = &settings.schema
        && settings.quirks.json != JsonFormat::Schema
    {
        let schema = json_schema(schema);
        sections.push(format!(
            "Answer with exactly one JSON object that satisfies this JSON schema:\n{schema}"
        ));
    }
    sections.retain(|section| !section.is_empty());
    sections.join("\n\n")
}

/// Returns the schema with lower-case type names: Google's own schemas use upper case.
pub(crate) fn json_schema(schema: &Value) -> Value {
    match schema {
        Value::Object(keys) => {
            let lowered = keys.iter().map(|(key, value)| {
                let value = match value {
                    Value::String(word) if key == "type" => Value::from(word.to_ascii_lowercase()),
                    other => json_schema(other),
                };
                (key.clone(), value)
            });
            Value::Object(lowered.collect())
        }
        Value::Array(items) => items.iter().map(json_schema).collect(),
        other => other.clone(),
    }
}

/// Keys after the messages, in the order in which they are sent.
#[derive(Serialize)]
struct Tail<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl<'a> Tail<'a> {
    fn new(tools: &'a SentTools<'a>, settings: &CallSettings) -> Self {
        let tools: Vec<WireTool<'a>> =
            tools.iter().filter(|_| !settings.shape.emulated).map(WireTool::from).collect();
        let others = others(!tools.is_empty(), settings);
        Self { tools, others }
    }
}

/// Returns the keys after the tools.
fn others(has_tools: bool, settings: &CallSettings) -> Map<String, Value> {
    let mut others = Map::new();
    let mut set = |key: &str, value: Value| drop(others.insert(key.to_owned(), value));
    if let Some(choice) = settings.tool_choice.filter(|_| has_tools) {
        set("tool_choice", choice.into());
    }
    match (&settings.schema, settings.quirks.json) {
        (Some(schema), JsonFormat::Schema) => {
            let schema = json!({"name": "answer", "schema": json_schema(schema)});
            set("response_format", json!({"type": "json_schema", "json_schema": schema}));
        }
        (Some(_), JsonFormat::Object) => set("response_format", json!({"type": "json_object"})),
        (Some(_), JsonFormat::None) | (None, _) => {}
    }
    for (key, value) in &settings.parameters {
        set(key, value.clone());
    }
    if settings.stream {
        set("stream", true.into());
        if settings.stream_usage {
            set("stream_options", json!({"include_usage": true}));
        }
    }
    others
}

#[derive(Serialize)]
struct WireTool<'a> {
    r#type: &'static str,
    function: WireFunction<'a>,
}

/// Function in the format of the dialect.
#[derive(Serialize)]
pub(super) struct WireFunction<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) parameters: &'a RawValue,
}

impl<'a> From<SentTool<'a>> for WireTool<'a> {
    fn from(SentTool { declaration, name, parameters }: SentTool<'a>) -> Self {
        let description = &declaration.description;
        Self { r#type: "function", function: WireFunction { name, description, parameters } }
    }
}

#[cfg(test)]
mod tests;
