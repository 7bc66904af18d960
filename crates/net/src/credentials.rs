//! Stored results of signing in: access tokens, refresh tokens, and what renews them.
//!
//! The files are those of Gemini CLI, which reads what this module writes and the reverse:
//!
//! - `mcp-oauth-tokens.json`: a list in plain JSON, readable by the owner only;
//! - `gemini-credentials.json`: encrypted with a key that is derived from the names of the machine
//!   and the user (`GEMINI_FORCE_ENCRYPTED_FILE_STORAGE`). It protects a copy of the file, not the
//!   file itself: any program of the user can derive the key.
//!
//! Fields and entries that are not known are kept. A file that cannot be read is never replaced. A
//! change is made under a lock across processes ([`DirLock`]), and written atomically.
//!
//! All functions block.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pollux_fs::{DirLock, WriteOptions};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

mod encrypted;
mod plain;
mod refresh_lock;
mod secrets;
#[cfg(test)]
mod tests;

use encrypted::EncryptedFile;
use plain::PlainFile;
pub use refresh_lock::RefreshLock;
pub use secrets::SecretStore;

/// Maximum size of a file, in bytes.
const LARGEST: u64 = 4 << 20;
/// Maximum time to wait for another process that changes the file.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Stored sign-in to one server.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredCredentials {
    /// Name of the server in the settings.
    pub server_name: String,
    /// The tokens.
    pub token: StoredToken,
    /// Id under which Pollux is known to the authorization server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Address that renews the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_url: Option<String>,
    /// Address of the server that the token is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_server_url: Option<String>,
    /// Time of the last change, in milliseconds since 1970.
    #[serde(default, deserialize_with = "whole")]
    pub updated_at: u64,
    /// All other fields.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Tokens of a [`StoredCredentials`].
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredToken {
    /// Token that is sent with requests.
    pub access_token: String,
    /// Kind of the token, `Bearer` in practice.
    #[serde(default = "bearer")]
    pub token_type: String,
    /// Token that renews the access token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    /// Permissions of the token, separated by spaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Time at which the access token expires, in milliseconds since 1970; `None` if it does not
    /// expire, as far as is known.
    #[serde(default, deserialize_with = "whole_if_given", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// All other fields.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl fmt::Debug for StoredCredentials {
    /// Shows no secret.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = formatter.debug_struct("StoredCredentials");
        fields.field("server_name", &self.server_name).field("token_url", &self.token_url);
        fields.field("expires_at", &self.token.expires_at).finish_non_exhaustive()
    }
}

impl fmt::Debug for StoredToken {
    /// Shows no secret.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = formatter.debug_struct("StoredToken");
        fields.field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

fn bearer() -> String {
    "Bearer".to_owned()
}

/// Reads a number that JavaScript wrote, which may have a fraction.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    f64::deserialize(deserializer).map(|number| number as u64)
}

fn whole_if_given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let number = Option::<f64>::deserialize(deserializer)?;
    Ok(number.map(|number| number as u64))
}

/// Failure of a [`CredentialStore`].
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// The file cannot be read, written or locked.
    #[error("Cannot use the stored credentials: {0}.")]
    File(#[from] pollux_fs::Error),
    /// The content of the file is not valid. The file is left as it is.
    #[error(
        "The file of stored credentials is broken: {cause} ({}). Repair it, or delete it and sign \
         in again.",
        path.display()
    )]
    Broken {
        /// The file.
        path: PathBuf,
        /// Description of the fault.
        cause: String,
    },
    /// The file cannot be decrypted. It is left as it is.
    #[error(
        "Corrupted credentials file detected at: {}. Only the user and the machine that wrote the \
         file can decrypt it. Rename or delete it, and sign in again.",
        path.display()
    )]
    Undecryptable {
        /// The file.
        path: PathBuf,
    },
    /// The name of the machine or the user is not known, so that there is no key.
    #[error("Cannot encrypt credentials: {0}.")]
    NoKey(String),
}

/// Form of a file of credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialFormat {
    /// `mcp-oauth-tokens.json`.
    Plain,
    /// `gemini-credentials.json`.
    Encrypted,
}

/// Credentials of all servers of a user, in one file. Clones share the derived key.
#[derive(Debug, Clone)]
pub struct CredentialStore {
    file: CredentialFile,
    /// Folder for the locks of renewals.
    locks: PathBuf,
}

