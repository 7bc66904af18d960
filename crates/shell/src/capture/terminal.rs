//! The output of a command that has a terminal.
//!
//! The reported output is the content of a terminal, so all bytes pass through a terminal emulator.
//! The emulator is slower than a fast program prints: after the first megabyte, output waits in a
//! queue of bounded length, from which the emulator takes bytes as it can. Bytes that are dropped
//! from the queue are reported as omitted, like the middle of any long output.

use std::collections::VecDeque;

use pollux_protocol::AnsiOutput;

use super::{Captured, OutputChunk};
use crate::output::{Output, OutputLimits};
use crate::screen::Screen;
use crate::sniffer::Sniffer;
use crate::spill::{Spill, Spiller};
use crate::terminal::TerminalSize;
use crate::text::Transcript;

/// Number of bytes that the terminal processes in one go: some milliseconds of work.
const AT_ONCE: usize = 64 << 10;
/// Maximum number of bytes that are processed on the async thread; more go to a blocking thread.
const SHORT_WORK: usize = 256 << 10;
/// Number of bytes of the transcript that are kept until it is known whether a file is needed.
const EARLY_BYTES: usize = 1 << 20;

/// The output of one command while it is collected.
pub(crate) struct TerminalCapture<F> {
    on_output: F,
    view: View,
    /// True if the screen has changed since it was last reported.
    changed: bool,
    file: Option<File>,
    sniffer: Sniffer,
    binary: bool,
    bytes: u64,
}

/// The terminal and the bytes that it has not processed yet.
struct View {
    screen: Screen,
    queue: VecDeque<u8>,
    longest_queue: usize,
    /// Number of bytes dropped from the queue since the terminal last took some.
    lost: u64,
}

/// The file with the whole output, as plain text.
struct File {
    transcript: Transcript,
    early: Output,
    spiller: Spiller,
}

impl<F: FnMut(OutputChunk<'_>)> TerminalCapture<F> {
    pub(crate) fn new(
        size: TerminalSize,
        colour: bool,
        limits: OutputLimits,
        spill: Option<Spill>,
        on_output: F,
    ) -> Self {
        let view = View {
            screen: Screen::new(size, limits, colour),
            queue: VecDeque::new(),
            longest_queue: limits.tail.max(AT_ONCE),
            lost: 0,
        };
        let file = spill.map(|spill| File {
            transcript: Transcript::default(),
            early: Output::new(OutputLimits { head: EARLY_BYTES, tail: 0 }),
            spiller: Spiller::new(spill, EARLY_BYTES),
        });
        let sniffer = Sniffer::default();
        Self { on_output, view, changed: false, file, sniffer, binary: false, bytes: 0 }
    }

    /// Takes the bytes of one read. Returns the terminal's replies to the program.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        self.binary = self.sniffer.take(chunk);
        self.bytes += chunk.len() as u64;
        if let Some(file) = &mut self.file {
            file.take(chunk, self.binary);
        }
        if self.binary {
            (self.on_output)(OutputChunk::Binary { received: self.bytes });
            return Vec::new();
        }
        self.changed = true;
        self.view.queue(chunk);
        if self.bytes <= EARLY_BYTES as u64 {
            self.view.take(usize::MAX);
        }
        self.view.screen.take_answers()
    }

    /// Reports the screen if it has changed. Returns the terminal's replies to the program.
    pub(crate) fn show(&mut self) -> Vec<u8> {
        if !std::mem::take(&mut self.changed) || self.binary {
            return Vec::new();
        }
        self.view.take(AT_ONCE);
        self.changed = !self.view.queue.is_empty();
        let lines = self.view.screen.look();
        let above = self.view.screen.lines_above();
        (self.on_output)(OutputChunk::Screen { lines: &lines, above, received: self.bytes });
        self.view.screen.take_answers()
    }

    /// Returns the line of the cursor, which may contain a prompt.
    pub(crate) fn line_of_cursor(&self) -> String {
        self.view.screen.line_of_cursor()
    }

    pub(super) fn on_output(&mut self) -> &mut F {
        &mut self.on_output
    }

    /// Returns true if the screen has changed since it was last reported.
    pub(crate) fn has_changed(&self) -> bool {
        self.changed && !self.binary
    }

    pub(crate) fn resize(&mut self, size: TerminalSize) {
        self.view.take(usize::MAX);
        self.view.screen.resize(size);
        self.changed = true;
    }

    pub(crate) async fn finish(self) -> Captured {
        let Self { mut view, file, sniffer, bytes, .. } = self;
        let binary = sniffer.finish();
        let is_short = view.queue.len() <= SHORT_WORK;
        let tell = move || {
            view.take(usize::MAX);
            (view.screen.look_back(), view.screen.into_text())
        };
        let (lines, output) = if is_short {
            tell()
        } else {
            // A runtime that is shutting down runs no more tasks, and no caller waits for a result.
            let reported = tokio::task::spawn_blocking(tell).await;
            reported
                .unwrap_or_else(|_| (AnsiOutput::default(), Output::new(OutputLimits::default())))
        };
        Captured {
            lines: (!binary).then_some(lines),
            output,
            spilled: file.and_then(|file| file.spiller.finish()),
            binary,
            bytes,
        }
    }
}

impl View {
    fn queue(&mut self, chunk: &[u8]) {
        let surplus = (self.queue.len() + chunk.len()).saturating_sub(self.longest_queue);
        self.queue.drain(..surplus.min(self.queue.len()));
        self.lost += surplus as u64;
        self.queue.extend(chunk);
    }

    /// Feeds up to `most` bytes from the queue to the terminal.
    fn take(&mut self, most: usize) {
        let length = most.min(self.queue.len());
        if length == 0 {
            return;
        }
        let lost = std::mem::take(&mut self.lost);
        if lost > 0 {
            self.screen.skip(lost);
        }
        let (first, second) = self.queue.as_slices();
        let of_first = length.min(first.len());
        self.screen.print(&first[..of_first]);
        self.screen.print(&second[..length - of_first]);
        self.queue.drain(..length);
    }
}

impl File {
    /// Adds output to the file: binary output unchanged, other output as plain text.
    fn take(&mut self, chunk: &[u8], is_binary: bool) {
        if is_binary {
            self.spiller.take(&self.early, chunk);
            return self.early.push(chunk);
        }
        let text = self.transcript.take(chunk);
        self.spiller.take(&self.early, text.as_bytes());
        self.early.push(text.as_bytes());
    }
}

#[cfg(test)]
mod tests;
