//! Lock folders, understood by Gemini CLI too: it uses the `proper-lockfile` package for the same files.
//!
//! `<file>.lock` is a folder; whoever could create it has the lock. Its age is its modification time: a holder that did
//! not renew it for ten seconds is taken for dead.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::error::{Error, Result};

#[cfg(test)]
mod tests;

/// Age at which a lock counts as left behind, as in `proper-lockfile`.
pub const STALE_AFTER: Duration = Duration::from_secs(10);

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// A lock folder that is held. Dropping it releases it.
///
/// It is meant for work of milliseconds (read, change, write one small file) and is not renewed in the background;
/// [`DirLock::renew`] exists for what may take seconds.
#[derive(Debug)]
pub struct DirLock {
    folder: PathBuf,
    identity: Option<Identity>,
}

/// Tells our folder from one that someone else created after ours was taken for stale.
type Identity = (u64, u64);

impl DirLock {
    /// Takes the lock of `file` (which need not exist; its folder must), waiting up to `wait` for another holder.
    ///
    /// Blocks the thread. A stale lock is taken over at once.
    ///
    /// # Errors
    /// [`Error::Locked`] after the wait; [`Error::PermissionDenied`] and others when no folder can be made.
    pub fn acquire(file: &Path, wait: Duration) -> Result<Self> {
        let folder = lock_folder(file);
        let deadline = Instant::now() + wait;
        let mut pause = Duration::from_millis(5);
        loop {
            match fs::create_dir(&folder) {
                Ok(()) => {
                    let identity = identity(&folder);
                    return Ok(Self { folder, identity });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::from_io(&folder, error)),
            }
            if is_stale(&folder) && remove_stale(&folder)? {
                continue;
            }
            if Instant::now() >= deadline {
                return Err(Error::Locked { path: folder });
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Tells other processes that the holder is alive.
    ///
    /// # Errors
    /// [`Error::Locked`] when the lock was taken over meanwhile.
    pub fn renew(&self) -> Result<()> {
        let failed = |error| Error::from_io(&self.folder, error);
        if identity(&self.folder) != self.identity {
            return Err(Error::Locked { path: self.folder.clone() });
        }
        let times = fs::FileTimes::new().set_modified(SystemTime::now());
        fs::File::open(&self.folder).and_then(|handle| handle.set_times(times)).map_err(failed)
    }
}

impl Drop for DirLock {
    fn drop(&mut self) {
        if identity(&self.folder) == self.identity {
            // Nothing is left to do about a failure: the lock will go stale.
            drop(fs::remove_dir(&self.folder));
        }
    }
}

/// The lock belongs to the real file, so that two links to it share one lock.
fn lock_folder(file: &Path) -> PathBuf {
    let mut name =
        dunce::canonicalize(file).unwrap_or_else(|_| file.to_path_buf()).into_os_string();
    name.push(".lock");
    name.into()
}

/// A time far in the future says as little about a living holder as one long past: a holder keeps its
/// time current.
fn is_stale(folder: &Path) -> bool {
    let modified = fs::metadata(folder).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|time| match time.elapsed() {
        Ok(age) => age > STALE_AFTER,
        Err(ahead) => ahead.duration() > STALE_AFTER,
    })
}

/// Whether the stale folder is gone. Two takers may both see it stale; `remove_dir` lets one of them win, and the other
/// sees the winner's fresh folder only in the blink between its check and its removal, as in `proper-lockfile`.
fn remove_stale(folder: &Path) -> Result<bool> {
    match fs::remove_dir(folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(Error::from_io(folder, error)),
    }
}

#[cfg(unix)]
fn identity(folder: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(folder).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Without inode numbers in the stable library, the time of creation tells folders apart.
#[cfg(not(unix))]
fn identity(folder: &Path) -> Option<Identity> {
    let created = fs::symlink_metadata(folder).ok()?.created().ok()?;
    let age = created.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some((age.as_secs(), u64::from(age.subsec_nanos())))
}
