//! Models for the side calls of an agent.

use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt, stream};
use pollux_protocol::{
    ApprovalMode, CancellationToken, Choice, ChunkStream, JsonRequest, Model, ModelError,
    ModelErrorKind, ModelRequest, Models, Part, ResponseChunk, SelectContext, SideModels, Usage,
};
use serde_json::Value;

use crate::fallback::Fallback;
use crate::turn::Turn;
use crate::watch::{Asked, Watch};

/// Models for the side calls of one agent: its tools, its checks, its summaries. Side calls are
/// reported and charged like the requests of the conversation.
#[derive(Clone)]
pub struct WatchedModels {
    models: Arc<dyn Models>,
    fallback: Arc<Fallback>,
    watch: Watch,
    owner: Arc<Owner>,
}

/// Request on whose behalf side calls are made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Owner {
    /// Requested model of the agent: a name, an alias or `auto`.
    pub(crate) requested: String,
    /// Approval mode of the request.
    pub(crate) mode: ApprovalMode,
    /// Current prompt; empty between prompts.
    pub(crate) prompt_id: String,
    /// System instruction of the request; `None` before the first request.
    pub(crate) instruction: Option<Arc<str>>,
}

impl WatchedModels {
    /// Creates the side models of an agent that has made no request yet. `watch` reports and
    /// charges their requests.
    pub(crate) fn new(
        models: Arc<dyn Models>,
        fallback: Arc<Fallback>,
        watch: Watch,
        owner: Owner,
    ) -> Self {
        Self { models, fallback, watch, owner: Arc::new(owner) }
    }

    /// Returns the same models on behalf of another request of the agent.
    #[must_use]
    pub(crate) fn owned_by(&self, owner: Owner) -> Self {
        Self { owner: Arc::new(owner), ..self.clone() }
    }

    /// Returns the request on whose behalf these models are used.
    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
    }
}

#[async_trait]
impl SideModels for WatchedModels {
    async fn select(&self, alias: &str) -> Result<Choice, ModelError> {
        let context = SelectContext {
            requested: alias.to_owned(),
            mode: self.owner.mode,
            conversation_model: Some(self.owner.requested.clone()),
            tier: None,
        };
        let models = self.models.as_ref();
        let choice = models.select(&context).await?;
        let context = SelectContext { conversation_model: None, ..context };
        let permits = |other: &Choice| self.watch.permits(other);
        let replacement = self.fallback.replacement(models, &context, &choice, permits).await;
        let choice = replacement.unwrap_or(choice);
        let model = Arc::new(WatchedModel {
            key: choice.key(),
            fallback: Arc::clone(&self.fallback),
            inner: choice.model,
            watch: self.watch.clone(),
            prompt_id: self.owner.prompt_id.clone(),
        });
        Ok(Choice { model, ..choice })
    }

    fn instruction(&self) -> Option<Arc<str>> {
        self.owner.instruction.clone()
    }
}

/// Model whose requests are reported.
struct WatchedModel {
    /// [`Choice::key`] of the model.
    key: String,
    fallback: Arc<Fallback>,
    inner: Arc<dyn Model>,
    watch: Watch,
    /// Prompt id for requests without one.
    prompt_id: String,
}

impl WatchedModel {
    fn named(&self, mut request: ModelRequest) -> ModelRequest {
        if request.prompt_id.is_empty() {
            request.prompt_id.clone_from(&self.prompt_id);
        }
        request
    }

    fn asked(&self, request: ModelRequest) -> Asked {
        Asked::new(self.inner.vendor(), self.inner.name(), self.named(request))
    }

    /// Makes one attempt at a JSON answer. Each attempt is a separate request.
    async fn json_once(
        &self,
        request: &JsonRequest,
        cancel: &CancellationToken,
    ) -> Result<(Value, Usage), ModelError> {
        let send = |one| {
            let schema = request.schema.clone();
            let one = JsonRequest { request: one, schema, max_attempts: 1 };
            self.inner.generate_json(one, cancel.clone())
        };
        let shown = |(value, usage): &(Value, Usage)| ResponseChunk {
            parts: vec![Part::text(value.to_string())],
            usage: Some(*usage),
            ..ResponseChunk::default()
        };
        self.whole(request.request.clone(), cancel, send, shown).await
    }

