//! Secrets that are not credentials of servers, in `gemini-credentials.json`.

use std::path::Path;

use super::encrypted::EncryptedFile;
use super::{CredentialError, lock};

/// Secrets of a user by service and account. Clones share the derived key. All functions block.
#[derive(Debug, Clone)]
pub struct SecretStore(EncryptedFile);

impl SecretStore {
    /// Returns the store in a state folder (`~/.gemini`). Reads nothing yet.
    pub fn in_state(state: &Path) -> Self {
        Self(EncryptedFile::new(state.join("gemini-credentials.json")))
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the secret of an account of a service.
    ///
    /// # Errors
    /// The file cannot be read or decrypted, or its content is not valid.
    pub fn get(&self, service: &str, account: &str) -> Result<Option<String>, CredentialError> {
        self.0.secret(service, account)
    }

    /// Sets the secret of an account of a service; `None` removes it.
    ///
    /// # Errors
    /// As for [`get`](Self::get); the file cannot be locked or written.
    pub fn set(
        &self,
        service: &str,
        account: &str,
        secret: Option<&str>,
    ) -> Result<(), CredentialError> {
        let _lock = lock(self.path())?;
        self.0.set_secret(service, account, secret)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn secrets_are_kept_by_service_and_never_in_clear() {
        let folder = tempfile::tempdir().unwrap();
        let store = SecretStore::in_state(folder.path());
        assert_eq!(store.get("s", "a").unwrap(), None);
        store.set("s", "a", Some("hidden")).unwrap();
        store.set("t", "a", Some("other")).unwrap();
        let again = SecretStore::in_state(folder.path());
        assert_eq!(again.get("s", "a").unwrap().as_deref(), Some("hidden"));
        assert!(!std::fs::read_to_string(store.path()).unwrap().contains("hidden"));
        store.set("s", "a", None).unwrap();
        assert_eq!(store.get("s", "a").unwrap(), None);
        store.set("t", "a", None).unwrap();
        assert!(!store.path().exists());
    }
}
