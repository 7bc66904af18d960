//! A program that gets one input and writes two output streams.

use std::future::pending;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::child::ChildProcess;
use crate::command::{Ended, signal};
use crate::deadline::{deadline, reached};
use crate::error::ShellError;
use crate::pipe::{DRAIN_LIMIT, QUIET_PERIOD, READ_SIZE};
use crate::sessions::Leftovers;
use crate::spec::{ChildSpec, ChildStdio};

/// A program to run, its input, and its limits.
#[derive(Debug, Clone)]
pub struct PipedCommand {
    /// Process to start.
    pub child: ChildSpec,
    /// Standard input. The program may ignore it.
    pub input: Vec<u8>,
    /// Longest time that the program may take.
    pub timeout: Duration,
    /// Bytes of each output stream that are kept; the rest is read and dropped.
    pub limit: usize,
}

/// Result of a program that was run with [`run_piped`].
#[derive(Debug, Clone)]
pub struct PipedOutcome {
    /// Beginning of the standard output.
    pub stdout: Vec<u8>,
    /// Beginning of the standard error.
    pub stderr: Vec<u8>,
    /// True if one of the streams was longer than the limit.
    pub overflowed: bool,
    /// Exit code, unless a signal or Pollux ended the program.
    pub exit_code: Option<i32>,
    /// Signal that ended the program, unless Pollux sent it.
    pub signal: Option<i32>,
    /// Reason for the end.
    pub ended: Ended,
}

/// Runs a program and returns when it ends. Processes that the program leaves running continue,
/// even after the end of Pollux.
///
/// On cancel or time-out, or if the future is dropped, the program and its descendants are ended in
/// the background, as in [`run`](crate::run). Needs a tokio runtime with I/O and time.
///
/// # Errors
/// Fails if the program cannot be started or if waiting for its end fails.
pub async fn run_piped(
    command: PipedCommand,
    cancel: &CancellationToken,
) -> Result<PipedOutcome, ShellError> {
    if cancel.is_cancelled() {
        return Err(ShellError::CancelledBeforeStart);
    }
    let (timeout, limit) = (deadline(Some(command.timeout)), command.limit);
    let mut child = ChildProcess::start(&command.child, ChildStdio::Separate, Leftovers::Keep)?;
    let mut streams = OutputStreams {
        stdout: OutputStream::new(child.process.stdout.take()),
        stderr: OutputStream::new(child.process.stderr.take()),
    };
    let writing = feed(child.process.stdin.take(), command.input);
    tokio::pin!(writing);
    let mut fed = false;
    let (ended, status) = loop {
        tokio::select! {
            biased;
            status = child.process.wait() => {
                break (Ended::Exited, Some(status.map_err(ShellError::Wait)?));
            }
            () = cancel.cancelled() => break (Ended::Cancelled, None),
            () = reached(timeout) => break (Ended::TimedOut, None),
            () = streams.read(limit) => {}
            () = &mut writing, if !fed => fed = true,
        }
    };
    if status.is_some() {
        streams.drain(limit).await;
        child.session.release();
    } else {
        child.session.end();
    }
    Ok(streams.finish(ended, status))
}

/// Writes the input. It is no error if the program does not read it or has already ended.
async fn feed(stdin: Option<ChildStdin>, input: Vec<u8>) {
    if let Some(mut stdin) = stdin
        && stdin.write_all(&input).await.is_ok()
    {
        drop(stdin.shutdown().await);
    }
}

/// Both output streams of a program.
struct OutputStreams {
    stdout: OutputStream<ChildStdout>,
    stderr: OutputStream<ChildStderr>,
}

impl OutputStreams {
    /// Reads more from one of the streams; never resolves after both have ended.
    async fn read(&mut self, limit: usize) {
        tokio::select! {
            () = self.stdout.read(limit) => {}
            () = self.stderr.read(limit) => {}
        }
    }

    fn have_ended(&self) -> bool {
        self.stdout.reader.is_none() && self.stderr.reader.is_none()
    }

    /// Reads the rest after the end of the program. Descendants may keep the pipes open.
    async fn drain(&mut self, limit: usize) {
        let last = Instant::now() + DRAIN_LIMIT;
        while !self.have_ended() {
            let silence = (Instant::now() + QUIET_PERIOD).min(last);
            if timeout_at(silence, self.read(limit)).await.is_err() || Instant::now() >= last {
                return;
            }
        }
    }

    fn finish(self, ended: Ended, status: Option<ExitStatus>) -> PipedOutcome {
        let overflowed = self.stdout.overflowed || self.stderr.overflowed;
        PipedOutcome {
            stdout: self.stdout.into_kept(),
            stderr: self.stderr.into_kept(),
            overflowed,
            exit_code: status.and_then(|status| status.code()),
            signal: status.and_then(signal),
            ended,
        }
    }
}

/// One output stream and its kept beginning.
struct OutputStream<R> {
    /// `None` after the end of the stream.
    reader: Option<R>,
    buffer: Vec<u8>,
    kept: Vec<u8>,
    overflowed: bool,
}

impl<R: AsyncRead + Unpin + Send + 'static> OutputStream<R> {
    fn new(reader: Option<R>) -> Self {
        Self { reader, buffer: vec![0; READ_SIZE], kept: Vec::new(), overflowed: false }
    }

    /// Reads once. Never resolves after the end of the stream; an error counts as the end. Cancel
    /// safe.
    async fn read(&mut self, limit: usize) {
        let Some(reader) = &mut self.reader else { return pending().await };
        let length = reader.read(&mut self.buffer).await.unwrap_or(0);
        if length == 0 {
            self.reader = None;
            return;
        }
        let room = limit.saturating_sub(self.kept.len()).min(length);
        self.kept.extend_from_slice(&self.buffer[..room]);
        self.overflowed |= room < length;
    }

    /// Returns the kept output. Reads and discards the rest in the background: a process that is
    /// left running must not be ended by a broken pipe.
    fn into_kept(self) -> Vec<u8> {
        if let Some(mut reader) = self.reader {
            tokio::spawn(async move {
                drop(tokio::io::copy(&mut reader, &mut tokio::io::sink()).await);
            });
        }
        self.kept
    }
}
