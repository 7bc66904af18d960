//! Is the file still the one that was shown?

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::files::open_regular;

/// Identifies the content of a file. Two are equal when length and hash are; a mere `touch` changes nothing.
#[derive(Debug, Clone, Copy)]
pub struct Fingerprint {
    /// Length in bytes.
    pub len: u64,
    /// When the content was last changed, as far as known; not compared.
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
    /// The fingerprint of bytes already read.
    pub fn of_bytes(bytes: &[u8], modified: Option<SystemTime>) -> Self {
        Self { len: bytes.len() as u64, modified, hash: Sha256::digest(bytes).into() }
    }

    /// Reads the regular file at `path` once, in constant memory.
    pub fn of_path(path: &Path) -> Result<Self> {
        let (file, metadata) = open_regular(path)?;
        Self::of_file(&file, &metadata).map_err(|error| Error::from_io(path, error))
    }

    /// The same of a file that is open, from where it stands.
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

    /// Whether the file at `path` still has this content; `false` when it is gone.
    pub fn matches(&self, path: &Path) -> Result<bool> {
        match crate::files::info(path) {
            Ok(info) if info.size != self.len => Ok(false),
            Ok(_) => Ok(Self::of_path(path)? == *self),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }
}
