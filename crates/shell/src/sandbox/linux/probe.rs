//! Detection of the kernel's mechanisms.

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::mount::{MountPropagationFlags, OpenTreeFlags, mount_change, open_tree};
use rustix::process::WaitOptions;
use rustix::thread::UnshareFlags;

use super::namespace;
use crate::sandbox::SandboxMechanisms;

/// Detects the mechanisms. Starts two short-lived child processes.
pub(in crate::sandbox) fn probe() -> SandboxMechanisms {
    let root = rustix::process::geteuid().is_root();
    let alone = UnshareFlags::NEWNS;
    let mount_namespace = root && in_child(|| mounts_work(alone));
    let user_namespace = in_child(|| mounts_work(alone | UnshareFlags::NEWUSER));
    SandboxMechanisms {
        landlock: landlock_version(),
        seccomp: has_filters(),
        mount_namespace,
        user_namespace,
        mount_attributes: mount_namespace || user_namespace || has_mount_attributes(),
        processor: std::env::consts::ARCH == "x86_64" || std::env::consts::ARCH == "aarch64",
        root,
        helper: super::has_helper(),
    }
}

/// Tries a namespace and a read-only tree in it. Makes only system calls.
fn mounts_work(flags: UnshareFlags) -> bool {
    if namespace::unshare(flags).is_err() {
        return false;
    }
    let (slave, recursive) = (MountPropagationFlags::DOWNSTREAM, MountPropagationFlags::REC);
    if mount_change(c"/", slave | recursive).is_err() {
        return false;
    }
    let clone = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let tree = open_tree(CWD, c"/proc", clone | OpenTreeFlags::AT_RECURSIVE);
    tree.is_ok_and(|tree| namespace::make_read_only(&tree).is_ok())
        && namespace::mount_workshop().is_ok()
}

/// Runs a function in a child process, because the function would change this process. Returns true
/// if no process can be started now: this does not depend on the mechanisms, and a confinement that
/// cannot be set up is an error when a command starts.
#[expect(unsafe_code, reason = "std starts programs, not functions")]
fn in_child(function: impl Fn() -> bool) -> bool {
    // SAFETY: the child makes only system calls and ends without running anything of the C library.
    match unsafe { libc::fork() } {
        0 => {
            let code = i32::from(!function());
            // SAFETY: ends the child immediately.
            unsafe { libc::_exit(code) }
        }
        ..0 => true,
        child => rustix::process::Pid::from_raw(child)
            .and_then(|child| rustix::process::waitpid(Some(child), WaitOptions::empty()).ok()?)
            .is_some_and(|(_, status)| status.exit_status() == Some(0)),
    }
}

/// Returns the version of Landlock; 0 if the kernel has no Landlock.
#[expect(unsafe_code, reason = "the crate keeps the version for itself")]
pub(super) fn landlock_version() -> i32 {
    const ONLY_VERSION: u32 = 1;
    // SAFETY: without attributes and with this flag the call only returns a number.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0usize,
            ONLY_VERSION,
        )
    };
    i32::try_from(version).unwrap_or(0).max(0)
}

/// Returns true if system calls can be filtered. The query for an action needs no rights.
#[expect(unsafe_code, reason = "rustix has no call for this question")]
fn has_filters() -> bool {
    let action: u32 = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the call reads the number behind the pointer, which lives until the call returns.
    let result = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action)
    };
    result == 0
}

/// Returns true if the kernel has `mount_setattr`: for a file that is not a mount, it then fails
/// with an error other than `ENOSYS`.
fn has_mount_attributes() -> bool {
    openat(CWD, c"/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
        .is_ok_and(|file| namespace::make_read_only(&file) != Err(rustix::io::Errno::NOSYS))
}
