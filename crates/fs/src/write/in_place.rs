//! Rewriting a file without a rename, so that a full disk cannot destroy the old bytes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use super::attributes;

/// Maximum size of an old file that is kept in memory for restoring it after a failure.
const MAX_KEPT: u64 = 64 * 1024 * 1024;

/// Replaces the content of a regular file that is open for reading and writing, and its permission
/// bits if `mode` is given.
///
/// # Errors
/// Returns any error, after the old content was restored (which needs no space beyond the
/// file's old size).
pub(super) fn rewrite(file: &File, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
    let old_length = file.metadata()?.len();
    let mut old = Vec::new();
    if old_length <= MAX_KEPT {
        let reader: &File = file;
        reader.take(MAX_KEPT).read_to_end(&mut old)?;
    }
    if let Err(error) = write_over(file, old_length as usize, bytes) {
        if old_length <= MAX_KEPT {
            restore(file, &old)?;
        }
        return Err(error);
    }
    mode.map_or(Ok(()), |mode| attributes::set_mode(file, mode))
}

fn write_over(mut file: &File, old_length: usize, bytes: &[u8]) -> io::Result<()> {
    let shared = old_length.min(bytes.len());
    // The part that makes the file longer is written first: only here can space run out, and all
    // old bytes still exist.
    file.seek(SeekFrom::Start(shared as u64))?;
    if bytes.len() > old_length {
        file.write_all(&bytes[shared..])?;
        file.sync_all()?;
    }
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&bytes[..shared])?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}

fn restore(mut file: &File, old: &[u8]) -> io::Result<()> {
    file.set_len(old.len() as u64)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(old)?;
    file.sync_all()
}
