//! One model of a vendor.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use pollux_protocol::{
    Adjustments, CancellationToken, ChunkStream, JsonRequest, Model, ModelError, ModelLimits,
    ModelRequest, ModelRole, ResponseChunk, ToolMode, Usage,
};
use serde_json::{Map, Value};

use super::answer::{Answer, Reading};
use super::blocks::Shape;
use super::concessions::{Concession, Concessions};
use super::parameters::Parameters;
use super::pause::{Asked, Paused};
use super::request::{self, CallSettings, Encoded, FrameCache, Opening};
use super::service::{ResponseForm, Service};
use crate::adjustments;
use crate::answer_stream::{self, Assembly as _};
use crate::catalog::{ModelFacts, UNKNOWN_CONTEXT};
use crate::exchange::not_encoded;
use crate::json_answer;
use crate::openai::{limits, permitted_tools};
use crate::refused_tools::{RefusedTools, SentName};

/// Maximum number of attempts for a JSON request before the response begins.
const JSON_ATTEMPTS: u32 = 5;

/// Maximum number of concessions to one request.
const MAX_CONCESSIONS: usize = 16;

/// Model of a vendor.
#[derive(Debug)]
pub(super) struct MessagesModel {
    service: Arc<Service>,
    name: String,
    facts: ModelFacts,
    parameters: Parameters,
    concessions: Mutex<Concessions>,
    refused: RefusedTools,
    frames: FrameCache,
}

impl MessagesModel {
    /// Creates the model of this name. `config` is the user's configuration of the model, as a
    /// `generateContentConfig`.
    pub(super) fn new(service: Arc<Service>, name: &str, config: &Map<String, Value>) -> Self {
        let facts = service.connection.vendor.facts(name);
        Self {
            name: name.to_owned(),
            parameters: Parameters::new(config, facts),
            facts,
            service,
            concessions: Mutex::default(),
            refused: RefusedTools::default(),
            frames: FrameCache::default(),
        }
    }

    /// Returns the known limits of the model.
    pub(super) fn limits(&self) -> ModelLimits {
        let context = self.facts.context.unwrap_or(UNKNOWN_CONTEXT);
        ModelLimits { media_in_responses: true, ..limits(context) }
    }

    /// Returns the settings of a streamed request, with the overrides of this request.
    fn settings(&self, role: ModelRole, adjustments: &Adjustments) -> CallSettings {
        let mut parameters = self.parameters.clone();
        let figures = adjustments::figures(&adjustments.tuning);
        parameters.extend(&figures.map(|(key, figure)| (key.to_owned(), figure)).collect());
        if let Some(limit) = adjustments.output_limit {
            parameters.limit_output(limit);
        }
        let choice = adjustments.tool_choice.as_ref().map(|choice| choice.mode);
        if choice == Some(ToolMode::Any) {
            parameters.require_call();
        }
        let mut settings = CallSettings {
            opening: match &self.service.connection.vendor.body_version {
                Some(version) => Opening::Version(version.clone()),
                None => Opening::Model(self.name.clone()),
            },
            parameters,
            tool_choice: choice.and_then(|mode| match mode {
                ToolMode::Auto => None,
                ToolMode::Any => Some("any"),
                ToolMode::None => Some("none"),
            }),
            schema: adjustments.schema.as_deref().cloned(),
            stream: true,
            // Only a conversation continues. What others write to the cache is never read.
            breakpoints: matches!(role, ModelRole::Main | ModelRole::Subagent),
            shape: Shape {
                thoughts_of: Some(self.name.as_str().into()),
                vision: self.facts.vision != Some(false),
                documents: self.service.connection.vendor.quirks.documents,
            },
        };
        self.concessions().apply(&mut settings);
        settings
    }

