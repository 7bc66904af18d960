//! One model of a vendor.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use pollux_protocol::{
    Adjustments, CancellationToken, ChunkStream, JsonRequest, Model, ModelError, ModelLimits,
    ModelRequest, ResponseChunk, ToolMode, Usage,
};
use serde_json::{Map, Value};

use super::answer::{Answer, Reading};
use super::frame::FrameCache;
use super::messages::Shape;
use super::reasoning::ReasoningReturn;
use super::refusal;
use super::request::{self, CallSettings, Encoded, OUTPUT_LIMIT, PARAMETERS};
use super::service::Service;
use crate::adjustments;
use crate::answer_stream::{self, Assembly as _};
use crate::catalog::{ModelFacts, Quirks};
use crate::dialect::Connection;
use crate::exchange::not_encoded;
use crate::json_answer;
use crate::refused_tools::{RefusedTools, SentName};

/// Path of requests.
const PATH: &str = "chat/completions";

/// Maximum number of attempts for a JSON request before the response begins.
pub(super) const JSON_ATTEMPTS: u32 = 5;

/// Model of a vendor.
#[derive(Debug)]
pub(super) struct ChatModel {
    service: Arc<Service>,
    name: String,
    facts: ModelFacts,
    parameters: Map<String, Value>,
    quirks: Arc<Quirks>,
    /// True if tools are part of the text, because the model or its server has no tool support.
    emulated: AtomicBool,
    refused: RefusedTools,
    frames: FrameCache<CallSettings>,
}

/// Returns the limits of a model with a context of this size, in tokens.
pub(crate) fn limits(context: u64) -> ModelLimits {
    ModelLimits {
        context,
        rejects_overflow: true,
        fails_when_cut_off: true,
        ..ModelLimits::default()
    }
}

impl ChatModel {
    /// Creates the model of this name. `config` is the user's configuration of the model, as a
    /// `generateContentConfig`.
    pub(super) fn new(service: Arc<Service>, name: &str, config: &Map<String, Value>) -> Self {
        let facts = service.connection.vendor.facts(name);
        let quirks = Arc::new(service.connection.vendor.quirks.clone());
        let mut parameters = request::parameters(PARAMETERS, config);
        if let (Some(key), Some(limit)) = (&quirks.max_tokens_key, facts.max_output) {
            let limit = parameters.shift_remove(OUTPUT_LIMIT).unwrap_or(limit.into());
            parameters.insert(key.clone(), limit);
        }
        Self {
            name: name.to_owned(),
            parameters,
            quirks,
            emulated: AtomicBool::new(facts.tools == Some(false)),
            refused: RefusedTools::default(),
            facts,
            service,
            frames: FrameCache::default(),
        }
    }

    /// Returns the known limits of the model.
    pub(super) fn limits(&self) -> ModelLimits {
        limits(self.service.context(&self.name))
    }

    fn reasoning_return(&self) -> ReasoningReturn {
        let Connection { endpoint, server, .. } = &self.service.connection;
        match self.quirks.return_reasoning {
            Some(key) => ReasoningReturn::Vendor(key),
            None if endpoint.is_custom() || server.is_some() => {
                ReasoningReturn::Model(self.name.as_str().into())
            }
            None => ReasoningReturn::Never,
        }
    }

    fn shape(&self, emulated: bool) -> Shape {
        Shape {
            emulated,
            vision: self.facts.vision != Some(false),
            documents: self.quirks.documents,
            audio: self.quirks.audio,
            call_ids: self.quirks.call_ids,
            reasoning: self.reasoning_return(),
            user_after_tool: self.quirks.user_after_tool,
        }
    }

    /// Returns the settings of a streamed request.
    fn settings(&self, emulated: bool) -> CallSettings {
        CallSettings {
            model: self.name.clone(),
            parameters: self.parameters.clone(),
            tool_choice: None,
            schema: None,
            stream: true,
            stream_usage: self.service.accepts_stream_options(),
            shape: self.shape(emulated),
            quirks: Arc::clone(&self.quirks),
        }
    }

    /// Returns the settings with the per-request overrides.
    fn adjusted(&self, emulated: bool, adjustments: &Adjustments) -> CallSettings {
        let mut settings = self.settings(emulated);
        let figures = adjustments::figures(&adjustments.tuning);
        let figures = figures.map(|(key, figure)| (key.to_owned(), figure)).collect();
        settings.parameters.extend(request::parameters(PARAMETERS, &figures));
        self.limit_output(&mut settings, adjustments);
        settings.schema = adjustments.schema.as_deref().cloned();
        settings.tool_choice = tool_choice(adjustments);
        settings
    }

    /// Limits the response to what the budget has room for.
    fn limit_output(&self, settings: &mut CallSettings, adjustments: &Adjustments) {
        let key = self.quirks.max_tokens_key.as_deref().unwrap_or(OUTPUT_LIMIT);
        adjustments::limit_output(&mut settings.parameters, key, adjustments.output_limit);
    }

    fn encode(
        &self,
        request: &ModelRequest,
        settings: CallSettings,
        frames: &FrameCache<CallSettings>,
    ) -> Result<Encoded, ModelError> {
        request::encode(request, settings, &self.service.encodings, frames)
            .map_err(|error| not_encoded(&error))
    }

