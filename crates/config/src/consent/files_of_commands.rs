//! The files of a project that a command line names: what they hold is part of what is agreed to.

use std::path::{Component, Path, PathBuf};

use super::digest;
use crate::files;

/// Words of a command line that are looked at.
const MAX_WORDS: usize = 64;
/// Bytes of one file that are read. A longer file counts by its beginning and its length.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Name and content hash of every regular file inside `project` that one of `words` names, one a
/// line; relative words start at `folder`. Words are cut at what a shell would cut them at, so a whole
/// command line can be one word.
///
/// A file that is named in a way that only a shell understands is not found. The command line itself
/// is always part of what is agreed to.
pub fn content_of_command_files<'a>(
    words: impl IntoIterator<Item = &'a str>,
    folder: &Path,
    project: &Path,
) -> String {
    let words = words.into_iter().flat_map(pieces).take(MAX_WORDS);
    let mut found: Vec<PathBuf> =
        words.filter_map(|word| project_file(word, folder, project)).collect();
    found.sort();
    found.dedup();
    let named = |path: &PathBuf| {
        let name = path.strip_prefix(project).unwrap_or(path);
        format!("{} {}\n", content(path), name.display())
    };
    found.iter().map(named).collect()
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
