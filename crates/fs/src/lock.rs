//! Lock folders that are compatible with Gemini CLI, which uses the `proper-lockfile` package for
//! the same files.
//!
//! `<file>.lock` is a folder; the process that creates it has the lock. The age of a lock is that
//! of its modification time: a holder that has not renewed the lock for ten seconds is considered
//! dead.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::error::{Error, Result};

#[cfg(test)]
mod tests;

/// Age at which a lock is considered stale, as in `proper-lockfile`.
pub const STALE_AFTER: Duration = Duration::from_secs(10);

/// Maximum pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// Number of locks that this process has released. Its threads thereby notice at once when one of
/// them releases a lock; the locks of other processes are looked at after pauses.
static RELEASED: Mutex<u64> = Mutex::new(0);
static RELEASE: Condvar = Condvar::new();

/// Lock folder that is held. Dropping it releases the lock.
///
/// The lock is meant for work of milliseconds (read, change, write one small file) and is not
/// renewed in the background; work that may take seconds must call [`DirLock::renew`].
#[derive(Debug)]
pub struct DirLock {
    folder: PathBuf,
    identity: Option<Identity>,
}

/// Identity of a folder, which distinguishes this lock from one that another process created after
/// this lock became stale.
type Identity = (u64, u64);

impl DirLock {
    /// Acquires the lock of `file` (which need not exist; its folder must), and waits up to `wait`
    /// for another holder.
    ///
    /// Blocks the thread. A stale lock is taken over immediately.
    ///
    /// # Errors
    /// [`Error::Locked`] after the wait; [`Error::PermissionDenied`] and others if the
    /// folder cannot be created.
    pub fn acquire(file: &Path, wait: Duration) -> Result<Self> {
        let folder = lock_folder(file);
        let deadline = Instant::now() + wait;
        let mut pause = Duration::from_millis(5);
        loop {
            let released = *RELEASED.lock().unwrap_or_else(PoisonError::into_inner);
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
            wait_for_release(released, pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Shows other processes that the holder is alive.
    ///
    /// # Errors
    /// [`Error::Locked`] if another process has taken over the lock.
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
            // A failure can be ignored: the lock will become stale.
            drop(fs::remove_dir(&self.folder));
        }
        *RELEASED.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        RELEASE.notify_all();
    }
}

/// Waits until this process has released more locks than `released`, at most for `pause`.
fn wait_for_release(released: u64, pause: Duration) {
    let now = RELEASED.lock().unwrap_or_else(PoisonError::into_inner);
    // Whether it has makes no difference: the next attempt tells.
    drop(RELEASE.wait_timeout_while(now, pause, |now| *now == released));
}

/// Returns the lock folder of the real file, so that two links to the file share one lock.
fn lock_folder(file: &Path) -> PathBuf {
    let mut name =
        dunce::canonicalize(file).unwrap_or_else(|_| file.to_path_buf()).into_os_string();
    name.push(".lock");
    name.into()
}

/// Returns true for a stale lock. A time far in the future counts as stale, too, because a living
/// holder keeps the time up to date.
fn is_stale(folder: &Path) -> bool {
    let modified = fs::metadata(folder).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|time| match time.elapsed() {
        Ok(age) => age > STALE_AFTER,
        Err(ahead) => ahead.duration() > STALE_AFTER,
    })
}

/// Returns true if the stale folder was removed. Two processes may both see it as stale;
/// `remove_dir` succeeds for only one of them. The other may remove the first one's new folder only
/// in the very short time between its check and its removal, as in `proper-lockfile`.
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

/// Uses the creation time, because the stable library provides no inode numbers on these systems.
#[cfg(not(unix))]
fn identity(folder: &Path) -> Option<Identity> {
    let created = fs::symlink_metadata(folder).ok()?.created().ok()?;
    let age = created.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some((age.as_secs(), u64::from(age.subsec_nanos())))
}
