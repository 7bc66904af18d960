//! Bytes of plans and of records of audits: numbers in little-endian order, and paths with their
//! length in front of them.

use std::path::{Path, PathBuf};

/// Maximum length of a path, in bytes.
const PATH_BYTES: usize = 64 * 1024;
/// Maximum number of items in one list.
const ITEMS: usize = 200_000;

pub(super) fn put_number(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend(number.to_le_bytes());
}

/// Adds a length or a count, which is below 2³².
pub(super) fn put_count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend((count as u32).to_le_bytes());
}

pub(super) fn put_bytes(bytes: &mut Vec<u8>, added: &[u8]) {
    put_count(bytes, added.len());
    bytes.extend(added);
}

pub(super) fn put_path(bytes: &mut Vec<u8>, path: &Path) {
    put_bytes(bytes, path.as_os_str().as_encoded_bytes());
}

pub(super) fn put_list<'a>(bytes: &mut Vec<u8>, paths: impl ExactSizeIterator<Item = &'a PathBuf>) {
    put_count(bytes, paths.len());
    for path in paths {
        put_path(bytes, path);
    }
}

pub(super) fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

pub(super) fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(take(bytes, 8)?.try_into().ok()?))
}

/// Reads a length of bytes.
fn take_length(bytes: &mut &[u8]) -> Option<usize> {
    Some(u32::from_le_bytes(take(bytes, 4)?.try_into().ok()?) as usize)
}

/// Reads the number of items in a list.
pub(super) fn take_count(bytes: &mut &[u8]) -> Option<usize> {
    take_length(bytes).filter(|&count| count <= ITEMS)
}

pub(super) fn take_numbers(bytes: &mut &[u8]) -> Option<Vec<u32>> {
    let count = take_count(bytes)?;
    (0..count).map(|_| take_length(bytes)?.try_into().ok()).collect()
}

pub(super) fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = take_length(bytes)?;
    take(bytes, length)
}

/// Reads a path, which may be relative.
pub(super) fn take_path(bytes: &mut &[u8]) -> Option<PathBuf> {
    let path = take_bytes(bytes).filter(|path| path.len() <= PATH_BYTES)?;
    path_of(path).map(Path::to_owned)
}

pub(super) fn take_absolute_path(bytes: &mut &[u8]) -> Option<PathBuf> {
    take_path(bytes).filter(|path| path.is_absolute())
}

pub(super) fn take_list(bytes: &mut &[u8]) -> Option<Vec<PathBuf>> {
    let count = take_count(bytes)?;
    (0..count).map(|_| take_absolute_path(bytes)).collect()
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have bytes that are not a path")]
fn path_of(bytes: &[u8]) -> Option<&Path> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(Path::new(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<&Path> {
    std::str::from_utf8(bytes).ok().map(Path::new)
}
