//! The files of a project that a command line or a setting names: their content is part of what is agreed to.

use std::path::{Component, Path, PathBuf};

use pollux_protocol::ConsentItem;
use pollux_protocol::plain_text::visible;

use super::digest;
use crate::files;

/// Words of a command, and pieces of them, that are looked at.
const MAX_WORDS: usize = 1024;
/// Files of one command that are read.
const MAX_FILES: usize = 64;
/// Bytes of one file that are read. A longer file counts by its beginning and its length.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Policy files of one folder that are read.
const MAX_POLICIES: usize = 1000;

/// Returns the words of a command line and the paths among them, seen from the directory where it begins; `None` if not
/// all of them are known before it runs. Reading command lines is not this crate's subject.
pub type ReadCommand = fn(&str) -> Option<Vec<String>>;

/// Files of a project that a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandFiles {
    /// Content hash and name of each file, one a line: part of what is agreed to.
    pub content: String,
    /// Names below the project, safe to print.
    pub names: Vec<String>,
    /// True if the command is read and each file was read whole, so that every change of a named file is noticed.
    pub is_complete: bool,
}

impl CommandFiles {
    /// Finds every regular file inside `project` that a text of a command names. Relative names start at `folder`.
    ///
    /// `texts` are words of the command or whole lines. They are cut at what a shell would cut them at, so that files are
    /// found in a line that is not read, too. `words` are what [`ReadCommand`] returned for the command.
    pub fn find(texts: &[&str], words: Option<&[String]>, folder: &Path, project: &Path) -> Self {
        let read = words.unwrap_or_default();
        let pieces = texts.iter().copied().chain(read.iter().map(String::as_str)).flat_map(pieces);
        let mut candidates = read.iter().map(String::as_str).chain(pieces);
        let mut found: Vec<PathBuf> = candidates
            .by_ref()
            .take(MAX_WORDS)
            .filter_map(|word| project_file(word, folder, project))
            .collect();
        let is_whole =
            |path: &PathBuf| pollux_fs::info(path).is_ok_and(|info| info.size <= MAX_BYTES as u64);
        found.sort();
        found.dedup();
        let is_complete = words.is_some()
            && candidates.next().is_none()
            && found.len() <= MAX_FILES
            && found.iter().all(is_whole);
        found.truncate(MAX_FILES);
        let name =
            |path: &PathBuf| visible(&path.strip_prefix(project).unwrap_or(path).to_string_lossy());
        Self {
            content: found.iter().map(|path| named(path, project)).collect(),
            names: found.iter().map(name).collect(),
            is_complete,
        }
    }

    /// Returns lines for the question: the files whose change asks again, and whether other changes go unnoticed.
    pub fn describe(&self) -> String {
        let mut lines = match self.names.as_slice() {
            [] => "pinned with it: no file of the project".to_owned(),
            names => format!("pinned with it: {}", names.join(", ")),
        };
        if !self.is_complete {
            lines.push_str(
                "\nwhat it runs is not known beforehand: later changes of it cannot be noticed",
            );
        }
        lines
    }

    /// Completes the item of the command: a person alone agrees to one whose changes cannot be noticed.
    pub fn complete(&self, item: ConsentItem) -> ConsentItem {
        let detail = format!("{}\n{}", item.detail, self.describe());
        ConsentItem { detail, needs_person: item.needs_person || !self.is_complete, ..item }
    }
}

/// Content hash of a file and its name below `folder`, as a line.
fn named(path: &Path, folder: &Path) -> String {
    let name = path.strip_prefix(folder).unwrap_or(path);
    format!("{} {}\n", content(path), name.display())
}

/// Name and content hash of every policy file that one of `paths` is, or that lies directly in the folder that it is, one
/// a line.
pub(super) fn content_of_policies(paths: &[PathBuf]) -> String {
    let mut found = Vec::new();
    for path in paths {
        match pollux_fs::list_directory(path) {
            Ok(entries) => {
                let mut files: Vec<PathBuf> =
                    entries.into_iter().map(|entry| path.join(entry.name)).collect();
                files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
                files.sort();
                // Of more files than these no policy is read.
                found.push(format!("{} files in {}\n", files.len(), path.display()));
                files.truncate(MAX_POLICIES);
                found.extend(files.iter().map(|file| named(file, path)));
            }
            Err(_) => found.push(named(path, path)),
        }
    }
    found.concat()
}

/// A word's parts: split at white space and at what ends a word in a shell, quotes taken off. A
/// variable at the start of a path is the project, which is what such variables usually name.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let ends = |letter: char| letter.is_whitespace() || "\"'`;|&<>()=".contains(letter);
    word.split(ends).filter(|piece| !piece.is_empty())
}

fn project_file(word: &str, folder: &Path, project: &Path) -> Option<PathBuf> {
    let path = match word.strip_prefix('$') {
        Some(variable) => project.join(variable.split_once('/')?.1),
        None => folder.join(word),
    };
    let plain = files::without_dots(&path);
    let inside = plain.starts_with(project)
        && plain.components().all(|component| component != Component::ParentDir);
    (inside && files::is_file(&plain)).then_some(plain)
}

fn content(path: &Path) -> String {
    let length = pollux_fs::info(path).map_or(0, |info| info.size);
    match pollux_fs::read_head(path, MAX_BYTES) {
        Ok(bytes) => format!("{} {length}", digest(&bytes)),
        Err(error) => error.code().to_owned(),
    }
}
