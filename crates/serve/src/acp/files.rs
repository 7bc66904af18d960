//! Text of files in the client: unsaved changes are what tools read and write.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol_schema::v1::{
    CLIENT_METHOD_NAMES, ReadTextFileRequest, ReadTextFileResponse, SessionId, WriteTextFileRequest,
};
use pollux_fs::FileKind;
use pollux_protocol::{Files, TextWritten};
use serde_json::Value;

use super::connection::Connection;
use crate::json_rpc::connection::RequestError;

/// Maximum time that the client may take to read or write a file.
const PATIENCE: Duration = Duration::from_secs(30);
/// Maximum size of a file on disk, in bytes, that the client is asked for.
const LARGEST: u64 = 20 << 20;
/// Folder of settings and state.
const STATE: &str = ".gemini";
/// Parts of the messages with which clients report a file that does not exist, as Gemini CLI knows
/// them.
const MISSING: [&str; 4] = ["Resource not found", "ENOENT", "does not exist", "No such file"];

/// Files of a session that the client may hold: those in the folder of the project.
pub(crate) struct ClientFiles {
    pub(crate) connection: Arc<Connection>,
    pub(crate) session: SessionId,
    /// Folder of the project as the client names it.
    pub(crate) folder: PathBuf,
    /// The same folder without links.
    pub(crate) real_folder: PathBuf,
}

impl ClientFiles {
    /// Returns the path as the client knows it; `None` for a file that is not the client's. The
    /// settings and the state of Pollux never are.
    fn path_in_client(&self, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix(&self.real_folder).ok()?;
        let is_state = below.components().any(|name| name.as_os_str() == STATE);
        (!is_state && may_be_text(path)).then(|| self.folder.join(below))
    }

    /// Checks that the client has no unsaved text of a file, for a client that cannot write: after
    /// a change on the disk, the client would still have the old text, and tools would read it.
    fn check_saved(&self, path: &Path) -> io::Result<()> {
        let Some(held) = self.read(path)? else { return Ok(()) };
        let text = |bytes: &[u8]| pollux_fs::decode(bytes).0;
        let saved = pollux_fs::read_bytes(path, LARGEST);
        if saved.is_ok_and(|saved| text(&saved) == text(held.as_bytes())) {
            return Ok(());
        }
        Err(io::Error::other(
            "the editor has unsaved changes and does not accept others; the user must save the file first",
        ))
    }
}

impl Files for ClientFiles {
    fn read(&self, path: &Path) -> io::Result<Option<String>> {
        let can_read = self.connection.capabilities().fs.read_text_file;
        let Some(shown) = self.path_in_client(path).filter(|_| can_read) else { return Ok(None) };
        let request = ReadTextFileRequest::new(self.session.clone(), shown);
        let method = CLIENT_METHOD_NAMES.fs_read_text_file;
        let read = self.connection.request_blocking(method, request, PATIENCE);
        match read {
            Ok(ReadTextFileResponse { content, .. }) => Ok(Some(content)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(failed("read", path, &error)),
        }
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<TextWritten> {
        let Some(shown) = self.path_in_client(path) else { return Ok(TextWritten::ToDisk) };
        if !self.connection.capabilities().fs.write_text_file {
            return self.check_saved(path).map(|()| TextWritten::ToDisk);
        }
        let request = WriteTextFileRequest::new(self.session.clone(), shown, text);
        let method = CLIENT_METHOD_NAMES.fs_write_text_file;
        let written = self.connection.request_blocking::<Value>(method, request, PATIENCE);
        match written {
            Ok(_) => Ok(TextWritten::Taken),
            Err(error) => Err(failed("write", path, &error)),
        }
    }
}

/// Returns false for a file whose content on disk shows that it is not text in UTF-8. Many clients
/// would read it as if it were, and a change would destroy it.
fn may_be_text(path: &Path) -> bool {
    match pollux_fs::read_bytes(path, LARGEST) {
        Ok(bytes) => {
            let kind = pollux_fs::detect(path, &bytes[..bytes.len().min(pollux_fs::HEAD_BYTES)]);
            matches!(kind, FileKind::Text | FileKind::Svg) && std::str::from_utf8(&bytes).is_ok()
        }
        // A new file may exist in the client only.
        Err(error) => matches!(error, pollux_fs::Error::NotFound { .. }),
    }
}

fn is_missing(error: &RequestError) -> bool {
    let RequestError::Refused(error) = error else { return false };
    let data = error.data.as_ref().map(Value::to_string).unwrap_or_default();
    MISSING.iter().any(|part| error.message.contains(part) || data.contains(part))
}

fn failed(action: &str, path: &Path, error: &RequestError) -> io::Error {
    let path = path.display();
    io::Error::other(format!("the editor could not {action} {path}: {error}"))
}
