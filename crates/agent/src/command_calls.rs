//! Calls of tools that a slash command makes.

use std::sync::Arc;

use async_trait::async_trait;
use pollux_protocol::{
    Args, Call, CallId, CancellationToken, CommandCalls, CommandError, Event, FinishedCall,
    History, Journal, JournalError, ModelLimits, PromptId, Record, Tool,
};
use serde_json::Value;

use crate::hook_events::HookEvents;
use crate::outlet::Outlet;
use crate::recorder::HistoryRecorder;
use crate::scheduler::Scheduler;
use crate::services::AgentServices;
use crate::toolset::Toolset;

/// Runs calls with the scheduler of the agent: rules, hooks, checkers, questions and confinement
/// are those of calls of the model. The calls are not part of the conversation, so the session log
/// does not contain them.
pub(crate) struct ScheduledCalls {
    pub(crate) services: AgentServices,
    /// Outlet for events of the command.
    pub(crate) outlet: Outlet,
    /// Requested model, for side calls.
    pub(crate) model: String,
    pub(crate) id: PromptId,
    pub(crate) cancel: CancellationToken,
}

#[async_trait]
impl CommandCalls for ScheduledCalls {
    async fn run(
        &self,
        tool: Arc<dyn Tool>,
        calls: Vec<Args>,
    ) -> Result<Vec<Arc<FinishedCall>>, CommandError> {
        let name = tool.name().to_owned();
        let call = |args| {
            let id = CallId::new(format!("{name}__{}", (self.services.new_id)()));
            let (name, args) = (name.clone(), Value::Object(args));
            Call { id, name, args, prompt_id: self.id.clone() }
        };
        let calls: Vec<Call> = calls.into_iter().map(call).collect();
        let ids: Vec<CallId> = calls.iter().map(|call| call.id.clone()).collect();
        let hooks = HookEvents::new(self.services.hooks.clone(), self.outlet.clone());
        let side_models = self.services.side_models(self.outlet.clone(), self.model.clone());
        let scheduler = Scheduler {
            services: &self.services,
            policy: &self.services.policy.get(),
            recorder: &HistoryRecorder::new(Arc::new(NoJournal), self.outlet.clone()),
            toolset: &Toolset::new(vec![tool]),
            hooks: &hooks,
            conseca: None,
            side_models: &Arc::new(side_models),
            prompt: "",
            history: &History::new(),
            cancel: &self.cancel,
            caller: None,
            model: &self.model,
            limits: ModelLimits::default(),
            room: None,
        };
        // The output of a headless run contains only calls of the model.
        let is_shown = self.services.interactive;
        for call in calls.iter().filter(|_| is_shown) {
            self.outlet.emit(Event::CallRequested(call.clone())).await;
        }
        let batch = scheduler.run_if_all_may(calls).await;
        let mut batch = batch.map_err(|error| CommandError(error.to_string()))?;
        let place = |call: &Arc<FinishedCall>| ids.iter().position(|id| *id == call.call.id);
        batch.finished.sort_by_key(place);
        if is_shown {
            self.outlet.emit(Event::CallsFinished(batch.finished.clone())).await;
        }
        if batch.finished.len() < ids.len() {
            return Err(CommandError("The command was cancelled.".to_owned()));
        }
        Ok(batch.finished)
    }
}

/// Journal that keeps nothing.
struct NoJournal;

#[async_trait]
impl Journal for NoJournal {
    async fn append(&self, _records: &[Arc<Record>]) -> Result<(), JournalError> {
        Ok(())
    }

    async fn sync(&self) -> Result<(), JournalError> {
        Ok(())
    }

    async fn recall(&self) -> Result<History, JournalError> {
        Ok(History::new())
    }
}
