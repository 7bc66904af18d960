//! Transport over the standard streams of a program: one message of JSON per line.

use std::collections::VecDeque;
use std::future::{Future, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pollux_protocol::plain_text::visible;
use pollux_shell::Duplex;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::mpsc;

use crate::incoming::{Reader, Shortener, TooLarge, Unusable};

/// Size from which on the long texts of a message are cut, in bytes.
pub(crate) const LARGE_MESSAGE: usize = 16 << 20;
/// Maximum number of bytes that wait for a server that does not read.
const MOST_WAITING: usize = 32 << 20;
/// Maximum number of bytes in one read.
const READ_SIZE: usize = 64 * 1024;
/// Maximum length of a line of other output that is kept for the log, in characters.
const LONGEST_NOISE: usize = 500;

/// Connection to a program.
pub(crate) struct StdioTransport {
    outgoing: Outgoing,
    stdout: ChildStdout,
    lines: Lines,
    ready: VecDeque<ServerJsonRpcMessage>,
    reader: Reader,
    noise: Noise,
    /// Dropping the last copy ends the server.
    _process: Ending,
}

/// Receives what the server writes to its standard output that is no message.
pub(crate) type Noise = Arc<dyn Fn(String) + Send + Sync>;

/// Process of a server, shared with whoever waits for its end.
pub(crate) type Ending = Arc<std::sync::Mutex<Option<pollux_shell::DuplexProcess>>>;

impl StdioTransport {
    /// Creates the transport of a started server.
    pub(crate) fn new(server: Duplex, noise: Noise) -> (Self, Ending) {
        let Duplex { stdin, stdout, process } = server;
        let process: Ending = Arc::new(std::sync::Mutex::new(Some(process)));
        let transport = Self {
            outgoing: Outgoing::new(stdin),
            stdout,
            lines: Lines::default(),
            ready: VecDeque::new(),
            reader: Reader::default(),
            noise,
            _process: Arc::clone(&process),
        };
        (transport, process)
    }

    /// Reads the messages of the next bytes.
    fn take(&mut self, bytes: &[u8]) {
        for line in self.lines.push(bytes) {
            let message = match line {
                Err(TooLarge) => self.reader.lost(&TooLarge.to_string()),
                Ok(line) => match self.reader.read(&line) {
                    Ok(message) => Some(message),
                    Err(Unusable::NoMessage) => {
                        let text = String::from_utf8_lossy(&line);
                        let text: String = text.trim().chars().take(LONGEST_NOISE).collect();
                        if !text.is_empty() {
                            (self.noise)(visible(&text));
                        }
                        None
                    }
                    Err(Unusable::NotAsked) => None,
                },
            };
            self.ready.extend(message);
        }
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.reader.sent(&message);
        ready(self.outgoing.push(&message))
    }

    /// Cancel safe: bytes that were read are kept.
    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let mut buffer = vec![0; READ_SIZE];
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            match self.stdout.read(&mut buffer).await {
                Ok(0) | Err(_) => return None,
                Ok(length) => self.take(&buffer[..length]),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        // Most servers end when their input ends. One that does not read is ended with its
        // process.
        self.outgoing.lines = None;
        Ok(())
    }
}

/// Messages to the server. A server that does not read must not stop the connection: time limits
/// and its own messages would not be noticed any more.
struct Outgoing {
    /// `None` after the end of the input.
    lines: Option<mpsc::UnboundedSender<Vec<u8>>>,
    /// Number of bytes that are not written yet.
    waiting: Arc<AtomicUsize>,
}

impl Outgoing {
    /// Starts to write to the server. The input ends when the value is dropped and everything is
    /// written.
    fn new(mut stdin: ChildStdin) -> Self {
        let (lines, mut next) = mpsc::unbounded_channel::<Vec<u8>>();
        let waiting = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&waiting);
        tokio::spawn(async move {
            while let Some(line) = next.recv().await {
                if stdin.write_all(&line).await.is_err() || stdin.flush().await.is_err() {
                    return;
                }
                counter.fetch_sub(line.len(), Ordering::Relaxed);
            }
        });
        Self { lines: Some(lines), waiting }
    }

    fn push(&self, message: &ClientJsonRpcMessage) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let before = self.waiting.fetch_add(line.len(), Ordering::Relaxed);
        let lines = self.lines.as_ref().filter(|_| before < MOST_WAITING);
        let length = line.len();
        let sent = lines.is_some_and(|lines| lines.send(line).is_ok());
        if !sent {
            self.waiting.fetch_sub(length, Ordering::Relaxed);
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        Ok(())
    }
}

/// Splits the output into lines. A line that is too large is shortened while it arrives.
#[derive(Default)]
struct Lines {
    line: Vec<u8>,
    /// Filter for the present line; `None` at its beginning.
    shortener: Option<Shortener>,
    /// True if the rest of the present line is dropped.
    is_given_up: bool,
}

impl Lines {
    /// Returns the lines that end in the next bytes, without their line ends.
    fn push(&mut self, mut bytes: &[u8]) -> Vec<Result<Vec<u8>, TooLarge>> {
        let mut lines = Vec::new();
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.extend(&bytes[..end]);
            bytes = &bytes[end + 1..];
            let line = std::mem::take(&mut self.line);
            self.shortener = None;
            let is_given_up = std::mem::take(&mut self.is_given_up);
            lines.push(if is_given_up { Err(TooLarge) } else { Ok(line) });
        }
        self.extend(bytes);
        lines
    }

    fn extend(&mut self, bytes: &[u8]) {
        if self.is_given_up {
            return;
        }
        let shortener = self.shortener.get_or_insert_with(|| Shortener::new(LARGE_MESSAGE));
        if shortener.push(bytes, &mut self.line).is_err() {
            self.is_given_up = true;
            self.line = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn lines_are_found_across_pieces() {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for piece in ["{\"a\":", "1}\n{}", "\n\n", "rest"] {
            found.extend(lines.push(piece.as_bytes()));
        }
        let expected = [b"{\"a\":1}".to_vec(), b"{}".to_vec(), Vec::new()].map(Ok);
        assert_eq!(found, expected);
    }

    #[test]
    fn memory_stays_bounded() {
        let mut lines = Lines::default();
        let piece = vec![b'x'; 1 << 20];
        assert!(lines.push(b"{\"id\":1,\"result\":{\"text\":\"").is_empty());
        for _ in 0..100 {
            assert!(lines.push(&piece).is_empty());
            assert!(lines.line.capacity() < 3 * LARGE_MESSAGE);
        }
        let line = lines.push(b"\"}}\n").remove(0).unwrap();
        assert!(serde_json::from_slice::<serde_json::Value>(&line).is_ok());
        // Without a text there is nothing to cut.
        let numbers = b"1,".repeat(1 << 19);
        for _ in 0..100 {
            assert!(lines.push(&numbers).is_empty());
        }
        assert_eq!(lines.push(b"\n{}\n"), [Err(TooLarge), Ok(b"{}".to_vec())]);
    }
}
