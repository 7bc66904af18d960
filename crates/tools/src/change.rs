//! One change to one file: computed, shown to the user, checked against the disk, written. Used by
//! `write_file` and `replace`.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use pollux_fs::{
    Access, Error, Expectation, Fingerprint, LineEnding, RealPath, TextFile, WriteOptions,
};
use pollux_protocol::{
    CallId, Confirmation, ConfirmationKind, DiffStat, Display, FileDiff, FileOperationKind, Part,
    Rewrite, ToolError, ToolErrorKind, ToolOutput,
};

use crate::contents::{self, too_large};
use crate::context::{ToolContext, changed, file_operation};
use crate::diff::{Difference, Labels, diff_stat};
use crate::line_ends;

/// A change that was computed but not written yet.
pub(crate) struct Change {
    /// Path of the file, with links resolved.
    pub(crate) path: RealPath,
    /// Present content of the file; `None` if the file does not exist.
    pub(crate) before: Option<TextFile>,
    /// New text, with line feeds only.
    pub(crate) after: String,
    /// New bytes.
    pub(crate) bytes: Vec<u8>,
}

/// Texts for the report of a finished change.
pub(crate) struct Report {
    /// Name of the tool.
    pub(crate) tool: &'static str,
    /// Description of the change, placed before the snippet.
    pub(crate) done: String,
    /// Additional remarks, placed after the snippet.
    pub(crate) remarks: String,
    /// True if the call quotes the replaced text exactly: the model then knows the text that it
    /// overwrites.
    pub(crate) quotes_exactly: bool,
    /// Text that the model proposed, if the user changed it.
    pub(crate) proposed_by_model: Option<String>,
    /// Names of the two sides of the patch.
    pub(crate) labels: Labels,
}

/// File content that the user was shown for a call, compared with the disk when the call runs.
#[derive(Default)]
pub(crate) struct Shown(Mutex<Option<Seen>>);

/// A file and its proposed new text at the time when the user was asked.
#[derive(Clone)]
pub(crate) struct Seen {
    fingerprint: Option<Fingerprint>,
    /// Text on disk; `None` for a new file.
    pub(crate) original: Option<String>,
    /// Proposed text.
    pub(crate) proposed: String,
}

