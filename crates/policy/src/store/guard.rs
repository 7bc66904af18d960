//! Rules that speak for the whole machine must be its administrator's alone.

use std::path::Path;

/// Checks that nobody but the administrator can put rules into a folder. One that is not there is fine.
///
/// # Errors
/// Why not, in words.
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

/// Checks that nobody but the administrator can change a file.
///
/// # Errors
/// Why not, in words.
#[cfg(unix)]
pub(super) fn check_file(file: &Path) -> Result<(), String> {
    check("File", file)
}

/// Checks that not everybody can change a file or put one into a folder, whoever owns it.
///
/// # Errors
/// Why not, in words.
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

/// What Windows' access lists say is not looked at.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub(super) fn check_folder(_folder: &Path) -> Result<(), String> {
    Ok(())
}

/// What Windows' access lists say is not looked at.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub(super) fn check_file(_file: &Path) -> Result<(), String> {
    Ok(())
}

/// What Windows' access lists say is not looked at.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub(super) fn check_writers(_path: &Path) -> Result<(), String> {
    Ok(())
}
