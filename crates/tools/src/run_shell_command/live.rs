//! Live output: at most one update per second, and never more than a screen can show.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pollux_protocol::plain_text::strip_ansi;
use pollux_protocol::{LiveOutput, OutputSink};
use pollux_shell::{BINARY_NOTICE, OutputChunk};

/// Time between two updates.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);
/// Number of bytes kept between two updates; older bytes are dropped.
const MAX_PENDING: usize = 100_000;

/// Collector of output that is passed on in intervals.
pub(super) struct Live {
    sink: OutputSink,
    pending: Mutex<Pending>,
}

#[derive(Default)]
struct Pending {
    text: String,
    /// True if some of the output since the last update was dropped.
    cut: bool,
    binary: Option<u64>,
}

impl Live {
    /// Creates an empty collector.
    pub(super) fn new(sink: OutputSink) -> Self {
        Self { sink, pending: Mutex::default() }
    }

    /// Keeps a piece of output for the next update. Screens and requests for input are passed on
    /// immediately.
    pub(super) fn take(&self, chunk: OutputChunk<'_>) {
        let mut pending = self.lock();
        match chunk {
            OutputChunk::Binary { received } => pending.binary = Some(received),
            // A screen is small and changes rarely enough to be passed on immediately.
            OutputChunk::Screen { lines, above, .. } => {
                drop(pending);
                (self.sink)(LiveOutput::Screen { lines: lines.clone(), above });
            }
            OutputChunk::Input(awaited) => {
                drop(pending);
                (self.sink)(LiveOutput::Input(awaited.cloned()));
            }
            OutputChunk::Text(text) => {
                pending.text.push_str(text);
                // Cut rarely and by a large amount, so that the cost stays linear.
                if pending.text.len() > 2 * MAX_PENDING {
                    pending.shrink();
                }
            }
        }
    }

    /// Passes on the output since the last update.
    pub(super) fn flush(&self) {
        let mut pending = std::mem::take(&mut *self.lock());
        if let Some(received) = pending.binary {
            let received = size(received);
            let text = format!("{BINARY_NOTICE}\n[Receiving binary output... {received} received]");
            (self.sink)(LiveOutput::Replace(text));
        } else if !pending.text.is_empty() {
            if pending.text.len() > MAX_PENDING {
                pending.shrink();
            }
            let text = strip_ansi(&pending.text).into_owned();
            let update =
                if pending.cut { LiveOutput::Replace(text) } else { LiveOutput::Append(text) };
            (self.sink)(update);
        }
    }

    /// Reports how the command ended; nothing if it succeeded.
    pub(super) fn end(&self, ending: String) {
        if !ending.is_empty() {
            (self.sink)(LiveOutput::Ended(ending));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pending {
    fn shrink(&mut self) {
        let surplus = self.text.len().saturating_sub(MAX_PENDING);
        self.text.drain(..self.text.ceil_char_boundary(surplus));
        self.cut = true;
    }
}

/// Returns the number of bytes in a piece of output; for binary output and screens, of all output
/// so far.
pub(super) fn length(chunk: OutputChunk<'_>) -> usize {
    match chunk {
        OutputChunk::Text(text) => text.len(),
        OutputChunk::Binary { received } | OutputChunk::Screen { received, .. } => {
            usize::try_from(received).unwrap_or(usize::MAX)
        }
        OutputChunk::Input(_) => 0,
    }
}

/// Formats a size: `512 B`, `1.5 KB`, `2.0 MB`.
fn size(bytes: u64) -> String {
    match bytes as f64 {
        small if small < 1024.0 => format!("{bytes} B"),
        middle if middle < 1_048_576.0 => format!("{:.1} KB", middle / 1024.0),
        large if large < 1_073_741_824.0 => format!("{:.1} MB", large / 1_048_576.0),
        huge => format!("{:.2} GB", huge / 1_073_741_824.0),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn record() -> (Live, Arc<Mutex<Vec<LiveOutput>>>) {
        let updates = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&updates);
        (Live::new(Arc::new(move |update| sink.lock().unwrap().push(update))), updates)
    }

    #[test]
    fn pieces_between_two_updates_come_together() {
        let (live, updates) = record();
        live.take(OutputChunk::Text("a\x1b[31m"));
        live.take(OutputChunk::Text("b"));
        live.flush();
        live.flush();
        assert_eq!(*updates.lock().unwrap(), [LiveOutput::Append("ab".into())]);
    }

    #[test]
    fn a_flood_is_cut_to_its_end() {
        let (live, updates) = record();
        for _ in 0..100 {
            live.take(OutputChunk::Text(&"é".repeat(5000)));
        }
        live.flush();
        let updates = updates.lock().unwrap();
        let [LiveOutput::Replace(text)] = updates.as_slice() else { panic!("{}", updates.len()) };
        assert!(text.len() <= MAX_PENDING && text.len() > MAX_PENDING - 4);
    }

    #[test]
    fn binary_output_is_only_counted() {
        let (live, updates) = record();
        live.take(OutputChunk::Binary { received: 1536 });
        live.flush();
        let expected = "[Binary output detected. Halting stream...]\n[Receiving binary output... 1.5 KB received]";
        assert_eq!(*updates.lock().unwrap(), [LiveOutput::Replace(expected.into())]);
    }
}
