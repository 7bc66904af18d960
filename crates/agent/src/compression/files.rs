//! How the files stand that were read or changed, when a conversation is compressed.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;

use pollux_fs::{Access, Fingerprint, Workspace};
use pollux_protocol::CancellationToken;

/// Files that are looked at.
const MOST: usize = 200;

/// Bytes that are read of one file, and of all of them.
const LARGEST: u64 = 5_000_000;
const ALL: u64 = 100_000_000;

/// Hexadecimal digits of a hash that are told.
const DIGITS: usize = 12;

/// How a file stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// The first six bytes of the SHA-256 of its bytes, as a number.
    Hash(u64),
    /// It is not there.
    Gone,
}

impl FileState {
    /// The state of a file with these bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let hash = Fingerprint::of_bytes(bytes, None).hash;
        Self::Hash(hash.iter().take(DIGITS / 2).fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }

    /// Reads what its words say.
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

/// The states of these files, the first of them where they are many. What no tool may read, is no file or is too large
/// has none.
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
