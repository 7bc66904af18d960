//! Private temporary folders of this process. The name contains the process number, so the folders
//! of a process that was killed are recognised and removed later. It also contains the number of
//! the namespace of processes: a container may share the temporary folder, but not the process
//! numbers.

use std::io;
use std::path::Path;
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::sessions::{is_running, process_namespace};

/// Prefix of the name; the purpose, the process number and the namespace follow.
const PREFIX: &str = "pollux-";
/// Purposes of the folders.
const PURPOSES: [&str; 2] = [JOBS, INSPECT];

/// Purpose: the list of background jobs of a command.
pub(crate) const JOBS: &str = "shell";
/// Purpose: the temporary folder of a command that can write nowhere else.
pub(crate) const INSPECT: &str = "inspect";

/// Creates a folder that only the owner can read and that is removed with the value. The first call
/// also removes the folders of killed processes, in the background.
pub(crate) fn private_folder(purpose: &str) -> io::Result<TempDir> {
    static SWEPT: OnceLock<()> = OnceLock::new();
    // Reading a temporary folder with many entries takes long, and the command does not wait for
    // it. Without a thread the folders stay until the next start.
    SWEPT.get_or_init(|| {
        drop(std::thread::Builder::new().name("pollux-sweep".into()).spawn(sweep));
    });
    let prefix = format!("{PREFIX}{purpose}-{}-{}-", std::process::id(), process_namespace());
    tempfile::Builder::new().prefix(&prefix).tempdir()
}

/// Removes the private folders of processes that no longer run.
pub(crate) fn sweep() {
    sweep_folder(&std::env::temp_dir());
}

/// Removes the private folders in `parent` of processes that no longer run.
fn sweep_folder(parent: &Path) {
    let Ok(entries) = pollux_fs::list_directory(parent) else { return };
    for entry in entries {
        let is_folder = entry.kind == pollux_fs::EntryKind::Directory;
        if is_folder && owner(&entry.name).is_some_and(|owner| !is_running(owner)) {
            // Folders of other users cannot be removed, and the error is ignored.
            pollux_fs::remove_tree(&entry.path).ok();
        }
    }
}

/// Returns the number of the process of this namespace that created a folder of this name.
fn owner(name: &str) -> Option<u32> {
    let rest = name.strip_prefix(PREFIX)?;
    let rest = PURPOSES.iter().find_map(|purpose| rest.strip_prefix(purpose))?;
    let (process, rest) = rest.strip_prefix('-')?.split_once('-')?;
    let (namespace, _) = rest.split_once('-')?;
    (namespace.parse() == Ok(process_namespace())).then(|| process.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_killed_processes_are_removed() {
        let own = private_folder(JOBS).unwrap();
        let name = own.path().file_name().unwrap().to_str().unwrap();
        assert_eq!(owner(name), Some(std::process::id()), "{name}");
        let here = process_namespace();
        for foreign in [
            format!("pollux-test-1-{here}-x"),
            format!("pollux-shell-x-{here}-y"),
            format!("pollux-shell-1-{here}"),
            format!("shell-1-{here}-x"),
            format!("pollux-shell-1-{}-x", here + 1),
            "pollux-shell-1-x".to_owned(),
        ] {
            assert_eq!(owner(&foreign), None, "{foreign}");
        }
        // In a folder of its own: the sweep of the first `private_folder` runs beside this test.
        let parent = tempfile::tempdir().unwrap();
        // No process has the number 4999999.
        let left = parent.path().join(format!("pollux-shell-4999999-{here}-x"));
        let running = parent.path().join(name);
        for folder in [&left, &running] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("file"), "x").unwrap();
        }
        sweep_folder(parent.path());
        assert!(!left.exists());
        assert!(running.exists());
    }
}
