//! Execution of a group.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use pollux_protocol::{
    Call, CallStatus, Directive, Display, Event, FinishedCall, JournalError, LiveOutput,
    Measurement, Record, RunContext, SideModels, ToolCallMeasure, ToolError, ToolErrorKind,
    ToolOutput,
};
use tokio::sync::{Semaphore, mpsc};

use super::checkpoint::pending;
use super::{Batch, Ended, INTERRUPTED, Queued, Ready, Scheduler, cancelled_call};

/// Time that a call may take to return after a cancel. After it, the scheduler no longer waits and
/// drops the call's future.
const GRACE: Duration = Duration::from_millis(80);
/// The same time for calls of a subagent. It is shorter, so that the subagent ends, and its records
/// are written, before the call that runs it is dropped.
const SUBAGENT_GRACE: Duration = Duration::from_millis(30);

/// Maximum number of calls of a group that run in parallel. The others wait. The limit keeps
/// processes, open files and threads within the limits of systems.
const AT_ONCE: usize = 64;

/// Result of one call that has run.
struct Ran {
    index: usize,
    output: ToolOutput,
    duration: Duration,
}

impl Scheduler<'_> {
    /// Runs all calls of a group in parallel. Each call is logged before it starts.
    pub(super) async fn run_group(
        &self,
        group: Vec<Ready>,
        queue: &mut VecDeque<Queued>,
        batch: &mut Batch,
    ) -> Result<(), JournalError> {
        let group = self.checkpoint(group, batch).await?;
        self.record_starts(&group, batch).await?;
        let (live, mut live_output) = mpsc::unbounded_channel();
        let places = Semaphore::new(AT_ONCE);
        let mut running: FuturesUnordered<_> = group
            .iter()
            .enumerate()
            .map(|(index, ready)| self.run_one(index, ready, live.clone(), &places))
            .collect();
        let mut ran: Vec<Option<Ran>> = group.iter().map(|_| None).collect();
        let grace = if self.caller.is_some() { SUBAGENT_GRACE } else { GRACE };
        let stopped = async {
            self.cancel.cancelled().await;
            tokio::time::sleep(grace).await;
        };
        tokio::pin!(stopped);
        loop {
            tokio::select! {
                biased;
                Some(event) = live_output.recv() => self.outlet().emit(event).await,
                done = running.next() => match done {
                    None => break,
                    Some(done) => {
                        let index = done.index;
                        ran[index] = Some(done);
                    }
                },
                () = &mut stopped => break,
            }
        }
        drop(running);
        if !group.is_empty() {
            self.services.checkpoints.after(&pending(&group));
        }
        let mut ended = Vec::with_capacity(ran.len());
        for (ready, ran) in group.into_iter().zip(ran) {
            self.services.inputs.close(&ready.queued.call.id);
            ended.push(self.settle(ready, ran, queue, batch));
        }
        self.complete(batch, ended).await
    }

    /// Logs all calls of the group before the first of them starts.
    async fn record_starts(&self, group: &[Ready], batch: &mut Batch) -> Result<(), JournalError> {
        let mut records = Vec::with_capacity(2 * group.len());
        for ready in group {
            let call_id = ready.queued.call.id.clone();
            let decided = ready.decision;
            records.extend(
                decided.map(|decision| Record::Decided { call_id: call_id.clone(), decision }),
            );
            batch.started.push((call_id.clone(), ready.effects.clone()));
            let (effects, level) = (ready.effects.clone(), ready.confinement.level);
            let description = ready.invocation.describe();
            records.push(Record::CallStarted { call_id, description, effects, level });
        }
        self.recorder.record_all(records).await?;
        for ready in group {
            self.moved(&ready.queued.call.id, CallStatus::Executing).await;
        }
        Ok(())
    }

    async fn run_one(
        &self,
        index: usize,
        ready: &Ready,
        live: mpsc::UnboundedSender<Event>,
        places: &Semaphore,
    ) -> Ran {
        // The semaphore is never closed.
        let _place = places.acquire().await;
        let call_id = ready.queued.call.id.clone();
        let input = self.services.inputs.open(&call_id);
        let input = futures::stream::unfold(input, |mut input| async move {
            input.recv().await.map(|item| (item, input))
        });
        let reported = call_id.clone();
        let context = RunContext {
            call_id,
            prompt_id: ready.queued.call.prompt_id.clone(),
            cancel: self.cancel.child_token(),
            output: Arc::new(move |output: LiveOutput| {
                // Sending fails only if the scheduler is gone.
                drop(live.send(Event::CallOutput { call_id: reported.clone(), output }));
            }),
            input: input.boxed(),
            room: self.room,
            models: Arc::clone(self.side_models) as Arc<dyn SideModels>,
            confinement: ready.confinement,
        };
        let started = Instant::now();
        // A panic of a tool affects only its own call.
        let outcome = AssertUnwindSafe(ready.invocation.run(context)).catch_unwind().await;
        let output = outcome.unwrap_or_else(|panic| {
            ToolError::new(ToolErrorKind::UnhandledException, words(panic.as_ref())).into()
        });
        let duration = started.elapsed();
        let output = self.after_tool(ready, output).await;
        Ran { index, output, duration }
    }

    /// Returns the end of a call that has run, or that was still running when the work was stopped.
    /// A tail call is queued.
    fn settle(
        &self,
        ready: Ready,
        ran: Option<Ran>,
        queue: &mut VecDeque<Queued>,
        batch: &mut Batch,
    ) -> Ended {
        let (output, duration) = match ran {
            Some(ran) => (Some(ran.output), ran.duration),
            None => (None, Duration::ZERO),
        };
        if self.cancel.is_cancelled() {
            batch.cancelled = true;
        }
        match output {
            // Work that was complete at the time of the cancel counts as done.
            Some(mut output) if !self.cancel.is_cancelled() || is_complete(&output) => {
                for measurement in output.measurements.drain(..) {
                    self.outlet().measure(&measurement);
                }
                let mut tail = None;
                for directive in std::mem::take(&mut output.directives) {
                    match directive {
                        Directive::TailCall { name, args } => tail = Some((name, args)),
                        Directive::AskAgain(reason) => {
                            self.services.grants.ask_again(&ready.effects, reason);
                        }
                        other => batch.directives.push(other),
                    }
                }
                let finished = self.finished_call(&ready.queued, Some(&ready), output, duration);
                let mut ended = self.ended(&ready.queued, finished, Some(&ready));
                if let Some((name, args)) = tail {
                    ended.is_continued = true;
                    queue.push_front(ready.queued.continued(name, args, &ended.records));
                }
                ended
            }
            so_far => {
                let finished =
                    cancelled_call(&ready.queued, Some(&ready), INTERRUPTED, so_far, duration);
                self.ended(&ready.queued, finished, Some(&ready))
            }
        }
    }
}

/// Returns the message of a tool's panic.
pub(super) fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "the tool failed without a message".to_owned())
}

/// True for a call that changed a file and reported the change. A later cancel does not alter that.
fn is_complete(output: &ToolOutput) -> bool {
    output.error.is_none() && matches!(output.display, Some(Display::Diff(_)))
}

/// Returns the measurement of a finished call. The result of a tail call answers another call.
pub(super) fn measure(call: &Call, finished: &FinishedCall) -> Measurement {
    let diff = match &finished.display {
        Some(Display::Diff(diff)) => diff.diff_stat,
        _ => None,
    };
    let error = finished.error.as_ref().map(|error| (error.message.clone(), error.kind.as_str()));
    let response = finished.response.first().and_then(|part| part.as_response());
    let output = response.and_then(|response| response.response.get("output")?.as_str());
    Measurement::ToolCall(ToolCallMeasure {
        name: call.name.clone(),
        prompt_id: call.prompt_id.clone(),
        args: call.args.clone(),
        duration: finished.duration,
        success: finished.status == CallStatus::Success,
        decision: finished.decision,
        error,
        content_length: output.map(|text| text.encode_utf16().count() as u64),
        diff,
    })
}
