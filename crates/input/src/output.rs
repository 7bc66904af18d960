//! Standard output: holds the payload only, and never blocks Ctrl-C.
//!
//! A separate thread writes, so that a reader that has stopped reading holds back the run (with
//! bounded memory) but not the signals. A closed pipe is not an error: it ends the program
//! silently.

#![expect(clippy::disallowed_methods, reason = "the standard output of frontends")]

use std::io::{ErrorKind, Write};
use std::sync::{Arc, OnceLock};

use tokio::sync::{mpsc, oneshot};

/// Maximum number of buffers that wait for the thread.
const WAITING: usize = 16;

/// Error of a standard output that accepts no more data.
#[derive(Debug, PartialEq, Eq)]
pub enum Broken {
    /// The reader has closed the pipe.
    Closed,
    /// The write failed, with this message.
    Failed(String),
}

enum Work {
    Write(Vec<u8>),
    Flush(oneshot::Sender<()>),
}

/// Writer for standard output. Cheap to create: the thread starts with the first bytes.
#[derive(Default)]
pub struct Stdout {
    thread: Option<mpsc::Sender<Work>>,
    buffer: Vec<u8>,
    /// Error message of the thread, unless it ended because of a closed pipe.
    failure: Arc<OnceLock<String>>,
}

impl Stdout {
    /// Adds bytes for the next [`Self::send`].
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Hands all bytes pushed so far to the thread; waits while the queue of the thread is full.
    /// Dropping the future loses no data.
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

    /// Writes all bytes and waits until they are written.
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
                // After a failed write the receiver is dropped, which the sender detects.
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
