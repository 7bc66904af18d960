//! macOS and the BSDs: there is no `/proc`, so what ends is the process group. A job that moved to a
//! group of its own (`set -m`, `setsid`) is not reached.

use std::collections::BTreeSet;
use std::os::unix::process::CommandExt as _;

use rustix::process::{
    Pid, Signal, kill_process_group, test_kill_process, test_kill_process_group,
};

use super::{Force, Leader, Reading};

/// Makes the child of `command` lead a session of its own, away from the user's terminal.
#[expect(unsafe_code, reason = "std has no stable safe call for setsid")]
pub(crate) fn lead_session(command: &mut std::process::Command) {
    // SAFETY: the closure runs between fork and exec, where only async-signal-safe calls are
    // allowed. It makes exactly one, setsid, and touches no memory of the parent.
    unsafe {
        command.pre_exec(|| Ok(rustix::process::setsid().map(drop)?));
    }
}

/// Whether the process exists.
pub(crate) fn is_running(id: u32) -> bool {
    pid(id).is_some_and(|pid| test_kill_process(pid).is_ok())
}

/// Not known without `/proc`.
pub(super) fn start_time(_id: u32) -> Option<u64> {
    None
}

/// Asks the leader's process group to end.
pub(super) fn ask_group(leader: Leader) {
    pid(leader.id).map(|group| kill_process_group(group, Signal::TERM));
}

/// Which of the sessions still have a process in their leader's group.
pub(super) fn living(leaders: &[Leader]) -> BTreeSet<u32> {
    let exists = |id: &u32| pid(*id).is_some_and(|pid| test_kill_process_group(pid).is_ok());
    leaders.iter().map(|leader| leader.id).filter(exists).collect()
}

/// Not told here.
pub(super) fn reading(_leader: Leader) -> Reading {
    Reading::Unknown
}

/// Only Linux can make a process the parent of orphans.
pub(super) fn adopt_orphans() {}

/// None.
pub(super) fn has_adopted() -> bool {
    false
}

/// Orphans are init's to wait for.
pub(super) fn has_dead() -> bool {
    false
}

/// Never needed.
pub(super) fn bury(_is_waited_for: impl Fn(u32) -> bool) {}

/// The process groups of some sessions.
pub(super) struct Members {
    leaders: Vec<Leader>,
    groups: BTreeSet<u32>,
}

impl Members {
    pub(super) fn of(leaders: &[Leader]) -> Self {
        Self { leaders: leaders.to_vec(), groups: living(leaders) }
    }

    /// The same: there are no orphans.
    pub(super) fn everyone(leaders: &[Leader]) -> Self {
        Self::of(leaders)
    }

    /// Looks again.
    pub(super) fn refresh(&mut self) {
        self.groups = living(&self.leaders);
    }

    pub(super) fn alive(&self) -> bool {
        !self.groups.is_empty()
    }

    pub(super) fn signal(&self, force: Force) {
        let signal = match force {
            Force::Ask => Signal::TERM,
            Force::Kill => Signal::KILL,
        };
        for group in self.groups.iter().filter_map(|&id| pid(id)) {
            // It may have ended by itself since we looked.
            kill_process_group(group, signal).ok();
        }
    }
}

fn pid(id: u32) -> Option<Pid> {
    Pid::from_raw(id.cast_signed())
}
