//! Body of a request: `contents`, then the data that is the same in every turn.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use pollux_protocol::{Adjustments, Declaration, ModelRequest, ToolChoice, ToolOmission, Tuning};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::contents::{PartsCache, Takes};
use crate::adjustments::{self, MAX_OUTPUT_TOKENS};
use crate::body::Body;
use crate::configs::Resolved;
use crate::declarations::{DeclarationCache, SentTool, SentTools, report_omissions};
use crate::names;
use crate::refused_tools::SentName;
use crate::tool_names::{Names, sent_name};
use crate::tool_schema::ToolDialect;

/// Keys that belong in `generationConfig`, in the order in which they are sent. Other keys of a
/// configuration are instructions for Google's client library, not for the service.
const GENERATION_KEYS: [&str; 19] = [
    "temperature",
    "topP",
    "topK",
    "candidateCount",
    "maxOutputTokens",
    "stopSequences",
    "responseLogprobs",
    "logprobs",
    "presencePenalty",
    "frequencyPenalty",
    "seed",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "responseModalities",
    "mediaResolution",
    "speechConfig",
    "thinkingConfig",
    "imageConfig",
];

/// Settings of one kind of request: a [`Resolved`] configuration, sorted by the position of its
/// data in the request.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct CallSettings {
    /// Model name that the service knows.
    pub(crate) model: String,
    generation: Map<String, Value>,
    safety: Option<Value>,
    /// Tools of the service itself, such as `googleSearch`; only sent when the request offers no
    /// tools.
    tools: Option<Value>,
    tool_config: Option<Value>,
    cached_content: Option<Value>,
}

impl CallSettings {
    /// Sorts a configuration.
    pub(crate) fn new(resolved: Resolved) -> Self {
        let Resolved { model, mut config } = resolved;
        let generation = GENERATION_KEYS
            .iter()
            .filter_map(|key| Some(((*key).to_owned(), config.shift_remove(*key)?)))
            .collect();
        let mut take = |key: &str| config.shift_remove(key).filter(|value| !value.is_null());
        Self {
            model: names::resolve(&model).to_owned(),
            generation,
            safety: take("safetySettings"),
            tools: take("tools"),
            tool_config: take("toolConfig"),
            cached_content: take("cachedContent"),
        }
    }

    /// Returns these settings with the per-request overrides.
    pub(crate) fn adjusted(&self, adjustments: &Adjustments) -> Self {
        let mut settings = self.clone();
        for (key, figure) in adjustments::figures(&adjustments.tuning) {
            settings.generation.insert(key.to_owned(), figure);
        }
        let limit = adjustments.output_limit;
        adjustments::limit_output(&mut settings.generation, MAX_OUTPUT_TOKENS, limit);
        if let Some(choice) = &adjustments.tool_choice {
            let sent = |name: &String| sent_name(name, ToolDialect::Gemini).into_owned();
            let allowed = choice.allowed.iter().map(sent).collect();
            let choice = ToolChoice { mode: choice.mode, allowed };
            settings.tool_config = Some(adjustments::tool_config(&choice));
        }
        if let Some(schema) = &adjustments.schema {
            settings = settings.for_json(schema);
        }
        settings
    }

    /// Returns the sampling parameters that may be shown to a hook.
    pub(crate) fn tuning(&self) -> Tuning {
        adjustments::tuning(&self.generation)
    }

    /// Returns these settings for a response that is JSON and satisfies a schema.
    pub(crate) fn for_json(&self, schema: &Value) -> Self {
        let mut settings = self.clone();
        settings.generation.insert("responseMimeType".to_owned(), "application/json".into());
        settings.generation.insert("responseJsonSchema".to_owned(), schema.clone());
        settings
    }
}

/// Cache of the data after the contents: system instruction, tools and settings. It seldom changes,
/// so only the last one is kept.
#[derive(Debug, Default)]
pub(crate) struct SuffixCache {
    last: Mutex<Option<Arc<Suffix>>>,
}

/// Data after the contents.
#[derive(Debug)]
pub(crate) struct Suffix {
    system: Option<Arc<str>>,
    tools: Arc<[Declaration]>,
    settings: Arc<CallSettings>,
    bytes: Bytes,
    names: Arc<Names>,
    sent: Arc<[SentName]>,
    omissions: Arc<[ToolOmission]>,
}

/// Body that is ready to be sent.
#[derive(Debug)]
pub(crate) struct Encoded {
    pub(crate) body: Vec<Bytes>,
    /// Names of the tools that are sent under other names.
    pub(crate) names: Arc<Names>,
    /// Tools in the order in which they are sent.
    pub(crate) tools: Arc<[SentName]>,
}

/// Conversation and tools that are already encoded, shared by all models of a service.
#[derive(Debug)]
pub(crate) struct Encodings {
    pub(crate) parts: PartsCache,
    declarations: DeclarationCache,
}

impl Default for Encodings {
    fn default() -> Self {
        let declarations = DeclarationCache::new(ToolDialect::Gemini);
        Self { parts: PartsCache::default(), declarations }
    }
}

