//! Everything that happens to output as it arrives, in one place: binary detection, decoding,
//! keeping, spilling to a file. Independent of processes.

use pollux_protocol::{AnsiOutput, AwaitedInput};

use crate::command::ShellCommand;
use crate::output::{Output, OutputLimits};
use crate::sniffer::Sniffer;
use crate::spill::{Spill, Spilled, Spiller};
use crate::terminal::TerminalSize;
use crate::text::Decoder;

mod terminal;

use terminal::TerminalCapture;

/// A piece of live output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputChunk<'a> {
    /// Text as printed, escape sequences included. A character is never split over two chunks;
    /// what is not UTF-8 is decoded as in a file.
    Text(&'a str),
    /// The output turned out to be binary. From now on this variant is sent after each read,
    /// instead of text.
    Binary {
        /// Bytes received so far, text included.
        received: u64,
    },
    /// Current screen of the terminal. Replaces text for a command with a terminal; sent a few
    /// times per second at most.
    Screen {
        /// The lines.
        lines: &'a AnsiOutput,
        /// Number of lines that have left the top of the screen.
        above: u64,
        /// Bytes received so far.
        received: u64,
    },
    /// The command has started (`Some`) or stopped (`None`) waiting for somebody to type.
    Input(Option<&'a AwaitedInput>),
}

/// The output of one command while it is collected, either as a stream or as a terminal screen.
pub(crate) enum Collector<F> {
    Stream(Box<Capture<F>>),
    Terminal(Box<TerminalCapture<F>>),
}

impl<F: FnMut(OutputChunk<'_>)> Collector<F> {
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

    /// Takes the bytes of one read. Returns the terminal's replies to the program.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        match self {
            Self::Stream(capture) => {
                capture.push(chunk);
                Vec::new()
            }
            Self::Terminal(capture) => capture.push(chunk),
        }
    }

    /// Returns true if the screen has changed since it was last reported.
    pub(crate) fn has_changed(&self) -> bool {
        matches!(self, Self::Terminal(capture) if capture.has_changed())
    }

    /// Reports the screen if it has changed. Returns the terminal's replies to the program.
    pub(crate) fn show(&mut self) -> Vec<u8> {
        match self {
            Self::Stream(_) => Vec::new(),
            Self::Terminal(capture) => capture.show(),
        }
    }

    /// Returns the line of the cursor, which may contain a prompt; empty without a terminal.
    pub(crate) fn line_of_cursor(&self) -> String {
        match self {
            Self::Stream(_) => String::new(),
            Self::Terminal(capture) => capture.line_of_cursor(),
        }
    }

    /// Changes the size of the terminal.
    pub(crate) fn resize(&mut self, size: TerminalSize) {
        if let Self::Terminal(capture) = self {
            capture.resize(size);
        }
    }

    /// Reports that the command has started or stopped waiting for input.
    pub(crate) fn tell_input(&mut self, awaited: Option<&AwaitedInput>) {
        let tell = match self {
            Self::Stream(capture) => &mut capture.on_output,
            Self::Terminal(capture) => capture.on_output(),
        };
        tell(OutputChunk::Input(awaited));
    }

    pub(crate) async fn finish(self) -> Captured {
        match self {
            Self::Stream(capture) => capture.finish(),
            Self::Terminal(capture) => capture.finish().await,
        }
    }
}

/// Output of a command without a terminal, while it is collected.
pub(crate) struct Capture<F> {
    on_output: F,
    decoder: Decoder,
    output: Output,
    spiller: Option<Spiller>,
    sniffer: Sniffer,
    bytes: u64,
}

/// The collected output of one command.
pub(crate) struct Captured {
    /// Final contents of the terminal, for a command that had one.
    pub(crate) lines: Option<AnsiOutput>,
    pub(crate) output: Output,
    pub(crate) spilled: Option<Spilled>,
    pub(crate) binary: bool,
    pub(crate) bytes: u64,
}

impl<F: FnMut(OutputChunk<'_>)> Capture<F> {
    pub(crate) fn new(limits: OutputLimits, spill: Option<Spill>, on_output: F) -> Self {
        let kept = limits.head.saturating_add(limits.tail);
        Self {
            on_output,
            decoder: Decoder::default(),
            output: Output::new(limits),
            spiller: spill.map(|spill| Spiller::new(spill, kept)),
            sniffer: Sniffer::default(),
            bytes: 0,
        }
    }

    /// Takes the bytes of one read. Writes to the spill file immediately; a chunk of this size goes
    /// to the page cache.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        let binary = self.sniffer.take(chunk);
        self.bytes += chunk.len() as u64;
        if let Some(spiller) = &mut self.spiller {
            spiller.take(&self.output, chunk);
        }
        self.output.push(chunk);
        if binary {
            (self.on_output)(OutputChunk::Binary { received: self.bytes });
        } else {
            let text = self.decoder.decode(chunk);
            if !text.is_empty() {
                (self.on_output)(OutputChunk::Text(&text));
            }
        }
    }

    pub(crate) fn finish(mut self) -> Captured {
        let rest = self.decoder.finish();
        let binary = self.sniffer.finish();
        if !binary && !rest.is_empty() {
            (self.on_output)(OutputChunk::Text(&rest));
        }
        Captured {
            lines: None,
            output: self.output,
            spilled: self.spiller.and_then(Spiller::finish),
            binary,
            bytes: self.bytes,
        }
    }
}

#[cfg(test)]
mod tests;
