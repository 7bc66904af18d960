//! The task that serves one background process: it reads the output, waits for the end, and ends
//! the process on request.

use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::log::Log;
use super::{BackgroundProcess, ProcessState};
use crate::child::ChildProcess;
use crate::deadline::{deadline, reached};
use crate::output::Output;
use crate::pipe::{DRAIN_LIMIT, QUIET_PERIOD, READ_SIZE, read_some};
use crate::text::Transcript;

/// One process and the destinations of its output.
pub(super) struct Pump {
    child: ChildProcess,
    log: Arc<Mutex<Log>>,
    first: Arc<Mutex<Option<Output>>>,
    state: watch::Sender<ProcessState>,
    stop: CancellationToken,
    limit: Option<Duration>,
    buffer: Vec<u8>,
    /// Converts the bytes sent to a terminal to plain text.
    transcript: Option<Transcript>,
}

impl Pump {
    pub(super) fn new(
        child: ChildProcess,
        process: &BackgroundProcess,
        state: watch::Sender<ProcessState>,
        limit: Option<Duration>,
    ) -> Self {
        let (log, first) = (Arc::clone(&process.log), Arc::clone(&process.first));
        let (stop, buffer) = (process.stop.clone(), vec![0; READ_SIZE]);
        let transcript = child.terminal.is_some().then(Transcript::default);
        Self { child, log, first, state, stop, limit, buffer, transcript }
    }

    pub(super) async fn run(mut self) {
        let status = self.watch().await;
        self.drain().await;
        self.child.session.release();
        // The receiver may already have been dropped.
        self.state.send_replace(ProcessState::of(status));
        self.serve_the_rest().await;
        // The result of a failed removal would be of no use, and the list of jobs is not either.
        drop(self.child.files.remove().await);
    }

    /// Serves the process until the command itself has ended.
    async fn watch(&mut self) -> Option<ExitStatus> {
        let end = deadline(self.limit);
        let mut ending = false;
        loop {
            let ChildProcess { process, output, session, .. } = &mut self.child;
            tokio::select! {
                biased;
                // An error means that the child is no longer ours to wait for.
                status = process.wait() => return status.ok(),
                () = self.stop.cancelled(), if !ending => {
                    ending = true;
                    session.end();
                }
                () = reached(end), if !ending => {
                    ending = true;
                    session.end();
                }
                read = read_some(output, &mut self.buffer) => {
                    self.take(read);
                    // A process that prints without pause must not starve other tasks.
                    tokio::task::yield_now().await;
                }
            }
        }
    }

    /// Reads the rest of the output from the pipe after the command has ended.
    async fn drain(&mut self) {
        let last = Instant::now() + DRAIN_LIMIT;
        while self.child.output.is_some() {
            let silence = (Instant::now() + QUIET_PERIOD).min(last);
            let read = read_some(&mut self.child.output, &mut self.buffer);
            let Ok(read) = timeout_at(silence, read).await else { return };
            self.take(read);
        }
    }

    /// Reads the output of processes that the command left running, into the same log.
    async fn serve_the_rest(&mut self) {
        while self.child.output.is_some() {
            let read = read_some(&mut self.child.output, &mut self.buffer).await;
            self.take(read);
            tokio::task::yield_now().await;
        }
    }

    fn take(&mut self, read: io::Result<usize>) {
        let length = read.unwrap_or(0);
        if length == 0 {
            self.child.output = None;
            return;
        }
        let mut bytes = &self.buffer[..length];
        let text = self.transcript.as_mut().map(|transcript| transcript.take(bytes));
        if let Some(text) = &text {
            bytes = text.as_bytes();
        }
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
        if let Some(first) = &mut *self.first.lock().unwrap_or_else(PoisonError::into_inner) {
            first.push(bytes);
        }
    }
}
