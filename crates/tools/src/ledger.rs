//! Record of the files that were read and written in this session, so that no content is
//! overwritten that the model has never seen.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pollux_fs::Fingerprint;

/// Content of files as tools last saw it. Shared by all tools of a session; no lock is held during
/// I/O.
#[derive(Debug, Default)]
pub struct Ledger {
    seen: Mutex<HashMap<PathBuf, Fingerprint>>,
}

impl Ledger {
    /// Creates an empty ledger.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records that the file at `path` (absolute, links resolved) was read or written with this
    /// content.
    pub fn record(&self, path: &Path, fingerprint: Fingerprint) {
        self.lock().insert(path.to_path_buf(), fingerprint);
    }

    /// Returns the content that was last seen; `None` for a file that was not used in this session.
    pub fn last_seen(&self, path: &Path) -> Option<Fingerprint> {
        self.lock().get(path).copied()
    }

    /// Returns true if `current` differs from the content that was last seen. A file that was never
    /// seen is not stale, and neither is a file that was deleted: creating it again overwrites
    /// nothing.
    pub fn is_stale(&self, path: &Path, current: Option<&Fingerprint>) -> bool {
        match (self.last_seen(path), current) {
            (Some(seen), Some(current)) => seen != *current,
            _ => false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Fingerprint>> {
        // A panic of another thread leaves the map consistent: each change is one call.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_seen_otherwise_is_stale() {
        let ledger = Ledger::new();
        let path = Path::new("/p/a");
        let (old, new) = (Fingerprint::of_bytes(b"old", None), Fingerprint::of_bytes(b"new", None));
        assert!(!ledger.is_stale(path, Some(&old)));
        ledger.record(path, old);
        assert!(!ledger.is_stale(path, Some(&old)));
        assert!(ledger.is_stale(path, Some(&new)));
        assert!(!ledger.is_stale(path, None));
        ledger.record(path, new);
        assert!(!ledger.is_stale(path, Some(&new)));
    }
}
