//! Windows: a process and its children, ended by `taskkill /T`. There is no gentle way to ask.

use std::process::{Command, Stdio};

use super::model::{Force, Leader, Reading};

/// Not asked: background jobs are not listed on Windows.
pub(crate) fn is_running(_id: u32) -> bool {
    false
}

/// Not needed.
pub(super) fn start_time(_id: u32) -> Option<u64> {
    None
}

/// There is no signal to ask with; the thread that ends children does it.
pub(super) fn ask(_leader: Leader) {}

/// Descendants of a child that has ended cannot be found again, so a released child counts as gone.
pub(super) fn living(_leaders: &[Leader]) -> Vec<Leader> {
    Vec::new()
}

/// Not reported here.
pub(crate) fn reading(_leader: Leader) -> Reading {
    Reading::Unknown
}

/// No process becomes the parent of orphans.
pub(super) fn adopt_orphans() {}

/// Orphans have no parent.
pub(super) fn adopts_orphans() -> bool {
    false
}

/// Nothing of an ended process stays.
pub(super) fn has_dead_children() -> bool {
    false
}

/// None.
pub(super) fn dead_descendants(_leaders: &[Leader]) -> Vec<u32> {
    Vec::new()
}

/// Never called.
pub(super) fn reap(_id: u32) {}

/// The process trees of some children.
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

    /// After the one attempt no process is left that we could reach.
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
