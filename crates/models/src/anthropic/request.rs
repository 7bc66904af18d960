//! Body of a request: the data that is the same in every turn, then the messages.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use pollux_protocol::{Declaration, ModelRequest, ToolOmission, estimate};
use serde_json::{Map, Value, json};

use super::blocks::Shape;
use super::messages::{BREAKPOINT, BlocksCache};
use super::parameters::Parameters;
use crate::body::Body;
use crate::declarations::{DeclarationCache, SentTool, SentTools, report_omissions};
use crate::openai::json_schema;
use crate::refused_tools::SentName;
use crate::tool_names::Names;
use crate::tool_schema::ToolDialect;

/// End of a body.
const END: &str = "]}";

/// Settings of one kind of request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallSettings {
    pub(super) opening: Opening,
    pub(super) parameters: Parameters,
    /// `none` or `any`; `None` if the model may choose.
    pub(super) tool_choice: Option<&'static str>,
    /// Schema of a JSON response.
    pub(super) schema: Option<Value>,
    pub(super) stream: bool,
    /// True if the service is asked to cache the request for the next one.
    pub(super) breakpoints: bool,
    pub(super) shape: Shape,
}

/// First key of a body.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Opening {
    /// Name of the model at the vendor.
    Model(String),
    /// Version of the API, for a service whose paths name the model.
    Version(String),
}

impl Opening {
    /// Returns the key and its value.
    fn pair(&self) -> (&'static str, &str) {
        match self {
            Self::Model(name) => ("model", name),
            Self::Version(version) => ("anthropic_version", version),
        }
    }
}

/// Body that is ready to be sent.
#[derive(Debug, Clone)]
pub(super) struct Encoded {
    /// Body without its end.
    open: Vec<Bytes>,
    /// Estimated number of tokens.
    pub(super) tokens: u64,
    pub(super) names: Arc<Names>,
    /// The tools, in the order in which they are sent.
    pub(super) tools: Arc<[SentName]>,
}

impl Encoded {
    /// Returns the body.
    pub(super) fn body(&self) -> Vec<Bytes> {
        let end = Bytes::from_static(END.as_bytes());
        self.open.iter().cloned().chain([end]).collect()
    }

    /// Returns the request that lets the model continue after these blocks of its response.
    pub(super) fn continued(mut self, blocks: &[Value]) -> Self {
        let message = json!({"role": "assistant", "content": blocks});
        self.open.push(format!(",{message}").into());
        self
    }
}

/// Conversation and tools that are already encoded, shared by all models of a vendor.
#[derive(Debug)]
pub(super) struct Encodings {
    blocks: BlocksCache,
    declarations: DeclarationCache,
}

impl Default for Encodings {
    fn default() -> Self {
        let declarations = DeclarationCache::new(ToolDialect::Anthropic);
        Self { blocks: BlocksCache::default(), declarations }
    }
}

/// Cache of the data before the messages. It seldom changes, so only the last one is kept.
#[derive(Debug, Default)]
pub(super) struct FrameCache {
    last: Mutex<Option<Arc<Frame>>>,
}

#[derive(Debug)]
struct Frame {
    system: Option<Arc<str>>,
    declared: Arc<[Declaration]>,
    settings: CallSettings,
    /// Bytes from the opening brace to the bracket that opens the messages.
    head: Bytes,
    tokens: f64,
    names: Arc<Names>,
    tools: Arc<[SentName]>,
    omissions: Arc<[ToolOmission]>,
}

impl Frame {
    fn serves(&self, request: &ModelRequest, settings: &CallSettings) -> bool {
        self.system == request.system
            && (Arc::ptr_eq(&self.declared, &request.tools) || self.declared == request.tools)
            && self.settings == *settings
    }

