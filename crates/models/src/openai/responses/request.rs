//! Body of a request: model, instruction, conversation, then the data that is the same in every
//! turn.

use std::sync::Arc;

use bytes::Bytes;
use pollux_protocol::{ModelRequest, estimate};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::super::frame::{FrameCache, Settings, Surroundings};
use super::super::request::{Parameters, json_schema, parameters};
use super::items::{ItemsCache, Shape};
use super::unsupported::Extras;
use crate::body::Body;
use crate::declarations::{DeclarationCache, SentTool, SentTools, report_omissions};
use crate::refused_tools::SentName;
use crate::tool_names::Names;
use crate::tool_schema::ToolDialect;

/// Parameters of this dialect. Only parameters that the user configured for the model are sent:
/// many models refuse parameter values intended for other models.
pub(super) const PARAMETERS: &Parameters =
    &[("temperature", "temperature"), ("topP", "top_p"), ("maxOutputTokens", OUTPUT_LIMIT)];

/// Key of the maximum number of tokens of the response.
pub(super) const OUTPUT_LIMIT: &str = "max_output_tokens";

/// Returns the effort that a `generateContentConfig` asks for: `high`, for example.
pub(super) fn effort(config: &Map<String, Value>) -> Option<String> {
    let level = config.get("thinkingConfig")?.get("thinkingLevel")?.as_str()?;
    Some(level.to_ascii_lowercase())
}

/// Returns the parameters of a `generateContentConfig` that a request has.
pub(super) fn configured(config: &Map<String, Value>) -> Map<String, Value> {
    parameters(PARAMETERS, config)
}

/// Settings of one kind of request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallSettings {
    /// Name of the model at the vendor.
    pub(super) model: String,
    pub(super) parameters: Map<String, Value>,
    /// Effort of the reasoning, if the user configured it.
    pub(super) effort: Option<String>,
    /// `none` or `required`; `None` if the model may choose.
    pub(super) tool_choice: Option<&'static str>,
    /// Schema of a JSON response.
    pub(super) schema: Option<Value>,
    pub(super) stream: bool,
    pub(super) shape: Shape,
    pub(super) extras: Extras,
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

/// Conversation and tools that are already encoded, shared by all models of a service.
#[derive(Debug)]
pub(super) struct Encodings {
    items: ItemsCache,
    declarations: DeclarationCache,
}

impl Default for Encodings {
    fn default() -> Self {
        let declarations = DeclarationCache::new(ToolDialect::Chat);
        Self { items: ItemsCache::default(), declarations }
    }
}

/// Encodes the whole body. Data does not go back with entries up to the serial `forgotten`.
pub(super) fn encode(
    request: &ModelRequest,
    settings: CallSettings,
    forgotten: u64,
    encodings: &Encodings,
    frames: &FrameCache<CallSettings>,
) -> Result<Encoded, serde_json::Error> {
    let frame = frames.get(request, settings, &encodings.declarations)?;
    report_omissions(request, &frame.omissions);
    let Surroundings { head, tail, tokens, .. } = &frame.surroundings;
    let mut body = Body::default();
    body.bytes(head);
    let shape = &frame.settings.shape;
    let said = encodings.items.write(&mut body, &request.entries, shape, forgotten)?;
    body.bytes(tail);
    let tokens = (tokens + said) as u64;
    let (names, tools) = (Arc::clone(&frame.names), Arc::clone(&frame.sent));
    Ok(Encoded { body: body.finish(), tokens, names, tools })
}

impl Settings for CallSettings {
    fn surroundings(
        &self,
        request: &ModelRequest,
        tools: &SentTools<'_>,
    ) -> Result<Surroundings, serde_json::Error> {
        let instruction = request.system.as_deref().unwrap_or_default();
        let mut head = format!(r#"{{"model":{},"#, json!(self.model)).into_bytes();
        if !instruction.is_empty() {
            head.extend_from_slice(br#""instructions":"#);
            serde_json::to_writer(&mut head, instruction)?;
            head.push(b',');
        }
        head.extend_from_slice(br#""input":["#);
        let keys = serde_json::to_vec(&Tail::new(tools, self))?;
        Ok(Surroundings {
            head: head.into(),
            instructed: false,
            tail: [b"],", &keys[1..]].concat().into(),
            tokens: estimate::text(instruction) + estimate::declarations(&request.tools),
        })
    }
}

/// Keys after the conversation, in the order in which they are sent.
#[derive(Serialize)]
struct Tail<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(flatten)]
    others: Map<String, Value>,
    /// The service keeps nothing.
    store: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
}

impl<'a> Tail<'a> {
    fn new(tools: &'a SentTools<'a>, settings: &CallSettings) -> Self {
        let tools: Vec<WireTool<'a>> = tools.iter().map(WireTool::from).collect();
        let others = others(!tools.is_empty(), settings);
        Self { tools, others, store: false, stream: settings.stream }
    }
}

/// Returns the keys after the tools.
fn others(has_tools: bool, settings: &CallSettings) -> Map<String, Value> {
    let mut others = Map::new();
    let mut set = |key: &str, value: Value| drop(others.insert(key.to_owned(), value));
    if let Some(choice) = settings.tool_choice.filter(|_| has_tools) {
        set("tool_choice", choice.into());
    }
    if let Some(schema) = &settings.schema {
        let schema = json_schema(schema);
        set("text", json!({"format": {"type": "json_schema", "name": "answer", "schema": schema}}));
    }
    for (key, value) in &settings.parameters {
        set(key, value.clone());
    }
    let mut reasoning = Map::new();
    if let Some(effort) = &settings.effort {
        reasoning.insert("effort".to_owned(), effort.as_str().into());
    }
    if settings.extras.summary {
        reasoning.insert("summary".to_owned(), "auto".into());
    }
    if !reasoning.is_empty() {
        set("reasoning", reasoning.into());
    }
    if settings.extras.encrypted {
        set("include", json!(["reasoning.encrypted_content"]));
    }
    others
}

/// Function in the format of the dialect.
#[derive(Serialize)]
struct WireTool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
    /// Strict schemas are a subset of JSON Schema that most schemas do not belong to.
    strict: bool,
}

impl<'a> From<SentTool<'a>> for WireTool<'a> {
    fn from(SentTool { declaration, name, parameters }: SentTool<'a>) -> Self {
        let description = &declaration.description;
        Self { r#type: "function", name, description, parameters, strict: false }
    }
}

#[cfg(test)]
mod tests;
