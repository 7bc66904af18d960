//! Standard output: payload only, and never in the way of Ctrl-C.
//!
//! A thread does the writing, so that a reader who has stopped reading holds back the run (bounded
//! memory) but not the signals. A closed pipe is no error: it ends the program quietly.

use std::io::{ErrorKind, Write};
use std::sync::{Arc, OnceLock};

use tokio::sync::{mpsc, oneshot};

/// Buffers that may wait for the thread.
const WAITING: usize = 16;

/// Standard output takes no more.
#[derive(Debug, PartialEq, Eq)]
pub enum Broken {
    /// Its reader is gone.
    Closed,
    /// The system refused, for this reason.
    Failed(String),
}

enum Work {
    Write(Vec<u8>),
    Flush(oneshot::Sender<()>),
}

/// The writing end. Cheap to start: the thread comes with the first bytes.
#[derive(Default)]
pub struct Stdout {
    thread: Option<mpsc::Sender<Work>>,
    buffer: Vec<u8>,
    /// Why the thread ended, when that was no closed pipe.
    failure: Arc<OnceLock<String>>,
}

impl Stdout {
    /// Adds bytes to what the next [`Self::send`] writes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Hands all bytes pushed so far to the thread; waits while it is behind. A caller that gives up
    /// waiting loses nothing.
    pub async fn send(&mut self) -> Result<(), Broken> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let Self { thread, buffer, failure } = self;
        let thread = thread.get_or_insert_with(|| start(Arc::clone(failure)));
        if let Ok(place) = thread.reserve().await {
            place.send(Work::Write(std::mem::take(buffer)));
            return Ok(());
        }
        Err(self.broken())
    }

    /// Writes everything and waits until it is written.
    pub async fn finish(&mut self) -> Result<(), Broken> {
        self.send().await?;
        let Some(thread) = &self.thread else { return Ok(()) };
        let (sender, receiver) = oneshot::channel();
        let sent = thread.send(Work::Flush(sender)).await;
        if sent.is_err() || receiver.await.is_err() {
            return Err(self.broken());
        }
        Ok(())
    }

    fn broken(&self) -> Broken {
        self.failure.get().map_or(Broken::Closed, |reason| Broken::Failed(reason.clone()))
    }
}

fn start(failure: Arc<OnceLock<String>>) -> mpsc::Sender<Work> {
    let (sender, mut receiver) = mpsc::channel(WAITING);
    std::thread::spawn(move || {
        let mut stdout = std::io::stdout().lock();
        while let Some(work) = receiver.blocking_recv() {
            match work {
                // After a failed write the receiver is dropped: the sender learns of it.
                Work::Write(bytes) => {
                    if let Err(error) = stdout.write_all(&bytes).and_then(|()| stdout.flush()) {
                        if error.kind() != ErrorKind::BrokenPipe {
                            failure.get_or_init(|| error.to_string());
                        }
                        return;
                    }
                }
                Work::Flush(done) => drop(done.send(())),
            }
        }
    });
    sender
}
