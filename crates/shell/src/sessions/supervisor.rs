//! Linux: a helper process that ends the commands of a Pollux process that was killed.
//!
//! A killed process cannot end its children, and a parent-death signal only reaches the direct
//! children of one thread. The supervisor reads from a pipe whose other end only Pollux holds. At
//! the end of the pipe it ends every process that bears a mark of this Pollux process, and removes
//! its temporary folders. It has a session of its own, so no signal of the terminal reaches it.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::{Mutex, PoisonError};

use super::ending::end;
use super::system::{Members, unmark_this_process};
use crate::{helper_process, temporary};

/// Name of the process in lists of processes. It differs from that of Pollux, so that `killall -9
/// pollux` leaves the supervisor its work.
const NAME: &str = "supervisor";

/// Supervisor of this process.
enum Supervision {
    NotStarted,
    Running(Child, ChildStdin),
    /// It was dismissed, or it cannot be started.
    Over,
}

static SUPERVISION: Mutex<Supervision> = Mutex::new(Supervision::NotStarted);

/// Starts the supervisor of this process. Only the first call has an effect. Without a helper
/// program, or if it cannot be started, commands survive when this process is killed.
pub(super) fn start() {
    let mut supervision = SUPERVISION.lock().unwrap_or_else(PoisonError::into_inner);
    if matches!(*supervision, Supervision::NotStarted) {
        *supervision =
            spawn().map_or(Supervision::Over, |(child, pipe)| Supervision::Running(child, pipe));
    }
}

fn spawn() -> Option<(Child, ChildStdin)> {
    let mut child = Command::new(helper_process::program()?)
        .arg0(NAME)
        .args([helper_process::SUPERVISE, &std::process::id().to_string()])
        .env_clear()
        .env("TMPDIR", std::env::temp_dir())
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let pipe = child.stdin.take()?;
    Some((child, pipe))
}

/// Returns the process number of the running supervisor.
pub(crate) fn supervisor_id() -> Option<u32> {
    match &*SUPERVISION.lock().unwrap_or_else(PoisonError::into_inner) {
        Supervision::Running(child, _) => Some(child.id()),
        Supervision::NotStarted | Supervision::Over => None,
    }
}

/// Ends the supervisor before an orderly end of this process, and waits for it.
pub(super) fn dismiss() {
    let mut supervision = SUPERVISION.lock().unwrap_or_else(PoisonError::into_inner);
    let running = std::mem::replace(&mut *supervision, Supervision::Over);
    if let Supervision::Running(mut child, mut pipe) = running
        && pipe.write_all(b"q").is_ok()
    {
        child.wait().ok();
    }
}

/// Does the work of a supervisor. The argument is the number of the process to supervise.
#[expect(clippy::disallowed_methods, reason = "its standard input is the pipe")]
pub(crate) fn supervise(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let program = arguments.next().and_then(|number| number.to_str()?.parse().ok());
    let Some(program) = program else { return ExitCode::FAILURE };
    // Each of these fails only if it has no effect anyway.
    rustix::process::setsid().ok();
    rustix::thread::set_name(c"supervisor").ok();
    unmark_this_process();
    if matches!(std::io::stdin().read(&mut [0]), Ok(0)) {
        end(Members::of_program(program));
        temporary::sweep();
    }
    ExitCode::SUCCESS
}
