//! Text of files that somebody other than the disk holds, such as an editor with unsaved changes.

use std::io;
use std::path::Path;

/// Result of handing over the text of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextWritten {
    /// The text was taken; the disk is left alone.
    Taken,
    /// The file is not held: the text goes to the disk.
    ToDisk,
}

/// Holder of the text of files, asked before the disk wherever tools read or write text. Paths are
/// absolute, without links, and checked: the tool may read or write them. Called on threads that may
/// block. The defaults hold no file.
pub trait Files: Send + Sync {
    /// Returns the text of a file with its own line ends; `None` if the content on disk counts.
    ///
    /// # Errors
    /// The file is held and its text cannot be had.
    fn read(&self, _path: &Path) -> io::Result<Option<String>> {
        Ok(None)
    }

    /// Takes the new text of a file with its line ends, unless it belongs on the disk.
    ///
    /// # Errors
    /// The file is held and cannot be changed.
    fn write(&self, _path: &Path, _text: &str) -> io::Result<TextWritten> {
        Ok(TextWritten::ToDisk)
    }
}

/// Files that are on the disk alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalFiles;

impl Files for LocalFiles {}