#[derive(Debug, Clone)]
enum CredentialFile {
    Plain(PlainFile),
    Encrypted(EncryptedFile),
}

impl CredentialStore {
    /// Returns the store for MCP servers in a state folder (`~/.gemini`). Reads nothing yet.
    pub fn of_servers(state: &Path, format: CredentialFormat) -> Self {
        let file = match format {
            CredentialFormat::Plain => {
                CredentialFile::Plain(PlainFile(state.join("mcp-oauth-tokens.json")))
            }
            CredentialFormat::Encrypted => {
                CredentialFile::Encrypted(EncryptedFile::new(state.join("gemini-credentials.json")))
            }
        };
        Self { file, locks: state.join("pollux").join("refresh") }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        match &self.file {
            CredentialFile::Plain(file) => &file.0,
            CredentialFile::Encrypted(file) => file.path(),
        }
    }

    /// Returns the credentials of a server.
    ///
    /// # Errors
    /// The file cannot be read, or its content or the entry is not valid.
    pub fn get(&self, server: &str) -> Result<Option<StoredCredentials>, CredentialError> {
        match &self.file {
            CredentialFile::Plain(file) => file.get(server),
            CredentialFile::Encrypted(file) => file.get(server),
        }
    }

    /// Adds the credentials of a server, or replaces them.
    ///
    /// # Errors
    /// As for [`get`](Self::get); the file cannot be locked or written.
    pub fn set(&self, credentials: &StoredCredentials) -> Result<(), CredentialError> {
        let _lock = self.lock()?;
        match &self.file {
            CredentialFile::Plain(file) => file.set(credentials),
            CredentialFile::Encrypted(file) => file.set(credentials),
        }
    }

    /// Removes the credentials of a server. Returns false if there are none. A file without any
    /// credentials is deleted.
    ///
    /// # Errors
    /// As for [`set`](Self::set).
    pub fn remove(&self, server: &str) -> Result<bool, CredentialError> {
        // Without a file there is nothing to lock.
        match pollux_fs::info(self.path()) {
            Err(error) if error.is_not_found() => return Ok(false),
            _ => {}
        }
        let _lock = self.lock()?;
        match &self.file {
            CredentialFile::Plain(file) => file.remove(server),
            CredentialFile::Encrypted(file) => file.remove(server),
        }
    }

    /// Acquires the right to renew the token of a server, across processes. A refresh token may be
    /// valid only once, so the holder reads the credentials again before it uses theirs. Waits up
    /// to `wait` for another holder.
    ///
    /// # Errors
    /// [`CredentialError::File`].
    pub fn lock_refresh(
        &self,
        server: &str,
        wait: Duration,
    ) -> Result<RefreshLock, CredentialError> {
        pollux_fs::create_private_directories(&self.locks)?;
        Ok(RefreshLock::acquire(&self.locks, server, wait)?)
    }

    fn lock(&self) -> Result<DirLock, CredentialError> {
        lock(self.path())
    }
}

/// Locks a file for a change.
fn lock(path: &Path) -> Result<DirLock, CredentialError> {
    if let Some(folder) = path.parent() {
        pollux_fs::create_private_directories(folder)?;
    }
    Ok(DirLock::acquire(path, LOCK_WAIT)?)
}

/// Reads a file; `None` if it is missing.
fn read(path: &Path) -> Result<Option<Vec<u8>>, CredentialError> {
    match pollux_fs::read_bytes(path, LARGEST) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Replaces a file, or deletes it if there is nothing to write.
fn write(path: &Path, content: Option<&[u8]>) -> Result<(), CredentialError> {
    match content {
        Some(bytes) => pollux_fs::write_atomic(path, bytes, &WriteOptions::private()).map(drop)?,
        None => match pollux_fs::remove_file(path) {
            Err(error) if error.is_not_found() => {}
            removed => removed?,
        },
    }
    Ok(())
}

/// Returns bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a String cannot fail.
        write!(text, "{byte:02x}").unwrap_or_default();
    }
    text
}

fn broken(path: &Path, cause: impl fmt::Display) -> CredentialError {
    CredentialError::Broken { path: path.to_owned(), cause: cause.to_string() }
}
