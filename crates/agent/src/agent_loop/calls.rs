//! Runs the calls of one answer and applies their changes to the agent.

use std::collections::HashMap;
use std::sync::Arc;

use pollux_protocol::{Call, CallId, Choice, Directive, Event, FinishedCall, Measurement, Part};

use super::{AgentLoop, End};
use crate::prompt_run::PromptRun;
use crate::scheduler::{Batch, Scheduler};
use crate::steering::SteeringInput;

impl AgentLoop {
    /// Runs calls and adds their results to the conversation.
    pub(super) async fn run_calls(
        &mut self,
        calls: Vec<Call>,
        choice: &Choice,
        run: &PromptRun<'_>,
    ) -> Result<Batch, End> {
        let asked: HashMap<CallId, usize> =
            calls.iter().enumerate().map(|(place, call)| (call.id.clone(), place)).collect();
        let (toolset, policy) = (self.toolset.get(), self.services.policy.get());
        let scheduler = Scheduler {
            services: &self.services,
            policy: &policy,
            recorder: self.conversation.recorder(),
            toolset: &toolset,
            hooks: &self.hooks,
            conseca: self.conseca.as_ref(),
            side_models: &self.side_models,
            prompt: &run.text,
            history: self.conversation.history(),
            cancel: run.cancel,
            caller: self.caller.as_deref(),
            model: &choice.name,
            limits: choice.limits,
            room: self.conversation.room(choice.limits),
        };
        let mut batch = scheduler.run(calls).await?;
        for (call_id, effects) in std::mem::take(&mut batch.started) {
            self.conversation.note_effects(call_id.as_str(), effects);
        }
        let mut in_order: Vec<Arc<FinishedCall>> = batch.finished.clone();
        in_order.sort_by_key(|finished| asked.get(&finished.call.id).copied());
        self.outlet().emit(Event::CallsFinished(in_order)).await;
        self.follow(&mut batch).await;
        let (entries, side_models) = (self.conversation.entries(), self.side_models.as_ref());
        let guarded = self.guard.after_calls(&batch, entries, side_models, run).await;
        let hint = guarded.as_ref().ok().cloned().flatten();
        let (parts, typed) = self.responses(&batch, hint);
        self.conversation.respond(parts, typed).await?;
        guarded?;
        Ok(batch)
    }

    /// Applies the changes that calls requested. Directives that end the work stay in the batch.
    async fn follow(&mut self, batch: &mut Batch) {
        for directive in std::mem::take(&mut batch.directives) {
            match directive {
                Directive::SetMode(mode) => self.services.modes.set(mode).await,
                Directive::SetTopic(title) => self.instruction.set_topic(&title),
                Directive::SetTodos(todos) => {
                    self.outlet().emit(Event::TodosChanged(todos)).await;
                }
                Directive::LeavePlanMode { plan } => {
                    self.instruction.approve_plan(&plan);
                    let mode = batch.after_plan;
                    self.outlet().measure(&Measurement::PlanExecution { mode });
                    self.services.modes.set(mode).await;
                }
                Directive::OpenFolder(folder) => self.fitting.open_folder(&folder),
                // The scheduler handles these.
                Directive::TailCall { .. } | Directive::AskAgain(_) => {}
                end @ (Directive::Stop(_) | Directive::Finish) => batch.directives.push(end),
            }
        }
    }

    /// Returns the results of calls for the model, preceded by user messages that arrived in the
    /// meantime, and the text of these messages. `hint` is a message from Pollux itself.
    fn responses(&self, batch: &Batch, hint: Option<Part>) -> (Vec<Part>, Option<String>) {
        let responses =
            batch.finished.iter().flat_map(|finished| finished.response.iter().cloned());
        let SteeringInput { parts, typed } = self.steering.take();
        (parts.into_iter().chain(hint).chain(responses).collect(), typed)
    }
}
