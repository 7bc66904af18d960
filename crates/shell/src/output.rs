//! A command's output in memory: the beginning and the end, and how much fell out between them.

use std::borrow::Cow;
use std::collections::VecDeque;

use pollux_protocol::plain_text::strip_ansi;

use crate::text::whole_length;

/// What Gemini CLI 0.61 appends to output that was cut; programs match it.
pub const TRUNCATION_WARNING: &str =
    "[GEMINI_CLI_WARNING: Output truncated. The buffer is limited to 16MB.]";

/// Text in place of binary output (Gemini CLI 0.61).
pub const BINARY_NOTICE: &str = "[Binary output detected. Halting stream...]";

/// How many bytes of output stay in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes kept from the beginning.
    pub head: usize,
    /// Bytes kept from the end.
    pub tail: usize,
}

impl Default for Limits {
    /// 16 MiB in all, as Gemini CLI 0.61 has it: 4 MiB from the beginning, 12 MiB from the end.
    fn default() -> Self {
        Self { head: 4 << 20, tail: 12 << 20 }
    }
}

/// The output of a command, both streams in the order they were written. Memory is taken as output
/// arrives, and never more than the [`Limits`] allow.
#[derive(Debug, Clone)]
pub struct Output {
    limits: Limits,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    omitted: u64,
}

impl Output {
    /// No output yet.
    pub fn new(limits: Limits) -> Self {
        Self { limits, head: Vec::new(), tail: VecDeque::new(), omitted: 0 }
    }

    /// Takes more output; drops the oldest of the tail when it does not fit.
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

    /// Doubles the room for the tail as `VecDeque` would, but never past the limit.
    fn reserve_tail(&mut self, more: usize) {
        let needed = self.tail.len() + more;
        if needed > self.tail.capacity() {
            let room = needed.max(2 * self.tail.capacity()).min(self.limits.tail);
            self.tail.reserve_exact(room - self.tail.len());
        }
    }

    /// So many bytes came here and are lost, and with them what is kept of the end: what comes next follows after them.
    pub(crate) fn skip(&mut self, bytes: u64) {
        self.limits.head = self.head.len();
        self.omitted += self.tail.len() as u64 + bytes;
        self.tail.clear();
    }

    /// The first bytes.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The last bytes, in two pieces that follow one another; empty while everything fits the head.
    pub fn tail(&self) -> (&[u8], &[u8]) {
        self.tail.as_slices()
    }

    /// How many bytes are missing between head and tail.
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// How many bytes are kept.
    pub fn len(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// Whether nothing was printed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The output as text: invalid UTF-8 replaced, escape sequences out, trimmed. Where bytes are
    /// missing a line says how many, and [`TRUNCATION_WARNING`] stands at the end.
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

fn plain(bytes: &[u8]) -> String {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => strip_ansi(text).into_owned(),
        Cow::Owned(text) => match strip_ansi(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(stripped) => stripped,
        },
    }
}

#[cfg(test)]
mod tests;
