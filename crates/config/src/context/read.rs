//! Reading context files, with their imports and within bounds.

use std::collections::HashSet;
use std::path::Path;

use pollux_fs::RealPath;

use super::ContextFile;
use super::search::{Found, boundary};
use crate::files::{self, FileIdentity};
use crate::imports::{self, ImportFailure, ImportFormat};

/// How much of one file is read, in bytes.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;

/// How much is loaded in all, in bytes.
pub const MAX_TOTAL_BYTES: usize = 8 * 1024 * 1024;

/// Reads context files and counts what was loaded.
pub(super) struct Loader<'a> {
    pub(super) markers: &'a [String],
    pub(super) format: ImportFormat,
    pub(super) bytes: usize,
    pub(super) warnings: Vec<String>,
}

/// A context file as it was read.
pub(super) struct Read {
    pub(super) file: ContextFile,
    /// What it has brought along.
    pub(super) imported: HashSet<FileIdentity>,
}

impl Loader<'_> {
    /// Reads one file; `None` when it is empty or cannot be used, which a warning tells.
    pub(super) fn load(&mut self, found: &Found) -> Option<Read> {
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

    /// Expands imports, and notes them. They may reach everything in the file's project, by real path.
    fn expand(&self, found: &Found, text: &str, imported: &mut HashSet<FileIdentity>) -> String {
        // Almost no context file imports anything; then nothing of the following is needed.
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

/// The last line of a file that was cut.
fn truncation_notice() -> String {
    format!("\n[Only the first {MAX_FILE_BYTES} bytes of this file are loaded.]")
}

fn read_import(path: &Path, root: &Path, real_root: &Path) -> Result<String, ImportFailure> {
    // Asked by its text first: nothing is learnt about files outside, not even that they exist.
    if !path.starts_with(root) && !path.starts_with(real_root) {
        return Err(ImportFailure::Outside);
    }
    let failed = |error: &pollux_fs::Error| {
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
