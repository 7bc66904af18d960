//! One model of the service.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use pollux_protocol::{
    Adjustments, CancellationToken, ChunkStream, JsonRequest, Model, ModelError, ModelRequest,
    ModelRole, ResponseChunk, Tuning, Usage,
};
use serde_json::Value;

use super::embed;
use super::request::{self, CallSettings, Encoded, SuffixCache};
use super::service::{Method, MethodCall, Service, decode_total};
use super::stream::{self, decode_body};
use crate::configs::Purpose;
use crate::exchange::{Call, not_encoded};
use crate::json_answer;
use crate::refused_tools::RefusedTools;

/// Maximum number of attempts for a JSON request before the response begins.
const JSON_ATTEMPTS: u32 = 5;

/// Model (or alias) of the service.
#[derive(Debug)]
pub(super) struct GeminiModel {
    service: Arc<Service>,
    /// Name by which the configuration is looked up.
    alias: String,
    /// Model that is used unless an override names another one.
    name: String,
    settings: Mutex<HashMap<(ModelRole, bool), Arc<CallSettings>>>,
    refused: RefusedTools,
    suffixes: SuffixCache,
}

impl GeminiModel {
    /// Creates the model that `alias` names.
    ///
    /// # Errors
    /// The configurations are invalid.
    pub(super) fn new(service: Arc<Service>, alias: &str) -> Result<Self, ModelError> {
        let resolved = service.connection.configs.resolve(alias, Purpose::default());
        let name = CallSettings::new(resolved?).model;
        let settings = Mutex::default();
        Ok(Self {
            service,
            alias: alias.to_owned(),
            name,
            settings,
            refused: RefusedTools::default(),
            suffixes: SuffixCache::default(),
        })
    }

    /// Returns the settings of a request.
    fn settings(&self, request: &ModelRequest) -> Result<Arc<CallSettings>, ModelError> {
        let usual = self.usual_settings(request)?;
        if request.adjustments == Adjustments::default() {
            return Ok(usual);
        }
        Ok(Arc::new(usual.adjusted(&request.adjustments)))
    }

    /// Returns the settings of this kind of request, without per-request overrides.
    fn usual_settings(&self, request: &ModelRequest) -> Result<Arc<CallSettings>, ModelError> {
        let key = (request.role, request.is_retry);
        let mut settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = settings.get(&key) {
            return Ok(Arc::clone(found));
        }
        // Only a subagent has its own scope; all other requests use the scope `core`.
        let scope = (request.role == ModelRole::Subagent).then(|| request.role.as_str());
        let purpose = Purpose { scope, is_retry: request.is_retry };
        let resolved = self.service.connection.configs.resolve(&self.alias, purpose);
        let found = Arc::new(CallSettings::new(resolved?));
        settings.insert(key, Arc::clone(&found));
        Ok(found)
    }

    fn encode(
        &self,
        request: &ModelRequest,
        settings: &Arc<CallSettings>,
        suffixes: &SuffixCache,
    ) -> Result<Encoded, ModelError> {
        request::encode(request, settings, &self.service.encodings, suffixes)
            .map_err(|error| not_encoded(&error))
    }

    /// Returns the request without the tools that the service does not accept.
    fn accepted(&self, request: &ModelRequest) -> ModelRequest {
        let mut accepted = request.clone();
        self.refused.remove_from(&mut accepted);
        accepted
    }

    async fn call<'a>(
        &'a self,
        method: Method,
        settings: &'a CallSettings,
        body: Vec<Bytes>,
        request: &'a ModelRequest,
        cancel: &'a CancellationToken,
    ) -> Result<Call<'a>, ModelError> {
        let call = MethodCall {
            method,
            model: &settings.model,
            body,
            prompt: &request.prompt_id,
            max_attempts: self.service.connection.exchange.max_attempts,
            on_retry: request.on_retry.as_ref(),
            cancel,
        };
        Ok(self.service.call(call).await?.within(request.max_attempts))
    }
}

#[async_trait]
impl Model for GeminiModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn vendor(&self) -> &str {
        self.service.connection.vendor.price_list()
    }

    fn service(&self) -> &str {
        &self.service.connection.vendor.id
    }

    fn tuning(&self, request: &ModelRequest) -> Tuning {
        self.usual_settings(request).map(|settings| settings.tuning()).unwrap_or_default()
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ChunkStream, ModelError> {
        loop {
            let accepted = self.accepted(&request);
            let settings = self.settings(&accepted)?;
            let Encoded { body, names, tools } =
                self.encode(&accepted, &settings, &self.suffixes)?;
            let method = Method::StreamGenerateContent;
            let call = self.call(method, &settings, body, &accepted, &cancel).await?;
            let response = match self.service.connection.exchange.open(call).await {
                Err(error) if self.refused.learn(&error, &tools) => continue,
                response => response?,
            };
            let refusals = Arc::clone(&self.service.refusals);
            let retry_fetch_errors = self.service.connection.exchange.retry_fetch_errors;
            let chunks = stream::chunks(response, refusals, retry_fetch_errors);
            if names.is_empty() {
                return Ok(chunks);
            }
            return Ok(chunks.map_ok(move |chunk| names.restored(chunk)).boxed());
        }
    }

    async fn generate(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ResponseChunk, ModelError> {
        loop {
            let accepted = self.accepted(&request);
            let settings = self.settings(&accepted)?;
            let Encoded { body, names, tools } =
                self.encode(&accepted, &settings, &SuffixCache::default())?;
            let method = Method::GenerateContent;
            let call = self.call(method, &settings, body, &accepted, &cancel).await?;
            let read = |body: &[u8]| decode_body(body, &self.service.refusals);
            match self.service.connection.exchange.ask(call, read).await {
                Err(error) if self.refused.learn(&error, &tools) => {}
                answer => return Ok(names.restored(answer?)),
            }
        }
    }

    async fn generate_json(
        &self,
        request: JsonRequest,
        cancel: CancellationToken,
    ) -> Result<(Value, Usage), ModelError> {
        let JsonRequest { request, schema, max_attempts } = request;
        let settings = Arc::new(self.settings(&request)?.for_json(&schema));
        let body = self.encode(&request, &settings, &SuffixCache::default())?.body;
        let ask = || {
            let method = Method::GenerateContent;
            let call = self.call(method, &settings, body.clone(), &request, &cancel);
            async move {
                let call = call.await?.at_most(JSON_ATTEMPTS);
                let read = |body: &[u8]| decode_body(body, &self.service.refusals);
                self.service.connection.exchange.ask(call, read).await
            }
        };
        json_answer::ask(max_attempts, self.service.connection.content, &cancel, ask).await
    }

    async fn count_tokens(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<u64, ModelError> {
        let settings = self.settings(&request)?;
        let body = request::encode_count(&request, &settings, &self.service.encodings.parts);
        let body = body.map_err(|error| not_encoded(&error))?;
        let call = self.call(Method::CountTokens, &settings, body, &request, &cancel);
        let call = call.await?;
        self.service.connection.exchange.ask(call, decode_total).await
    }

    async fn embed(
        &self,
        texts: Vec<String>,
        cancel: CancellationToken,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        embed::embed(&self.service, &texts, &cancel).await
    }
}
