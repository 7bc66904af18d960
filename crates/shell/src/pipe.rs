//! Sources of a command's output: the pipe that carries both streams, or its terminal.

use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::terminal::Terminal;

/// Maximum number of bytes in one read: the capacity of a Linux pipe.
pub(crate) const READ_SIZE: usize = 64 * 1024;

/// Silence after the end of a command that means that there is no more output to wait for.
pub(crate) const QUIET_PERIOD: Duration = Duration::from_millis(50);
/// Maximum time after the end of a command in which output of its descendants is read.
pub(crate) const DRAIN_LIMIT: Duration = Duration::from_millis(200);

/// Source of a command's output.
pub(crate) enum Source {
    /// A pipe.
    Pipe(PipeReader),
    /// A terminal.
    Terminal(Arc<Terminal>),
}

impl Source {
    /// Reads the available bytes into `buffer`; returns 0 at the end. Cancel safe.
    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Pipe(pipe) => pipe.read(buffer).await,
            Self::Terminal(terminal) => terminal.read(buffer).await,
        }
    }
}

/// Reads the available bytes into `buffer`; returns 0 at the end. Never resolves without a source.
pub(crate) async fn read_some(source: &mut Option<Source>, buffer: &mut [u8]) -> io::Result<usize> {
    match source {
        Some(source) => source.read(buffer).await,
        None => pending().await,
    }
}

/// Reader of a pipe that does not block the runtime.
#[cfg(unix)]
pub(crate) struct PipeReader(tokio::net::unix::pipe::Receiver);

#[cfg(unix)]
impl PipeReader {
    pub(crate) fn new(reader: io::PipeReader) -> io::Result<Self> {
        tokio::net::unix::pipe::Receiver::from_owned_fd(reader.into()).map(Self)
    }

    /// Reads the available bytes into `buffer`, at most [`READ_SIZE`]; returns 0 at the end. Cancel
    /// safe.
    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        tokio::io::AsyncReadExt::read(&mut self.0, buffer).await
    }
}

/// Reader of a pipe. Windows cannot poll anonymous pipes, so a thread reads and passes on the
/// bytes.
#[cfg(windows)]
pub(crate) struct PipeReader(tokio::sync::mpsc::Receiver<io::Result<Vec<u8>>>);

#[cfg(windows)]
impl PipeReader {
    pub(crate) fn new(mut reader: io::PipeReader) -> io::Result<Self> {
        let (sender, receiver) = tokio::sync::mpsc::channel(1);
        let pump = move || {
            loop {
                let mut buffer = vec![0; READ_SIZE];
                let read = io::Read::read(&mut reader, &mut buffer).map(|length| {
                    buffer.truncate(length);
                    buffer
                });
                let last = !matches!(&read, Ok(bytes) if !bytes.is_empty());
                if sender.blocking_send(read).is_err() || last {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("pollux-pipe".into()).spawn(pump)?;
        Ok(Self(receiver))
    }

    pub(crate) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(bytes) = self.0.recv().await.transpose()? else { return Ok(0) };
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}

/// Reads and discards output until all writers are gone: a background job that outlives its command
/// must not be ended by a broken pipe when it prints a line.
pub(crate) fn discard_rest(mut reader: Source) {
    tokio::spawn(async move {
        let mut buffer = vec![0; READ_SIZE];
        while reader.read(&mut buffer).await.is_ok_and(|length| length > 0) {}
    });
}
