//! A command's output in memory: the beginning, the end, and the number of bytes omitted between
//! them.

use std::collections::VecDeque;

use pollux_protocol::plain_text::{strip_ansi, with_visible_nuls};

use crate::text::whole_length;

/// Warning that Gemini CLI 0.61 appends to truncated output; programs match it.
pub const TRUNCATION_WARNING: &str =
    "[GEMINI_CLI_WARNING: Output truncated. The buffer is limited to 16MB.]";

/// Replacement text for binary output (Gemini CLI 0.61).
pub const BINARY_NOTICE: &str = "[Binary output detected. Halting stream...]";

/// Numbers of output bytes that are kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLimits {
    /// Bytes kept from the beginning.
    pub head: usize,
    /// Bytes kept from the end.
    pub tail: usize,
}

impl Default for OutputLimits {
    /// Returns limits of 16 MiB in total, as in Gemini CLI 0.61: 4 MiB from the beginning, 12 MiB
    /// from the end.
    fn default() -> Self {
        Self { head: 4 << 20, tail: 12 << 20 }
    }
}

/// The output of a command, both streams in the order they were written. Memory is allocated as
/// output arrives, and never exceeds the [`OutputLimits`].
#[derive(Debug, Clone)]
pub struct Output {
    limits: OutputLimits,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    omitted: u64,
}

impl Output {
    /// Creates an empty output.
    pub fn new(limits: OutputLimits) -> Self {
        Self { limits, head: Vec::new(), tail: VecDeque::new(), omitted: 0 }
    }

    /// Appends output. Drops the oldest bytes of the tail if it exceeds its limit.
    pub fn push(&mut self, bytes: &[u8]) {
        let to_head = bytes.len().min(self.limits.head - self.head.len());
        let (first, rest) = bytes.split_at(to_head);
        self.head.extend_from_slice(first);
        let kept = &rest[rest.len().saturating_sub(self.limits.tail)..];
        let surplus = (self.tail.len() + kept.len()).saturating_sub(self.limits.tail);
        self.tail.drain(..surplus);
        self.omitted += (rest.len() - kept.len() + surplus) as u64;
        self.reserve_tail(kept.len());
        self.tail.extend(kept);
    }

    /// Doubles the capacity of the tail as `VecDeque` would, but never above the limit.
    fn reserve_tail(&mut self, more: usize) {
        let needed = self.tail.len() + more;
        if needed > self.tail.capacity() {
            let room = needed.max(2 * self.tail.capacity()).min(self.limits.tail);
            self.tail.reserve_exact(room - self.tail.len());
        }
    }

    /// Records that `bytes` bytes were lost at this position. The tail so far is dropped, too, so
    /// that later output directly follows the gap.
    pub(crate) fn skip(&mut self, bytes: u64) {
        self.limits.head = self.head.len();
        self.omitted += self.tail.len() as u64 + bytes;
        self.tail.clear();
    }

    /// Returns the first bytes.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns the last bytes, in two consecutive pieces; empty while everything fits in the head.
    pub fn tail(&self) -> (&[u8], &[u8]) {
        self.tail.as_slices()
    }

    /// Returns the number of bytes that are missing between head and tail.
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns the number of bytes that are kept.
    pub fn len(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// Returns true if nothing was printed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the output as text (see [`plain`]), trimmed. If bytes are missing, a line in their
    /// place gives their number, and [`TRUNCATION_WARNING`] is appended.
    pub fn text(&self) -> String {
        let (first, second) = self.tail();
        if self.omitted == 0 {
            let whole = [&self.head, first, second].concat();
            return plain(&whole).trim().to_owned();
        }
        let head = &self.head[..whole_length(&self.head)];
        let tail = [first, second].concat();
        // The tail may begin in the middle of a character.
        let partial = tail.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
        format!(
            "{}\n... [{} bytes omitted] ...\n{}\n{TRUNCATION_WARNING}",
            plain(head).trim(),
            self.omitted,
            plain(&tail[partial..]).trim(),
        )
    }
}

/// Returns output as text: decoded like a file, without escape sequences, and with a visible symbol
/// in place of each NUL.
pub fn plain(bytes: &[u8]) -> String {
    let (text, _) = pollux_fs::decode(bytes);
    with_visible_nuls(strip_ansi(&text)).into_owned()
}

#[cfg(test)]
mod tests;