    fn new(
        request: &ModelRequest,
        settings: CallSettings,
        declarations: &DeclarationCache,
    ) -> Result<Self, serde_json::Error> {
        let tools = declarations.prepare(&request.tools)?;
        let instruction = instruction(request, &settings);
        let mut head = Vec::new();
        let mut push = |bytes: &[u8]| head.extend_from_slice(bytes);
        let (key, value) = settings.opening.pair();
        push(format!(r#"{{"{key}":{}"#, json!(value)).as_bytes());
        if !tools.is_empty() {
            push(br#","tools":"#);
            push(&tool_list(&tools, settings.breakpoints)?);
        }
        if !instruction.trim().is_empty() {
            let block = json!({"type": "text", "text": instruction}).to_string();
            push(br#","system":["#);
            push(breakpoint(&block, settings.breakpoints).as_bytes());
            push(b"]");
        }
        for (key, value) in others(!tools.is_empty(), &settings) {
            push(format!(",{}:{value}", json!(key)).as_bytes());
        }
        push(br#","messages":["#);
        Ok(Self {
            system: request.system.clone(),
            declared: Arc::clone(&request.tools),
            settings,
            head: head.into(),
            tokens: estimate::text(&instruction) + estimate::declarations(&request.tools),
            names: tools.names(),
            tools: tools.sent_names(),
            omissions: tools.omissions,
        })
    }
}

impl FrameCache {
    fn get(
        &self,
        request: &ModelRequest,
        settings: CallSettings,
        declarations: &DeclarationCache,
    ) -> Result<Arc<Frame>, serde_json::Error> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(frame) = last.as_ref().filter(|frame| frame.serves(request, &settings)) {
            return Ok(Arc::clone(frame));
        }
        let frame = Arc::new(Frame::new(request, settings, declarations)?);
        *last = Some(Arc::clone(&frame));
        Ok(frame)
    }
}

/// Encodes the whole body.
pub(super) fn encode(
    request: &ModelRequest,
    settings: CallSettings,
    encodings: &Encodings,
    frames: &FrameCache,
) -> Result<Encoded, serde_json::Error> {
    let frame = frames.get(request, settings, &encodings.declarations)?;
    report_omissions(request, &frame.omissions);
    let mut body = Body::default();
    body.bytes(&frame.head);
    let CallSettings { shape, breakpoints, .. } = &frame.settings;
    let said = encodings.blocks.write(&mut body, &request.entries, shape, *breakpoints)?;
    Ok(Encoded {
        open: body.finish(),
        tokens: (frame.tokens + said) as u64,
        names: Arc::clone(&frame.names),
        tools: Arc::clone(&frame.tools),
    })
}

/// Returns the instruction, with the schema of a JSON response. All models understand it; the
/// parameter of newer models accepts only some schemas.
fn instruction(request: &ModelRequest, settings: &CallSettings) -> String {
    let system = request.system.as_deref().unwrap_or_default();
    let Some(schema) = &settings.schema else { return system.to_owned() };
    let schema = json_schema(schema);
    let separator = if system.is_empty() { "" } else { "\n\n" };
    format!(
        "{system}{separator}Answer with exactly one JSON object that satisfies this JSON schema:\n{schema}"
    )
}

/// Returns the tools; the last one is a breakpoint of the cache.
fn tool_list(tools: &SentTools<'_>, breakpoints: bool) -> Result<Vec<u8>, serde_json::Error> {
    let mut list = b"[".to_vec();
    let mut written = Vec::new();
    for SentTool { declaration, name, parameters } in tools.iter() {
        let mut tool = Map::from_iter([("name".to_owned(), Value::from(name))]);
        if !declaration.description.is_empty() {
            tool.insert("description".to_owned(), declaration.description.as_str().into());
        }
        let tool = serde_json::to_string(&tool)?;
        let open = tool.strip_suffix('}').unwrap_or(&tool);
        written.push(format!(r#"{open},"input_schema":{parameters}}}"#));
    }
    if let Some(last) = written.last_mut() {
        *last = breakpoint(last, breakpoints);
    }
    list.extend_from_slice(written.join(",").as_bytes());
    list.push(b']');
    Ok(list)
}

/// Returns a JSON object as a breakpoint of the cache, if it is to be one.
fn breakpoint(object: &str, is_breakpoint: bool) -> String {
    match object.strip_suffix('}').filter(|_| is_breakpoint) {
        Some(open) => format!("{open}{BREAKPOINT}"),
        None => object.to_owned(),
    }
}

/// Returns the keys beside tools, instruction and messages.
fn others(has_tools: bool, settings: &CallSettings) -> Map<String, Value> {
    let mut others = settings.parameters.keys();
    if let Some(choice) = settings.tool_choice.filter(|_| has_tools) {
        others.insert("tool_choice".to_owned(), json!({ "type": choice }));
    }
    if settings.stream {
        others.insert("stream".to_owned(), true.into());
    }
    others
}

#[cfg(test)]
mod tests;
