//! Permission checks: only the administrator may be able to change rules for the whole machine.

use std::path::Path;

/// Checks that only the administrator can put rules into a folder. A missing folder is accepted.
///
/// # Errors
/// Returns the reason for a refusal.
#[cfg(unix)]
pub(super) fn check_folder(folder: &Path) -> Result<(), String> {
    match pollux_fs::info(folder) {
        Err(pollux_fs::Error::NotFound { .. } | pollux_fs::Error::NotADirectory { .. }) => {
            return Ok(());
        }
        Err(error) => return Err(error.to_string()),
        Ok(info) if info.kind != pollux_fs::EntryKind::Directory => {
            return Err("Not a directory".to_owned());
        }
        Ok(_) => {}
    }
    check("Directory", folder)
}

/// Checks that only the administrator can change a file.
///
/// # Errors
/// Returns the reason for a refusal.
#[cfg(unix)]
pub(super) fn check_file(file: &Path) -> Result<(), String> {
    check("File", file)
}

/// Checks that a file or folder is not writable for all users, whoever owns it.
///
/// # Errors
/// Returns the reason for a refusal.
#[cfg(unix)]
pub(super) fn check_writers(path: &Path) -> Result<(), String> {
    const OTHERS: u32 = 0o002;
    match pollux_fs::ownership(path) {
        Ok(ownership) if ownership.mode & OTHERS != 0 => Err(format!(
            "everybody can write it (mode {:o}). To fix this, run: chmod o-w '{}'",
            ownership.mode & 0o7777,
            path.display()
        )),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn check(kind: &str, path: &Path) -> Result<(), String> {
    const GROUP_AND_OTHERS: u32 = 0o022;
    let ownership = pollux_fs::ownership(path).map_err(|error| error.to_string())?;
    let shown = path.display();
    if ownership.user != 0 {
        return Err(format!(
            "{kind} '{shown}' is not owned by root (uid 0). Current uid: {}. To fix this, run: sudo chown root '{shown}'",
            ownership.user
        ));
    }
    if ownership.mode & GROUP_AND_OTHERS != 0 {
        return Err(format!(
            "{kind} '{shown}' is writable by group or others (mode: {:o}). To fix this, run: sudo chmod g-w,o-w '{shown}'",
            ownership.mode & 0o7777
        ));
    }
    Ok(())
}

/// Accepts every folder, because the access lists of Windows are not checked.
///
/// # Errors
/// Never returns an error.
#[cfg(not(unix))]
pub(super) fn check_folder(_folder: &Path) -> Result<(), String> {
    Ok(())
}

/// Accepts every file, because the access lists of Windows are not checked.
///
/// # Errors
/// Never returns an error.
#[cfg(not(unix))]
pub(super) fn check_file(_file: &Path) -> Result<(), String> {
    Ok(())
}

/// Accepts every path, because the access lists of Windows are not checked.
///
/// # Errors
/// Never returns an error.
#[cfg(not(unix))]
pub(super) fn check_writers(_path: &Path) -> Result<(), String> {
    Ok(())
}
