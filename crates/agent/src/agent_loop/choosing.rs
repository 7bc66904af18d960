//! Choice of the model: by the router before a prompt, and again when a model is not available.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pollux_protocol::{
    CancellationToken, Choice, Event, Measurement, ModelError, ModelErrorKind, PromptOutcome,
    Question, QuestionChoice, QuestionOutcome, QuestionSubject, SelectContext, Severity,
};

use super::{AgentLoop, End};
use crate::chat::Answer;
use crate::fallback::{self, FallbackMode};
use crate::prompt_run::PromptRun;
use crate::routing::{Routed, Routing};

/// Decision about a model that is not available.
#[derive(Clone, Copy)]
enum Decision {
    /// The other model answers from now on.
    ForSession,
    /// The other model answers this prompt.
    ForPrompt,
    /// The same model is asked again.
    Again,
    /// The failure stands.
    Stop,
}

impl AgentLoop {
    /// Lets the router decide about the prompt that was added to the conversation.
    pub(super) async fn route(&mut self, run: &PromptRun<'_>) {
        let requested = self.requested_model.get();
        let routing = Routing {
            options: self.services.routing,
            models: self.services.models.as_ref(),
            side_models: self.side_models.as_ref(),
            requested: &requested,
            mode: self.services.modes.get(),
            has_plan: self.instruction.has_plan(),
        };
        self.routed = routing.decide(self.conversation.entries(), run).await;
    }

    /// Selects the model, and reports it if it differs from the previous one. The list of a
    /// service may be requested for that, which `cancel` ends.
    pub(super) async fn choose(&mut self, cancel: &CancellationToken) -> Result<Choice, End> {
        let started = Instant::now();
        let context = self.select_context();
        let Some(chosen) = cancel.run_until_cancelled(self.selected(&context)).await else {
            return Err(PromptOutcome::Cancelled.into());
        };
        let (model, source) = match &chosen {
            Ok(choice) => (choice.name.clone(), choice.reason.clone()),
            Err(_) => (context.requested.clone(), "router-exception".to_owned()),
        };
        let measure = Measurement::ModelRouting {
            requested: context.requested,
            model,
            source,
            latency: started.elapsed(),
            error: chosen.as_ref().err().map(ToString::to_string),
            mode: self.services.modes.get(),
        };
        self.outlet().measure(&measure);
        let choice = chosen.map_err(PromptOutcome::Failed)?;
        self.report_model(&choice).await;
        Ok(choice)
    }

    /// Returns the requested model, or its replacement.
    async fn selected(&self, context: &SelectContext) -> Result<Choice, ModelError> {
        let models = self.services.models.as_ref();
        let mut choice = models.select(context).await?;
        if let Some(Routed { reason, .. }) = self.routed {
            reason.clone_into(&mut choice.reason);
        }
        let permits = |other: &Choice| self.services.budget.permits(other);
        let other = self.services.fallback.replacement(models, context, &choice, permits).await;
        Ok(other.unwrap_or(choice))
    }

    /// Reports the model that answers from now on, if it is another one.
    async fn report_model(&mut self, choice: &Choice) {
        if self.model.as_ref() != Some(&choice.name) {
            self.model = Some(choice.name.clone());
            let (model, reason) = (choice.name.clone(), choice.reason.clone());
            self.outlet().emit(Event::ModelChanged { model, reason }).await;
        }
    }

    /// Returns the facts about the agent that the selection of a model needs.
    pub(super) fn select_context(&self) -> SelectContext {
        SelectContext {
            requested: String::clone(&self.requested_model.get()),
            mode: self.services.modes.get(),
            conversation_model: self.conversation_model.clone(),
            tier: self.routed.map(|routed| routed.tier),
        }
    }

