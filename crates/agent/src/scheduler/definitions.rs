//! Definitions of servers' tools that the user has approved: a server could otherwise get an
//! approval for a harmless tool, and change the tool afterwards.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pollux_fs::{DirLock, WriteOptions};
use pollux_protocol::Tool;

/// Maximum size of the file, in bytes.
const LARGEST: u64 = 4 << 20;
/// Time to wait for another process that writes the file.
const LOCK_WAIT: Duration = Duration::from_millis(500);

/// Digest of the approved definition of each tool, by server and tool.
type Digests = BTreeMap<String, String>;

/// Definitions that the user has approved, in a file or only for the session.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    file: Option<PathBuf>,
    /// The digests, once they were read.
    known: Mutex<Option<Digests>>,
}

impl Definitions {
    /// Creates definitions that are kept in a file.
    pub(super) fn in_file(file: PathBuf) -> Self {
        Self { file: Some(file), known: Mutex::default() }
    }

    /// Returns true if the server has changed the tool since the user approved it. A tool without a
    /// known definition has not changed.
    pub(super) fn is_changed(&self, tool: &dyn Tool) -> bool {
        let Some((key, definition)) = digest(tool) else { return false };
        let mut known = self.known();
        let known = known.get_or_insert_with(|| self.read());
        known.get(&key).is_some_and(|approved| *approved != definition)
    }

    /// Records that the user approves the tool as it is now, if that is so.
    pub(super) fn approve_if(&self, is_approval: bool, tool: &dyn Tool) {
        let Some((key, definition)) = digest(tool).filter(|_| is_approval) else { return };
        let mut known = self.known();
        let known = known.get_or_insert_with(|| self.read());
        if known.get(&key) == Some(&definition) {
            return;
        }
        known.insert(key.clone(), definition.clone());
        let Some(file) = &self.file else { return };
        // A file that cannot be written only means that the next session does not know the tool.
        drop(self.save(file, key, definition));
    }

    fn save(&self, file: &Path, key: String, definition: String) -> pollux_fs::Result<()> {
        if let Some(folder) = file.parent() {
            pollux_fs::create_private_directories(folder)?;
        }
        let _lock = DirLock::acquire(file, LOCK_WAIT)?;
        let mut saved = self.read();
        saved.insert(key, definition);
        let text = serde_json::to_string_pretty(&saved).unwrap_or_default();
        pollux_fs::write_atomic(file, text.as_bytes(), &WriteOptions::private()).map(drop)
    }

    /// Reads the file. One that cannot be read is empty.
    fn read(&self) -> Digests {
        let bytes = self.file.as_ref().and_then(|file| pollux_fs::read_bytes(file, LARGEST).ok());
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    fn known(&self) -> MutexGuard<'_, Option<Digests>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the key and the digest of a server's tool.
fn digest(tool: &dyn Tool) -> Option<(String, String)> {
    let key = format!("{}: {}", tool.server()?, tool.server_tool()?);
    Some((key, tool.definition()?.to_owned()))
}
