//! One request of an agent and the handling of its answer.

use std::sync::Arc;

use pollux_protocol::{
    Adjustments, Call, CallRecord, CallStatus, CancellationToken, Choice, Event, FinishReason,
    InvalidStream, ModelError, ModelErrorKind, ModelRequest, PromptOutcome, UsageReport,
};

use super::{AgentLoop, End};
use crate::chat::{Answer, Interference};
use crate::fitting::{Cause, NoRoom, Occasion};
use crate::loop_guard::Finding;
use crate::prompt_run::PromptRun;
use crate::toolset::Toolset;

/// Maximum number of times that a conversation is shortened after the model refused it as too long.
const REFUSALS: u32 = 4;

/// Next action that an answer requires.
pub(super) enum Answered {
    /// Calls to run. Empty if the model is done.
    Calls(Vec<Call>),
    /// The answer repeated itself and was cut off.
    Looped(Finding),
}

impl AgentLoop {
    /// Compresses the conversation. Returns true if it has become shorter.
    pub(super) async fn compress(
        &mut self,
        cause: Cause,
        choice: &Choice,
        prompt_id: &str,
        cancel: &CancellationToken,
    ) -> Result<bool, End> {
        let toolset = self.toolset.get();
        let occasion = Occasion {
            prompt_id,
            choice,
            toolset: &toolset,
            instruction: &self.instruction,
            side_models: &self.side_models,
            hooks: &self.hooks,
            cancel,
        };
        Ok(self.fitting.compress(&mut self.conversation, cause, &occasion).await?)
    }

    /// Makes one request. A conversation that the model refuses as too long is compressed and sent
    /// again.
    pub(super) async fn ask_fitting(
        &mut self,
        choice: &mut Choice,
        run: &mut PromptRun<'_>,
    ) -> Result<Answered, End> {
        let mut refusals = 0;
        loop {
            let refused = match self.ask(choice, run).await {
                Err(End::Outcome(PromptOutcome::Failed(error)))
                    if error.kind == ModelErrorKind::TooLong =>
                {
                    error
                }
                answered => return answered,
            };
            refusals += 1;
            if refusals <= REFUSALS
                && self.compress(Cause::Refused, choice, run.id, run.cancel).await?
            {
                continue;
            }
            if run.cancel.is_cancelled() {
                return Err(PromptOutcome::Cancelled.into());
            }
            self.conversation.take_back().await?;
            return Err(PromptOutcome::Failed(refused).into());
        }
    }

    /// Makes one request. `choice` becomes the model that has answered, if another one replaced it.
    pub(super) async fn ask(
        &mut self,
        choice: &mut Choice,
        run: &mut PromptRun<'_>,
    ) -> Result<Answered, End> {
        let mut tried = Vec::new();
        loop {
            let answer = self.send(choice, run).await?;
            match self.fall_back(choice, &answer, &mut tried, run).await? {
                Some(next) => *choice = next,
                None => return self.handle_answer(answer, choice, run).await,
            }
        }
    }

    /// Sends the conversation to a model.
    async fn send(&mut self, choice: &Choice, run: &PromptRun<'_>) -> Result<Answer, End> {
        let toolset = self.toolset.get();
        self.fitting.mask(&mut self.conversation, &toolset).await?;
        let room = self.fitting.check_room(&mut self.conversation, choice, run.cancel).await;
        room.map_err(|no_room| match no_room {
            NoRoom::Overflow(error) => End::Outcome(PromptOutcome::Failed(error)),
            NoRoom::Log(error) => End::Log(error),
        })?;
        let request = self.request(choice, &toolset, run)?;
        let copied = self.instruction.copy_to(self.instruction_copy.as_deref()).await;
        copied.map_err(PromptOutcome::Failed)?;
        let answer = self.chat.ask(choice, request, self.guard.is_on(), run.cancel).await;
        // Some vendors do not report the usage of every answer.
        if let Some(usage) = answer.turn.usage {
            let (model, context) = (answer.model.clone(), choice.limits.context);
            self.outlet().emit(Event::Usage(UsageReport { model, usage, context })).await;
        }
        Ok(answer)
    }

