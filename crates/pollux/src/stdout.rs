//! Standard output: payload only, and never in the way of Ctrl-C.
//!
//! A thread does the writing, so that a reader who has stopped reading holds back the run (bounded
//! memory) but not the signals. A closed pipe is no error: it ends the program quietly.

use std::io::Write;

use tokio::sync::{mpsc, oneshot};

/// Buffers that may wait for the thread.
const WAITING: usize = 16;

/// The reader of standard output is gone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Closed;

enum Work {
    Write(Vec<u8>),
    Flush(oneshot::Sender<()>),
}

/// The writing end. Cheap to start: the thread comes with the first bytes.
#[derive(Default)]
pub(crate) struct Stdout {
    thread: Option<mpsc::Sender<Work>>,
    buffer: Vec<u8>,
}

impl Stdout {
    /// Adds bytes to what the next [`Self::send`] writes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Hands all bytes pushed so far to the thread; waits while it is behind.
    pub(crate) async fn send(&mut self) -> Result<(), Closed> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.buffer);
        let thread = self.thread.get_or_insert_with(start);
        thread.send(Work::Write(bytes)).await.map_err(|_| Closed)
    }

    /// Writes everything and waits until it is written.
    pub(crate) async fn finish(&mut self) -> Result<(), Closed> {
        self.send().await?;
        let Some(thread) = &self.thread else { return Ok(()) };
        let (sender, receiver) = oneshot::channel();
        thread.send(Work::Flush(sender)).await.map_err(|_| Closed)?;
        receiver.await.map_err(|_| Closed)
    }
}

fn start() -> mpsc::Sender<Work> {
    let (sender, mut receiver) = mpsc::channel(WAITING);
    std::thread::spawn(move || {
        let mut stdout = std::io::stdout().lock();
        while let Some(work) = receiver.blocking_recv() {
            match work {
                // On a failed write the receiver is dropped: the sender learns of it.
                Work::Write(bytes) => {
                    if stdout.write_all(&bytes).and_then(|()| stdout.flush()).is_err() {
                        return;
                    }
                }
                Work::Flush(done) => drop(done.send(())),
            }
        }
    });
    sender
}
