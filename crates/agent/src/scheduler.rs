//! Runs the calls of one answer.
//!
//! Calls run in groups: a run of calls that may stand beside each other, or one call that must be alone.
//! All calls of a group are prepared, judged and, where need be, approved before the first of them runs;
//! then all run at once. Every step is in the log before it happens. Whatever goes wrong, each call ends
//! with exactly one response.

mod grants;
mod group;
mod run;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pollux_policy::{Policy, Query, Verdict};
use pollux_protocol::{
    ApprovalMode, Call, CallId, CallInput, CallRecord, CallStatus, CancellationToken,
    ConfirmationKind, Decision, Directive, Effects, Event, FinishedCall, Invocation, JournalError,
    Operator, Outcome, Record, Tool, ToolError, ToolErrorKind, ToolOutput,
};
use tokio::sync::mpsc;

use crate::emitter::Emitter;
use crate::response;
use crate::toolset::Toolset;

pub(crate) use grants::Grants;

/// What is told to the model about a call that the person did not let run.
const DENIED: &str = "Reason: User denied execution.";
/// About calls that waited behind it, or that were never begun when the work was stopped.
const STOPPED: &str = "Reason: User cancelled operation";
/// About a call that was stopped while it ran.
const INTERRUPTED: &str = "User cancelled tool execution.";

/// The channels down to running calls.
#[derive(Debug, Default)]
pub(crate) struct CallInputs(Mutex<HashMap<CallId, mpsc::UnboundedSender<CallInput>>>);

impl CallInputs {
    /// Sends to one running call; a call that has ended hears nothing.
    pub(crate) fn send(&self, call_id: &CallId, input: CallInput) {
        if let Ok(inputs) = self.0.lock()
            && let Some(sender) = inputs.get(call_id)
        {
            drop(sender.send(input));
        }
    }

    /// Sends to all running calls.
    pub(crate) fn broadcast(&self, input: &CallInput) {
        if let Ok(inputs) = self.0.lock() {
            for sender in inputs.values() {
                drop(sender.send(input.clone()));
            }
        }
    }

    fn open(&self, call_id: &CallId) -> mpsc::UnboundedReceiver<CallInput> {
        let (sender, receiver) = mpsc::unbounded_channel();
        if let Ok(mut inputs) = self.0.lock() {
            inputs.insert(call_id.clone(), sender);
        }
        receiver
    }

    fn close(&self, call_id: &CallId) {
        if let Ok(mut inputs) = self.0.lock() {
            inputs.remove(call_id);
        }
    }
}

/// What came of the calls of one answer.
#[derive(Debug, Default)]
pub struct Batch {
    /// The calls in the order in which they completed: the model is told their responses so.
    pub finished: Vec<Arc<FinishedCall>>,
    /// Changes of the session that they asked for.
    pub directives: Vec<Directive>,
    /// The person ended the work.
    pub cancelled: bool,
}

/// Runs calls. Borrowed from a session for one batch.
pub struct Scheduler<'a> {
    pub(crate) emitter: &'a Emitter,
    pub(crate) toolset: &'a Toolset,
    pub(crate) policy: &'a Policy,
    pub(crate) operator: &'a dyn Operator,
    pub(crate) inputs: &'a CallInputs,
    pub(crate) grants: &'a Grants,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) mode: ApprovalMode,
    pub(crate) media_in_responses: bool,
}

/// A call in the queue. A tail call answers under the name of the call that it continues.
struct Queued {
    call: Call,
    answers_as: String,
}

/// A call that is ready to run.
struct Ready {
    queued: Queued,
    tool: Arc<dyn Tool>,
    invocation: Box<dyn Invocation>,
    effects: Effects,
    decision: Option<Decision>,
}

/// A call that may come to run, or one that cannot, and why.
type Prepared = Result<Ready, Box<(Queued, ToolError)>>;

