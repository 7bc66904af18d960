//! Runs the calls of one answer.
//!
//! Calls run in groups. A group is a sequence of calls that may run in parallel, or a single call
//! that must run alone. All calls of a group are prepared, judged and, if necessary, approved
//! before the first of them runs. Then all of them run in parallel. Every step is logged before it
//! happens. Each call ends with exactly one response, even after errors.

mod approval;
mod checkpoint;
mod checks;
mod choices;
mod definitions;
mod grants;
mod group;
mod hooked;
mod inputs;
mod run;
mod together;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use pollux_policy::{Policy, Query, Subject};
use pollux_protocol::{
    ApprovalMode, Args, Call, CallConfinement, CallId, CallRecord, CallStatus, CancellationToken,
    Decision, Directive, Effects, Event, Exceeded, FinishedCall, History, Invocation, JournalError,
    Measurement, ModelLimits, PreparedCall, PromptOutcome, Record, Tool, ToolError, ToolErrorKind,
    ToolOutput,
};

use crate::conseca::Conseca;
use crate::hook_events::HookEvents;
use crate::outlet::Outlet;
use crate::recorder::HistoryRecorder;
use crate::response;
use crate::services::AgentServices;
use crate::side_models::WatchedModels;
use crate::toolset::Toolset;

pub use approval::{denied, nobody_to_ask};
pub use choices::ApprovalChoices;
pub use grants::Grants;
use hooked::Hooked;
pub use inputs::CallInputs;

/// Reason for calls that waited behind a refused call, or had not started when the work was
/// stopped.
const STOPPED: &str = "Reason: User cancelled operation";
/// Reason for calls that exceeded the budget.
const OVER_BUDGET: &str = "Not run: the budget of tool calls is used up.";
/// Reason for a call that was stopped while it ran.
const INTERRUPTED: &str = "User cancelled tool execution.";

/// Result of the calls of one answer.
#[derive(Debug, Default)]
pub struct Batch {
    /// Calls in the order in which their groups completed. The model receives their responses in
    /// this order.
    pub finished: Vec<Arc<FinishedCall>>,
    /// Changes of the session that the calls requested.
    pub directives: Vec<Directive>,
    /// True if the user stopped the work.
    pub cancelled: bool,
    /// Mode in which an approved plan is carried out.
    pub after_plan: ApprovalMode,
    /// True if the user refused a call. The calls behind it were not run.
    pub refused: bool,
    /// True if a call did work or tried to. Calls that only announce the next steps do not count.
    has_worked: bool,
    /// Effects that calls declared when they started.
    pub(crate) started: Vec<(CallId, Effects)>,
    /// Limit because of which some calls were not run.
    pub exceeded: Option<Exceeded>,
}

impl Batch {
    /// Returns the outcome of the prompt if the calls themselves ended it.
    pub(crate) fn outcome(&self) -> Option<PromptOutcome> {
        for finished in &self.finished {
            let Some(error) = &finished.error else { continue };
            match error.kind {
                ToolErrorKind::NoSpaceLeft | ToolErrorKind::ChangeNotReverted => {
                    let (tool, message) = (finished.call.name.clone(), error.message.clone());
                    return Some(PromptOutcome::FatalTool { tool, message });
                }
                ToolErrorKind::StopExecution => {
                    return Some(PromptOutcome::Stopped(error.message.clone()));
                }
                _ => {}
            }
        }
        for directive in &self.directives {
            match directive {
                Directive::Stop(reason) => return Some(PromptOutcome::Stopped(reason.clone())),
                Directive::Finish => return Some(PromptOutcome::Done),
                _ => {}
            }
        }
        if let Some(exceeded) = self.exceeded.filter(|_| !self.cancelled) {
            return Some(PromptOutcome::Budget(Box::new(exceeded)));
        }
        self.ends_the_work().then_some(PromptOutcome::Cancelled)
    }

    /// True if the work ends here: the user stopped it, or refused a call and no other call did any
    /// work. After some work, the model must still receive the results.
    pub fn ends_the_work(&self) -> bool {
        self.cancelled || (self.refused && !self.has_worked)
    }
}

/// Runs calls. Borrowed from an agent for one batch.
pub struct Scheduler<'a> {
    pub(crate) services: &'a AgentServices,
    /// Rules for this batch.
    pub(crate) policy: &'a Policy,
    pub(crate) recorder: &'a HistoryRecorder,
    pub(crate) toolset: &'a Toolset,
    pub(crate) hooks: &'a HookEvents,
    /// Safety checker that uses a model, if it is enabled.
    pub(crate) conseca: Option<&'a Conseca>,
    /// Models for the side calls of tools and checks.
    pub(crate) side_models: &'a Arc<WatchedModels>,
    /// Text of the current prompt.
    pub(crate) prompt: &'a str,
    /// Conversation so far.
    pub(crate) history: &'a History,
    pub(crate) cancel: &'a CancellationToken,
    /// Subagent that makes the calls; `None` for the main agent.
    pub(crate) caller: Option<&'a str>,
    /// Name of the model.
    pub(crate) model: &'a str,
    /// Limits of the model.
    pub(crate) limits: ModelLimits,
    /// Maximum number of characters in one result for the remaining context, if known.
    pub(crate) room: Option<usize>,
}

