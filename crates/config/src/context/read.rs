//! Reading of context files, with their imports and with limits.

use std::collections::HashSet;
use std::path::Path;

use pollux_fs::RealPath;

use super::ContextFile;
use super::search::{FoundFile, boundary};
use crate::files::{self, FileIdentity};
use crate::imports::{self, ImportFailure, ImportFormat};

/// Maximum number of bytes read from one file.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

/// Maximum number of bytes loaded in total.
pub const MAX_TOTAL_BYTES: usize = 8 * 1024 * 1024;

/// Reader of context files that counts the loaded bytes.
pub(super) struct Loader<'a> {
    pub(super) markers: &'a [String],
    pub(super) format: ImportFormat,
    pub(super) bytes: usize,
    pub(super) warnings: Vec<String>,
}

/// Result of reading a context file.
pub(super) struct Read {
    pub(super) file: ContextFile,
    /// Files that it imports.
    pub(super) imported: HashSet<FileIdentity>,
}

impl Loader<'_> {
    /// Reads one file. Returns `None` if the file is empty or, with a warning, if it cannot be
    /// used.
    pub(super) fn load(&mut self, found: &FoundFile) -> Option<Read> {
        let path = found.path.as_path();
        let read = match files::read_judged_text_lossy(&found.real, MAX_FILE_BYTES) {
            Ok(read) => read,
            Err(error) => return self.skip(path, &files::node_message(&error)),
        };
        if read.binary {
            return self.skip(path, "it is not a text file");
        }
        let text = read.text.strip_prefix('\u{feff}').unwrap_or(&read.text);
        let mut imported = HashSet::new();
        let mut text = self.expand(found, text, &mut imported).trim().to_owned();
        if text.is_empty() {
            return None;
        }
        if read.truncated {
            text.push_str(&truncation_notice());
        }
        if self.bytes + text.len() > MAX_TOTAL_BYTES {
            return self.skip(path, "all context files together are too large");
        }
        self.bytes += text.len();
        Some(Read { file: ContextFile { path: path.to_owned(), text }, imported })
    }

    fn skip(&mut self, path: &Path, reason: &str) -> Option<Read> {
        let path = path.display();
        self.warnings.push(format!("Context file {path} was not loaded: {reason}."));
        None
    }

    /// Expands imports and records them. Imports may refer to any file in the file's project, by
    /// real path.
    fn expand(
        &self,
        found: &FoundFile,
        text: &str,
        imported: &mut HashSet<FileIdentity>,
    ) -> String {
        // Fast path: almost no context file has imports.
        if !text.contains('@') && self.format == ImportFormat::Tree {
            return text.to_owned();
        }
        let Some(folder) = found.path.parent() else { return text.to_owned() };
        let root_of = |folder: &Path| boundary(folder, self.markers);
        let root = root_of(folder).unwrap_or_else(|| folder.to_owned());
        let real_root = root_of(&found.folder).unwrap_or_else(|| found.folder.to_path_buf());
        let mut read = |path: &Path| {
            let text = read_import(path, &root, &real_root)?;
            imported.extend(files::identity(path));
            Ok(text)
        };
        imports::expand(text, folder, self.format, &mut read)
    }
}

/// Returns the notice at the end of a truncated file.
fn truncation_notice() -> String {
    format!("\n[Only the first {MAX_FILE_BYTES} bytes of this file are loaded.]")
}

fn read_import(path: &Path, root: &Path, real_root: &Path) -> Result<String, ImportFailure> {
    // The path's text is checked first, so that nothing about files outside is revealed, not even
    // their existence.
    if !path.starts_with(root) && !path.starts_with(real_root) {
        return Err(ImportFailure::Outside);
    }
    let failed = |error: &pollux_fs::Error| {
        if matches!(error.code(), "ENOENT" | "ENOTDIR" | "EISDIR" | "ENAMETOOLONG") {
            return ImportFailure::Missing;
        }
        let reason = files::node_message(error);
        ImportFailure::Unreadable(format!("{reason}, access '{}'", path.display()))
    };
    let real = RealPath::of(path).map_err(|error| failed(&error))?;
    if !real.starts_with(real_root) {
        return Err(ImportFailure::Outside);
    }
    let read =
        files::read_judged_text_lossy(&real, MAX_FILE_BYTES).map_err(|error| failed(&error))?;
    if read.binary {
        return Err(ImportFailure::Unreadable("not a text file".to_owned()));
    }
    Ok(read.text)
}
