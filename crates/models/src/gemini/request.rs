//! Body of a request: `contents`, then the data that is the same in every turn.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use pollux_protocol::{Adjustments, Declaration, ModelRequest, Tuning};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value};

use super::contents::{PartsCache, Takes};
use crate::adjustments;
use crate::body::Body;
use crate::configs::Resolved;
use crate::names;

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
        if let Some(choice) = &adjustments.tool_choice {
            settings.tool_config = Some(adjustments::tool_config(choice));
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
    last: Mutex<Option<Suffix>>,
}

#[derive(Debug)]
struct Suffix {
    system: Option<Arc<str>>,
    tools: Arc<[Declaration]>,
    settings: Arc<CallSettings>,
    bytes: Bytes,
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
    ) -> Result<Bytes, serde_json::Error> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(suffix) = last.as_ref().filter(|suffix| suffix.serves(request, settings)) {
            return Ok(suffix.bytes.clone());
        }
        let bytes = encode_suffix(request, settings)?;
        *last = Some(Suffix {
            system: request.system.clone(),
            tools: Arc::clone(&request.tools),
            settings: Arc::clone(settings),
            bytes: bytes.clone(),
        });
        Ok(bytes)
    }
}

/// Returns the body of `generateContent` and `streamGenerateContent`, in pieces.
pub(crate) fn encode(
    request: &ModelRequest,
    settings: &Arc<CallSettings>,
    parts: &PartsCache,
    suffixes: &SuffixCache,
) -> Result<Vec<Bytes>, serde_json::Error> {
    let suffix = suffixes.get(request, settings)?;
    let mut body = Body::default();
    body.text(r#"{"contents":"#);
    parts.write_contents(&mut body, &request.entries, takes(&settings.model))?;
    body.bytes(&suffix);
    Ok(body.finish())
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
    settings: &CallSettings,
) -> Result<Bytes, serde_json::Error> {
    let mut json = serde_json::to_vec(&SuffixKeys { request, settings })?;
    match json.as_slice() {
        b"{}" => json.remove(0),
        _ => std::mem::replace(&mut json[0], b','),
    };
    Ok(json.into())
}

/// Keys of the suffix as an object.
struct SuffixKeys<'a> {
    request: &'a ModelRequest,
    settings: &'a CallSettings,
}

impl Serialize for SuffixKeys<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { request, settings } = self;
        let mut map = serializer.serialize_map(None)?;
        if let Some(system) = request.system.as_deref().filter(|system| !system.is_empty()) {
            let instruction = SystemInstruction { parts: [Text { text: system }], role: "user" };
            map.serialize_entry("systemInstruction", &instruction)?;
        }
        if let Some(safety) = &settings.safety {
            map.serialize_entry("safetySettings", safety)?;
        }
        if !request.tools.is_empty() {
            let function_declarations = request.tools.iter().map(WireDeclaration::from).collect();
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
    parameters_json_schema: &'a Value,
}

impl<'a> From<&'a Declaration> for WireDeclaration<'a> {
    fn from(declaration: &'a Declaration) -> Self {
        Self {
            name: &declaration.name,
            description: &declaration.description,
            parameters_json_schema: &declaration.parameters,
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
