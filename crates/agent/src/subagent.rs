//! A subagent at work: an [`AgentLoop`] with one task, limits on turns and time, and an end that
//! says what happened.
//!
//! A subagent that reaches a limit, or stops without a report, gets one more turn in which it can
//! only report. A report after a limit does not make the work complete.

use std::sync::Arc;
use std::time::Duration;

use pollux_protocol::{CancellationToken, Part, PromptInput, PromptOutcome};

use crate::agent_loop::{AgentLoop, AgentParts};
use crate::services::AgentServices;
use crate::settings::LoopSettings;
use crate::toolset::Toolset;

mod activity;
mod clock;

pub use activity::Activity;
use clock::{Clock, TimedOperator};

/// Limits of a subagent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubagentLimits {
    /// Maximum number of turns.
    pub turns: u64,
    /// Maximum time. The time in which the user answers questions does not count.
    pub time: Duration,
    /// Maximum time of the last turn, after another limit was reached.
    pub grace: Duration,
}

impl SubagentLimits {
    /// Time of the last turn in Gemini CLI.
    pub const GRACE: Duration = Duration::from_mins(1);
}

/// A subagent before it starts.
pub struct SubagentRun {
    /// Services of the session.
    pub services: AgentServices,
    /// Parts of the subagent. Its settings and its toolset must be its own.
    pub parts: AgentParts,
    /// Id of the subagent's session, which is also the id of its prompt.
    pub id: String,
    /// First message. The log shows only the task itself.
    pub message: PromptInput,
    /// Limits.
    pub limits: SubagentLimits,
    /// The tools with which the subagent reports.
    pub reporting: Toolset,
    /// Function that returns true once the subagent has reported.
    pub has_reported: Box<dyn Fn() -> bool + Send + Sync>,
}

/// End of a subagent's work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubagentEnd {
    /// It has reported, and nothing stopped it.
    Done,
    /// It stopped without a report, even when it was asked for one.
    NoReport,
    /// It reached its limit of turns.
    Turns(u64),
    /// It reached its time limit.
    Time(Duration),
    /// It was cancelled.
    Cancelled,
    /// A limit of the session's budget was reached, as the message says.
    Budget(String),
    /// It failed, as the message says.
    Failed(String),
}

/// End of a subagent, with what it said last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubagentOutcome {
    /// End.
    pub end: SubagentEnd,
    /// Text of its last answer with a text; empty without one.
    pub last_text: String,
}

impl SubagentRun {
    /// Works on the task until it ends for any reason.
    pub async fn run(self, cancel: &CancellationToken) -> SubagentOutcome {
        let Self { mut services, parts, id, message, limits, reporting, has_reported } = self;
        let clock = Arc::new(Clock::default());
        services.operator = Arc::new(TimedOperator::new(services.operator, &clock));
        // Keys and other inputs belong to calls of the main agent.
        services.inputs = Arc::default();
        // A refused call is a result for the subagent.
        services.choices.continues_after_no = true;
        let (settings, toolset) = (parts.settings.clone(), parts.toolset.clone());
        let own = LoopSettings::clone(&settings.get());
        let with_turns = |turns| LoopSettings { max_turns: Some(turns), ..own.clone() };
        settings.set(with_turns(limits.turns));
        let mut agent = AgentLoop::new(services, parts);
        let outcome = within(&mut agent, &id, message, cancel, clock.passed(limits.time)).await;
        let mut end = match outcome {
            _ if has_reported() => SubagentEnd::Done,
            _ if cancel.is_cancelled() => SubagentEnd::Cancelled,
            None => SubagentEnd::Time(limits.time),
            Some(outcome) => end_of(outcome, limits.turns),
        };
        if let Some(words) = last_chance(&end) {
            toolset.set(reporting);
            agent.skip_loading();
            settings.set(with_turns(agent.turns() + 1));
            let grace = tokio::time::sleep(limits.grace);
            within(&mut agent, &id, vec![Part::text(words)].into(), cancel, grace).await;
            if cancel.is_cancelled() {
                end = SubagentEnd::Cancelled;
            } else if has_reported() && end == SubagentEnd::NoReport {
                end = SubagentEnd::Done;
            }
        }
        SubagentOutcome { end, last_text: agent.last_text() }
    }
}

/// Works on a message. Returns `None` if `time` ends first: the work is then cancelled.
async fn within(
    agent: &mut AgentLoop,
    id: &str,
    message: PromptInput,
    cancel: &CancellationToken,
    time: impl Future<Output = ()>,
) -> Option<PromptOutcome> {
    let stop = cancel.child_token();
    let work = agent.prompt(id, message, &stop);
    tokio::pin!(work);
    tokio::select! {
        biased;
        outcome = &mut work => Some(outcome),
        () = time => {
            stop.cancel();
            work.await;
            None
        }
    }
}

fn end_of(outcome: PromptOutcome, turns: u64) -> SubagentEnd {
    match outcome {
        PromptOutcome::Done | PromptOutcome::CutOff(_) => SubagentEnd::NoReport,
        PromptOutcome::Cancelled => SubagentEnd::Cancelled,
        PromptOutcome::TurnLimit(_) => SubagentEnd::Turns(turns),
        PromptOutcome::Budget(exceeded) => SubagentEnd::Budget(exceeded.to_string()),
        PromptOutcome::InvalidStream(error) | PromptOutcome::Failed(error) => {
            SubagentEnd::Failed(error.message)
        }
        PromptOutcome::Unsatisfied(unsatisfied) => SubagentEnd::Failed(unsatisfied.to_string()),
        PromptOutcome::Stopped(reason) => SubagentEnd::Failed(reason),
        PromptOutcome::Loop(details) => SubagentEnd::Failed(details),
        PromptOutcome::FatalTool { tool, message } => {
            SubagentEnd::Failed(format!("{tool}: {message}"))
        }
        PromptOutcome::LogFailed(message) => SubagentEnd::Failed(message),
    }
}

/// Returns the message with which a subagent is asked to report; `None` if it cannot.
fn last_chance(end: &SubagentEnd) -> Option<String> {
    let reason = match end {
        SubagentEnd::NoReport => "You stopped without a report.",
        SubagentEnd::Turns(_) => "You have used all of your turns.",
        SubagentEnd::Time(_) => "Your time is over.",
        _ => return None,
    };
    Some(format!(
        "{reason} This is your last turn, and the only tool that is left is the one that submits \
         your report. Call it now with the results so far, and say in it what is not finished and \
         what you have not checked."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_agent_that_can_go_on_gets_another_turn() {
        let failed = SubagentEnd::Failed("x".to_owned());
        for end in [SubagentEnd::Done, SubagentEnd::Cancelled, failed] {
            assert_eq!(last_chance(&end), None, "{end:?}");
        }
        assert!(last_chance(&SubagentEnd::Turns(3)).is_some());
    }
}
