//! The only module of this crate that accesses the disk. Everything goes through `pollux-fs`.
//!
//! The files may be hostile, so every read has a size limit.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use pollux_fs::{DirLock, EntryKind, Error, Expectation, HEAD_BYTES, RealPath, WriteOptions};

/// Maximum time to wait for another process's lock.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Text of a file, possibly truncated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadText {
    /// UTF-8 text, with replacement characters for invalid bytes.
    pub(crate) text: String,
    /// True if the file is longer than the limit.
    pub(crate) truncated: bool,
    /// True if the file is not text.
    pub(crate) binary: bool,
}

#[cfg(test)]
thread_local! {
    /// Paths of the files that this thread has read, for the test that compares them with the
    /// protected paths.
    pub(crate) static READ_PATHS: std::cell::RefCell<Vec<PathBuf>> =
        const { std::cell::RefCell::new(Vec::new()) };
}

#[cfg(test)]
fn note_read(path: &Path) {
    READ_PATHS.with_borrow_mut(|paths| paths.push(path.to_owned()));
}

#[cfg(not(test))]
fn note_read(_: &Path) {}

/// Reads at most `limit` bytes of a regular file.
pub(crate) fn read_text_lossy(path: &Path, limit: usize) -> Result<ReadText, Error> {
    note_read(path);
    Ok(lossy_text(pollux_fs::read_head(path, limit.saturating_add(1))?, limit))
}

/// Reads at most `limit` bytes of a file whose path was already checked. If a part of the path was
/// replaced by a link since, the link is not followed.
pub(crate) fn read_judged_text_lossy(path: &RealPath, limit: usize) -> Result<ReadText, Error> {
    note_read(path);
    Ok(lossy_text(path.read_head(limit.saturating_add(1))?, limit))
}

fn lossy_text(mut bytes: Vec<u8>, limit: usize) -> ReadText {
    let truncated = bytes.len() > limit;
    if truncated {
        bytes.truncate(limit);
        drop_partial_character(&mut bytes);
    }
    let binary = pollux_fs::is_binary(&bytes[..bytes.len().min(HEAD_BYTES)]);
    ReadText { text: String::from_utf8_lossy(&bytes).into_owned(), truncated, binary }
}

/// Reads a file that must not be longer than `limit` bytes.
pub(crate) fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    note_read(path);
    pollux_fs::read_bytes(path, limit)
}

/// Reads the text of a file that must not be longer than `limit` bytes.
pub(crate) fn read_whole(path: &Path, limit: u64) -> Result<String, Error> {
    let bytes = read_bytes(path, limit)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Removes an incomplete character at the end of truncated text.
fn drop_partial_character(bytes: &mut Vec<u8>) {
    let back = bytes.iter().rev().take(4).position(|byte| byte & 0b1100_0000 != 0b1000_0000);
    let Some(start) = back.map(|back| bytes.len() - 1 - back) else { return };
    if std::str::from_utf8(&bytes[start..]).is_err() {
        bytes.truncate(start);
    }
}

/// Returns true if the error means that no file at `path` is visible to this user. This includes a
/// path through a file instead of a folder, and a folder that the user may not read.
pub(crate) fn is_absent(path: &Path, error: &Error) -> bool {
    error.is_not_found() || error.code() == "ENOTDIR" || (error.code() == "EACCES" && !exists(path))
}

/// Returns the error with Node's text: `ENOENT: no such file or directory`.
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

/// Returns true if `path` leads to a regular file.
pub(crate) fn is_file(path: &Path) -> bool {
    pollux_fs::info(path).is_ok_and(|info| info.kind == EntryKind::File)
}

/// Returns true if `path` leads to a directory.
pub(crate) fn is_dir(path: &Path) -> bool {
    pollux_fs::info(path).is_ok_and(|info| info.kind == EntryKind::Directory)
}

/// Returns true if `path` leads to an existing file or directory.
pub(crate) fn exists(path: &Path) -> bool {
    pollux_fs::info(path).is_ok()
}

/// Returns the real path of an existing file or directory.
pub(crate) fn real_path(path: &Path) -> Result<PathBuf, Error> {
    dunce::canonicalize(path).map_err(|error| Error::from_io(path, error))
}

/// Returns the real path, or the given path if it does not exist.
pub(crate) fn real_path_or_given(path: &Path) -> PathBuf {
    real_path(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the path without `.` and `..`, without accessing the disk.
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

/// Identity of a file, equal for all of its names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum FileIdentity {
    /// Device and inode.
    #[cfg(unix)]
    Inode(u64, u64),
    /// Real path, on systems without inodes.
    #[cfg(not(unix))]
    Path(PathBuf),
}

/// Returns the identity of the file behind `path`.
#[cfg(unix)]
pub(crate) fn identity(path: &Path) -> Option<FileIdentity> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = path.metadata().ok()?;
    Some(FileIdentity::Inode(metadata.dev(), metadata.ino()))
}

/// Returns the identity of the file behind `path`.
#[cfg(not(unix))]
pub(crate) fn identity(path: &Path) -> Option<FileIdentity> {
    real_path(path).ok().map(FileIdentity::Path)
}

/// Returns the names of the folders in a directory, sorted. The list is empty if the directory
/// cannot be read.
pub(crate) fn folders_in(directory: &Path) -> Vec<String> {
    let entries = pollux_fs::list_directory(directory).unwrap_or_default();
    entries
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::Directory)
        .map(|entry| entry.name)
        .collect()
}

/// Creates a directory and its parents, accessible to this user only.
pub(crate) fn create_private_dir(path: &Path) -> Result<(), Error> {
    pollux_fs::create_private_directories(path)
}

/// Creates a file that must not exist yet.
pub(crate) fn create_new(path: &Path, content: &str) -> Result<(), Error> {
    let options = WriteOptions { expected: Some(Expectation::Absent), ..WriteOptions::default() };
    pollux_fs::write_atomic(path, content.as_bytes(), &options).map(drop)
}

/// Replaces a file of the user's state and keeps its mode. A new file is readable by the owner
/// only.
pub(crate) fn write_private(path: &Path, content: &str) -> Result<(), Error> {
    let mode = if exists(path) { None } else { Some(0o600) };
    let options = WriteOptions { mode, create_parents: true, ..WriteOptions::default() };
    pollux_fs::write_atomic(path, content.as_bytes(), &options).map(drop)
}

/// Replaces a file that must never be readable by anyone except its owner.
pub(crate) fn write_owner_only(path: &Path, content: &str) -> Result<(), Error> {
    let options =
        WriteOptions { mode: Some(0o600), create_parents: true, ..WriteOptions::default() };
    pollux_fs::write_atomic(path, content.as_bytes(), &options).map(drop)
}

/// Copies the content of a directory.
pub(crate) fn copy_tree(from: &Path, to: &Path) -> Result<(), Error> {
    pollux_fs::copy_tree(from, to)
}

/// Acquires the lock that Gemini CLI uses for `file`, whose folder must exist.
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