    /// Makes a request whose answer arrives as a whole. `shown` converts the answer for the
    /// measurements.
    async fn whole<T, F>(
        &self,
        request: ModelRequest,
        cancel: &CancellationToken,
        send: impl FnOnce(ModelRequest) -> F,
        shown: impl FnOnce(&T) -> ResponseChunk,
    ) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, ModelError>>,
    {
        let mut asked = self.asked(request);
        let answer = self.watch.open(&mut asked, cancel, send).await;
        let mut turn = Turn::default();
        match &answer {
            Ok(answer) => drop(turn.take(shown(answer))),
            Err(error) => self.fallback.failed(&self.key, error),
        }
        self.watch.close(&mut asked, &turn, answer.as_ref().err());
        answer
    }
}

#[async_trait]
impl Model for WatchedModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn vendor(&self) -> &str {
        self.inner.vendor()
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ChunkStream, ModelError> {
        let mut asked = self.asked(request);
        let send = |request| self.inner.stream(request, cancel.clone());
        let inner = match self.watch.open(&mut asked, &cancel, send).await {
            Ok(inner) => inner,
            Err(error) => {
                self.fallback.failed(&self.key, &error);
                self.watch.close(&mut asked, &Turn::default(), Some(&error));
                return Err(error);
            }
        };
        let watch = self.watch.clone();
        let watched = Watched { inner, watch, asked, turn: Turn::default(), cancel };
        let chunks = stream::unfold(Some(watched), |watched| async { watched?.next().await });
        Ok(chunks.boxed())
    }

    async fn generate(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<ResponseChunk, ModelError> {
        let send = |request| self.inner.generate(request, cancel.clone());
        self.whole(request, &cancel, send, ResponseChunk::clone).await
    }

    async fn generate_json(
        &self,
        request: JsonRequest,
        cancel: CancellationToken,
    ) -> Result<(Value, Usage), ModelError> {
        let mut attempt = 1;
        loop {
            let answer = self.json_once(&request, &cancel).await;
            let unusable = answer.as_ref().is_err_and(|error| error.kind == ModelErrorKind::Broken);
            // A broken connection may be retried, unlike an answer of another form.
            if answer.as_ref().is_err_and(|error| unusable && !error.retryable) {
                self.watch.malformed(self.inner.name());
            }
            if !unusable || attempt >= request.max_attempts || cancel.is_cancelled() {
                return answer;
            }
            attempt += 1;
        }
    }

    /// Counts tokens. This does not appear as a request in the measurements.
    async fn count_tokens(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> Result<u64, ModelError> {
        self.inner.count_tokens(request, cancel).await
    }

    /// Embeds texts. This does not appear as a request in the measurements.
    async fn embed(
        &self,
        texts: Vec<String>,
        cancel: CancellationToken,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        self.inner.embed(texts, cancel).await
    }
}

/// Answer that is being received.
struct Watched {
    inner: ChunkStream,
    watch: Watch,
    asked: Asked,
    turn: Turn,
    cancel: CancellationToken,
}

impl Watched {
    /// Returns the next chunk, and the state for the chunks after it.
    async fn next(mut self) -> Option<(Result<ResponseChunk, ModelError>, Option<Self>)> {
        let next = self.cancel.run_until_cancelled(self.inner.next()).await;
        match next.unwrap_or_else(|| Some(Err(ModelError::cancelled()))) {
            Some(Ok(chunk)) => {
                self.turn.take(chunk.clone());
                Some((Ok(chunk), Some(self)))
            }
            Some(Err(error)) => {
                self.watch.close(&mut self.asked, &self.turn, Some(&error));
                Some((Err(error), None))
            }
            None => {
                self.watch.close(&mut self.asked, &self.turn, None);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;
