//! Everything that happens to output as it arrives, in one place: sniffing, decoding, keeping,
//! spilling. No process in sight.

use crate::output::{Limits, Output};
use crate::spill::{Spill, Spilled, Spiller};
use crate::text::Decoder;

/// What stands in place of binary output (Gemini CLI 0.61).
pub const BINARY_NOTICE: &str = "[Binary output detected. Halting stream...]";

/// Output is binary if its first so many bytes hold a NUL.
const SNIFFED_BYTES: u64 = 4096;

/// A piece of live output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chunk<'a> {
    /// Text as it came, escape sequences included. A character is never split over two pieces; bytes
    /// that are no UTF-8 are U+FFFD.
    Text(&'a str),
    /// The output turned out to be binary. No more text comes; this does, after each read.
    Binary {
        /// Bytes received so far, text included.
        received: u64,
    },
}

/// The output of one command, being collected.
pub(crate) struct Capture<F> {
    on_output: F,
    decoder: Decoder,
    output: Output,
    spiller: Option<Spiller>,
    binary: bool,
    bytes: u64,
}

/// The output of one command, collected.
pub(crate) struct Captured {
    pub(crate) output: Output,
    pub(crate) spilled: Option<Spilled>,
    pub(crate) binary: bool,
    pub(crate) bytes: u64,
}

impl<F: FnMut(Chunk<'_>)> Capture<F> {
    pub(crate) fn new(limits: Limits, spill: Option<Spill>, on_output: F) -> Self {
        let kept = limits.head.saturating_add(limits.tail);
        Self {
            on_output,
            decoder: Decoder::default(),
            output: Output::new(limits),
            spiller: spill.map(|spill| Spiller::new(spill, kept)),
            binary: false,
            bytes: 0,
        }
    }

    /// Takes what one read brought. Writes to the spill file at once, which for a chunk of this size
    /// means to the page cache.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        let to_sniff = usize::try_from(SNIFFED_BYTES.saturating_sub(self.bytes)).unwrap_or(0);
        self.binary |= chunk[..chunk.len().min(to_sniff)].contains(&0);
        self.bytes += chunk.len() as u64;
        if let Some(spiller) = &mut self.spiller {
            spiller.take(&self.output, chunk);
        }
        self.output.push(chunk);
        if self.binary {
            (self.on_output)(Chunk::Binary { received: self.bytes });
        } else {
            let text = self.decoder.decode(chunk);
            if !text.is_empty() {
                (self.on_output)(Chunk::Text(&text));
            }
        }
    }

    pub(crate) fn finish(mut self) -> Captured {
        let rest = self.decoder.finish();
        if !self.binary && !rest.is_empty() {
            (self.on_output)(Chunk::Text(&rest));
        }
        Captured {
            output: self.output,
            spilled: self.spiller.and_then(Spiller::finish),
            binary: self.binary,
            bytes: self.bytes,
        }
    }
}

#[cfg(test)]
mod tests;
