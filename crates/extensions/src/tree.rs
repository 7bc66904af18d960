//! Copies of folders within bounds, put in place in one step.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pollux_fs::EntryKind;
use tempfile::TempDir;
use uuid::Uuid;

use crate::error::InstallError;

/// Maximum number of files and folders.
const MAX_ENTRIES: usize = 5000;
/// Maximum size of all files together, in bytes.
const MAX_BYTES: u64 = 256 << 20;
/// Maximum depth of folders.
const MAX_DEPTH: usize = 32;
/// Beginning of the names of folders that are not in place yet.
const NEW: &str = ".new-";
/// Name of the content in such a folder. Programs that read all folders beside it find no manifest:
/// Gemini CLI would load it as an extension, also after the process was killed.
const CONTENT: &str = "content";
/// Age at which no process works on such a folder any more.
const ABANDONED: Duration = Duration::from_hours(1);
/// Folder with the history of the source. It is copied only if Pollux has just cloned it: another
/// one may have hooks that Git would run.
const HISTORY: &str = ".git";

/// Copies a folder to `to`, which is replaced if it exists. Whatever fails, `to` is either as it
/// was or complete.
///
/// # Errors
/// [`InstallError::Folder`] for a folder that is too large, or that contains links to places
/// outside of it, or special files.
pub(crate) fn install(from: &Path, to: &Path) -> Result<(), InstallError> {
    install_as(from, to, false, &|_| Ok(()))
}

/// Copies a folder like [`install`], with its history if this is wanted. `finish` completes the
/// copy before it is put in place.
pub(crate) fn install_as(
    from: &Path,
    to: &Path,
    with_history: bool,
    finish: &dyn Fn(&Path) -> pollux_fs::Result<()>,
) -> Result<(), InstallError> {
    check(from)?;
    place(to, &|new| copy(from, new, with_history).and_then(|()| finish(new)))
}

/// Puts a folder in the place of `to` that has only what `finish` writes into it.
pub(crate) fn install_empty(
    to: &Path,
    finish: &dyn Fn(&Path) -> pollux_fs::Result<()>,
) -> Result<(), InstallError> {
    place(to, &|new| pollux_fs::create_directories(new).and_then(|()| finish(new)))
}

/// Puts a new folder or link, which `fill` creates, in the place of `to` in one step.
fn place(to: &Path, fill: &dyn Fn(&Path) -> pollux_fs::Result<()>) -> Result<(), InstallError> {
    let beside = Beside::new(to)?;
    fill(&beside.content())?;
    Ok(pollux_fs::replace_tree(&beside.content(), to)?)
}

/// Creates a temporary folder that only the user can read.
pub(crate) fn temporary(prefix: &str) -> Result<TempDir, InstallError> {
    let created = tempfile::Builder::new().prefix(prefix).tempdir();
    created.map_err(|error| {
        InstallError::folder(&std::env::temp_dir(), format!("no temporary folder: {error}"))
    })
}

/// Puts a link to a folder in the place of `to`.
pub(crate) fn link(from: &Path, to: &Path) -> Result<(), InstallError> {
    place(to, &|new| pollux_fs::link_folder(from, new))
}

/// Removes a folder, or a link to a folder, but not what the link leads to.
pub(crate) fn remove(path: &Path) -> Result<(), InstallError> {
    match pollux_fs::link_info(path)?.kind {
        // Half of a folder must not remain under its name, even if the process is killed.
        EntryKind::Directory => {
            let beside = Beside::new(path)?;
            pollux_fs::rename(path, &beside.content())?;
            beside.remove()?;
        }
        _ => pollux_fs::remove_file(path)?,
    }
    Ok(())
}

/// Folder on the same file system as a path, for what is not yet, or no longer, in its place. Its
/// name begins with a dot, so nothing of Pollux finds it. It is removed when the value is dropped.
struct Beside(PathBuf);

impl Beside {
    /// Creates the folder beside a path.
    fn new(path: &Path) -> Result<Self, InstallError> {
        let parent = path.parent().unwrap_or(path);
        pollux_fs::create_directories(parent)?;
        remove_left(parent);
        let new = Self(parent.join(format!("{NEW}{}", Uuid::new_v4())));
        pollux_fs::create_directories(&new.0)?;
        Ok(new)
    }

    /// Returns the path for the content.
    fn content(&self) -> PathBuf {
        self.0.join(CONTENT)
    }

    fn remove(&self) -> pollux_fs::Result<()> {
        pollux_fs::remove_tree(&self.0)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // What cannot be removed stays until the next installation.
        drop(self.remove());
    }
}

/// Removes what processes that were killed have left in a folder. What cannot be removed stays.
fn remove_left(folder: &Path) {
    let is_old = |path: &Path| {
        let modified = pollux_fs::link_info(path).ok().and_then(|info| info.modified);
        modified.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > ABANDONED)
    };
    for entry in pollux_fs::list_directory(folder).unwrap_or_default() {
        if entry.name.starts_with(NEW) && is_old(&entry.path) {
            drop(match entry.kind {
                EntryKind::Directory => pollux_fs::remove_tree(&entry.path),
                _ => pollux_fs::remove_file(&entry.path),
            });
        }
    }
}

fn copy(from: &Path, to: &Path, with_history: bool) -> pollux_fs::Result<()> {
    pollux_fs::create_directories(to)?;
    for entry in pollux_fs::list_directory(from)? {
        let Some(name) = entry.path.file_name() else { continue };
        if !with_history && name == HISTORY {
            continue;
        }
        pollux_fs::copy_entry(&entry, &to.join(name))?;
    }
    Ok(())
}

