//! The person's own editor.

use std::path::Path;

use async_trait::async_trait;

/// An editor that the person has chosen. It takes the terminal while it runs.
#[async_trait]
pub trait ExternalEditor: Send + Sync {
    /// Opens a file and waits until the editor has ended.
    ///
    /// # Errors
    /// The message for the person when the editor did not start or did not succeed.
    async fn open(&self, file: &Path) -> Result<(), String>;
}
