//! Messages about the `@path` references of a prompt.

use std::collections::BTreeSet;

use pollux_tools::FileText;
use pollux_tools::LeftOutFiles;

/// Maximum number of names that are reported one by one because they stay text.
const MAX_UNRESOLVED: usize = 5;
/// Maximum number of files that a message names.
const MAX_NAMED: usize = 3;
/// Maximum number of characters shown of a name.
const MAX_NAME_LENGTH: usize = 200;

/// Reason why a name stays text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unresolved {
    /// There is no such file.
    Missing,
    /// The path may not be read.
    Outside,
    /// An ignore file contains the path.
    Ignored,
    /// The system refuses access to the path.
    Unreadable,
}

impl Unresolved {
    /// Returns the reason in a few words.
    pub(super) fn description(&self) -> &'static str {
        match self {
            Self::Missing => "no such file",
            Self::Outside => "not in the workspace, or not open to the model",
            Self::Ignored => "ignored",
            Self::Unreadable => "cannot be read",
        }
    }
}

/// Collected facts about the references of a prompt.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Report {
    /// Messages for `--debug`: entries of folders that were skipped.
    pub(super) notes: Vec<String>,
    /// Messages for the model about files that are left out.
    pub(super) for_model: Vec<String>,
    warnings: Vec<String>,
    unresolved: usize,
    included: Vec<String>,
    lines: u64,
    shortened: Vec<String>,
    /// Files of which long lines are cut.
    with_cut_lines: Vec<String>,
    failed: Vec<String>,
    /// Files of folders that cannot be sent.
    skipped: Vec<String>,
    /// Files of folders that are not sent because of their names.
    excluded: BTreeSet<String>,
}

impl Report {
    /// Records a name that stays text.
    pub(super) fn unresolved(&mut self, name: &str, reason: &Unresolved) {
        self.unresolved += 1;
        if self.unresolved > MAX_UNRESOLVED {
            return;
        }
        self.warn(format!("@{}: {}; sent as text.", cut(name), reason.description()));
    }

    /// Records that further names are not resolved.
    pub(super) fn too_many_names(&mut self, limit: usize) {
        self.warn(format!("Only the first {} names after an @ are resolved.", grouped(limit)));
    }

    /// Records the result of listing a folder. `label` is the folder as typed, `below` the folder
    /// of the first file that was left out.
    pub(super) fn folder(
        &mut self,
        label: &str,
        files: usize,
        left_out: Option<(&LeftOutFiles, String)>,
        complete: bool,
    ) {
        let label = cut(label);
        if let Some((LeftOutFiles { count, .. }, below)) = left_out {
            let (all, below) = (files + count, cut(&below));
            let shown = (grouped(files), grouped(all));
            self.warn(format!(
                "@{label}: {} of {} files; the first folder left out is {below}.",
                shown.0, shown.1
            ));
            self.for_model.push(format!(
                "[Only {files} of {all} files of {label} are included. The first folder left out is {below}. Find and read the others with the tools if needed.]"
            ));
        } else if complete && files == 0 {
            self.warn(format!("@{label}: no files to send."));
        }
        if !complete {
            self.warn(format!("@{label}: listed in part only, because it took too long."));
            self.for_model.push(format!(
                "[{label} was listed in part only, because it took too long. Find and read other files with the tools if needed.]"
            ));
        }
    }

    /// Records a file whose text is included.
    pub(super) fn text(&mut self, label: &str, file: &FileText) {
        self.included.push(cut(label));
        self.lines += file.lines;
        if file.shown < file.lines {
            self.shortened.push(format!("{} ({} lines)", cut(label), grouped(file.lines)));
        }
        if file.has_cut_lines {
            self.with_cut_lines.push(cut(label));
        }
    }

    /// Records a file whose bytes are included.
    pub(super) fn media(&mut self, label: &str) {
        self.included.push(cut(label));
    }

