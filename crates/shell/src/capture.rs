//! Everything that happens to output as it arrives, in one place: sniffing, decoding, keeping,
//! spilling. No process in sight.

use pollux_protocol::{AnsiOutput, AwaitedInput};

use crate::command::ShellCommand;
use crate::output::{Limits, Output};
use crate::spill::{Spill, Spilled, Spiller};
use crate::terminal::TerminalSize;
use crate::text::Decoder;

mod terminal;

use terminal::TerminalCapture;

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
    /// What the terminal shows now. Comes instead of text from a command that has one, some times a second at most.
    Screen {
        /// The lines.
        lines: &'a AnsiOutput,
        /// Bytes received so far.
        received: u64,
    },
    /// The command waits for somebody to type, or does no longer.
    Input(Option<&'a AwaitedInput>),
}

/// The output of one command, being collected: as it comes, or as a terminal shows it.
pub(crate) enum Collector<F> {
    Stream(Box<Capture<F>>),
    Terminal(Box<TerminalCapture<F>>),
}

impl<F: FnMut(Chunk<'_>)> Collector<F> {
    pub(crate) fn new(command: &ShellCommand, in_terminal: bool, on_output: F) -> Self {
        let (limits, spill) = (command.limits, command.spill.clone());
        match command.terminal.filter(|_| in_terminal) {
            None => Self::Stream(Box::new(Capture::new(limits, spill, on_output))),
            Some(size) => {
                let capture = TerminalCapture::new(size, command.colour, limits, spill, on_output);
                Self::Terminal(Box::new(capture))
            }
        }
    }

    /// Takes what one read brought; gives back what a terminal answers to the program.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        match self {
            Self::Stream(capture) => {
                capture.push(chunk);
                Vec::new()
            }
            Self::Terminal(capture) => capture.push(chunk),
        }
    }

    /// The screen is not as it was last shown.
    pub(crate) fn has_changed(&self) -> bool {
        matches!(self, Self::Terminal(capture) if capture.has_changed())
    }

    /// Shows the screen if it has changed; gives back what a terminal answers to the program.
    pub(crate) fn show(&mut self) -> Vec<u8> {
        match self {
            Self::Stream(_) => Vec::new(),
            Self::Terminal(capture) => capture.show(),
        }
    }

    /// The line in which the program may have asked something; empty without a terminal.
    pub(crate) fn line_of_cursor(&self) -> String {
        match self {
            Self::Stream(_) => String::new(),
            Self::Terminal(capture) => capture.line_of_cursor(),
        }
    }

    /// The terminal has a new size.
    pub(crate) fn resize(&mut self, size: TerminalSize) {
        if let Self::Terminal(capture) = self {
            capture.resize(size);
        }
    }

    /// Tells that the command waits for input, or does no longer.
    pub(crate) fn tell_input(&mut self, awaited: Option<&AwaitedInput>) {
        let tell = match self {
            Self::Stream(capture) => &mut capture.on_output,
            Self::Terminal(capture) => capture.on_output(),
        };
        tell(Chunk::Input(awaited));
    }

    pub(crate) async fn finish(self) -> Captured {
        match self {
            Self::Stream(capture) => capture.finish(),
            Self::Terminal(capture) => capture.finish().await,
        }
    }
}

/// Output as it comes, being collected.
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
    /// The terminal at the end, of a command that had one.
    pub(crate) lines: Option<AnsiOutput>,
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
            lines: None,
            output: self.output,
            spilled: self.spiller.and_then(Spiller::finish),
            binary: self.binary,
            bytes: self.bytes,
        }
    }
}

#[cfg(test)]
mod tests;
