//! The only place in this crate that touches the disk; everything goes through `pollux-fs`.
//!
//! What is read here may be hostile, so every read has a limit.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use pollux_fs::{DirLock, EntryKind, Error, Expectation, RealPath, WriteOptions};

/// How long to wait for someone else's lock before giving up.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// How many bytes are looked at to tell text from anything else.
const SNIFFED: usize = 8192;

/// The text of a file, perhaps cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadText {
    /// UTF-8, with replacement characters for what is not.
    pub(crate) text: String,
    /// Whether the file is longer than the limit.
    pub(crate) truncated: bool,
    /// Whether the first bytes hold a zero byte, as no text does.
    pub(crate) binary: bool,
}

/// Reads at most `limit` bytes of a regular file.
pub(crate) fn read_text_lossy(path: &Path, limit: usize) -> Result<ReadText, Error> {
    Ok(lossy_text(pollux_fs::read_head(path, limit.saturating_add(1))?, limit))
}

/// The same of a file whose path was judged: what has become a link since is not followed.
pub(crate) fn read_judged_text_lossy(path: &RealPath, limit: usize) -> Result<ReadText, Error> {
    Ok(lossy_text(path.read_head(limit.saturating_add(1))?, limit))
}

fn lossy_text(mut bytes: Vec<u8>, limit: usize) -> ReadText {
    let truncated = bytes.len() > limit;
    if truncated {
        bytes.truncate(limit);
        drop_partial_character(&mut bytes);
    }
    let binary = bytes.iter().take(SNIFFED).any(|byte| *byte == 0);
    ReadText { text: String::from_utf8_lossy(&bytes).into_owned(), truncated, binary }
}

/// Reads a file that must not be longer than `limit` bytes.
pub(crate) fn read_whole(path: &Path, limit: u64) -> Result<String, Error> {
    let bytes = pollux_fs::read_bytes(path, limit)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Drops the start of a character that a cut left at the end.
fn drop_partial_character(bytes: &mut Vec<u8>) {
    let back = bytes.iter().rev().take(4).position(|byte| byte & 0b1100_0000 != 0b1000_0000);
    let Some(start) = back.map(|back| bytes.len() - 1 - back) else { return };
    if std::str::from_utf8(&bytes[start..]).is_err() {
        bytes.truncate(start);
    }
}

/// Whether the error means that there is no file at `path`, as far as this user can see: also
/// when a folder on the way is none, or may not be looked into.
pub(crate) fn is_absent(path: &Path, error: &Error) -> bool {
    error.is_not_found() || error.code() == "ENOTDIR" || (error.code() == "EACCES" && !exists(path))
}

/// The error in the words of Node: `ENOENT: no such file or directory`.
pub(crate) fn node_message(error: &Error) -> String {
    let words = match error.code() {
        "ENOENT" => "no such file or directory",
        "EACCES" => "permission denied",
        "EISDIR" => "illegal operation on a directory",
        "ENOTDIR" => "not a directory",
        "ENOSPC" => "no space left on device",
        "ENAMETOOLONG" => "name too long",
        "ELOOP" => "too many symbolic links encountered",
        code => return format!("{code}: {error}"),
    };
    format!("{}: {words}", error.code())
}

/// Whether `path` leads to a regular file.
pub(crate) fn is_file(path: &Path) -> bool {
    pollux_fs::info(path).is_ok_and(|info| info.kind == EntryKind::File)
}

/// Whether `path` leads to a directory.
pub(crate) fn is_dir(path: &Path) -> bool {
    pollux_fs::info(path).is_ok_and(|info| info.kind == EntryKind::Directory)
}

/// Whether `path` leads to anything.
pub(crate) fn exists(path: &Path) -> bool {
    pollux_fs::info(path).is_ok()
}

/// The real path of something that exists.
pub(crate) fn real_path(path: &Path) -> Result<PathBuf, Error> {
    dunce::canonicalize(path).map_err(|error| Error::from_io(path, error))
}

/// The real path, or the path as given when there is nothing.
pub(crate) fn real_path_or_given(path: &Path) -> PathBuf {
    real_path(path).unwrap_or_else(|_| path.to_owned())
}

/// The path without `.` and `..`, by its text alone.
pub(crate) fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                plain.push(component);
            }
        }
    }
    plain
}

/// What makes a file the same file under several names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum FileIdentity {
    /// Device and inode.
    #[cfg(unix)]
    Inode(u64, u64),
    /// The real path, where there are no inodes.
    #[cfg(not(unix))]
    Path(PathBuf),
}

/// The identity of the file behind `path`.
#[cfg(unix)]
pub(crate) fn identity(path: &Path) -> Option<FileIdentity> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = path.metadata().ok()?;
    Some(FileIdentity::Inode(metadata.dev(), metadata.ino()))
}

/// The identity of the file behind `path`.
#[cfg(not(unix))]
pub(crate) fn identity(path: &Path) -> Option<FileIdentity> {
    real_path(path).ok().map(FileIdentity::Path)
}

/// The names of the folders in a directory, sorted; empty when it cannot be read.
pub(crate) fn folders_in(directory: &Path) -> Vec<String> {
    let entries = pollux_fs::list_directory(directory).unwrap_or_default();
    entries
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::Directory)
        .map(|entry| entry.name)
        .collect()
}

/// Makes a directory and its parents, for this user only.
pub(crate) fn create_private_dir(path: &Path) -> Result<(), Error> {
    pollux_fs::create_private_directories(path)
}

/// Makes a file that must not exist yet.
pub(crate) fn create_new(path: &Path, content: &str) -> Result<(), Error> {
    let options = WriteOptions { expected: Some(Expectation::Absent), ..WriteOptions::default() };
    pollux_fs::write_atomic(path, content.as_bytes(), &options).map(drop)
}

/// Replaces a file of the person's state, keeping its mode; a new one is readable by the owner only.
pub(crate) fn write_private(path: &Path, content: &str) -> Result<(), Error> {
    let mode = if exists(path) { None } else { Some(0o600) };
    let options = WriteOptions { expected: None, mode, create_parents: true };
    pollux_fs::write_atomic(path, content.as_bytes(), &options).map(drop)
}

/// Replaces a file that nobody but its owner may ever read.
pub(crate) fn write_owner_only(path: &Path, content: &str) -> Result<(), Error> {
    let options = WriteOptions { expected: None, mode: Some(0o600), create_parents: true };
    pollux_fs::write_atomic(path, content.as_bytes(), &options).map(drop)
}

/// Copies what is in a directory.
pub(crate) fn copy_tree(from: &Path, to: &Path) -> Result<(), Error> {
    pollux_fs::copy_tree(from, to)
}

/// Takes the lock that Gemini CLI uses for `file`, whose folder must exist.
pub(crate) fn lock(file: &Path) -> Result<DirLock, Error> {
    DirLock::acquire(file, LOCK_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_never_leaves_half_a_character() {
        for (text, limit, kept) in
            [("aé", 2, "a"), ("aé", 3, "aé"), ("a€b", 3, "a"), ("abc", 2, "ab")]
        {
            let mut bytes = text.as_bytes()[..limit].to_vec();
            drop_partial_character(&mut bytes);
            assert_eq!(bytes, kept.as_bytes(), "{text} cut at {limit}");
        }
    }
}
