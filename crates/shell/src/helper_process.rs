//! Roles in which the program starts itself as a helper of another Pollux process.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;

/// First argument of a helper that confines itself and becomes another program. No shell and no
/// user passes this text.
#[cfg(target_os = "linux")]
pub(crate) const CONFINE: &str = "\u{1}pollux-confine";
/// First argument of a helper that ends the commands of a killed process.
#[cfg(target_os = "linux")]
pub(crate) const SUPERVISE: &str = "\u{1}pollux-supervise";

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Sets the program to start as a helper; its `main` must call [`helper`] first. A program that
/// makes this call itself need not set another. Only the first call has an effect.
pub fn set_helper(program: PathBuf) {
    PROGRAM.get_or_init(|| program);
}

/// Returns the program to start as a helper; `None` if there is none.
pub(crate) fn program() -> Option<&'static Path> {
    PROGRAM.get().map(PathBuf::as_path)
}

/// Does the work of a helper, if this process was started as one. Must be the first call of `main`.
/// Returns the exit code of a helper, and `None` for any other process. Only Linux has helpers.
pub fn helper() -> Option<ExitCode> {
    #[cfg(target_os = "linux")]
    {
        set_helper("/proc/self/exe".into());
        let mut arguments = std::env::args_os().skip(1);
        match arguments.next()?.to_str()? {
            CONFINE => Some(crate::sandbox::confined_child(arguments)),
            SUPERVISE => Some(crate::sessions::supervise(arguments)),
            _ => None,
        }
    }
    #[cfg(not(target_os = "linux"))]
    None
}
