//! Fingerprints of files, to detect whether a file has changed since it was shown.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::files::open_regular;

/// Fingerprint of a file's content. Two fingerprints are equal if length and hash are; the
/// modification time is not compared.
#[derive(Debug, Clone, Copy)]
pub struct Fingerprint {
    /// Length in bytes.
    pub len: u64,
    /// Time of the last change of the content, if known; not compared.
    pub modified: Option<SystemTime>,
    /// SHA-256 of the bytes.
    pub hash: [u8; 32],
}

impl PartialEq for Fingerprint {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.hash == other.hash
    }
}

impl Eq for Fingerprint {}

impl Fingerprint {
    /// Returns the fingerprint of bytes that were already read.
    pub fn of_bytes(bytes: &[u8], modified: Option<SystemTime>) -> Self {
        Self { len: bytes.len() as u64, modified, hash: Sha256::digest(bytes).into() }
    }

    /// Returns the fingerprint of the regular file at `path`, which is read once, in constant
    /// memory.
    pub fn of_path(path: &Path) -> Result<Self> {
        let (file, metadata) = open_regular(path)?;
        Self::of_file(&file, &metadata).map_err(|error| Error::from_io(path, error))
    }

    /// Returns the fingerprint of an open file from its current position.
    pub(crate) fn of_file(mut file: &File, metadata: &Metadata) -> io::Result<Self> {
        let mut hasher = Sha256::new();
        let mut buffer = vec![0_u8; 64 * 1024];
        let mut len = 0;
        loop {
            let count = file.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            len += count as u64;
            hasher.update(&buffer[..count]);
        }
        Ok(Self { len, modified: metadata.modified().ok(), hash: hasher.finalize().into() })
    }

    /// Returns true if the file at `path` still has this content; `false` if it does not exist.
    pub fn matches(&self, path: &Path) -> Result<bool> {
        match crate::files::info(path) {
            Ok(info) if info.size != self.len => Ok(false),
            Ok(_) => Ok(Self::of_path(path)? == *self),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }
}