/// Call in the queue.
struct Queued {
    call: Call,
    /// Call of the model that this tail call continues, and in whose place it answers.
    continues: Option<Box<Continued>>,
}

/// Call of the model that ended with a tail call.
struct Continued {
    record: CallRecord,
    /// Number of tail calls so far.
    tails: usize,
}

/// Call that is ready to run.
struct Ready {
    queued: Queued,
    tool: Arc<dyn Tool>,
    invocation: Box<dyn Invocation>,
    /// JSON schema of the arguments.
    parameters: serde_json::Value,
    effects: Effects,
    decision: Option<Decision>,
    /// Mode in which the policy allowed the call; `None` if the user allowed it.
    allowed_in: Option<ApprovalMode>,
    /// Confinement of the call's processes: its level is `None` if the user allowed the call only
    /// once.
    confinement: CallConfinement,
    /// Decisions of hooks about the call.
    hooked: Hooked,
    /// Subagent that makes the call.
    caller: Option<Arc<str>>,
}

impl Ready {
    /// Returns the query to the policy about the call.
    fn query(&self, mode: ApprovalMode) -> Query<'_> {
        Query {
            subject: Subject {
                parameters: Some(&self.parameters),
                subagent: self.caller.as_deref(),
                ..Subject::of(self.tool.as_ref())
            },
            args: &self.queued.call.args,
            effects: &self.effects,
            mode,
        }
    }
}

/// Call that may run, or a call that cannot run, with its error.
type Prepared = Result<Ready, Box<(Queued, ToolError)>>;

impl Scheduler<'_> {
    fn outlet(&self) -> &Outlet {
        self.recorder.outlet()
    }

    /// Runs all calls to their end.
    pub async fn run(&self, calls: Vec<Call>) -> Result<Batch, JournalError> {
        let mut batch = Batch::default();
        let places: HashMap<CallId, usize> =
            calls.iter().enumerate().map(|(place, call)| (call.id.clone(), place)).collect();
        let mut queue: VecDeque<Queued> =
            calls.into_iter().map(|call| Queued { call, continues: None }).collect();
        queue
            .make_contiguous()
            .sort_by_key(|queued| !self.toolset.facts(&queued.call.name).announces);
        let over_budget = queue.split_off(self.services.budget.take_calls(queue.len()).await);
        self.outlet().measure(&Measurement::ToolQueue { depth: queue.len() });
        while !queue.is_empty() {
            batch.cancelled |= self.cancel.is_cancelled();
            if batch.cancelled || batch.refused {
                for queued in queue.drain(..) {
                    self.finish_cancelled(&mut batch, &queued, None, STOPPED).await?;
                }
                break;
            }
            let before = batch.finished.len();
            let group = self.next_group(&mut queue).await;
            let approved = self.approve_group(group, &mut batch).await?;
            self.run_group(approved, &mut queue, &mut batch).await?;
            // Calls that never ran end earlier. Sorting restores the order in which the model made
            // the calls.
            batch.finished[before..].sort_by_key(|finished| places.get(&finished.call.id).copied());
        }
        if !over_budget.is_empty() {
            batch.exceeded = self.services.budget.exceeded();
        }
        for queued in &over_budget {
            self.finish_cancelled(&mut batch, queued, None, OVER_BUDGET).await?;
        }
        Ok(batch)
    }

    /// Reports a call with new or changed arguments.
    async fn describe(&self, ready: &Ready) {
        let Ready { queued, tool, invocation, effects, .. } = ready;
        let prepared = PreparedCall {
            call_id: queued.call.id.clone(),
            name: queued.call.name.clone(),
            display_name: tool.display_name().to_owned(),
            description: invocation.describe(),
            kind: tool.kind(),
            locations: effects.locations(),
            first_line: invocation.first_line(),
            effects: effects.clone(),
            is_markdown: tool.renders_markdown(),
        };
        self.outlet().emit(Event::CallPrepared(Arc::new(prepared))).await;
    }

    async fn moved(&self, call_id: &CallId, status: CallStatus) {
        self.outlet().emit(Event::CallMoved { call_id: call_id.clone(), status }).await;
    }

    async fn finish_error(
        &self,
        batch: &mut Batch,
        queued: &Queued,
        ready: Option<&Ready>,
        error: ToolError,
    ) -> Result<(), JournalError> {
        let output = ToolOutput::from(error);
        let finished = self.finished_call(queued, ready, output, Duration::ZERO);
        self.complete(batch, vec![self.ended(queued, finished, ready)]).await
    }

    async fn finish_cancelled(
        &self,
        batch: &mut Batch,
        queued: &Queued,
        ready: Option<&Ready>,
        reason: &str,
    ) -> Result<(), JournalError> {
        let finished = cancelled_call(queued, ready, reason, None, Duration::ZERO);
        self.complete(batch, vec![self.ended(queued, finished, ready)]).await
    }

    /// Returns the end of a call. A call that did not become ready is described by its tool alone.
    fn ended(&self, queued: &Queued, finished: FinishedCall, ready: Option<&Ready>) -> Ended {
        let tool = ready.map(|ready| &ready.tool).or_else(|| self.offered(&queued.call.name));
        Ended::new(queued, finished, tool.map(AsRef::as_ref), ready)
    }

    /// Returns a finished call with its output.
    fn finished_call(
        &self,
        queued: &Queued,
        ready: Option<&Ready>,
        output: ToolOutput,
        duration: Duration,
    ) -> FinishedCall {
        let call = queued.answering();
        let error = output.error.clone();
        let display = output.display.clone();
        FinishedCall {
            status: if error.is_some() { CallStatus::Error } else { CallStatus::Success },
            response: response::convert(&call, output, self.limits.media_in_responses),
            display,
            error,
            duration,
            decision: ready.and_then(|ready| ready.decision),
            call,
        }
    }

    /// Logs, reports and counts finished calls.
    async fn complete(&self, batch: &mut Batch, ended: Vec<Ended>) -> Result<(), JournalError> {
        if ended.is_empty() {
            return Ok(());
        }
        let records = ended.iter().flat_map(|ended| &ended.records).cloned();
        self.recorder.record_all(records.map(Record::CallFinished).collect()).await?;
        for Ended { finished, measurement, is_continued, .. } in ended {
            self.outlet().measure(&measurement);
            let announces = self.toolset.facts(&finished.call.name).announces;
            batch.has_worked |= finished.status != CallStatus::Cancelled && !announces;
            if is_continued {
                continue;
            }
            self.moved(&finished.call.id, finished.status).await;
            batch.finished.push(Arc::new(finished));
        }
        Ok(())
    }
}

