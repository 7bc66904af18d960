//! Code that runs in the child between fork and exec.

#![expect(clippy::disallowed_methods, reason = "gives a child its terminal, in the child")]

use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::io::{FdFlags, fcntl_setfd};

use crate::sessions::{Owner, SessionKind, mark_this_process};

/// Puts the child of `command` into its session and marks it as a process of `owner`. The child
/// inherits the open files `inherited`, which the caller keeps open until the child has started.
///
/// A separate session keeps the child away from the user's terminal: a program that asks for a
/// password on `/dev/tty` gets an error instead of waiting forever.
#[expect(unsafe_code, reason = "std has no stable safe call for setsid and a controlling terminal")]
pub(super) fn prepare(
    command: &mut Command,
    kind: SessionKind,
    owner: Owner,
    inherited: Vec<RawFd>,
) {
    // SAFETY: the closure runs between fork and exec, where only async-signal-safe calls are
    // allowed. It makes only system calls (setsid, ioctl, getrlimit, setrlimit, fcntl, prctl) and
    // touches no memory of the parent. Standard input is the terminal by then: std connects the
    // streams before it calls the closure.
    unsafe {
        command.pre_exec(move || {
            match kind {
                SessionKind::Own => drop(rustix::process::setsid()?),
                SessionKind::OwnWithTerminal => {
                    rustix::process::setsid()?;
                    rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
                }
                SessionKind::Shared => {}
            }
            if kind != SessionKind::Shared {
                give_up_tracing();
            }
            for &file in &inherited {
                fcntl_setfd(BorrowedFd::borrow_raw(file), FdFlags::empty())?;
            }
            mark_this_process(owner);
            Ok(())
        });
    }
}

/// Removes from programs of root the capability to read the memory of processes with more
/// capabilities, such as the API keys in the memory of Pollux. The kernel keeps out other users,
/// because Pollux is not dumpable.
#[cfg(target_os = "linux")]
fn give_up_tracing() {
    // Programs of root get the capabilities in the bounding set. A failure means that the process
    // lacks the right to change the set, and then it usually lacks this capability, too.
    rustix::thread::remove_capability_from_bounding_set(rustix::thread::CapabilitySet::SYS_PTRACE)
        .ok();
}

/// Other systems have no capabilities.
#[cfg(not(target_os = "linux"))]
fn give_up_tracing() {}
