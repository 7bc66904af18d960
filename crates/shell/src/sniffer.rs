//! The decision whether output is binary, while it arrives.

use pollux_fs::{HEAD_BYTES, is_binary};

/// Number of bytes from which a decision counts. The share of control characters of fewer bytes
/// says little, because a program may print them one by one.
const DECISIVE_BYTES: usize = 64;

/// The first bytes of an output.
#[derive(Debug, Default)]
pub(crate) struct Sniffer {
    head: Vec<u8>,
    binary: bool,
}

impl Sniffer {
    /// Takes the bytes of one read. Returns true if the output is binary; it then stays binary.
    pub(crate) fn take(&mut self, chunk: &[u8]) -> bool {
        let missing = HEAD_BYTES - self.head.len();
        if missing > 0 && !self.binary {
            self.head.extend_from_slice(&chunk[..chunk.len().min(missing)]);
            self.binary = self.head.len() >= DECISIVE_BYTES && is_binary(&self.head);
        }
        self.binary
    }

    /// Returns true if the whole output is binary.
    pub(crate) fn finish(&self) -> bool {
        self.binary || self.head.len() < DECISIVE_BYTES && is_binary(&self.head)
    }
}
