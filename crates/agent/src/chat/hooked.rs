//! Hooks around a request: they may change it before it is sent, and replace parts of its answer.

use std::sync::Arc;

use pollux_hooks::llm::{self, RequestChange};
use pollux_protocol::{
    CancellationToken, Choice, Event, HookEvent, HookPayload, ModelRequest, Models, ResponseChunk,
    SelectContext, Severity, ToolChoice, ToolMode,
};
use serde_json::Value;

use super::Chat;
use crate::hook_events::HookEvents;
use crate::loop_guard::Finding;

/// Intervention in a request or its answer, by a hook or by the loop guard.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Interference {
    /// All work must stop, for this reason.
    Stopped(String),
    /// The request or the answer was blocked. A given answer replaces it.
    Blocked(Option<Box<ResponseChunk>>),
    /// The answer repeated itself and was cut off.
    Looped(Finding),
}

/// Hooks around the requests of a conversation.
#[derive(Clone)]
pub(super) struct Hooked {
    pub(super) events: HookEvents,
    /// Resolves a model that a hook requests instead.
    pub(super) models: Arc<dyn Models>,
}

/// Request as it is sent, with its description for the hooks that see the answer.
pub(super) struct Prepared {
    pub(super) choice: Choice,
    pub(super) request: ModelRequest,
    /// `None` if there are no `AfterModel` hooks.
    pub(super) reported: Option<Value>,
}

impl Chat {
    /// Lets hooks inspect and change a request.
    ///
    /// # Errors
    /// Returns the intervention if the request must not be sent.
    pub(super) async fn before(
        &self,
        choice: Choice,
        request: ModelRequest,
        cancel: &CancellationToken,
    ) -> Result<Prepared, Interference> {
        let mut prepared = Prepared { choice, request, reported: None };
        let Some(hooked) = &self.hooked else { return Ok(prepared) };
        if hooked.events.has(HookEvent::BeforeModel) {
            let payload = HookPayload::BeforeModel { llm_request: prepared.describe() };
            let result = hooked.events.fire(&payload, cancel).await;
            if let Some(reason) = result.stop {
                return Err(Interference::Stopped(reason));
            }
            if let Some(reason) = result.block {
                let answer = result.llm_response.as_ref().and_then(llm::answer);
                return Err(self.block(reason, answer).await);
            }
            if let Some(change) = &result.llm_request {
                self.change(hooked, &mut prepared, &RequestChange::read(change)).await;
            }
        }
        if hooked.events.has(HookEvent::BeforeToolSelection) {
            let payload = HookPayload::BeforeToolSelection { llm_request: prepared.describe() };
            if let Some(choice) = hooked.events.fire(&payload, cancel).await.tool_choice {
                prepared.choose_tools(choice);
            }
        }
        if hooked.events.has(HookEvent::AfterModel) {
            prepared.reported = Some(prepared.describe());
        }
        Ok(prepared)
    }

    /// Lets hooks inspect and replace one chunk of an answer.
    ///
    /// # Errors
    /// Returns the intervention if the chunk must not be shown.
    pub(super) async fn after(
        &self,
        reported: Option<&Value>,
        chunk: ResponseChunk,
        cancel: &CancellationToken,
    ) -> Result<ResponseChunk, Interference> {
        let (Some(hooked), Some(reported)) = (&self.hooked, reported) else { return Ok(chunk) };
        let llm_response = llm::response(&chunk);
        let payload = HookPayload::AfterModel { llm_request: reported.clone(), llm_response };
        let result = hooked.events.fire(&payload, cancel).await;
        let answer = result.llm_response.as_ref().and_then(llm::answer);
        if let Some(reason) = result.stop {
            return Err(Interference::Stopped(reason));
        }
        if let Some(reason) = result.block {
            return Err(self.block(reason, answer).await);
        }
        let Some(answer) = answer else { return Ok(chunk) };
        Ok(ResponseChunk {
            parts: answer.parts,
            finish: answer.finish.or(chunk.finish),
            usage: answer.usage.or(chunk.usage),
            ..chunk
        })
    }

    async fn block(&self, reason: String, answer: Option<ResponseChunk>) -> Interference {
        self.outlet.emit(Event::Blocked { reason }).await;
        Interference::Blocked(answer.map(Box::new))
    }

    async fn change(&self, hooked: &Hooked, prepared: &mut Prepared, change: &RequestChange) {
        if let Some(requested) = change.model.clone().filter(|name| *name != prepared.choice.name) {
            let context = SelectContext { requested, ..SelectContext::default() };
            match hooked.models.select(&context).await {
                Ok(choice) => prepared.choice = choice,
                Err(error) => {
                    let text = format!(
                        "Cannot use the model {} that a hook requests: {error}",
                        context.requested
                    );
                    self.outlet.emit(Event::Notice { severity: Severity::Warning, text }).await;
                }
            }
        }
        if let Some(entries) = change.apply(&prepared.request.entries) {
            prepared.request.entries = entries;
        }
        prepared.request.adjustments.tuning = change.tuning.clone();
    }
}

impl Prepared {
    fn describe(&self) -> Value {
        let asked = self.choice.model.tuning(&self.request);
        let tuning = self.request.adjustments.tuning.clone().over(asked);
        llm::request(&self.choice.name, &self.request.entries, &tuning)
    }

    /// Applies a hook's choice of tools. In mode `Auto`, the model is offered fewer tools. In the
    /// other modes, the choice is sent as a parameter of the request.
    fn choose_tools(&mut self, mut choice: ToolChoice) {
        let tools = &self.request.tools;
        choice.allowed.retain(|name| tools.iter().any(|tool| tool.name == *name));
        match choice.mode {
            ToolMode::Auto if choice.allowed.is_empty() => {}
            ToolMode::Auto => {
                let allowed = tools.iter().filter(|tool| choice.allowed.contains(&tool.name));
                self.request.tools = allowed.cloned().collect();
            }
            ToolMode::Any | ToolMode::None => self.request.adjustments.tool_choice = Some(choice),
        }
    }
}
