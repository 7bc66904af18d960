//! Paths and names of files, compared and normalized by their text only.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Returns a path without `.` and `..`, based on its text only.
pub(crate) fn without_detours(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, "" | "..")) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns a path relative to `folder` as a normalized path, based on its text only.
pub(crate) fn lexical(folder: &Path, path: &str) -> PathBuf {
    PathBuf::from(without_detours(&folder.join(path).to_string_lossy()))
}

/// Returns the name of a file or folder in a normalized form for comparison: some file systems
/// ignore case, alternate data streams, and trailing dots and spaces.
pub(crate) fn plain_name(name: &OsStr) -> String {
    let name = name.to_string_lossy().to_lowercase();
    name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']).to_owned()
}

/// Returns the name because of which a file at this path is not changed without a question; checks
/// the path only.
pub(crate) fn path_fault(path: &Path) -> Option<&'static str> {
    let faults = path.components().filter_map(|component| {
        match plain_name(component.as_os_str()).as_str() {
            ".git" => Some(".git"),
            ".env" => Some(".env"),
            "node_modules" => Some("node_modules"),
            ".vscode" => Some(".vscode"),
            _ => None,
        }
    });
    faults.into_iter().next()
}
