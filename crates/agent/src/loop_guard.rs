//! Detection of loops in the model's work.
//!
//! The criterion is progress, not similarity: a repeated call is not a loop while its results
//! differ, and moving two hundred files one by one makes two hundred different calls. Three things
//! are checked: calls that keep returning the same results ([`CallTrail`]), text that repeats
//! itself while an answer streams ([`Chant`]), and, in a long prompt, the judgement of another
//! model ([`JudgeSchedule`]). These checks are pure. The reactions are in [`action`].

mod action;
mod calls;
mod chant;
mod judge;
mod refrain;

use calls::CallTrail;
pub(crate) use chant::Chant;
use judge::JudgeSchedule;
use judge::{CONVICTION, Judgement};

use std::sync::Arc;

use pollux_protocol::{Live, LoopKind, Operator};

use crate::outlet::Outlet;
use crate::settings::LoopSettings;

/// Detected loop, with its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) kind: LoopKind,
    /// Description for the model and for the user.
    pub(crate) details: String,
}

/// Searches for loops in the work on prompts.
pub(crate) struct LoopGuard {
    settings: Live<LoopSettings>,
    outlet: Outlet,
    operator: Arc<dyn Operator>,
    /// True if the user disabled loop detection for this session.
    is_disabled: bool,
    /// Text of the prompt.
    prompt: String,
    calls: CallTrail,
    schedule: JudgeSchedule,
    /// Number of finished turns with calls.
    turns: u64,
    /// Number of loops found so far.
    found: u32,
}

impl LoopGuard {
    pub(crate) fn new(
        settings: Live<LoopSettings>,
        outlet: Outlet,
        operator: Arc<dyn Operator>,
    ) -> Self {
        Self {
            settings,
            outlet,
            operator,
            is_disabled: false,
            prompt: String::new(),
            calls: CallTrail::default(),
            schedule: JudgeSchedule::default(),
            turns: 0,
            found: 0,
        }
    }

    /// Resets the state for a new prompt.
    pub(crate) fn begin(&mut self, prompt: &str) {
        prompt.clone_into(&mut self.prompt);
        (self.calls, self.schedule) = (CallTrail::default(), JudgeSchedule::default());
        (self.turns, self.found) = (0, 0);
    }

    /// True if loop detection is on.
    pub(crate) fn is_on(&self) -> bool {
        !self.is_disabled && self.settings.get().loop_detection
    }
}

/// Returns the message for a model that seems to be in a loop.
fn nudge(details: &str) -> String {
    format!(
        "System: Potential loop detected. Details: {details} Before you continue, check: what was requested, what has \
         changed since you started, and why did the last steps change nothing? Then try something different: \
         another tool, other arguments or a smaller step; or tell the user what prevents progress. If you are \
         waiting for something, use longer waits. If this was not a loop, continue."
    )
}

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod tests;
