//! Windows: a process and its children, ended by `taskkill /T`. A graceful end is not possible.

use std::process::{Command, Stdio};

use super::model::{Force, Leader, Reading};

/// Returns false: background jobs are not listed on Windows.
pub(crate) fn is_running(_id: u32) -> bool {
    false
}

/// Returns 0: all processes are in one namespace.
pub(crate) fn process_namespace() -> u64 {
    0
}

/// Returns `None`: the start time is not needed.
pub(crate) fn start_time(_id: u32) -> Option<u64> {
    None
}

/// Has no effect: there is no signal, so the thread that ends children does all the work.
pub(super) fn ask(_leader: Leader) {}

/// Returns no children: the descendants of an ended child cannot be found, so a released child
/// counts as gone.
pub(super) fn living(_leaders: &[Leader]) -> Vec<Leader> {
    Vec::new()
}

/// Returns `Unknown`: the system does not report this.
pub(crate) fn reading(_leader: Leader) -> Reading {
    Reading::Unknown
}

/// Has no effect: no process becomes the parent of orphans.
pub(super) fn adopt_orphans() {}

/// Returns false: orphans have no parent.
pub(super) fn adopts_orphans() -> bool {
    false
}

/// Returns false: an ended process leaves no entry behind.
pub(super) fn has_dead_children() -> bool {
    false
}

/// Returns no processes.
pub(super) fn dead_descendants(_leaders: &[Leader]) -> Vec<u32> {
    Vec::new()
}

/// Has no effect. Never called.
pub(super) fn reap(_id: u32) {}

/// The process trees of some children.
pub(super) struct Members {
    leaders: Vec<Leader>,
}

impl Members {
    pub(super) fn of(leaders: &[Leader]) -> Self {
        Self { leaders: leaders.to_vec() }
    }

    /// Does the same as `of`: there are no orphans.
    pub(super) fn everyone(leaders: &[Leader]) -> Self {
        Self::of(leaders)
    }

    /// Removes all children: after the single attempt, no process is left that can be reached.
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
            // The process may have ended by itself.
            command.status().ok();
        }
    }
}