    /// True if a request that was refused can be sent again: without a tool, or with the tools as
    /// a part of the text.
    fn can_repeat(&self, error: &ModelError, tools: &[SentName], emulated: bool) -> bool {
        if emulated || tools.is_empty() || error.refusal.is_none() {
            return false;
        }
        if self.refused.learn(error, tools) {
            return true;
        }
        let says_no_tools = refusal::says_no_tools(&error.message);
        self.emulated.fetch_or(says_no_tools, Ordering::Relaxed);
        says_no_tools
    }

    /// Sends a request and reads the response.
    async fn attempt(
        &self,
        request: &ModelRequest,
        encoded: Encoded,
        emulated: bool,
        cancel: &CancellationToken,
    ) -> Result<ChunkStream, ModelError> {
        let Encoded { body, tokens, names, .. } = encoded;
        self.service.check_size(&self.name, tokens, cancel).await?;
        let call =
            self.service.ask_model(PATH, &self.name, body, request.on_retry.as_ref(), cancel);
        let response = self.service.open(call.within(request.max_attempts)).await?;
        // Some servers load the model only now and choose its context size then.
        self.service.check_size(&self.name, tokens, cancel).await?;
        let reading = Reading {
            emulated,
            reasoning: self.reasoning_return(),
            names,
            refusals: Arc::clone(&self.service.refusals),
        };
        let retry_fetch_errors = self.service.connection.exchange.retry_fetch_errors;
        Ok(answer_stream::chunks(response, Answer::new(reading), retry_fetch_errors))
    }
}

/// Returns the value of `tool_choice`; `None` if the model may choose.
pub(super) fn tool_choice(adjustments: &Adjustments) -> Option<&'static str> {
    match adjustments.tool_choice.as_ref()?.mode {
        ToolMode::Auto => None,
        ToolMode::Any => Some("required"),
        ToolMode::None => Some("none"),
    }
}

/// Returns the request with only the tools that may be called. The dialect has no list of allowed
/// names, and tools that are part of the text cannot be forbidden in another way.
pub(crate) fn permitted_tools(request: &ModelRequest, emulated: bool) -> ModelRequest {
    let mut narrowed = request.clone();
    match &request.adjustments.tool_choice {
        Some(choice) if choice.mode == ToolMode::None && emulated => {
            narrowed.tools = Arc::default();
        }
        Some(choice) if choice.mode == ToolMode::Any && !choice.allowed.is_empty() => {
            let tools = request.tools.iter().filter(|tool| choice.allowed.contains(&tool.name));
            narrowed.tools = tools.cloned().collect();
        }
        _ => {}
    }
    narrowed
}

#[async_trait]
impl Model for ChatModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn vendor(&self) -> &str {
        self.service.connection.vendor.price_list()
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ChunkStream, ModelError> {
        loop {
            let emulated = self.emulated.load(Ordering::Relaxed);
            let mut accepted = permitted_tools(&request, emulated);
            self.refused.remove_from(&mut accepted);
            let settings = self.adjusted(emulated, &accepted.adjustments);
            let asks_usage = settings.stream_usage;
            let encoded = self.encode(&accepted, settings, &self.frames)?;
            let tools = Arc::clone(&encoded.tools);
            match self.attempt(&accepted, encoded, emulated, &cancel).await {
                Err(error) if asks_usage && self.service.learn_stream_options(&error) => {}
                Err(error) if self.can_repeat(&error, &tools, emulated) => {}
                outcome => return outcome,
            }
        }
    }

    async fn generate(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ResponseChunk, ModelError> {
        answer_stream::whole(self.stream(request, cancel.clone()), &cancel).await
    }

    async fn generate_json(
        &self,
        request: JsonRequest,
        cancel: CancellationToken,
    ) -> Result<(Value, Usage), ModelError> {
        let JsonRequest { request, schema, max_attempts } = request;
        let emulated = self.emulated.load(Ordering::Relaxed);
        let mut settings =
            CallSettings { schema: Some(schema), stream: false, ..self.settings(emulated) };
        self.limit_output(&mut settings, &request.adjustments);
        let encoded = self.encode(&request, settings, &FrameCache::default())?;
        self.service.check_size(&self.name, encoded.tokens, &cancel).await?;
        let reading =
            Reading { refusals: Arc::clone(&self.service.refusals), ..Reading::default() };
        let ask = || {
            let (body, on_retry) = (encoded.body.clone(), request.on_retry.as_ref());
            let call = self.service.ask_model(PATH, &self.name, body, on_retry, &cancel);
            let call = call.at_most(JSON_ATTEMPTS).within(request.max_attempts);
            let mut answer = Answer::new(reading.clone());
            async move { self.service.ask(call, |body| answer.take_whole(body)).await }
        };
        let content = self.service.connection.content;
        Box::pin(json_answer::ask(max_attempts, content, &cancel, ask)).await
    }

    /// Returns an estimate, because the dialect has no method to count tokens.
    async fn count_tokens(
        &self,
        request: ModelRequest,
        _cancel: CancellationToken,
    ) -> Result<u64, ModelError> {
        let settings = self.settings(self.emulated.load(Ordering::Relaxed));
        Ok(self.encode(&request, settings, &self.frames)?.tokens)
    }

    async fn embed(
        &self,
        texts: Vec<String>,
        cancel: CancellationToken,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        self.service.embed(&texts, &cancel).await
    }
}