fn check(root: &Path) -> Result<(), InstallError> {
    let real = pollux_fs::real_path(root)?;
    let refused = |reason: String| InstallError::folder(root, reason);
    let (mut entries, mut bytes) = (0, 0);
    let mut pending = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = pending.pop() {
        for entry in pollux_fs::list_directory(&folder)? {
            if depth == 0 && entry.name == HISTORY {
                continue;
            }
            entries += 1;
            match entry.kind {
                EntryKind::Directory => pending.push((entry.path, depth + 1)),
                EntryKind::File => bytes += pollux_fs::link_info(&entry.path)?.size,
                EntryKind::Symlink => {
                    let target = pollux_fs::real_path(&entry.path)?;
                    if !target.starts_with(&real) {
                        let path = entry.path.display();
                        return Err(refused(format!("{path} is a link to a place outside of it")));
                    }
                }
                EntryKind::Special => {
                    return Err(refused(format!("{} is not a file", entry.path.display())));
                }
            }
            if entries > MAX_ENTRIES || bytes > MAX_BYTES || depth > MAX_DEPTH {
                return Err(refused(format!(
                    "it contains more than {MAX_ENTRIES} files or {MAX_BYTES} bytes, or folders nested deeper than {MAX_DEPTH} levels"
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = pollux_fs::list_directory(folder).unwrap();
        entries.into_iter().map(|entry| entry.name).collect()
    }

    #[test]
    fn a_folder_is_replaced_as_a_whole() {
        let base = tempfile::tempdir().unwrap();
        let (from, to) = (base.path().join("from"), base.path().join("all/to"));
        fs::create_dir_all(from.join(".git/hooks")).unwrap();
        fs::create_dir_all(from.join("sub/.git")).unwrap();
        fs::write(from.join("a"), "1").unwrap();
        install(&from, &to).unwrap();
        assert_eq!(names(&to), ["a", "sub"]);
        fs::remove_file(from.join("a")).unwrap();
        fs::write(from.join("b"), "2").unwrap();
        install(&from, &to).unwrap();
        assert_eq!(names(&to), ["b", "sub"]);
        assert_eq!(names(&base.path().join("all")), ["to"]);
        link(&from, &to).unwrap();
        assert_eq!(names(&to), [".git", "b", "sub"]);
        install(&from, &to).unwrap();
        link(&from, &to).unwrap();
        remove(&to).unwrap();
        assert_eq!(names(&base.path().join("all")), [""; 0]);
        assert!(from.join("b").exists());
    }

    #[test]
    fn what_a_killed_process_has_left_is_removed() {
        let base = tempfile::tempdir().unwrap();
        let (from, all) = (base.path().join("from"), base.path().join("all"));
        fs::create_dir_all(&from).unwrap();
        // Earlier versions had the content directly in the folder.
        for name in [".new-old", ".new-old2/content", ".new-young", ".other"] {
            fs::create_dir_all(all.join(name)).unwrap();
            fs::write(all.join(name).join("a"), "1").unwrap();
        }
        for name in [".new-old", ".new-old2"] {
            let folder = fs::File::open(all.join(name)).unwrap();
            folder.set_modified(std::time::SystemTime::now() - ABANDONED * 2).unwrap();
        }
        install(&from, &all.join("to")).unwrap();
        assert_eq!(names(&all), [".new-young", ".other", "to"]);
    }

    #[test]
    fn what_is_not_in_place_is_never_directly_beside_it() {
        let base = tempfile::tempdir().unwrap();
        let (from, all) = (base.path().join("from"), base.path().join("all"));
        fs::create_dir_all(&from).unwrap();
        fs::write(from.join("a"), "1").unwrap();
        let seen = std::cell::Cell::new(0);
        let look = |new: &Path| {
            seen.set(seen.get() + 1);
            let folders = names(&all).into_iter().filter(|name| name.starts_with(NEW));
            for folder in folders {
                assert_eq!(names(&all.join(folder)), [CONTENT]);
            }
            assert!(new.join("a").exists() && new.ends_with(CONTENT));
            Ok(())
        };
        for _ in 0..2 {
            install_as(&from, &all.join("to"), false, &look).unwrap();
        }
        assert_eq!((seen.get(), names(&all)), (2, vec!["to".to_owned()]));
        let failed = install_as(&from, &all.join("to"), false, &|new| {
            pollux_fs::read_bytes(&new.join("missing"), 1).map(drop)
        });
        assert!(failed.is_err());
        assert_eq!(names(&all), ["to"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_refused_changes_nothing() {
        use std::os::unix::fs::symlink;

        let base = tempfile::tempdir().unwrap();
        let (from, to) = (base.path().join("from"), base.path().join("all/to"));
        fs::create_dir_all(&from).unwrap();
        fs::write(from.join("a"), "1").unwrap();
        symlink("a", from.join("inner")).unwrap();
        install(&from, &to).unwrap();
        assert_eq!(names(&to), ["a", "inner"]);
        fs::write(base.path().join("secret"), "").unwrap();
        symlink("../secret", from.join("out")).unwrap();
        let error = install(&from, &to).unwrap_err().to_string();
        assert!(error.contains("from/out is a link to a place outside of it"), "{error}");
        fs::remove_file(from.join("out")).unwrap();
        let large = fs::File::create(from.join("large")).unwrap();
        large.set_len(MAX_BYTES + 1).unwrap();
        assert!(install(&from, &to).unwrap_err().to_string().contains("contains more than"));
        assert_eq!(names(&to), ["a", "inner"]);
        assert_eq!(names(&base.path().join("all")), ["to"]);
    }
}
