//! One change of one file: worked out, shown, checked against the disk, written. Shared by `write_file` and `replace`.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use pollux_fs::{
    Access, Error, Expectation, Fingerprint, LineEnding, RealPath, TextFile, WriteOptions,
};
use pollux_protocol::{
    CallId, Confirmation, ConfirmationKind, DiffStat, Display, FileDiff, FileOperationKind, Part,
    Rewrite, ToolError, ToolErrorKind, ToolOutput,
};

use crate::contents;
use crate::context::{ToolContext, changed, file_operation};
use crate::diff::{Difference, Labels, diff_stat};
use crate::line_ends;
use crate::read_file::too_large;

/// A change that was worked out and not made yet.
pub(crate) struct Change {
    /// The file, links resolved.
    pub(crate) path: RealPath,
    /// The file as it is; none when there is none.
    pub(crate) before: Option<TextFile>,
    /// The text as it will be, line feeds only.
    pub(crate) after: String,
    /// The bytes as they will be.
    pub(crate) bytes: Vec<u8>,
}

/// How a finished change is told.
pub(crate) struct Report {
    /// The tool's name.
    pub(crate) tool: &'static str,
    /// What was done; stands before the snippet.
    pub(crate) done: String,
    /// What else is to be said; stands after the snippet.
    pub(crate) remarks: String,
    /// The call itself quotes, to the letter, what it replaces: nothing is overwritten blindly then.
    pub(crate) quotes_exactly: bool,
    /// What the model had proposed, when a person changed it.
    pub(crate) proposed_by_model: Option<String>,
    /// The names of the two sides of the patch.
    pub(crate) labels: Labels,
}

/// What a person was shown of a call, to be compared with the disk when it runs.
#[derive(Default)]
pub(crate) struct Shown(Mutex<Option<Seen>>);

/// The file when a person was asked, and what it was to become.
#[derive(Clone)]
pub(crate) struct Seen {
    fingerprint: Option<Fingerprint>,
    /// The text on disk; none for a new file.
    pub(crate) original: Option<String>,
    /// The text proposed.
    pub(crate) proposed: String,
}

impl Shown {
    /// Remembers what is about to be shown.
    pub(crate) fn remember(&self, change: &Change) {
        let seen = Seen {
            fingerprint: change.fingerprint(),
            original: change.before.as_ref().map(|file| file.text.clone()),
            proposed: change.after.clone(),
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
    }

    /// What was shown, if anything was.
    pub(crate) fn get(&self) -> Option<Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Change {
    /// A file that does not exist yet, with the line ends that the project wants of it; where it says nothing, with those
    /// of the operating system.
    pub(crate) fn create(context: &ToolContext, path: RealPath, content: &str) -> Self {
        let wanted = line_ends::wanted(&context.workspace, &path);
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

    /// The text on disk, empty for a new file.
    pub(crate) fn original(&self) -> &str {
        self.before.as_ref().map_or("", |file| &file.text)
    }

    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// What a person is asked.
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

    /// Writes the file and tells of it.
    ///
    /// # Errors
    /// When the file is not the one that was read in this session or shown to the person, and when writing fails.
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
        let options = WriteOptions { expected: Some(expected), mode: None, create_parents: true };
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
            original_content: self.before.map(|file| file.text),
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

/// The failure for a file that is not the one that was read or shown.
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

/// The failure for a file that is there and cannot be read.
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