    /// Records a named file whose content cannot be sent.
    pub(super) fn not_sent(&mut self, label: &str, reason: &str) {
        self.warn(format!("@{}: {reason}; not sent.", cut(label)));
    }

    /// Records a file of a folder whose content cannot be sent.
    pub(super) fn skipped(&mut self, label: &str, reason: &str) {
        self.skipped.push(cut(label));
        self.notes.push(format!("Skipped {label}: {reason}"));
    }

    /// Records the files of a folder that are not sent because of their names.
    pub(super) fn excluded(&mut self, labels: impl Iterator<Item = String>) {
        self.excluded.extend(labels.map(|label| cut(&label)));
    }

    /// Records a file of a folder that cannot be read.
    pub(super) fn failed(&mut self, label: &str) {
        self.failed.push(cut(label));
    }

    /// Records the files that exceed the limit for all files together.
    pub(super) fn left_out(&mut self, files: &[&str]) {
        let [first, ..] = files else { return };
        let (count, first) = (files.len(), cut(first));
        self.warn(format!(
            "Left out because the files are too large together: {}, beginning with {first}.",
            counted(count, "file")
        ));
        self.for_model.push(format!(
            "[Left out because the referenced files are too large to send at once: {count} files, beginning with {first}. Read them with the tools if needed.]"
        ));
    }

    /// Returns the messages for the user about everything that is missing, and about the included
    /// files if `with_included` is set.
    pub(super) fn for_user(&self, with_included: bool) -> Vec<String> {
        let mut messages = self.warnings.clone();
        let more = self.unresolved.saturating_sub(MAX_UNRESOLVED);
        if more > 0 {
            messages.push(format!("{} after an @ sent as text.", counted(more, "more name")));
        }
        if !self.shortened.is_empty() {
            let names = listed(&self.shortened);
            messages.push(format!("Only the first 2,000 lines are included: {names}."));
        }
        if !self.with_cut_lines.is_empty() {
            let names = listed(&self.with_cut_lines);
            messages.push(format!("Lines are cut after 2,000 characters: {names}."));
        }
        if !self.skipped.is_empty() {
            messages
                .push(format!("Not sent, because they are no text: {}.", listed(&self.skipped)));
        }
        if !self.excluded.is_empty() {
            let count = counted(self.excluded.len(), "file");
            messages.push(format!(
                "Not sent, because of their names: {count} ({}).",
                listed(&self.excluded)
            ));
        }
        if !self.failed.is_empty() {
            messages.push(format!("Cannot be read: {}.", listed(&self.failed)));
        }
        messages.extend(self.included().filter(|_| with_included));
        messages
    }

    /// Returns the message about the included files, if there are any.
    pub(super) fn included(&self) -> Option<String> {
        let lines = (self.lines > 0).then(|| format!(", {}", counted(self.lines, "line")));
        let lines = lines.unwrap_or_default();
        (!self.included.is_empty()).then(|| format!("Included: {}{lines}.", listed(&self.included)))
    }

    fn warn(&mut self, message: String) {
        self.warnings.push(message);
    }
}

/// Returns the first names of a list, and the number of the others.
fn listed<'a>(names: impl IntoIterator<Item = &'a String, IntoIter: ExactSizeIterator>) -> String {
    let names = names.into_iter();
    let others = names.len().saturating_sub(MAX_NAMED);
    let first: Vec<&str> = names.take(MAX_NAMED).map(String::as_str).collect();
    let first = first.join(", ");
    match others {
        0 => first,
        more => format!("{first} and {}", counted(more, "other file")),
    }
}

fn counted(count: impl std::fmt::Display, what: &str) -> String {
    let count = grouped(count);
    let ending = if count == "1" { "" } else { "s" };
    format!("{count} {what}{ending}")
}

/// Returns a number with a comma before each group of three digits.
fn grouped(number: impl std::fmt::Display) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn cut(name: &str) -> String {
    match name.char_indices().nth(MAX_NAME_LENGTH) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}