    /// Chooses the model to ask after a failed request: another one, or the same one again. `None`
    /// if the failure stands. `tried` has the keys of the models that have failed before.
    pub(super) async fn fall_back(
        &mut self,
        choice: &Choice,
        answer: &Answer,
        tried: &mut Vec<String>,
        run: &PromptRun<'_>,
    ) -> Result<Option<Choice>, End> {
        let Err(error) = &answer.end else { return Ok(None) };
        let is_hooks_model = answer.model != choice.name;
        if !fallback::is_replaceable(error) || is_hooks_model || run.cancel.is_cancelled() {
            return Ok(None);
        }
        let (fallback, key) = (Arc::clone(&self.services.fallback), choice.key());
        fallback.failed(&key, error);
        if fallback.mode() == FallbackMode::Never {
            return Ok(None);
        }
        tried.push(key);
        let searching = self.next_model(choice, error, tried);
        let Some(other) = run.cancel.run_until_cancelled(searching).await else {
            return Err(PromptOutcome::Cancelled.into());
        };
        let decision = if fallback.mode() == FallbackMode::Chain {
            Decision::ForPrompt
        } else {
            self.decision(choice, other.as_ref().map(|(_, other)| other), error, run).await?
        };
        let next = match (decision, other) {
            (Decision::ForSession, Some((name, other))) => {
                fallback.accept(choice.key(), name);
                other
            }
            (Decision::ForPrompt, Some((_, other))) => other,
            (Decision::Again, _) => {
                fallback.restore(&choice.key());
                choice.clone()
            }
            _ => return Ok(None),
        };
        if answer.turn.begun {
            self.outlet().emit(Event::StreamRestarted).await;
        }
        if next.key() != choice.key() {
            self.report_replacement(choice, &next, error).await;
        }
        Ok(Some(next))
    }

    /// Returns the first model of the chain that may answer instead, with its name in the chain.
    async fn next_model(
        &self,
        choice: &Choice,
        error: &ModelError,
        tried: &[String],
    ) -> Option<(String, Choice)> {
        // A service that cannot be reached has no other model either.
        let permits = |other: &Choice| {
            let is_elsewhere = other.model.service() != choice.model.service();
            !tried.contains(&other.key())
                && (error.kind != ModelErrorKind::Network || is_elsewhere)
                && self.services.budget.permits(other)
        };
        let (context, key) = (self.select_context(), choice.key());
        self.services.fallback.next(self.services.models.as_ref(), &context, &key, permits).await
    }

    async fn report_replacement(&mut self, before: &Choice, next: &Choice, error: &ModelError) {
        let measure = Measurement::ModelRouting {
            requested: String::clone(&self.requested_model.get()),
            model: next.name.clone(),
            source: next.reason.clone(),
            latency: Duration::ZERO,
            error: None,
            mode: self.services.modes.get(),
        };
        self.outlet().measure(&measure);
        let (reason, before, after) = (fallback::reason(error), &before.name, &next.name);
        let text = format!("{before} is not available: {reason}. Continuing with {after}.");
        self.outlet().emit(Event::Notice { severity: Severity::Warning, text }).await;
        self.report_model(next).await;
    }

    /// Asks the user. Without another model, only a failure that may pass is a question.
    async fn decision(
        &self,
        choice: &Choice,
        other: Option<&Choice>,
        error: &ModelError,
        run: &PromptRun<'_>,
    ) -> Result<Decision, End> {
        if other.is_none() && !fallback::may_pass(error) {
            return Ok(Decision::Stop);
        }
        let before = &choice.name;
        let details = error.message.lines().next().unwrap_or_default();
        let reason = fallback::reason(error);
        let text = format!("{before} is not available: {reason}.\n{details}");
        let (decisions, choices) = choices(before, other.map(|other| other.name.as_str()));
        let subject = QuestionSubject::Request { text };
        let question = Question::new(self.outlet().origin(), subject, choices, None);
        let asked = self.services.operator.ask(question);
        let Some(reply) = run.cancel.run_until_cancelled(asked).await else {
            return Err(PromptOutcome::Cancelled.into());
        };
        let chosen = match reply.outcome {
            QuestionOutcome::Option(index) => decisions.get(index).copied(),
            _ => None,
        };
        Ok(chosen.unwrap_or(Decision::Stop))
    }
}

/// Returns the possible decisions about a model that is not available, and the choices for them.
/// The last choice is to stop.
fn choices(before: &str, other: Option<&str>) -> (Vec<Decision>, Vec<QuestionChoice>) {
    let (mut decisions, mut labels) = (Vec::new(), Vec::new());
    if let Some(after) = other {
        decisions.extend([Decision::ForSession, Decision::ForPrompt]);
        labels.push(format!("Use {after} for this session"));
        labels.push(format!("Use {after} for this prompt"));
    }
    decisions.push(Decision::Again);
    labels.push(format!("Try {before} again"));
    let mut choices = QuestionChoice::options(labels);
    let (outcome, label) = (QuestionOutcome::Cancel, "Stop".to_owned());
    choices.push(QuestionChoice { outcome, label, shortcut: None });
    (decisions, choices)
}
