//! The processes of our children: finding the living ones, and ending them.
//!
//! Every child is registered, and almost every child leads a separate process session, so its
//! descendants can be found and ended together: the process group, other groups of the session
//! (`set -m`), and on Linux also daemons, which leave the session and outlive their parents. Pollux
//! becomes the parent of such daemons, and a mark that every process inherits identifies their
//! owner. Processes that were started by other code in this program have no such mark and are left
//! alone. If Pollux itself is killed, a supervisor process ends the marked processes (Linux only).

use std::io;
use std::process::Command;

mod ending;
#[cfg(unix)]
mod group;
mod model;
mod orphans;
mod registry;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg_attr(target_os = "linux", path = "sessions/linux.rs")]
#[cfg_attr(all(unix, not(target_os = "linux")), path = "sessions/unix.rs")]
#[cfg_attr(windows, path = "sessions/windows.rs")]
mod system;

pub(crate) use model::{Leader, Leftovers, Owner, Reading, SessionKind};
#[cfg(target_os = "linux")]
pub(crate) use supervisor::{supervise, supervisor_id};
#[cfg(unix)]
pub(crate) use system::mark_this_process;
pub(crate) use system::{is_running, process_namespace, reading, start_time};

use ending::{end, end_in_background};
use orphans::reap_orphans;
use registry::registry;

/// Number of ended children that stay registered before they are checked for remaining processes.
const REMEMBERED: usize = 64;

/// Ends everything that our children left running, including daemons, and waits until it is gone:
/// SIGTERM, up to 200 ms, SIGKILL, up to one second. Returns immediately if nothing is left. Must
/// be called once, before the program exits. Blocks.
pub fn reap_all() {
    let left = registry().leaders();
    if (!left.is_empty() || system::adopts_orphans()) && end(system::Members::everyone(&left)) {
        registry().forget(left);
    }
    #[cfg(target_os = "linux")]
    supervisor::dismiss();
}

/// Ends the processes that a killed Pollux process left running, as its supervisor does, and waits
/// until they are gone. The number must not belong to a running Pollux process.
pub(crate) fn end_rest_of_program(program: u32) {
    #[cfg(target_os = "linux")]
    if !is_running(program) {
        end(system::Members::of_program(program));
    }
    #[cfg(not(target_os = "linux"))]
    let _ = program;
}

/// Returns true if the child may still have a living process.
pub(crate) fn is_known(leader: Leader) -> bool {
    registry().contains(leader)
}

/// Ends the processes that a released child left running, without waiting for their end.
pub(crate) fn end_rest(leader: Leader) {
    if is_known(leader) {
        end_in_background(leader);
    }
}

/// Removes released children without living processes from the register, so that a process number
/// that the system reuses for another program is not mistaken for ours.
fn forget_ended() {
    let released = registry().released();
    let living = system::living(&released);
    registry().forget(released.into_iter().filter(|leader| !living.contains(leader)));
}

/// Returns the process numbers of children that may have living processes. Reads the process table.
pub(crate) fn with_processes() -> Vec<u32> {
    forget_ended();
    registry().leaders().into_iter().map(|leader| leader.id).collect()
}

/// The processes of one running child. Dropping it before [`Session::release`] ends them.
#[derive(Debug)]
pub(crate) struct Session {
    leader: Leader,
    /// True if the processes are released or being ended, so that dropping has no effect.
    settled: bool,
}

impl Session {
    /// Starts and registers a child.
    pub(crate) fn start(
        command: Command,
        kind: SessionKind,
        owner: Owner,
    ) -> io::Result<(tokio::process::Child, Self)> {
        let mut command = tokio::process::Command::from(command);
        #[cfg(target_os = "linux")]
        supervisor::start();
        let mut registry = registry();
        system::adopt_orphans();
        let child = command.spawn()?;
        let id = child.id().unwrap_or_default();
        let leader = Leader { id, started: system::start_time(id), kind, owner };
        registry.insert(leader);
        Ok((child, Self { leader, settled: false }))
    }

    pub(crate) fn leader(&self) -> Leader {
        self.leader
    }

    /// Returns the process number of the child.
    pub(crate) fn id(&self) -> u32 {
        self.leader.id
    }

    /// Notes that the child has ended and its exit status was taken. Its descendants continue:
    /// until [`reap_all`], or without a limit, see [`Leftovers`]. Must be called inside a tokio
    /// runtime.
    pub(crate) fn release(&mut self) {
        self.settled = true;
        match self.leader.owner.leftovers() {
            Leftovers::Keep => registry().forget([self.leader]),
            // Reading the process table takes milliseconds on a busy machine, so it is done rarely
            // and in the background.
            Leftovers::End if registry().release(self.leader) > REMEMBERED => {
                tokio::task::spawn_blocking(forget_ended);
            }
            Leftovers::End => {}
        }
        if system::has_dead_children() {
            tokio::task::spawn_blocking(reap_orphans);
        }
    }

    /// Ends the child and all its descendants, without waiting for their end.
    pub(crate) fn end(&mut self) {
        if !std::mem::replace(&mut self.settled, true) {
            end_in_background(self.leader);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
        registry().abandon(self.leader);
    }
}
