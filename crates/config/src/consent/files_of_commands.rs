//! The files of a project that a command line or a setting names: their content is part of what is agreed to.

use std::path::{Component, Path, PathBuf};

use super::digest;
use crate::files;

/// Words of a command line that are looked at.
const MAX_WORDS: usize = 64;
/// Bytes of one file that are read. A longer file counts by its beginning and its length.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Policy files of one folder that are read.
const MAX_POLICIES: usize = 1000;

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
    found.iter().map(|path| named(path, project)).collect()
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