    fn concessions(&self) -> MutexGuard<'_, Concessions> {
        self.concessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn encode(
        &self,
        request: &ModelRequest,
        settings: CallSettings,
        frames: &FrameCache,
    ) -> Result<Encoded, ModelError> {
        request::encode(request, settings, &self.service.encodings, frames)
            .map_err(|error| not_encoded(&error))
    }

    fn reading(&self, encoded: &Encoded) -> Reading {
        Reading {
            model: self.name.clone(),
            names: Arc::clone(&encoded.names),
            refusals: Arc::clone(&self.service.refusals),
            paused: Paused::default(),
        }
    }

    /// Changes the following requests if the service has refused one because of something that can
    /// be left out. Returns false if there is no such thing.
    fn concede(&self, error: &ModelError, tools: &[SentName]) -> bool {
        if self.refused.learn(error, tools) {
            return true;
        }
        let refusal = error.refusal.as_ref().filter(|refusal| matches!(refusal.status, 400 | 422));
        match refusal.and_then(|refusal| Concession::of(&refusal.message)) {
            Some(Concession::Version) => self.service.change_version(),
            Some(concession) => self.concessions().make(&concession),
            None => false,
        }
    }

    /// Returns the request without the tools that the service does not accept.
    fn accepted(&self, request: &ModelRequest) -> ModelRequest {
        let mut accepted = permitted_tools(request, false);
        self.refused.remove_from(&mut accepted);
        accepted
    }
}

#[async_trait]
impl Model for MessagesModel {
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
        let mut concessions = 0;
        loop {
            let accepted = self.accepted(&request);
            let settings = self.settings(accepted.role, &accepted.adjustments);
            let encoded = self.encode(&accepted, settings, &self.frames)?;
            let tools = Arc::clone(&encoded.tools);
            let asked = Asked {
                service: Arc::clone(&self.service),
                reading: self.reading(&encoded),
                request: encoded,
                max_attempts: accepted.max_attempts,
                on_retry: accepted.on_retry,
                cancel: cancel.clone(),
            };
            match asked.answer().await {
                Err(error) if concessions < MAX_CONCESSIONS && self.concede(&error, &tools) => {
                    concessions += 1;
                }
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
        let frames = FrameCache::default();
        let ask = || async {
            let mut concessions = 0;
            loop {
                let settings = self.settings(request.role, &request.adjustments);
                let schema = Some(schema.clone());
                let settings = CallSettings { schema, stream: false, ..settings };
                let encoded = self.encode(&request, settings, &frames)?;
                let (body, on_retry) = (encoded.body(), request.on_retry.as_ref());
                let form = ResponseForm::Whole;
                let call = self.service.messages(form, &self.name, body, on_retry, &cancel);
                let call = call.at_most(JSON_ATTEMPTS).within(request.max_attempts);
                let exchange = &self.service.connection.exchange;
                let mut answer = Answer::new(self.reading(&encoded));
                match exchange.ask(call, |body| answer.take_whole(body)).await {
                    Err(error)
                        if concessions < MAX_CONCESSIONS
                            && self.concede(&error, &encoded.tools) =>
                    {
                        concessions += 1;
                    }
                    outcome => return outcome,
                }
            }
        };
        let content = self.service.connection.content;
        Box::pin(json_answer::ask(max_attempts, content, &cancel, ask)).await
    }

    /// Returns an estimate: the method of the service that counts tokens costs a request, and
    /// gateways do not have it.
    async fn count_tokens(
        &self,
        request: ModelRequest,
        _cancel: CancellationToken,
    ) -> Result<u64, ModelError> {
        let settings = self.settings(request.role, &request.adjustments);
        Ok(self.encode(&request, settings, &self.frames)?.tokens)
    }

    async fn embed(
        &self,
        _texts: Vec<String>,
        _cancel: CancellationToken,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        let name = &self.service.connection.vendor.name;
        let message = format!("{name} is not known to support embeddings.");
        Err(ModelError::new(pollux_protocol::ModelErrorKind::Config, message))
    }
}
