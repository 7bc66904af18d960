//! Signals to a child on systems where the process table cannot be read.

use rustix::process::{
    Pid, Signal, kill_process, kill_process_group, test_kill_process, test_kill_process_group,
};

use super::model::{Leader, SessionKind};

pub(super) fn pid(id: u32) -> Option<Pid> {
    Pid::from_raw(id.cast_signed())
}

/// Returns true if the process group of the child has a process, or, for a child in our group, if
/// the child itself exists.
pub(super) fn exists(leader: &Leader) -> bool {
    pid(leader.id).is_some_and(|pid| match leader.kind {
        SessionKind::Shared => test_kill_process(pid).is_ok(),
        SessionKind::Own | SessionKind::OwnWithTerminal => test_kill_process_group(pid).is_ok(),
    })
}

/// Sends a signal to the process group of the child, or only to the child if it is in our group.
pub(super) fn signal(leader: Leader, signal: Signal) {
    let Some(pid) = pid(leader.id) else { return };
    let sent = match leader.kind {
        SessionKind::Shared => kill_process(pid, signal),
        SessionKind::Own | SessionKind::OwnWithTerminal => kill_process_group(pid, signal),
    };
    // The child may have ended by itself.
    sent.ok();
}
