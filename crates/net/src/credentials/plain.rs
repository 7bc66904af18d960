//! `mcp-oauth-tokens.json`: a list of credentials in JSON.

use std::path::PathBuf;

use serde_json::Value;

use super::{CredentialError, StoredCredentials, broken, read, write};

/// The file.
#[derive(Debug, Clone)]
pub(super) struct PlainFile(pub(super) PathBuf);

impl PlainFile {
    pub(super) fn get(&self, server: &str) -> Result<Option<StoredCredentials>, CredentialError> {
        let entries = self.entries()?;
        let entry = entries.into_iter().find(|entry| is_of(entry, server));
        let read = entry.map(serde_json::from_value).transpose();
        read.map_err(|error| broken(&self.0, format!("the entry of \"{server}\": {error}")))
    }

    pub(super) fn set(&self, credentials: &StoredCredentials) -> Result<(), CredentialError> {
        let mut entries = self.entries()?;
        let new = serde_json::to_value(credentials).map_err(|error| broken(&self.0, error))?;
        match entries.iter_mut().find(|entry| is_of(entry, &credentials.server_name)) {
            Some(entry) => *entry = new,
            None => entries.push(new),
        }
        self.save(&entries)
    }

    pub(super) fn remove(&self, server: &str) -> Result<bool, CredentialError> {
        let mut entries = self.entries()?;
        let before = entries.len();
        entries.retain(|entry| !is_of(entry, server));
        if entries.len() == before {
            return Ok(false);
        }
        self.save(&entries).map(|()| true)
    }

    /// Returns the entries, each as it is in the file: an entry that is not valid concerns only its
    /// own server.
    fn entries(&self) -> Result<Vec<Value>, CredentialError> {
        let Some(bytes) = read(&self.0)? else { return Ok(Vec::new()) };
        serde_json::from_slice(&bytes).map_err(|error| broken(&self.0, error))
    }

    fn save(&self, entries: &[Value]) -> Result<(), CredentialError> {
        if entries.is_empty() {
            return write(&self.0, None);
        }
        let text = serde_json::to_vec_pretty(entries).map_err(|error| broken(&self.0, error))?;
        write(&self.0, Some(&text))
    }
}

fn is_of(entry: &Value, server: &str) -> bool {
    entry.get("serverName").and_then(Value::as_str) == Some(server)
}
