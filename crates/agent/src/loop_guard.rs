//! Is the model going round in circles?
//!
//! What counts is progress, not likeness: a call that is repeated is no loop while its results differ, and two hundred
//! files that are moved one by one are two hundred different calls. Three things are looked at: calls that keep giving
//! the same ([`CallTrail`]), words that keep coming back while an answer streams ([`Chant`]), and, once a prompt has
//! taken long, what another model makes of it ([`JudgeSchedule`]). All of that is pure; what follows
//! from a finding is in [`action`].

mod action;
mod calls;
mod chant;
mod judge;
mod refrain;

use calls::CallTrail;
pub(crate) use chant::Chant;
use judge::JudgeSchedule;
use judge::{CONVICTION, Judgement};

use pollux_protocol::{Live, LoopKind};

use crate::outlet::Outlet;
use crate::settings::LoopSettings;

/// A loop, with what shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) kind: LoopKind,
    /// For the model and for the person.
    pub(crate) details: String,
}

/// Looks for loops in the work on prompts.
pub(crate) struct LoopGuard {
    settings: Live<LoopSettings>,
    outlet: Outlet,
    interactive: bool,
    /// The person wants no more of it in this session.
    is_disabled: bool,
    /// The words of the prompt.
    prompt: String,
    calls: CallTrail,
    schedule: JudgeSchedule,
    /// Turns with calls that have ended.
    turns: u64,
    /// Loops found so far.
    found: u32,
}

impl LoopGuard {
    pub(crate) fn new(settings: Live<LoopSettings>, outlet: Outlet, interactive: bool) -> Self {
        Self {
            settings,
            outlet,
            interactive,
            is_disabled: false,
            prompt: String::new(),
            calls: CallTrail::default(),
            schedule: JudgeSchedule::default(),
            turns: 0,
            found: 0,
        }
    }

    /// Begins with the work on a prompt.
    pub(crate) fn begin(&mut self, prompt: &str) {
        prompt.clone_into(&mut self.prompt);
        (self.calls, self.schedule) = (CallTrail::default(), JudgeSchedule::default());
        (self.turns, self.found) = (0, 0);
    }

    /// True if loops are looked for.
    pub(crate) fn is_on(&self) -> bool {
        !self.is_disabled && self.settings.get().loop_detection
    }
}

/// What the model is told when it seems to go round in circles.
fn nudge(details: &str) -> String {
    format!(
        "System: Potential loop detected. Details: {details} Take a step back before you go on. What were you asked for, what has \
         changed since you began, and why did the last steps change nothing? Then do something else: another tool, other \
         arguments, a smaller step, or tell the user what stands in the way. If you wait for something, wait longer at \
         a time. If this was no loop, go on as you meant to."
    )
}

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod tests;
