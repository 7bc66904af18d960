//! Text of files that are held outside the disk, such as in an editor with unsaved changes.

use std::io;
use std::path::Path;

/// Result of passing the text of a file to its holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextWritten {
    /// The holder took the text; the file on disk is left unchanged.
    Taken,
    /// The file is not held: the text must be written to the disk.
    ToDisk,
}

/// Holder of the text of files, asked before the disk is used wherever tools read or write text.
/// Paths are absolute, without links, and already checked: the tool may read or write them. The
/// methods run on threads that may block. The default methods hold no file.
pub trait Files: Send + Sync {
    /// Returns the text of a file with its own line endings; `None` if the content on disk is
    /// current.
    ///
    /// # Errors
    /// The file is held and its text is not available.
    fn read(&self, _path: &Path) -> io::Result<Option<String>> {
        Ok(None)
    }

    /// Takes the new text of a file with its line endings, unless it must be written to the disk.
    ///
    /// # Errors
    /// The file is held and cannot be changed.
    fn write(&self, _path: &Path, _text: &str) -> io::Result<TextWritten> {
        Ok(TextWritten::ToDisk)
    }
}

/// Holder of no files: all text is on the disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalFiles;

impl Files for LocalFiles {}
