//! Right to renew the token of one server.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use pollux_fs::{DirLock, Fingerprint, STALE_AFTER};

use super::hex;

/// Lock across processes that is kept alive in the background. Dropping it releases it.
#[derive(Debug)]
pub struct RefreshLock {
    /// Ends the thread when it is dropped.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    _lock: Arc<DirLock>,
}

impl RefreshLock {
    /// Acquires the right to renew the Google sign-in in a state folder (`~/.gemini`). Waits up to
    /// `wait` for another holder.
    ///
    /// # Errors
    /// The file of the lock cannot be made.
    pub fn of_user(state: &Path, wait: Duration) -> Result<Self, pollux_fs::Error> {
        let locks = state.join("pollux").join("refresh");
        pollux_fs::create_private_directories(&locks)?;
        // No server has this name: a slash cannot be part of it.
        Self::acquire(&locks, "google/", wait)
    }

    pub(super) fn acquire(
        folder: &Path,
        server: &str,
        wait: Duration,
    ) -> Result<Self, pollux_fs::Error> {
        // A name may contain anything, so its hash is the name of the file.
        let hash = Fingerprint::of_bytes(server.as_bytes(), None).hash;
        let lock = Arc::new(DirLock::acquire(&folder.join(hex(&hash[..16])), wait)?);
        let (end, ended) = channel::<()>();
        let renewed = Arc::clone(&lock);
        let renewing = move || {
            while ended.recv_timeout(STALE_AFTER / 4) == Err(RecvTimeoutError::Timeout)
                && renewed.renew().is_ok()
            {}
        };
        // Without a thread, the lock is valid for as long as most renewals take.
        let thread = std::thread::Builder::new().name("refresh lock".to_owned()).spawn(renewing);
        Ok(Self { end: Some(end), thread: thread.ok(), _lock: lock })
    }
}

impl Drop for RefreshLock {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // The thread ends at once and does not panic.
            drop(thread.join());
        }
    }
}
