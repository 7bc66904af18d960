//! Locating and reading ignore files.

use std::path::{Path, PathBuf};

use super::IgnorePatterns;
use crate::files::{read_bytes, read_head};

/// Maximum size of an ignore file in bytes; a larger one, which is not written by hand, is left
/// out.
const MAX_BYTES: u64 = 1024 * 1024;

/// Repository that contains a root, without the `.gitignore` files from the root downwards.
#[derive(Debug)]
pub(super) struct Repository {
    /// Path from the repository's top to the root, with `/` at the end unless empty.
    prefix: Vec<u8>,
    /// `.gitignore` files above the root, nearest first, each with the length of its folder's path
    /// in `prefix`.
    above: Vec<(usize, IgnorePatterns)>,
    /// `.git/info/exclude`.
    exclude: Option<IgnorePatterns>,
    /// Value of `core.ignoreCase`, which git sets on a case-insensitive file system.
    fold_case: bool,
}

impl Repository {
    /// Returns the result of the files above the root; files in the folders between are checked
    /// before.
    pub(super) fn ignores(&self, relative: &[u8], is_directory: bool) -> bool {
        if self.above.is_empty() && self.exclude.is_none() {
            return false;
        }
        let whole = [&self.prefix, relative].concat();
        let above = self.above.iter();
        let nearest = above
            .filter_map(|(from, rules)| Some((whole.get(*from..)?, rules)))
            .find_map(|(below, rules)| rules.verdict(below, is_directory));
        let last = || self.exclude.as_ref().and_then(|rules| rules.verdict(&whole, is_directory));
        nearest.or_else(last).unwrap_or(false)
    }

    /// Returns the patterns of one of the repository's `.gitignore` files.
    pub(super) fn file(&self, path: &Path) -> Option<IgnorePatterns> {
        read(path, self.fold_case, false)
    }
}

/// Returns the repository that contains `root` (a real path), if there is one.
pub(super) fn repository(root: &Path) -> Option<Repository> {
    let top = root.ancestors().find(|folder| folder.join(".git").exists())?;
    let inner = root.strip_prefix(top).ok()?;
    let directory = git_directory(top);
    let fold_case = directory.as_ref().is_some_and(|folder| ignores_case(&folder.join("config")));
    let exclude = directory.and_then(|folder| read(&folder.join("info/exclude"), fold_case, false));
    let mut found = Repository { prefix: Vec::new(), above: Vec::new(), exclude, fold_case };
    let mut folder = top.to_path_buf();
    for component in inner.components() {
        if let Some(rules) = found.file(&folder.join(".gitignore")) {
            found.above.insert(0, (found.prefix.len(), rules));
        }
        found.prefix.extend(component.as_os_str().as_encoded_bytes());
        found.prefix.push(b'/');
        folder.push(component);
    }
    Some(found)
}

/// Returns true if a configuration file of git has `ignoreCase = true` in its section `[core]`.
fn ignores_case(path: &Path) -> bool {
    let bytes = read_head(path, 64 * 1024).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).to_lowercase();
    let (mut in_core, mut found) = (false, false);
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            in_core = line.starts_with("[core]");
        } else if in_core && let Some(value) = line.strip_prefix("ignorecase") {
            let value = value.trim_start().trim_start_matches('=').trim();
            found = matches!(value, "" | "true" | "yes" | "on" | "1");
        }
    }
    found
}

/// Returns the folder that contains `info/`: `.git`, or for work trees and submodules the target of
/// a `.git` file.
fn git_directory(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let one_line = |path: &Path| -> Option<String> {
        let bytes = read_head(path, 4096).ok()?;
        Some(String::from_utf8(bytes).ok()?.lines().next()?.to_owned())
    };
    let own = top.join(one_line(&dot_git)?.strip_prefix("gitdir:")?.trim());
    // A linked work tree shares `info/` with the main work tree.
    Some(match one_line(&own.join("commondir")) {
        Some(shared) => own.join(shared.trim()),
        None => own,
    })
}

/// Returns the patterns of the user's own file: `.geminiignore`, or a file named in the settings.
/// Blanks before a pattern have never been significant in these files.
pub(super) fn own_file(path: &Path) -> Option<IgnorePatterns> {
    read(path, false, true)
}

/// Reads one ignore file; `None` if it is missing, unreadable, too large or empty. Paths are
/// matched relative to the folder of the patterns, so that folder is not needed here.
fn read(path: &Path, fold_case: bool, indented: bool) -> Option<IgnorePatterns> {
    let bytes = read_bytes(path, MAX_BYTES).ok()?;
    Some(IgnorePatterns::parse(&bytes, fold_case, indented)).filter(|rules| !rules.is_empty())
}

/// Converts bytes that come from a path to a relative path.
#[cfg(unix)]
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// Converts bytes to a relative path; names that are not Unicode do not match any file.
#[cfg(not(unix))]
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}
