//! The helper: restricts its own process according to a plan and becomes the program.

use std::ffi::OsString;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use pollux_protocol::ConfinementLevel;
use rustix::io::{FdFlags, fcntl_setfd};

use super::{EXEC_FAILED, READY, SETUP_FAILED, read_all, write_all};
use super::{capabilities, landlock, namespace, probe, system_calls};
use crate::sandbox::SandboxPlan;

/// Maximum length of an encoded plan, in bytes.
const PLAN_BYTES: usize = 16 << 20;
/// Exit code of a helper that cannot become the program; only the parent sees it.
const FAILED: u8 = 126;

/// Confines this process and becomes the target program. Returns the exit code after a failure.
pub(crate) fn confined_child(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let mut file = || -> Option<OwnedFd> {
        let number: RawFd =
            arguments.next()?.to_str()?.parse().ok().filter(|&number| number > 2)?;
        owned(number)
    };
    let (Some(plan), Some(report)) = (file(), file()) else { return ExitCode::from(FAILED) };
    let Some(program) = arguments.next() else { return ExitCode::from(FAILED) };
    let (kind, message) = run(&plan, &report, &program, arguments.collect());
    // The write fails if the parent has ended; then nobody reads the report.
    let ready: &[u8] = if kind == SETUP_FAILED { &[READY, kind] } else { &[kind] };
    write_all(&report, &[ready, &message[..]].concat()).ok();
    ExitCode::from(FAILED)
}

#[expect(unsafe_code, reason = "an inherited file is known by its number only")]
fn owned(number: RawFd) -> Option<OwnedFd> {
    // SAFETY: the call only queries the number; a closed file is an error.
    let is_open = unsafe { libc::fcntl(number, libc::F_GETFD) } >= 0;
    // SAFETY: the file is open, the parent passed it to this process alone, and nothing else here
    // uses the number.
    is_open.then(|| unsafe { OwnedFd::from_raw_fd(number) })
}

/// Confines this process and becomes the program. Returns only after a failure, with the kind and
/// the text of the report.
fn run(plan: &OwnedFd, report: &OwnedFd, program: &OsString, rest: Vec<OsString>) -> (u8, Vec<u8>) {
    let failed = |reason: String| (SETUP_FAILED, reason.into_bytes());
    if let Err(error) = fcntl_setfd(report, FdFlags::CLOEXEC) {
        return failed(error.to_string());
    }
    let plan = match read(plan) {
        Ok(plan) => plan,
        Err(reason) => return failed(reason),
    };
    if let Err(reason) = restrict(&plan) {
        return failed(reason);
    }
    if let Err(error) = rustix::io::write(report, &[READY]) {
        return failed(error.to_string());
    }
    let error = Command::new(program).args(rest).exec();
    match error.raw_os_error() {
        Some(number) => (EXEC_FAILED, number.to_le_bytes().to_vec()),
        None => failed(error.to_string()),
    }
}

fn read(file: &OwnedFd) -> Result<SandboxPlan, String> {
    let bytes =
        read_all(file, PLAN_BYTES).map_err(|error| format!("the plan cannot be read: {error}"))?;
    SandboxPlan::decode(&bytes).ok_or_else(|| "the plan is damaged".to_owned())
}

/// Restricts this process and all processes that it starts.
fn restrict(plan: &SandboxPlan) -> Result<(), String> {
    let folder = std::env::current_dir().ok();
    if plan.level != ConfinementLevel::Inspect {
        namespace::enter(plan)?;
        if let Some(folder) = folder {
            // The current directory still refers to the folder below the new mounts.
            std::env::set_current_dir(&folder)
                .map_err(|error| format!("cannot return to the current folder: {error}"))?;
        }
    }
    close_others()?;
    if plan.level == ConfinementLevel::Protect && rustix::process::geteuid().is_root() {
        // Programs of root may change to other users by set-user-id files. In that case installing
        // filters needs a capability, so the filters are installed before the capabilities are
        // reduced.
        landlock::separate(plan, probe::landlock_version())?;
        system_calls::filter(plan, probe::landlock_version())?;
        if !capabilities::reduce(plan.level)? {
            no_new_privileges()?;
        }
        return Ok(());
    }
    capabilities::reduce(plan.level)?;
    no_new_privileges()?;
    if plan.level == ConfinementLevel::Protect {
        landlock::keep_signals(plan, probe::landlock_version())?;
    } else {
        landlock::restrict(plan, probe::landlock_version())?;
    }
    system_calls::filter(plan, probe::landlock_version())
}

fn no_new_privileges() -> Result<(), String> {
    rustix::thread::set_no_new_privs(true).map_err(|error| format!("no_new_privs: {error}"))
}

/// Marks all files above standard error as closed when the program starts.
#[expect(unsafe_code, reason = "neither std nor rustix has a call for close_range")]
fn close_others() -> Result<(), String> {
    // SAFETY: the call changes flags of files and touches no memory.
    let result =
        unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if result == 0 {
        return Ok(());
    }
    Err(format!("close_range: {}", std::io::Error::last_os_error()))
}