    /// Adds an answer to the conversation.
    async fn handle_answer(
        &mut self,
        answer: Answer,
        choice: &Choice,
        run: &mut PromptRun<'_>,
    ) -> Result<Answered, End> {
        match answer.interference.clone() {
            Some(Interference::Stopped(reason)) => {
                self.conversation.answer_cut_short(answer).await?;
                return Err(PromptOutcome::Stopped(reason).into());
            }
            Some(Interference::Looped(found)) => {
                self.conversation.answer_cut_short(answer).await?;
                return Ok(Answered::Looped(found));
            }
            Some(Interference::Blocked(_)) | None => {}
        }
        match answer.end {
            Ok(()) => Ok(Answered::Calls(self.take_answer(answer, run).await?)),
            Err(ref error) => {
                let outcome = match error.kind {
                    ModelErrorKind::Cancelled => PromptOutcome::Cancelled,
                    ModelErrorKind::Unusable(reason) => {
                        self.unusable(reason, error, answer.turn.finish.as_ref(), choice)
                    }
                    _ => PromptOutcome::Failed(error.clone()),
                };
                self.conversation.answer_cut_short(answer).await?;
                Err(outcome.into())
            }
        }
    }

    /// Returns the outcome of an answer that could not be used, after all attempts.
    fn unusable(
        &self,
        reason: InvalidStream,
        error: &ModelError,
        finish: Option<&FinishReason>,
        choice: &Choice,
    ) -> PromptOutcome {
        // An answer that must satisfy a schema is requested again.
        if !choice.limits.fails_when_cut_off || self.shaping.is_some() {
            PromptOutcome::InvalidStream(error.clone())
        } else if reason == InvalidStream::MaxTokensExceeded {
            PromptOutcome::CutOff(finish.cloned())
        } else {
            PromptOutcome::Failed(error.clone())
        }
    }

    fn request(
        &mut self,
        choice: &Choice,
        toolset: &Arc<Toolset>,
        run: &PromptRun<'_>,
    ) -> Result<ModelRequest, End> {
        let entries = self.conversation.request().map_err(|error| {
            let message = format!("Cannot send the conversation: {error}.");
            PromptOutcome::Failed(ModelError::new(ModelErrorKind::Other, message))
        })?;
        let (policy, mode) = (self.services.policy.get(), self.services.modes.get());
        let (system, tools) = self.instruction.make(toolset, &policy, mode, choice);
        self.own_side_calls(run.id, Some(Arc::clone(&system)));
        let request = ModelRequest {
            entries,
            system: Some(system),
            tools,
            prompt_id: run.id.to_owned(),
            role: self.role,
            is_retry: false,
            adjustments: Adjustments { tuning: self.tuning.clone(), ..Adjustments::default() },
            max_attempts: self.attempts(choice),
            on_retry: None,
            on_omission: None,
        };
        Ok(match &mut self.shaping {
            Some(shaping) => shaping.shape(request),
            None => request,
        })
    }

    /// Returns the maximum number of connection attempts, if another model can answer, too.
    fn attempts(&self, choice: &Choice) -> Option<u32> {
        let (models, requested) = (self.services.models.as_ref(), self.requested_model.get());
        self.services.fallback.attempts(models, &requested, &choice.key())
    }

    /// Adds a usable answer to the conversation. Returns the calls to run.
    async fn take_answer(
        &mut self,
        answer: Answer,
        run: &mut PromptRun<'_>,
    ) -> Result<Vec<Call>, End> {
        if answer.turn.usage.is_some() {
            self.fitting.answered();
        }
        run.finish.clone_from(&answer.turn.finish);
        let calls = answer.turn.calls.clone();
        let toolset = self.toolset.get();
        let answered = self.conversation.answer(answer, |call| planned(call, &toolset)).await?;
        run.answers.extend(answered.filter(|answer| !answer.content().text().is_empty()));
        Ok(calls)
    }
}

/// Returns the log record of a call that has not run yet.
fn planned(call: &Call, toolset: &Toolset) -> CallRecord {
    let tool = toolset.get(&call.name);
    CallRecord {
        id: call.id.clone(),
        name: call.name.clone(),
        args: call.args.clone(),
        status: CallStatus::Validating,
        result: None,
        result_display: None,
        description: String::new(),
        display_name: tool.map_or(call.name.as_str(), |tool| tool.display_name()).to_owned(),
        kind: tool.map(|tool| tool.kind()),
        locations: Vec::new(),
        render_output_as_markdown: tool.is_some_and(|tool| tool.renders_markdown()),
    }
}
