//! States of the files that were read or changed, at the time of a compression.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;

use pollux_fs::{Access, Fingerprint, Workspace};
use pollux_protocol::CancellationToken;

/// Maximum number of files that are examined.
const MOST: usize = 200;

/// Maximum number of bytes that are read of one file (`LARGEST`) and of all files (`ALL`).
const LARGEST: u64 = 5_000_000;
const ALL: u64 = 100_000_000;

/// Number of hexadecimal digits that are shown of a hash.
const DIGITS: usize = 12;

/// State of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// First six bytes of the SHA-256 of the file's content, as a number.
    Hash(u64),
    /// The file does not exist.
    Gone,
}

impl FileState {
    /// Returns the state of a file with these bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let hash = Fingerprint::of_bytes(bytes, None).hash;
        Self::Hash(hash.iter().take(DIGITS / 2).fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    /// Parses the text form of a state.
    pub fn read(words: &str) -> Option<Self> {
        if words == "gone" {
            return Some(Self::Gone);
        }
        let digits = words.strip_prefix("sha256 ")?;
        let is_hash = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        u64::from_str_radix(digits, 16).ok().filter(|_| is_hash).map(Self::Hash)
    }
}

impl fmt::Display for FileState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hash(hash) => write!(formatter, "sha256 {hash:0DIGITS$x}"),
            Self::Gone => formatter.write_str("gone"),
        }
    }
}

/// Returns the states of the first `MOST` of these files. A file that tools may not read, that is
/// not a regular file or that is too large has no entry in the result.
pub(crate) fn states_of(
    workspace: &Workspace,
    files: Vec<PathBuf>,
    cancel: &CancellationToken,
) -> HashMap<PathBuf, FileState> {
    let mut left = ALL;
    let mut states = HashMap::new();
    for file in files.into_iter().take(MOST) {
        if cancel.is_cancelled() {
            break;
        }
        let Ok(path) = workspace.check(&file, Access::Read) else { continue };
        let state = match path.read_bytes(LARGEST.min(left)) {
            Ok(bytes) => {
                left = left.saturating_sub(bytes.len() as u64);
                FileState::of_bytes(&bytes)
            }
            Err(error) if error.is_not_found() => FileState::Gone,
            Err(_) => continue,
        };
        states.insert(file, state);
    }
    states
}
