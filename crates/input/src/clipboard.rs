//! The clipboard: that of the user's terminal for writing, and that of the desktop for reading.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures::future::BoxFuture;
use pollux_fs::WriteOptions;
use pollux_protocol::{Clipboard, ClipboardContent, escaped_path};

/// Reading of the clipboard: the text for the prompt, or a message for the user.
pub type ClipboardRead = BoxFuture<'static, Result<String, String>>;

/// Returns the sequence that asks a terminal to put a text into the clipboard (OSC 52). It shows
/// nothing; terminals that do not know it, or do not allow it, ignore it.
pub fn clipboard_sequence(text: &str) -> String {
    format!("\u{1b}]52;c;{}\u{7}", BASE64_STANDARD.encode(text))
}

/// Reads the clipboard. An image is stored in `folder`, and its text is a reference to it.
///
/// # Errors
/// Message for the user.
pub(crate) async fn pasted(clipboard: &dyn Clipboard, folder: &Path) -> Result<String, String> {
    let (bytes, extension) = match clipboard.read().await? {
        ClipboardContent::Text(text) => return Ok(typable(&text)),
        ClipboardContent::Image { bytes, extension } => (bytes, extension),
    };
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let path = folder.join(format!("clipboard-{time}.{extension}"));
    let Some(name) = path.to_str().map(escaped_path) else {
        return Err(format!("{} is not a path that can be written.", path.display()));
    };
    let store = move || pollux_fs::write_atomic(&path, &bytes, &WriteOptions::private());
    match tokio::task::spawn_blocking(store).await {
        Ok(Ok(_)) => Ok(format!("@{name} ")),
        Ok(Err(error)) => Err(format!("The image cannot be stored: {error}.")),
        Err(error) => Err(format!("The image cannot be stored: {error}.")),
    }
}

/// Returns a text without the control characters that a user cannot type.
fn typable(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|letter| !letter.is_control() || matches!(letter, '\n' | '\t')).collect()
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use pretty_assertions::assert_eq;

    use super::*;

    struct Holding(ClipboardContent);

    #[async_trait]
    impl Clipboard for Holding {
        async fn read(&self) -> Result<ClipboardContent, String> {
            Ok(self.0.clone())
        }
    }

    #[tokio::test]
    async fn an_image_is_stored_and_referred_to() {
        let disk = tempfile::tempdir().unwrap();
        let folder = disk.path().join("a folder");
        let image = Holding(ClipboardContent::Image { bytes: vec![1, 2, 3], extension: "png" });
        let text = pasted(&image, &folder).await.unwrap();
        let path = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
        assert_eq!(std::fs::read(&path).unwrap(), [1, 2, 3]);
        assert_eq!(text, format!("@{} ", escaped_path(path.to_str().unwrap())));
        std::fs::write(disk.path().join("file"), "").unwrap();
        let failed = pasted(&image, &disk.path().join("file/below")).await.unwrap_err();
        assert!(failed.starts_with("The image cannot be stored: "), "{failed}");
    }

    #[tokio::test]
    async fn a_text_has_no_control_characters() {
        let text = Holding(ClipboardContent::Text("a\r\nb\tc\u{1b}[31m\u{0}".to_owned()));
        assert_eq!(pasted(&text, Path::new("/none")).await, Ok("a\nb\tc[31m".to_owned()));
    }
}
