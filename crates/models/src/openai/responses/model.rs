//! One model of a service.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{
    Adjustments, CancellationToken, ChunkStream, JsonRequest, Model, ModelError, ModelLimits,
    ModelRequest, ResponseChunk, Usage,
};
use serde_json::{Map, Value};

use super::super::frame::FrameCache;
use super::super::model::{JSON_ATTEMPTS, limits, permitted_tools, tool_choice};
use super::super::service::Service;
use super::answer::{Answer, Reading};
use super::items::Shape;
use super::kept::Origin;
use super::request::{self, CallSettings, Encoded, Encodings};
use super::unsupported::Unsupported;
use crate::adjustments;
use crate::answer_stream::{self, Assembly as _};
use crate::catalog::ModelFacts;
use crate::dialect::Connection;
use crate::exchange::not_encoded;
use crate::json_answer;
use crate::refused_tools::{RefusedTools, SentName};

/// Path of requests.
const PATH: &str = "responses";

/// Model of a service.
#[derive(Debug)]
pub(super) struct ResponsesModel {
    service: Arc<Service>,
    encodings: Arc<Encodings>,
    name: String,
    facts: ModelFacts,
    parameters: Map<String, Value>,
    effort: Option<String>,
    origin: Origin,
    unsupported: Unsupported,
    refused: RefusedTools,
    frames: FrameCache<CallSettings>,
}

impl ResponsesModel {
    /// Creates the model of this name. `config` is the user's configuration of the model, as a
    /// `generateContentConfig`.
    pub(super) fn new(
        service: Arc<Service>,
        encodings: Arc<Encodings>,
        name: &str,
        config: &Map<String, Value>,
    ) -> Self {
        let Connection { vendor, endpoint, .. } = &service.connection;
        let facts = vendor.facts(name);
        let sender = endpoint.gateway().unwrap_or_else(|| vendor.id.clone());
        Self {
            name: name.to_owned(),
            parameters: request::configured(config),
            effort: request::effort(config),
            origin: Origin { service: sender.into(), model: name.into() },
            unsupported: Unsupported::new(facts.reasoning != Some(false)),
            refused: RefusedTools::default(),
            frames: FrameCache::default(),
            facts,
            encodings,
            service,
        }
    }

    /// Returns the known limits of the model.
    pub(super) fn limits(&self) -> ModelLimits {
        ModelLimits { media_in_responses: true, ..limits(self.service.context(&self.name)) }
    }

    /// Returns the settings of a streamed request.
    fn settings(&self) -> CallSettings {
        CallSettings {
            model: self.name.clone(),
            parameters: self.parameters.clone(),
            effort: self.effort.clone(),
            tool_choice: None,
            schema: None,
            stream: true,
            shape: Shape {
                vision: self.facts.vision != Some(false),
                documents: self.service.connection.vendor.quirks.documents,
                origin: Some(self.origin.clone()),
            },
            extras: self.unsupported.extras(),
        }
    }

    /// Returns the settings with the per-request overrides.
    fn adjusted(&self, adjustments: &Adjustments) -> CallSettings {
        let mut settings = self.settings();
        let figures = adjustments::figures(&adjustments.tuning);
        let figures = figures.map(|(key, figure)| (key.to_owned(), figure)).collect();
        settings.parameters.extend(request::configured(&figures));
        let limit = adjustments.output_limit;
        adjustments::limit_output(&mut settings.parameters, request::OUTPUT_LIMIT, limit);
        settings.schema = adjustments.schema.as_deref().cloned();
        settings.tool_choice = tool_choice(adjustments);
        settings
    }

    fn encode(
        &self,
        request: &ModelRequest,
        settings: CallSettings,
        frames: &FrameCache<CallSettings>,
    ) -> Result<Encoded, ModelError> {
        let forgotten = self.unsupported.forgotten();
        request::encode(request, settings, forgotten, &self.encodings, frames)
            .map_err(|error| not_encoded(&error))
    }

    fn reading(&self, encoded: &Encoded) -> Reading {
        Reading {
            origin: self.origin.clone(),
            names: Arc::clone(&encoded.names),
            refusals: Arc::clone(&self.service.refusals),
        }
    }

    /// True if a request that was refused can be sent again, in another form.
    fn can_repeat(&self, request: &ModelRequest, tools: &[SentName], error: &ModelError) -> bool {
        self.refused.learn(error, tools)
            || self.unsupported.learn(error, request.entries.iter().map(Arc::as_ref))
    }

    /// Sends a request and reads the response.
    async fn attempt(
        &self,
        request: &ModelRequest,
        encoded: Encoded,
        cancel: &CancellationToken,
    ) -> Result<ChunkStream, ModelError> {
        let reading = self.reading(&encoded);
        let Encoded { body, tokens, .. } = encoded;
        self.service.check_size(&self.name, tokens, cancel).await?;
        let on_retry = request.on_retry.as_ref();
        let call = self.service.ask_model(PATH, &self.name, body, on_retry, cancel);
        let response = self.service.open(call.within(request.max_attempts)).await?;
        // Some servers load the model only now and choose its context size then.
        self.service.check_size(&self.name, tokens, cancel).await?;
        let retry_fetch_errors = self.service.connection.exchange.retry_fetch_errors;
        Ok(answer_stream::chunks(response, Answer::new(reading), retry_fetch_errors))
    }

    /// Requests a JSON response once.
    async fn attempt_json(
        &self,
        request: &ModelRequest,
        encoded: Encoded,
        cancel: &CancellationToken,
    ) -> Result<ResponseChunk, ModelError> {
        let mut answer = Answer::new(self.reading(&encoded));
        self.service.check_size(&self.name, encoded.tokens, cancel).await?;
        let on_retry = request.on_retry.as_ref();
        let call = self.service.ask_model(PATH, &self.name, encoded.body, on_retry, cancel);
        let call = call.at_most(JSON_ATTEMPTS).within(request.max_attempts);
        self.service.ask(call, |body| answer.take_whole(body)).await
    }
}

#[async_trait]
impl Model for ResponsesModel {
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
        let permitted = permitted_tools(&request, false);
        loop {
            let mut request = permitted.clone();
            self.refused.remove_from(&mut request);
            let settings = self.adjusted(&request.adjustments);
            let encoded = self.encode(&request, settings, &self.frames)?;
            let tools = Arc::clone(&encoded.tools);
            match self.attempt(&request, encoded, &cancel).await {
                Err(error) if self.can_repeat(&request, &tools, &error) => {}
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
        let ask = || async {
            loop {
                let mut request = request.clone();
                self.refused.remove_from(&mut request);
                let schema = Some(schema.clone());
                let settings = CallSettings { schema, stream: false, ..self.settings() };
                let encoded = self.encode(&request, settings, &FrameCache::default())?;
                let tools = Arc::clone(&encoded.tools);
                match self.attempt_json(&request, encoded, &cancel).await {
                    Err(error) if self.can_repeat(&request, &tools, &error) => {}
                    outcome => return outcome,
                }
            }
        };
        let content = self.service.connection.content;
        Box::pin(json_answer::ask(max_attempts, content, &cancel, ask)).await
    }

    /// Returns an estimate.
    async fn count_tokens(
        &self,
        request: ModelRequest,
        _cancel: CancellationToken,
    ) -> Result<u64, ModelError> {
        Ok(self.encode(&request, self.settings(), &self.frames)?.tokens)
    }

    async fn embed(
        &self,
        texts: Vec<String>,
        cancel: CancellationToken,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        self.service.embed(&texts, &cancel).await
    }
}
