//! An open session: sends prompts to the agent, and handles its events.

use std::sync::{Arc, Mutex, PoisonError};

use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use pollux_input::narration;
use pollux_protocol::{
    AgentHandle, ApprovalMode, CallStatus, Envelope, Event, Measurement, Observer, Op, Operator,
    Origin, PromptInput, PromptOutcome, PromptSource, Question, RunningSession,
};
use pollux_session::Statistics;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::answer::Answer;
use super::progress::{Progress, REPEAT};
use super::tools::Task;
use crate::DescribeOutcome;
use crate::asking::Asking;

/// Reason why a call has no answer of an agent.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The client has cancelled the call, or is gone.
    Cancelled,
    /// The call is refused, or failed, for this reason.
    Refused(String),
    /// The agent has ended before the prompt.
    Ended,
}

/// Connection of a session to the call that works on it.
pub(crate) struct Caller {
    /// True as soon as the call is cancelled; the sender is dropped with the client.
    pub(crate) cancel: watch::Receiver<bool>,
    pub(crate) progress: Progress,
}

impl Caller {
    /// Waits until the call is cancelled, or the client is gone.
    pub(crate) async fn cancelled(&mut self) {
        // The sender is gone with the client.
        drop(self.cancel.wait_for(|is_cancelled| *is_cancelled).await);
    }

    /// Returns the result of some work, unless the call is cancelled first.
    pub(crate) async fn unless_cancelled<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<T, Stop> {
        tokio::select! {
            biased;
            () = self.cancelled() => Err(Stop::Cancelled),
            done = work => Ok(done),
        }
    }
}

/// Statistics of one call after the other.
#[derive(Default)]
pub(crate) struct CallStatistics(Mutex<Arc<Statistics>>);

impl CallStatistics {
    /// Begins the statistics of a call.
    fn begin(&self) -> Arc<Statistics> {
        let statistics = Arc::<Statistics>::default();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&statistics);
        statistics
    }
}

impl Observer for CallStatistics {
    fn measure(&self, origin: &Origin, measurement: &Measurement) {
        let current = Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner));
        current.measure(origin, measurement);
    }
}

/// An open session. While no call works on it, nobody reads its events, and the agent waits.
pub(crate) struct Session {
    running: Box<dyn RunningSession>,
    handle: Arc<dyn AgentHandle>,
    events: BoxStream<'static, Arc<Envelope>>,
    statistics: Arc<CallStatistics>,
    operator: Arc<dyn Operator>,
    /// Mode of the user, which a call cannot exceed.
    limit: ApprovalMode,
    mode: ApprovalMode,
    model: String,
}

impl Session {
    pub(crate) fn new(
        running: Box<dyn RunningSession>,
        statistics: Arc<CallStatistics>,
        operator: Arc<dyn Operator>,
    ) -> Self {
        let handle = running.handle();
        let (mode, model) = (running.facts().mode, running.facts().model.clone());
        let events = handle.events().boxed();
        Self { running, handle, events, statistics, operator, limit: mode, mode, model }
    }

    pub(crate) fn id(&self) -> &str {
        &self.running.facts().id
    }

    /// Ends the agent. Its remaining events are of no interest.
    pub(crate) async fn close(self) {
        let Self { running, handle, events, .. } = self;
        drop(handle.send(Op::Cancel));
        drop((handle, events));
        running.close().await;
    }

    /// Works on a prompt until it ends, or is cancelled.
    pub(crate) async fn work(
        &mut self,
        task: Task,
        caller: &mut Caller,
        describe: DescribeOutcome,
    ) -> Result<Answer, Stop> {
        self.follow(&task)?;
        let said = caller.progress.say(format!("Session ID: {}", self.id())).await;
        said.map_err(|_| Stop::Cancelled)?;
        let expanding = self.running.expand(task.prompt.clone(), PromptSource::Linked);
        let parts = caller.unless_cancelled(expanding).await?;
        let parts = parts.map_err(|error| Stop::Refused(error.to_string()))?;
        let is_plain = matches!(&parts[..], [part] if part.as_text() == Some(&task.prompt));
        let id = uuid::Uuid::new_v4().simple().to_string();
        let statistics = self.statistics.begin();
        let input = PromptInput::shown(parts, (!is_plain).then_some(task.prompt));
        let mut work = Work::default();
        // If the agent is gone, the end of its events reports that.
        drop(self.handle.send(Op::Prompt { id: id.clone(), input }));
        let outcome = self.listen(&id, caller, &mut work).await?;
        if let PromptOutcome::Stopped(reason) = &outcome {
            work.warnings.push(format!("Agent execution stopped: {reason}"));
        }
        let error = match &outcome {
            PromptOutcome::InvalidStream(error) => Some(error.message.clone()),
            outcome => describe(outcome),
        };
        Ok(Answer {
            session_id: self.id().to_owned(),
            response: work.text,
            stats: statistics.stats(),
            warnings: work.warnings,
            error,
        })
    }

