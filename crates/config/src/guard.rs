//! Checks that only the administrator can write the files that configure the whole machine: anyone
//! who could write or replace such a file would control the settings of all users.
//!
//! As in Gemini CLI, every folder above the file is checked, including the folders above the target
//! of a link. Access control lists of Windows are not checked.

use std::path::Path;

#[cfg(unix)]
use pollux_fs::Ownership;

/// Checks that only the administrator can have written `path` (absolute). A missing file passes.
///
/// # Errors
/// Message for the user: the folder or file that others can write, and the command that repairs it.
#[cfg(unix)]
pub fn check(path: &Path) -> Result<(), String> {
    // The code that reads the file reports all other errors.
    let Ok(ownership) = pollux_fs::ownership(path) else { return Ok(()) };
    check_folders(path, "Parent directory")?;
    let target = pollux_fs::real_path(path).map_err(|error| error.to_string())?;
    if target != path {
        check_folders(&target, "Resolved target parent directory")?;
    }
    if !crate::files::is_file(path) {
        return Err("File is insecure: Not a file".to_owned());
    }
    match fault("File", path, ownership) {
        Some(fault) => Err(format!("File is insecure: {fault}")),
        None => Ok(()),
    }
}

/// Accepts every file: files on this system have no owner that could be checked.
///
/// # Errors
/// Never fails.
#[cfg(not(unix))]
pub fn check(_path: &Path) -> Result<(), String> {
    Ok(())
}

/// Checks every folder above `path`, the nearest first.
#[cfg(unix)]
fn check_folders(path: &Path, place: &str) -> Result<(), String> {
    for folder in path.ancestors().skip(1) {
        let link = if folder.is_symlink() { " symlink" } else { "" };
        let place = format!("{place}{link} '{}' is insecure: ", folder.display());
        let ownership = pollux_fs::ownership(folder).map_err(|error| format!("{place}{error}"))?;
        if let Some(fault) = fault("Directory", folder, ownership) {
            return Err(place + &fault);
        }
    }
    Ok(())
}

/// Returns the reason why someone other than the administrator could write there, with the remedy.
#[cfg(unix)]
fn fault(kind: &str, path: &Path, ownership: Ownership) -> Option<String> {
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    let Ownership { user: owner, mode } = ownership;
    let path = path.display();
    if owner != 0 {
        return Some(format!(
            "{kind} '{path}' is not owned by root (uid 0). Current uid: {owner}. To fix this, run: sudo chown root:root \"{path}\""
        ));
    }
    (mode & WRITABLE_BY_OTHERS != 0).then(|| {
        format!(
            "{kind} '{path}' is writable by group or others (mode: {mode:o}). To fix this, run: sudo chmod g-w,o-w \"{path}\""
        )
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn who_could_write() {
        let file = |user, mode| fault("File", Path::new("/s"), Ownership { user, mode });
        for mode in [0o100_644, 0o100_600, 0o100_755] {
            assert_eq!(file(0, mode), None, "{mode:o}");
        }
        for mode in [0o100_664, 0o100_646, 0o41_777] {
            let words = format!("File '/s' is writable by group or others (mode: {mode:o}).");
            assert!(file(0, mode).unwrap().starts_with(&words), "{mode:o}");
        }
        let words = "File '/s' is not owned by root (uid 0). Current uid: 1000. To fix this, run: ";
        assert!(file(1000, 0o100_666).unwrap().starts_with(words));
    }

    #[test]
    fn the_folders_above_count() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.json");
        assert_eq!(check(&file), Ok(()), "there is nothing to be read");
        std::fs::write(&file, "{}").unwrap();
        let message = check(&file).unwrap_err();
        assert!(message.starts_with("Parent directory '"), "{message}");
        assert!(message.contains("To fix this, run: sudo ch"), "{message}");
    }

    #[test]
    fn what_a_link_leads_to_counts() {
        let folder = tempfile::tempdir().unwrap();
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(folder.path(), open).unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("link")).unwrap();
        std::fs::write(folder.path().join("a"), "{}").unwrap();
        let message = check(&folder.path().join("link/a")).unwrap_err();
        assert!(message.starts_with("Parent directory symlink '"), "{message}");
    }

    #[test]
    fn files_of_the_administrator_pass() {
        assert_eq!(check(Path::new("/etc/passwd")), Ok(()));
    }
}