/// Finished call, with its log records and its measurement.
struct Ended {
    finished: FinishedCall,
    records: Vec<CallRecord>,
    measurement: Measurement,
    /// True if a tail call continues the call.
    is_continued: bool,
}

impl Ended {
    /// Returns the end of a call. A tail call is measured and recorded under its own name and
    /// arguments. Another record is that of the call that the model made, with the result that the
    /// model receives.
    fn new(
        queued: &Queued,
        finished: FinishedCall,
        tool: Option<&dyn Tool>,
        ready: Option<&Ready>,
    ) -> Self {
        let Queued { call, continues } = queued;
        let own = CallRecord {
            id: call.id.clone(),
            name: call.name.clone(),
            args: call.args.clone(),
            status: finished.status,
            result: Some(finished.response.clone()),
            result_display: finished.display.clone(),
            description: ready.map(|ready| ready.invocation.describe()).unwrap_or_default(),
            display_name: tool.map_or(call.name.as_str(), Tool::display_name).to_owned(),
            kind: tool.map(Tool::kind),
            locations: ready.map(|ready| ready.effects.locations()).unwrap_or_default(),
            render_output_as_markdown: tool.is_some_and(Tool::renders_markdown),
        };
        let measurement = run::measure(call, &finished);
        let records = match continues {
            None => vec![own],
            Some(continued) => {
                let answered = CallRecord {
                    status: own.status,
                    result: own.result.clone(),
                    result_display: own.result_display.clone(),
                    ..continued.record.clone()
                };
                let id = format!("{}_tail{}", call.id, continued.tails);
                vec![CallRecord { id: CallId::new(id), ..own }, answered]
            }
        };
        Self { finished, records, measurement, is_continued: false }
    }
}

/// Returns a finished call that was cancelled.
fn cancelled_call(
    queued: &Queued,
    ready: Option<&Ready>,
    reason: &str,
    so_far: Option<ToolOutput>,
    duration: Duration,
) -> FinishedCall {
    let call = queued.answering();
    let display = so_far.as_ref().and_then(|output| output.display.clone());
    FinishedCall {
        status: CallStatus::Cancelled,
        response: response::cancelled(&call, reason, so_far),
        display,
        error: None,
        duration,
        decision: ready.map(|ready| ready.decision.unwrap_or(Decision::Reject)),
        call,
    }
}

impl Queued {
    /// Returns the tail call with which this call has ended. `records` are the records of its end.
    fn continued(self, name: String, args: Args, records: &[CallRecord]) -> Self {
        let tails = self.continues.map_or(0, |continued| continued.tails) + 1;
        let continues = records.last().cloned().map(|record| Box::new(Continued { record, tails }));
        let call = Call { name, args: serde_json::Value::Object(args), ..self.call };
        Self { call, continues }
    }

    /// Returns the call as the model made it.
    fn answering(&self) -> Call {
        match &self.continues {
            None => self.call.clone(),
            Some(continued) => {
                let CallRecord { name, args, .. } = continued.record.clone();
                Call { name, args, ..self.call.clone() }
            }
        }
    }
}

#[cfg(test)]
mod tests;