impl Suffix {
    fn serves(&self, request: &ModelRequest, settings: &Arc<CallSettings>) -> bool {
        let same_system = match (&self.system, &request.system) {
            (Some(kept), Some(wanted)) => Arc::ptr_eq(kept, wanted) || kept == wanted,
            (None, None) => true,
            _ => false,
        };
        same_system
            && (Arc::ptr_eq(&self.tools, &request.tools) || self.tools == request.tools)
            && (Arc::ptr_eq(&self.settings, settings) || self.settings == *settings)
    }
}

impl SuffixCache {
    fn get(
        &self,
        request: &ModelRequest,
        settings: &Arc<CallSettings>,
        declarations: &DeclarationCache,
    ) -> Result<Arc<Suffix>, serde_json::Error> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(suffix) = last.as_ref().filter(|suffix| suffix.serves(request, settings)) {
            return Ok(Arc::clone(suffix));
        }
        let tools = declarations.prepare(&request.tools)?;
        let suffix = Arc::new(Suffix {
            system: request.system.clone(),
            tools: Arc::clone(&request.tools),
            settings: Arc::clone(settings),
            bytes: encode_suffix(request, &tools, settings)?,
            names: tools.names(),
            sent: tools.sent_names(),
            omissions: tools.omissions,
        });
        *last = Some(Arc::clone(&suffix));
        Ok(suffix)
    }
}

/// Returns the body of `generateContent` and `streamGenerateContent`, in pieces.
pub(crate) fn encode(
    request: &ModelRequest,
    settings: &Arc<CallSettings>,
    encodings: &Encodings,
    suffixes: &SuffixCache,
) -> Result<Encoded, serde_json::Error> {
    let suffix = suffixes.get(request, settings, &encodings.declarations)?;
    report_omissions(request, &suffix.omissions);
    let mut body = Body::default();
    body.text(r#"{"contents":"#);
    encodings.parts.write_contents(&mut body, &request.entries, takes(&settings.model))?;
    body.bytes(&suffix.bytes);
    let (names, tools) = (Arc::clone(&suffix.names), Arc::clone(&suffix.sent));
    Ok(Encoded { body: body.finish(), names, tools })
}

/// Returns the requirements of the model that receives a conversation.
fn takes(model: &str) -> Takes {
    Takes {
        signatures: names::wants_signatures(model),
        nested_media: names::limits(model).media_in_responses,
    }
}

/// Returns the body of `countTokens`: the contents alone, as Gemini CLI counts them.
pub(crate) fn encode_count(
    request: &ModelRequest,
    settings: &CallSettings,
    parts: &PartsCache,
) -> Result<Vec<Bytes>, serde_json::Error> {
    let mut body = Body::default();
    body.text(r#"{"contents":"#);
    parts.write_contents(&mut body, &request.entries, takes(&settings.model))?;
    body.text("}");
    Ok(body.finish())
}

/// Returns the rest of the body after the contents, from the comma to the closing brace.
fn encode_suffix(
    request: &ModelRequest,
    offered: &SentTools<'_>,
    settings: &CallSettings,
) -> Result<Bytes, serde_json::Error> {
    let mut json = serde_json::to_vec(&SuffixKeys { request, offered, settings })?;
    match json.as_slice() {
        b"{}" => json.remove(0),
        _ => std::mem::replace(&mut json[0], b','),
    };
    Ok(json.into())
}

/// Keys of the suffix as an object.
struct SuffixKeys<'a> {
    request: &'a ModelRequest,
    offered: &'a SentTools<'a>,
    settings: &'a CallSettings,
}

impl Serialize for SuffixKeys<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { request, offered, settings } = self;
        let mut map = serializer.serialize_map(None)?;
        if let Some(system) = request.system.as_deref().filter(|system| !system.is_empty()) {
            let instruction = SystemInstruction { parts: [Text { text: system }], role: "user" };
            map.serialize_entry("systemInstruction", &instruction)?;
        }
        if let Some(safety) = &settings.safety {
            map.serialize_entry("safetySettings", safety)?;
        }
        if !offered.is_empty() {
            let function_declarations = offered.iter().map(WireDeclaration::from).collect();
            map.serialize_entry("tools", &[WireTools { function_declarations }])?;
        } else if let Some(tools) = &settings.tools {
            map.serialize_entry("tools", tools)?;
        }
        if let Some(tool_config) = &settings.tool_config {
            map.serialize_entry("toolConfig", tool_config)?;
        }
        if let Some(cached_content) = &settings.cached_content {
            map.serialize_entry("cachedContent", cached_content)?;
        }
        if !settings.generation.is_empty() {
            map.serialize_entry("generationConfig", &InOrder(&settings.generation))?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct SystemInstruction<'a> {
    parts: [Text<'a>; 1],
    role: &'static str,
}

#[derive(Serialize)]
struct Text<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireTools<'a> {
    function_declarations: Vec<WireDeclaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireDeclaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: &'a RawValue,
}

impl<'a> From<SentTool<'a>> for WireDeclaration<'a> {
    fn from(tool: SentTool<'a>) -> Self {
        Self {
            name: tool.name,
            description: &tool.declaration.description,
            parameters_json_schema: tool.parameters,
        }
    }
}

/// Keys of `generationConfig` in the order in which they are sent.
struct InOrder<'a>(&'a Map<String, Value>);

impl Serialize for InOrder<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let present = GENERATION_KEYS.iter().filter_map(|key| Some((key, self.0.get(*key)?)));
        serializer.collect_map(present)
    }
}

#[cfg(test)]
mod tests;