impl Scheduler<'_> {
    /// Runs all calls to their ends.
    pub async fn run(&self, calls: Vec<Call>) -> Result<Batch, JournalError> {
        let mut batch = Batch::default();
        let places: HashMap<CallId, usize> =
            calls.iter().enumerate().map(|(place, call)| (call.id.clone(), place)).collect();
        let mut queue: VecDeque<Queued> =
            calls.into_iter().map(|call| Queued { answers_as: call.name.clone(), call }).collect();
        // A topic names what follows: it comes first.
        queue.make_contiguous().sort_by_key(|queued| queued.call.name != "update_topic");
        while !queue.is_empty() {
            if batch.cancelled || self.cancel.is_cancelled() {
                batch.cancelled = true;
                for queued in queue.drain(..) {
                    self.finish_cancelled(&mut batch, &queued, None, STOPPED).await?;
                }
                break;
            }
            let before = batch.finished.len();
            let group = self.next_group(&mut queue).await;
            let approved = self.approve_group(group, &mut batch).await?;
            self.run_group(approved, &mut queue, &mut batch).await?;
            // Calls that never ran have ended sooner; the model is told in the order in which it asked.
            batch.finished[before..].sort_by_key(|finished| places.get(&finished.call.id).copied());
        }
        Ok(batch)
    }

    /// Judges every call of the group; those that may run come back, all others are finished.
    async fn approve_group(
        &self,
        group: Vec<Prepared>,
        batch: &mut Batch,
    ) -> Result<Vec<Ready>, JournalError> {
        let mut approved = Vec::with_capacity(group.len());
        for prepared in group {
            batch.cancelled |= self.cancel.is_cancelled();
            match prepared {
                Ok(ready) if batch.cancelled => {
                    self.finish_cancelled(batch, &ready.queued, Some(&ready), STOPPED).await?;
                }
                Ok(ready) => approved.extend(self.approve(ready, batch).await?),
                Err(failed) => {
                    let (queued, error) = *failed;
                    if batch.cancelled {
                        self.finish_cancelled(batch, &queued, None, STOPPED).await?;
                    } else {
                        self.finish_error(batch, &queued, None, error).await?;
                    }
                }
            }
        }
        Ok(approved)
    }

    async fn approve(
        &self,
        mut ready: Ready,
        batch: &mut Batch,
    ) -> Result<Option<Ready>, JournalError> {
        self.moved(&ready.queued.call.id, CallStatus::Validating).await;
        loop {
            let query = Query {
                tool: ready.tool.name(),
                kind: ready.tool.kind(),
                effects: &ready.effects,
                mode: self.mode_after(batch),
            };
            match self.policy.decide(query) {
                Verdict::Allow => {
                    ready.decision.get_or_insert(Decision::Accept);
                    break;
                }
                Verdict::Deny { message } => {
                    let message = message.unwrap_or_default();
                    let text = format!("Tool execution denied by policy. {message}");
                    let error = ToolError::new(ToolErrorKind::PolicyViolation, text.trim_end());
                    self.finish_error(batch, &ready.queued, Some(&ready), error).await?;
                    return Ok(None);
                }
                Verdict::Ask => match self.confirm(&mut ready).await {
                    Ok(Asked::Yes) => break,
                    Ok(Asked::Again) => {}
                    Ok(Asked::No) => {
                        batch.cancelled = true;
                        self.finish_cancelled(batch, &ready.queued, Some(&ready), DENIED).await?;
                        return Ok(None);
                    }
                    Ok(Asked::YesToAllEdits) => {
                        batch.directives.push(Directive::SetMode(ApprovalMode::AutoEdit));
                        break;
                    }
                    Err(error) => {
                        self.finish_error(batch, &ready.queued, Some(&ready), error).await?;
                        return Ok(None);
                    }
                },
            }
        }
        self.moved(&ready.queued.call.id, CallStatus::Scheduled).await;
        Ok(Some(ready))
    }

    /// The mode with what the answer to an earlier question of the batch has made of it.
    fn mode_after(&self, batch: &Batch) -> ApprovalMode {
        let all_edits = Directive::SetMode(ApprovalMode::AutoEdit);
        if batch.directives.contains(&all_edits) { ApprovalMode::AutoEdit } else { self.mode }
    }

    async fn confirm(&self, ready: &mut Ready) -> Result<Asked, ToolError> {
        let call_id = ready.queued.call.id.clone();
        let confirmation = ready.invocation.confirmation(&call_id).await?;
        let (tool, kind) = (ready.tool.name(), confirmation.kind.clone());
        let is_edit = matches!(kind, ConfirmationKind::Edit { .. });
        if self.grants.holds(tool, &kind) && !self.policy.exclusions.must_confirm(tool) {
            ready.decision.get_or_insert(Decision::AutoAccept);
            return Ok(Asked::Yes);
        }
        self.moved(&call_id, CallStatus::AwaitingApproval).await;
        let answer = tokio::select! {
            () = self.cancel.cancelled() => return Ok(Asked::No),
            answer = self.operator.confirm(confirmation) => answer,
        };
        if let Some(modification) = &answer.modification {
            let args = ready.invocation.modify(modification)?;
            ready.invocation = ready.tool.prepare(&args)?;
            ready.effects = ready.invocation.effects();
            ready.queued.call.args = serde_json::Value::Object(args);
            ready.decision = Some(Decision::Modify);
        }
        match answer.outcome {
            Outcome::Cancel => Ok(Asked::No),
            // The arguments have changed: they are shown once more.
            Outcome::ModifyWithEditor => Ok(Asked::Again),
            Outcome::ProceedOnce => {
                ready.decision.get_or_insert(Decision::Accept);
                Ok(Asked::Yes)
            }
            Outcome::ProceedAlways
            | Outcome::ProceedAlwaysAndSave
            | Outcome::ProceedAlwaysServer
            | Outcome::ProceedAlwaysTool => {
                ready.decision.get_or_insert(Decision::AutoAccept);
                self.grants.grant(ready.tool.name(), &kind);
                Ok(if is_edit { Asked::YesToAllEdits } else { Asked::Yes })
            }
        }
    }

    async fn moved(&self, call_id: &CallId, status: CallStatus) {
        self.emitter.emit(Event::CallMoved { call_id: call_id.clone(), status }).await;
    }

    async fn finish_error(
        &self,
        batch: &mut Batch,
        queued: &Queued,
        ready: Option<&Ready>,
        error: ToolError,
    ) -> Result<(), JournalError> {
        self.finish(batch, queued, ready, ToolOutput::from(error), Duration::ZERO).await
    }

    async fn finish_cancelled(
        &self,
        batch: &mut Batch,
        queued: &Queued,
        ready: Option<&Ready>,
        reason: &str,
    ) -> Result<(), JournalError> {
        let finished = cancelled_call(queued, ready, reason, None, Duration::ZERO);
        self.complete(batch, finished, ready).await
    }

    /// Ends a call with its output.
    async fn finish(
        &self,
        batch: &mut Batch,
        queued: &Queued,
        ready: Option<&Ready>,
        output: ToolOutput,
        duration: Duration,
    ) -> Result<(), JournalError> {
        let call = queued.answering();
        let error = output.error.clone();
        let display = output.display.clone();
        let finished = FinishedCall {
            status: if error.is_some() { CallStatus::Error } else { CallStatus::Success },
            response: response::convert(&call, output, self.media_in_responses),
            display,
            error,
            duration,
            decision: ready.and_then(|ready| ready.decision),
            call,
        };
        self.complete(batch, finished, ready).await
    }

    /// Puts a finished call into the log, tells it and counts it.
    async fn complete(
        &self,
        batch: &mut Batch,
        finished: FinishedCall,
        ready: Option<&Ready>,
    ) -> Result<(), JournalError> {
        let record = CallRecord {
            id: finished.call.id.clone(),
            name: finished.call.name.clone(),
            args: finished.call.args.clone(),
            status: finished.status,
            result: Some(finished.response.clone()),
            result_display: finished.display.clone(),
            description: ready.map(|ready| ready.invocation.describe()).unwrap_or_default(),
            display_name: ready.map_or_else(
                || finished.call.name.clone(),
                |ready| ready.tool.display_name().to_owned(),
            ),
            render_output_as_markdown: ready.is_some_and(|ready| ready.tool.renders_markdown()),
        };
        self.emitter.record(Record::CallFinished(record)).await?;
        self.emitter.measure(run::measure(&finished)).await;
        self.moved(&finished.call.id, finished.status).await;
        batch.finished.push(Arc::new(finished));
        Ok(())
    }
}

/// The end of a call that a person stopped.
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

/// What a person said to a confirmation.
enum Asked {
    Yes,
    YesToAllEdits,
    Again,
    No,
}

impl Queued {
    /// The call under the name that its response carries.
    fn answering(&self) -> Call {
        Call { name: self.answers_as.clone(), ..self.call.clone() }
    }
}

#[cfg(test)]
mod tests;