    /// Gives the mode and the model that a call asks for to the agent.
    fn follow(&mut self, task: &Task) -> Result<(), Stop> {
        if let Some(mode) = task.mode {
            check_mode(mode, self.limit)?;
            let checked = self.running.check_mode(mode);
            checked.map_err(|error| Stop::Refused(error.to_string()))?;
            if mode != self.mode {
                drop(self.handle.send(Op::SetMode(mode)));
            }
        }
        if let Some(model) = task.model.as_ref().filter(|model| **model != self.model) {
            drop(self.handle.send(Op::SetModel(model.clone())));
            self.model.clone_from(model);
        }
        Ok(())
    }

    /// Handles events until the prompt ends.
    async fn listen(
        &mut self,
        id: &str,
        caller: &mut Caller,
        work: &mut Work,
    ) -> Result<PromptOutcome, Stop> {
        let mut is_cancelled = false;
        let mut repeat = interval_at(Instant::now() + REPEAT, REPEAT);
        repeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let said = tokio::select! {
                biased;
                () = caller.cancelled(), if !is_cancelled => {
                    is_cancelled = true;
                    work.questions.clear();
                    drop(self.handle.send(Op::Cancel));
                    None
                }
                envelope = self.events.next() => {
                    let envelope = envelope.ok_or(Stop::Ended)?;
                    if let Event::PromptEnded(outcome) = &envelope.event
                        && envelope.origin.prompt.as_deref() == Some(id)
                    {
                        let outcome = Some(outcome.clone()).filter(|_| !is_cancelled);
                        return outcome.ok_or(Stop::Cancelled);
                    }
                    self.event(&envelope, work)
                }
                answer = work.questions.next() => {
                    if let Some(reply) = answer {
                        drop(self.handle.send(Op::Answer(reply)));
                    }
                    None
                }
                _ = repeat.tick() => {
                    // A client that is gone cancels the call.
                    drop(caller.progress.repeat().await);
                    None
                }
            };
            if let Some(message) = said.filter(|_| !is_cancelled) {
                drop(caller.progress.say(message).await);
            }
        }
    }

    /// Handles an event. Returns a message about it, if it is worth one.
    fn event(&mut self, envelope: &Envelope, work: &mut Work) -> Option<String> {
        match &envelope.event {
            Event::TurnStarted { .. } | Event::StreamRestarted => work.text.clear(),
            Event::Text(text) => work.text.push_str(text),
            Event::ModeChanged(mode) => self.mode = *mode,
            Event::Question(question) => {
                let (operator, question) = (Arc::clone(&self.operator), Question::clone(question));
                let id = question.id;
                work.questions.ask(id, async move { operator.ask(question).await }.boxed());
            }
            Event::QuestionWithdrawn(question) => work.questions.withdraw(*question),
            Event::CallPrepared(call) => {
                let headline = narration::headline(&call.display_name, &call.description);
                work.calls.push((call.call_id.clone(), headline));
            }
            Event::CallMoved { call_id, status: CallStatus::Executing } => {
                let known = work.calls.iter().position(|(known, _)| known == call_id)?;
                return Some(work.calls.swap_remove(known).1);
            }
            Event::CallsFinished(_) => work.calls.clear(),
            Event::Waiting(notice) => return Some(narration::next_attempt(notice)),
            event => work.warnings.extend(narration::warning(event)),
        }
        None
    }
}

/// State of a prompt that the agent works on.
#[derive(Default)]
struct Work {
    /// Text of the present turn.
    text: String,
    warnings: Vec<String>,
    /// Calls of the turn that have not begun, with their headlines.
    calls: Vec<(pollux_protocol::CallId, String)>,
    questions: Asking,
}

/// Checks that a call asks for no more than the user allows.
pub(crate) fn check_mode(wanted: ApprovalMode, limit: ApprovalMode) -> Result<(), Stop> {
    let rank = |mode| match mode {
        ApprovalMode::Plan => 0,
        ApprovalMode::Default => 1,
        ApprovalMode::AutoEdit => 2,
        ApprovalMode::Yolo => 3,
    };
    if rank(wanted) <= rank(limit) {
        return Ok(());
    }
    let (wanted, limit) = (wanted.flag(), limit.flag());
    Err(Stop::Refused(format!(
        "The approval mode {wanted} exceeds that of the user, {limit}. The user can start the server with --approval-mode {wanted}."
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_can_only_restrict_the_mode_of_the_user() {
        let modes =
            [ApprovalMode::Plan, ApprovalMode::Default, ApprovalMode::AutoEdit, ApprovalMode::Yolo];
        for (wanted_rank, wanted) in modes.into_iter().enumerate() {
            for (limit_rank, limit) in modes.into_iter().enumerate() {
                let checked = check_mode(wanted, limit);
                assert_eq!(checked.is_ok(), wanted_rank <= limit_rank, "{wanted} of {limit}");
            }
        }
    }
}
