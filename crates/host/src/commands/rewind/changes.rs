//! Changes of files that calls have made, and how they are reverted.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use pollux_fs::{Access, Expectation, Workspace, WriteOptions};
use pollux_protocol::{Display, FileDiff, TranscriptAnswer};

/// Maximum size of a file that is reverted, in bytes.
const LARGEST: u64 = 64 << 20;

/// Changes of files, collected from the newest to the oldest.
#[derive(Debug, Default)]
pub(super) struct Changes {
    files: IndexMap<PathBuf, Change>,
    /// True if the files are only counted, so that their content needs no memory.
    counts: bool,
}

/// All changes of one file together.
#[derive(Debug, Default)]
struct Change {
    /// Content after the last change.
    after: String,
    /// Content before the first change; `None` if the file did not exist.
    before: Option<String>,
    /// True if something else has changed the file between two of the changes.
    is_interrupted: bool,
}

/// Paths of the files of a revert.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reverted {
    /// Files that have their former content again.
    pub(super) done: Vec<String>,
    /// Files that were left as they are.
    pub(super) kept: Vec<String>,
}

impl Changes {
    /// Creates a collection that only counts the files.
    pub(super) fn counting() -> Self {
        Self { counts: true, ..Self::default() }
    }

    /// Returns the number of files.
    pub(super) fn files(&self) -> usize {
        self.files.len()
    }

    /// Adds the changes of an answer that precedes all answers so far.
    pub(super) fn add(&mut self, answer: TranscriptAnswer) {
        for call in answer.calls.into_iter().rev() {
            if let Some(Display::Diff(diff)) = call.result_display
                && call.status == pollux_protocol::CallStatus::Success
                && diff.file_path.is_absolute()
            {
                self.add_diff(*diff);
            }
        }
    }

    fn add_diff(&mut self, diff: FileDiff) {
        let FileDiff { file_path, original_content, new_content, is_new_file, .. } = diff;
        if self.counts {
            self.files.entry(file_path).or_default();
            return;
        }
        let before = original_content.filter(|_| is_new_file != Some(true));
        match self.files.get_mut(&file_path) {
            None => {
                let change = Change { after: new_content, before, is_interrupted: false };
                self.files.insert(file_path, change);
            }
            Some(change) => {
                change.is_interrupted |= change.before.as_ref() != Some(&new_content);
                change.before = before;
            }
        }
    }

    /// Reverts the changes of each file that has exactly the content of its last change: what
    /// anything else has written is never lost.
    pub(super) fn revert(self, workspace: &Workspace) -> Reverted {
        let mut reverted = Reverted::default();
        for (path, change) in self.files {
            let shown = path.display().to_string();
            match change.revert(&path, workspace) {
                Some(()) => reverted.done.push(shown),
                None => reverted.kept.push(shown),
            }
        }
        reverted
    }
}

impl Change {
    fn revert(self, path: &Path, workspace: &Workspace) -> Option<()> {
        let real = workspace.check(path, Access::Write).ok().filter(|_| !self.is_interrupted)?;
        let file = real.read_text(LARGEST).ok().filter(|file| file.text == self.after)?;
        let Some(before) = self.before else {
            return pollux_fs::remove_file(&real).ok();
        };
        let bytes = file.replaced(&before).ok()?;
        let expected = Some(Expectation::Unchanged(file.fingerprint));
        let options = WriteOptions { expected, ..WriteOptions::default() };
        real.write_atomic(&bytes, &options).ok().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn diff(path: &Path, before: Option<&str>, after: &str) -> FileDiff {
        FileDiff {
            file_diff: String::new(),
            file_name: String::new(),
            file_path: path.to_owned(),
            // As `write_file` records a new file.
            original_content: Some(before.unwrap_or_default().to_owned()),
            new_content: after.to_owned(),
            diff_stat: None,
            is_new_file: Some(before.is_none()),
        }
    }

    #[test]
    fn a_chain_of_changes_is_reverted_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let workspace = Workspace::new(root.clone(), root.join("tmp"));
        let path = |name: &str| root.join(name);
        for (name, text) in [
            ("edited", "3\r\n"),
            ("created", "new"),
            ("since", "mine"),
            ("between", "3"),
            ("gone-and-back", "x"),
        ] {
            std::fs::write(path(name), text).unwrap();
        }
        let mut changes = Changes::default();
        // The newest first.
        for (name, before, after) in [
            ("edited", Some("2\n"), "3\n"),
            ("edited", Some("1\n"), "2\n"),
            ("created", Some("old"), "new"),
            ("created", None, "old"),
            ("since", Some("a"), "b"),
            ("between", Some("2"), "3"),
            ("between", Some("0"), "1"),
            ("missing", Some("a"), "b"),
            ("../outside", Some("a"), "b"),
        ] {
            changes.add_diff(diff(&path(name), before, after));
        }
        let reverted = changes.revert(&workspace);
        let names = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| path(name).display().to_string()).collect()
        };
        assert_eq!(reverted.done, names(&["edited", "created"]));
        assert_eq!(reverted.kept, names(&["since", "between", "missing", "../outside"]));
        let read = |name: &str| std::fs::read_to_string(path(name)).unwrap();
        assert_eq!(read("edited"), "1\r\n", "the line ends of the file stay");
        assert!(!path("created").exists());
        assert_eq!((read("since").as_str(), read("between").as_str()), ("mine", "3"));
    }
}
