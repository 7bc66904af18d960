//! Is the model going round in circles?
//!
//! What counts is progress, not likeness: a call that is repeated is no loop while its results differ, and two hundred
//! files that are moved one by one are two hundred different calls. Three things are looked at: calls that keep giving
//! the same ([`CallTrail`]), words that keep coming back while an answer streams ([`Chant`]), and, once a prompt has
//! taken long, what another model makes of it ([`JudgeSchedule`]). All of it is pure; what follows from a finding is
//! the session's.

mod calls;
mod chant;
mod judge;
mod refrain;

pub(crate) use calls::CallTrail;
pub(crate) use chant::Chant;
use judge::JudgeSchedule;
pub(crate) use judge::{CONVICTION, Judgement, read_judgement, request};

use pollux_protocol::LoopKind;

/// A loop, with what shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) kind: LoopKind,
    /// For the model and for the person.
    pub(crate) details: String,
}

/// What is known about the work on one prompt.
#[derive(Debug, Default)]
pub(crate) struct LoopGuard {
    /// The prompt's id and words.
    pub(crate) prompt_id: String,
    pub(crate) prompt: String,
    pub(crate) calls: CallTrail,
    pub(crate) schedule: JudgeSchedule,
    /// Turns with calls that have ended.
    pub(crate) turns: u64,
    /// Loops found so far.
    found: u32,
}

impl LoopGuard {
    /// Work on a prompt begins.
    pub(crate) fn new(prompt_id: &str, prompt: &str) -> Self {
        Self { prompt_id: prompt_id.to_owned(), prompt: prompt.to_owned(), ..Self::default() }
    }

    /// Counts a finding. True for the first one of a prompt: the model gets a chance to find out by itself.
    pub(crate) fn is_first(&mut self) -> bool {
        self.found += 1;
        self.calls = CallTrail::default();
        self.found == 1
    }

    /// How many loops were found.
    pub(crate) fn found(&self) -> u32 {
        self.found
    }
}

/// What the model is told when it seems to go round in circles.
pub(crate) fn nudge(details: &str) -> String {
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
