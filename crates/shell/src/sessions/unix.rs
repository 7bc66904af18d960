//! macOS and the BSDs: without `/proc`, only the process group is ended. A job that moved to
//! another group (`set -m`, `setsid`) is not reached.

use rustix::process::{Signal, test_kill_process};

use super::group;
use super::model::{Force, Leader, Owner, Reading};

/// Has no effect: processes inherit nothing that could identify their owner.
pub(crate) fn mark_this_process(_owner: Owner) {}

/// Returns true if the process exists.
pub(crate) fn is_running(id: u32) -> bool {
    group::pid(id).is_some_and(|pid| test_kill_process(pid).is_ok())
}

/// Returns 0: all processes are in one namespace.
pub(crate) fn process_namespace() -> u64 {
    0
}

/// Returns `None`: the start time is not available without `/proc`.
pub(crate) fn start_time(_id: u32) -> Option<u64> {
    None
}

/// Sends SIGTERM to the process group of the child.
pub(super) fn ask(leader: Leader) {
    group::signal(leader, Signal::TERM);
}

/// Returns the children that still have a process in their group.
pub(super) fn living(leaders: &[Leader]) -> Vec<Leader> {
    leaders.iter().filter(|leader| group::exists(leader)).copied().collect()
}

/// Returns `Unknown`: the system does not report this.
pub(crate) fn reading(_leader: Leader) -> Reading {
    Reading::Unknown
}

/// Has no effect: only Linux can make a process the parent of orphans.
pub(super) fn adopt_orphans() {}

/// Returns false: orphans become children of init.
pub(super) fn adopts_orphans() -> bool {
    false
}

/// Returns false: init takes the exit status of orphans.
pub(super) fn has_dead_children() -> bool {
    false
}

/// Returns no processes: descendants never become children of this program.
pub(super) fn dead_descendants(_leaders: &[Leader]) -> Vec<u32> {
    Vec::new()
}

/// Has no effect. Never called.
pub(super) fn reap(_id: u32) {}

/// The process groups of some children.
pub(super) struct Members(Vec<Leader>);

impl Members {
    pub(super) fn of(leaders: &[Leader]) -> Self {
        Self(living(leaders))
    }

    /// Does the same as `of`: there are no orphans.
    pub(super) fn everyone(leaders: &[Leader]) -> Self {
        Self::of(leaders)
    }

    /// Checks again which groups exist.
    pub(super) fn refresh(&mut self) {
        self.0.retain(group::exists);
    }

    pub(super) fn alive(&self) -> bool {
        !self.0.is_empty()
    }

    pub(super) fn signal(&self, force: Force) {
        let signal = match force {
            Force::Ask => Signal::TERM,
            Force::Kill => Signal::KILL,
        };
        self.0.iter().for_each(|leader| group::signal(*leader, signal));
    }
}
