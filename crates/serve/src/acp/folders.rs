//! Folders of the sessions that a client knows: a request that deletes a session does not name its
//! folder.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Maximum number of sessions. Further ones are not remembered.
const MOST: usize = 10_000;

/// Folders of sessions, by the ids of the sessions.
#[derive(Default)]
pub(crate) struct KnownFolders(Mutex<HashMap<String, PathBuf>>);

impl KnownFolders {
    /// Remembers the folder of a session.
    pub(crate) fn remember(&self, session: &str, folder: &Path) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MOST || known.contains_key(session) {
            known.insert(session.to_owned(), folder.to_owned());
        }
    }

    /// Returns the folder of a session, if it is known.
    pub(crate) fn of(&self, session: &str) -> Option<PathBuf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned()
    }
}
