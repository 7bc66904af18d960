//! Project files that a command line or a setting names. Their content is part of the consent.

use std::path::{Component, Path, PathBuf};

use pollux_protocol::ConsentItem;
use pollux_protocol::plain_text::visible;

use super::digest;
use crate::files;

/// Maximum number of words, and pieces of words, of a command that are checked.
const MAX_WORDS: usize = 1024;
/// Maximum number of files of one command that are read.
const MAX_FILES: usize = 64;
/// Maximum number of bytes of one file that are read. A longer file is identified by its beginning
/// and its length.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of policy files of one folder that are read.
const MAX_POLICIES: usize = 1000;

/// Function that returns the words of a command line and the paths among them, relative to the
/// directory where it starts; `None` if not all words are known before it runs. Parsing command
/// lines is outside of this crate's scope.
pub type ReadCommand = fn(&str) -> Option<Vec<String>>;

/// Project files that a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandFiles {
    /// Content hash and name of each file, one file per line. Part of the consent.
    pub content: String,
    /// File names relative to the project, safe to print.
    pub names: Vec<String>,
    /// True if the command could be parsed and each file was read completely, so that every change
    /// of a named file is noticed.
    pub is_complete: bool,
}

impl CommandFiles {
    /// Finds every regular file inside `project` that a text of a command names. Relative names are
    /// resolved against `folder`.
    ///
    /// `texts` are words of the command or whole lines. They are split at the characters at which a
    /// shell would split them, so that files are found even in a line that cannot be parsed.
    /// `words` are the result of [`ReadCommand`] for the command.
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

    /// Returns text for the question: the files whose change causes a new question, and whether
    /// other changes remain unnoticed.
    pub fn describe(&self) -> String {
        let mut lines = match self.names.as_slice() {
            [] => "No project file is pinned with it.".to_owned(),
            names => format!("pinned with it: {}", names.join(", ")),
        };
        if !self.is_complete {
            lines.push_str(
                "\nPollux cannot determine all files that it runs, so it cannot detect later changes",
            );
        }
        lines
    }

    /// Completes the item of the command. If changes of the command cannot be noticed, only a user
    /// who is present can agree to it.
    pub fn complete(&self, item: ConsentItem) -> ConsentItem {
        let detail = format!("{}\n{}", item.detail, self.describe());
        ConsentItem {
            detail: detail.into(),
            needs_user: item.needs_user || !self.is_complete,
            ..item
        }
    }
}

/// Returns one line with the content hash of a file and its name relative to `folder`.
fn named(path: &Path, folder: &Path) -> String {
    let name = path.strip_prefix(folder).unwrap_or(path);
    format!("{} {}\n", content(path), name.display())
}

/// Returns one line with the content hash and the name of every policy file. Each of `paths` is a
/// policy file, or a folder whose direct children are included.
pub(super) fn content_of_policies(paths: &[PathBuf]) -> String {
    let mut found = Vec::new();
    for path in paths {
        match pollux_fs::list_directory(path) {
            Ok(entries) => {
                let mut files: Vec<PathBuf> =
                    entries.into_iter().map(|entry| path.join(entry.name)).collect();
                files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
                files.sort();
                // Policies beyond this number of files are not read.
                found.push(format!("{} files in {}\n", files.len(), path.display()));
                files.truncate(MAX_POLICIES);
                found.extend(files.iter().map(|file| named(file, path)));
            }
            Err(_) => found.push(named(path, path)),
        }
    }
    found.concat()
}

/// Splits a word at white space and at characters that end a word in a shell, and removes quotes. A
/// variable at the start of a path counts as the project's folder, the usual value of such
/// variables.
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
