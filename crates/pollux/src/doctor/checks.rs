//! Results of checks, and the size of a folder.

use std::path::Path;

use pollux_fs::EntryKind;

/// Maximum number of files whose sizes are added.
const MOST_FILES: usize = 50_000;

/// Result of a check. The strings are those of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Ok,
    Warning,
    Problem,
    Skipped,
}

impl State {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
            Self::Skipped => "skipped",
        }
    }
}

/// One check.
#[derive(Debug, Clone)]
pub(crate) struct Check {
    pub(super) name: &'static str,
    pub(super) state: State,
    pub(super) detail: String,
    pub(super) remedy: Option<&'static str>,
}

impl Check {
    pub(crate) fn ok(name: &'static str, detail: String) -> Self {
        Self { name, state: State::Ok, detail, remedy: None }
    }

    pub(crate) fn problem(name: &'static str, detail: String, remedy: &'static str) -> Self {
        Self { name, state: State::Problem, detail, remedy: Some(remedy) }
    }

    pub(super) fn skipped(name: &'static str, detail: &str) -> Self {
        Self { name, state: State::Skipped, detail: detail.to_owned(), remedy: None }
    }

    /// Returns a check whose failure does not prevent a run.
    pub(crate) fn warning(name: &'static str, detail: String, remedy: &'static str) -> Self {
        Self { state: State::Warning, ..Self::problem(name, detail, remedy) }
    }
}

/// Returns the number of bytes and files below a folder, without following links, and false if
/// there are more files than are counted.
pub(super) fn size(folder: &Path) -> (u64, usize, bool) {
    let (mut bytes, mut files) = (0, 0);
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in pollux_fs::list_directory(&folder).unwrap_or_default() {
            if files == MOST_FILES {
                return (bytes, files, false);
            }
            match entry.kind {
                EntryKind::Directory => open.push(entry.path),
                EntryKind::File => {
                    files += 1;
                    bytes += pollux_fs::info(&entry.path).map_or(0, |info| info.size);
                }
                _ => {}
            }
        }
    }
    (bytes, files, true)
}
