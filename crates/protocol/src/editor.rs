//! The user's external editor.

use std::path::Path;

use async_trait::async_trait;

/// Editor that the user has chosen. It uses the terminal while it runs.
#[async_trait]
pub trait ExternalEditor: Send + Sync {
    /// Opens a file, at a line if one is given, and waits until the editor has exited.
    ///
    /// # Errors
    /// The message for the user if the editor did not start or reported a failure.
    async fn open(&self, file: &Path, line: Option<u32>) -> Result<(), String>;
}
