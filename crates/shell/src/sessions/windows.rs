//! Windows: a process and its children, ended by `taskkill /T`. There is no gentle way to ask.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use super::{Force, Leader, Reading};

/// Nothing to do: a child of ours reads from nowhere and has no terminal to ask on.
pub(crate) fn lead_session(_command: &mut Command) {}

/// Not asked: background jobs are not listed on Windows.
pub(crate) fn is_running(_id: u32) -> bool {
    false
}

/// Not asked.
pub(super) fn start_time(_id: u32) -> Option<u64> {
    None
}

/// There is no signal to ask with; the thread that ends sessions does it.
pub(super) fn ask_group(_leader: Leader) {}

/// Children of a parent that has ended cannot be found again, so a released session counts as gone.
pub(super) fn living(_leaders: &[Leader]) -> BTreeSet<u32> {
    BTreeSet::new()
}

/// Not told here.
pub(super) fn reading(_leader: Leader) -> Reading {
    Reading::Unknown
}

/// Nobody becomes the parent of orphans.
pub(super) fn adopt_orphans() {}

/// None.
pub(super) fn has_adopted() -> bool {
    false
}

/// Nothing of an ended process stays.
pub(super) fn has_dead() -> bool {
    false
}

/// Never needed.
pub(super) fn bury(_is_waited_for: impl Fn(u32) -> bool) {}

/// The process trees of some commands.
pub(super) struct Members {
    leaders: Vec<Leader>,
}

impl Members {
    pub(super) fn of(leaders: &[Leader]) -> Self {
        Self { leaders: leaders.to_vec() }
    }

    /// The same: there are no orphans.
    pub(super) fn everyone(leaders: &[Leader]) -> Self {
        Self::of(leaders)
    }

    /// After the one attempt nobody is left whom we could reach.
    pub(super) fn refresh(&mut self) {
        self.leaders.clear();
    }

    pub(super) fn alive(&self) -> bool {
        !self.leaders.is_empty()
    }

    pub(super) fn signal(&self, _force: Force) {
        for leader in &self.leaders {
            let mut command = Command::new("taskkill");
            command.args(["/T", "/F", "/PID", &leader.id.to_string()]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            // It may have ended by itself.
            command.status().ok();
        }
    }
}
