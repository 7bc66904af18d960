//! The user's clipboard.

use async_trait::async_trait;

/// Content of the clipboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClipboardContent {
    /// An image.
    Image {
        /// Bytes of its file.
        bytes: Vec<u8>,
        /// Extension of the name of its file, such as `png`.
        extension: &'static str,
    },
    /// A text, as the other program has written it.
    Text(String),
}

/// Clipboard of the desktop.
#[async_trait]
pub trait Clipboard: Send + Sync {
    /// Returns the content, as an image if it is one.
    ///
    /// # Errors
    /// The message for the user if there is no clipboard, or nothing in it.
    async fn read(&self) -> Result<ClipboardContent, String>;
}
