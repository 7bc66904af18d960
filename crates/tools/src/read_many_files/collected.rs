//! Content of the files that were read, within limits.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use pollux_fs::Workspace;
use pollux_protocol::{FileOperationKind, Measurement, Part};

use super::NAME;
use crate::context::{ToolContext, file_operation};
use crate::many_files::{FileContent, FileReader};

/// The files so far.
pub(super) struct Collected<'a> {
    pub(super) context: &'a ToolContext,
    include: Vec<String>,
    /// Parts for the model.
    pub(super) parts: Vec<Part>,
    /// Files that were read, with their paths for users.
    pub(super) read: Vec<String>,
    /// Files that were skipped, with the reason.
    pub(super) skipped: Vec<(String, String)>,
    pub(super) measurements: Vec<Measurement>,
    /// Further remarks for the model.
    pub(super) notes: Vec<String>,
    reader: FileReader<'a>,
    folders: HashSet<PathBuf>,
}

impl<'a> Collected<'a> {
    /// Creates an empty collection.
    pub(super) fn new(
        context: &'a ToolContext,
        workspace: &'a Workspace,
        include: &[String],
    ) -> Self {
        Self {
            context,
            include: include.iter().map(|pattern| pattern.to_lowercase()).collect(),
            parts: Vec::new(),
            read: Vec::new(),
            skipped: Vec::new(),
            measurements: Vec::new(),
            notes: Vec::new(),
            reader: FileReader::new(workspace, &*context.files),
            folders: HashSet::new(),
        }
    }

    /// Adds a remark about the whole result.
    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Reads a file, or records the reason for skipping it.
    pub(super) fn add(&mut self, path: &Path) {
        let shown = self.context.workspace.get().relative(path).display().to_string();
        if self.reader.is_full() {
            return self.leave_out(shown);
        }
        let asked_for = self.is_asked_for(path);
        let lines = match self.reader.read(path, &shown, asked_for) {
            Ok(FileContent::Text(file)) => {
                let part = format!("--- {} ---\n\n{}\n\n", path.display(), file.text);
                self.parts.push(Part::text(part));
                if file.whole {
                    self.context.ledger.record(path, file.fingerprint);
                }
                Some(file.lines)
            }
            Ok(FileContent::Media(part)) => {
                self.parts.push(part);
                None
            }
            Ok(FileContent::TooMuch) => return self.leave_out(shown),
            Ok(FileContent::Skipped { reason, .. }) => return self.skipped.push((shown, reason)),
            Err(error) => return self.skipped.push((shown, error.to_string())),
        };
        let operation = file_operation(NAME, FileOperationKind::Read, path, lines);
        self.measurements.push(operation);
        self.read.push(shown);
        self.add_context(path);
    }

    fn leave_out(&mut self, shown: String) {
        const REASON: &str = "too large to send at once";
        if !self.skipped.iter().any(|(_, reason)| reason == REASON) {
            self.note(format!(
                "Left out because all files together are too large: {shown} and all following files. Read them with read_file if needed."
            ));
        }
        self.skipped.push((shown, REASON.to_owned()));
    }

    /// Returns true if the last component of a pattern contains the file's extension or name.
    fn is_asked_for(&self, path: &Path) -> bool {
        let lower = |word: &OsStr| word.to_string_lossy().to_lowercase();
        let extension = path.extension().map(|end| format!(".{}", lower(end)));
        let words: Vec<String> =
            [extension, path.file_stem().map(lower)].into_iter().flatten().collect();
        let last = |pattern: &str| pattern.rsplit(['/', '\\']).next().map(str::to_owned);
        let mut ends = self.include.iter().filter_map(|pattern| last(pattern));
        ends.any(|end| words.iter().any(|word| end.contains(word)))
    }

    /// Adds the context files of the file's folder, once per folder.
    fn add_context(&mut self, path: &Path) {
        let Some(folder) = path.parent() else { return };
        if self.folders.insert(folder.to_path_buf())
            && let Some(block) = self.context.discovered_context(path)
        {
            self.parts.push(Part::text(block));
        }
    }
}