impl Shown {
    /// Remembers the change that is about to be shown.
    pub(crate) fn remember(&self, change: &Change) {
        let seen = Seen {
            fingerprint: change.fingerprint(),
            original: change.before.as_ref().map(|file| file.text.clone()),
            proposed: change.after.clone(),
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
    }

    /// Returns the remembered state, if a change was shown.
    pub(crate) fn get(&self) -> Option<Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Change {
    /// Creates a new file with the line ends that the project requests, or with those of the
    /// operating system if the project does not specify any.
    pub(crate) fn create(context: &ToolContext, path: RealPath, content: &str) -> Self {
        let wanted = line_ends::wanted(&context.workspace.get(), &path);
        let text = match wanted.or_else(|| cfg!(windows).then_some(LineEnding::CrLf)) {
            Some(LineEnding::CrLf) => content.replace("\r\n", "\n").replace('\n', "\r\n"),
            Some(_) => content.replace("\r\n", "\n"),
            None => content.to_owned(),
        };
        let bytes = text.into_bytes();
        Self { path, before: None, after: content.to_owned(), bytes }
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        self.before.as_ref().map(|file| file.fingerprint)
    }

    /// Returns the text on disk, empty for a new file.
    pub(crate) fn original(&self) -> &str {
        self.before.as_ref().map_or("", |file| &file.text)
    }

    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns the confirmation to ask the user for.
    pub(crate) fn confirmation(&self, call_id: &CallId, title: String) -> Confirmation {
        let difference = Difference::between(self.original(), &self.after);
        let stat = diff_stat(self.original(), &self.after, &self.after);
        let lines = self.original().lines().count() as u64;
        Confirmation {
            call_id: call_id.clone(),
            title,
            kind: ConfirmationKind::Edit {
                path: self.path.to_path_buf(),
                patch: difference.patch(&self.name(), Labels::PROPOSAL),
                original: self.before.as_ref().map(|file| file.text.clone()),
                proposed: self.after.clone(),
                rewrite: Rewrite::of(stat.model_removed_lines, lines),
                stat,
            },
        }
    }

    /// Writes the file and returns the report.
    ///
    /// # Errors
    /// Fails if the file is not the version that was read in this session or shown to the user, or
    /// if writing fails.
    pub(crate) fn make(
        self,
        context: &ToolContext,
        seen: Option<&Seen>,
        report: &Report,
    ) -> Result<ToolOutput, ToolError> {
        context.recheck(&self.path, Access::Write)?;
        let current = self.fingerprint();
        let moved_on = seen.is_some_and(|seen| seen.fingerprint != current);
        let unread = context.ledger.is_stale(&self.path, current.as_ref());
        if moved_on || (unread && !report.quotes_exactly) {
            return Err(stale(&self.path));
        }
        let expected = current.map_or(Expectation::Absent, Expectation::Unchanged);
        let options = WriteOptions {
            expected: Some(expected),
            create_parents: true,
            ..WriteOptions::default()
        };
        let written = contents::write(&*context.files, &self.path, &self.bytes, &options)
            .map_err(|error| write_failure(&self.path, &error))?;
        context.ledger.record(&self.path, written);
        Ok(self.output(context, report))
    }

    fn output(self, context: &ToolContext, report: &Report) -> ToolOutput {
        let difference = Difference::between(self.original(), &self.after);
        let patch = difference.patch(&self.name(), report.labels);
        let stat = self.stat(report);
        let Report { done, remarks, .. } = report;
        let snippet = difference.snippet();
        let block = context.discovered_context(&self.path).unwrap_or_default();
        let message = format!("{done} Here is the updated code:\n{snippet}{remarks}{block}");
        let kind = match self.before {
            Some(_) => FileOperationKind::Update,
            None => FileOperationKind::Create,
        };
        let lines = Some(self.after.lines().count() as u64);
        let measurements = vec![file_operation(report.tool, kind, &self.path, lines)];
        let diff = FileDiff {
            file_diff: patch,
            file_name: self.name(),
            is_new_file: Some(self.before.is_none()),
            original_content: Some(self.before.map(|file| file.text).unwrap_or_default()),
            new_content: self.after,
            diff_stat: Some(stat),
            file_path: self.path.into_path_buf(),
        };
        let display = Some(Display::Diff(Box::new(diff)));
        let content = vec![Part::text(message)];
        ToolOutput { content, display, measurements, ..ToolOutput::default() }
    }

    fn stat(&self, report: &Report) -> DiffStat {
        let proposed = report.proposed_by_model.as_deref().unwrap_or(&self.after);
        diff_stat(self.original(), proposed, &self.after)
    }
}

/// Returns the error for a file that is not the version that was read or shown.
fn stale(path: &Path) -> ToolError {
    ToolError::new(
        ToolErrorKind::FileWriteFailure,
        format!(
            "The file has changed on disk since it was read: {}. Nothing was written. Read it again with \
             read_file, then repeat the change against its present content.",
            path.display()
        ),
    )
}

fn write_failure(path: &Path, error: &Error) -> ToolError {
    let (shown, code) = (path.display(), error.code());
    let (kind, message) = match error {
        Error::ChangedOnDisk { .. } => return stale(path),
        Error::PathChanged { .. } => return changed(error),
        Error::PermissionDenied { .. } => (
            ToolErrorKind::PermissionDenied,
            format!("Permission denied writing to file: {shown} ({code})"),
        ),
        Error::NoSpace { .. } => {
            (ToolErrorKind::NoSpaceLeft, format!("No space left on device: {shown} ({code})"))
        }
        Error::IsDirectory { .. } => (
            ToolErrorKind::TargetIsDirectory,
            format!("Target is a directory, not a file: {shown} ({code})"),
        ),
        other => (
            ToolErrorKind::FileWriteFailure,
            format!("Error writing to file '{shown}': {other} ({code})"),
        ),
    };
    ToolError::new(kind, message)
}

/// Returns the error for a file that exists but cannot be read.
pub(crate) fn unreadable(path: &Path, error: &Error) -> ToolError {
    match error {
        Error::PathChanged { .. } => changed(error),
        Error::IsDirectory { .. } => ToolError::new(
            ToolErrorKind::TargetIsDirectory,
            format!("Path is a directory, not a file: {}", path.display()),
        ),
        Error::TooLarge { size, .. } => {
            ToolError::new(ToolErrorKind::FileTooLarge, too_large(path, *size))
        }
        other => ToolError::new(
            ToolErrorKind::FileWriteFailure,
            format!(
                "Error checking existing file '{}': {other} ({})",
                path.display(),
                other.code()
            ),
        ),
    }
}
