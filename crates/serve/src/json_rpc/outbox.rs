//! Messages to the client, written by a separate thread.
//!
//! Messages are encoded directly into one buffer, which the thread writes as a whole: a stream of
//! small pieces costs few system calls. A client that does not read holds back those who send, and
//! with them the agent, so that memory stays bounded.

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::sync::Notify;

/// Size of the buffer in bytes from which on senders wait.
const FULL: usize = 1 << 20;
/// Size of the buffer in bytes above which messages that nobody can wait for are dropped.
const OVERFLOW: usize = 8 << 20;

/// Error of a client that accepts no more messages.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ClientGone;

/// Queue of messages to the client. Clones share the queue.
#[derive(Clone, Default)]
pub(crate) struct Outbox(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Wakes the thread.
    filled: Condvar,
    /// Wakes senders, and those who wait for the end.
    written: Notify,
}

#[derive(Default)]
struct State {
    buffer: Vec<u8>,
    /// True while the thread writes the previous buffer.
    is_writing: bool,
    /// True if no more messages are accepted.
    is_closed: bool,
}

impl Outbox {
    /// Starts the thread that writes to `output`.
    pub(crate) fn new(output: impl Write + Send + 'static) -> Self {
        let outbox = Self::default();
        let shared = Arc::clone(&outbox.0);
        std::thread::spawn(move || shared.write(output));
        outbox
    }

    /// Sends a message. Waits while the client does not read.
    pub(crate) async fn send(&self, message: &impl Serialize) -> Result<(), ClientGone> {
        loop {
            let written = self.0.written.notified();
            tokio::pin!(written);
            written.as_mut().enable();
            if self.push(message, FULL)? {
                return Ok(());
            }
            written.await;
        }
    }

    /// Sends a message from a thread that cannot wait. The message is dropped if far too many
    /// messages are waiting already; the result is then false.
    pub(crate) fn send_now(&self, message: &impl Serialize) -> Result<bool, ClientGone> {
        self.push(message, OVERFLOW)
    }

    /// Adds a message to the buffer, unless the buffer has reached the limit.
    fn push(&self, message: &impl Serialize, limit: usize) -> Result<bool, ClientGone> {
        let mut state = self.0.lock();
        if state.is_closed {
            return Err(ClientGone);
        }
        if state.buffer.len() >= limit {
            return Ok(false);
        }
        let before = state.buffer.len();
        if serde_json::to_writer(&mut state.buffer, message).is_err() {
            // Only a value that JSON cannot represent is not encoded, such as a path that is not
            // Unicode.
            state.buffer.truncate(before);
            return Ok(true);
        }
        state.buffer.push(b'\n');
        self.0.filled.notify_one();
        Ok(true)
    }

    /// Waits until all messages are written, or the client is gone.
    pub(crate) async fn finish(&self) {
        loop {
            let written = self.0.written.notified();
            tokio::pin!(written);
            written.as_mut().enable();
            {
                let state = self.0.lock();
                if state.is_closed || state.buffer.is_empty() && !state.is_writing {
                    return;
                }
            }
            written.await;
        }
    }

    /// Accepts no more messages. The thread ends when it has written the others.
    pub(crate) fn close(&self) {
        self.0.lock().is_closed = true;
        self.0.filled.notify_one();
        self.0.written.notify_waiters();
    }

    /// Waits until the client accepts no more messages.
    pub(crate) async fn gone(&self) {
        loop {
            let written = self.0.written.notified();
            tokio::pin!(written);
            written.as_mut().enable();
            if self.0.lock().is_closed {
                return;
            }
            written.await;
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes until the queue is closed, or the client is gone.
    fn write(&self, mut output: impl Write) {
        let mut bytes = Vec::new();
        loop {
            {
                let mut state = self.lock();
                state.is_writing = false;
                self.written.notify_waiters();
                while state.buffer.is_empty() {
                    if state.is_closed {
                        return;
                    }
                    state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                std::mem::swap(&mut state.buffer, &mut bytes);
                state.is_writing = true;
            }
            let written = output.write_all(&bytes).and_then(|()| output.flush());
            bytes.clear();
            bytes.shrink_to(FULL);
            if written.is_err() {
                self.lock().is_closed = true;
                self.written.notify_waiters();
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use pretty_assertions::assert_eq;

    use super::*;

    /// Writer that hands its bytes to a channel without a buffer.
    struct Pipe(mpsc::SyncSender<Vec<u8>>);

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let sent = self.0.send(bytes.to_vec());
            sent.map(|()| bytes.len()).map_err(|_| std::io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn senders_wait_for_a_client_that_does_not_read() {
        let (sender, reader) = mpsc::sync_channel(0);
        let outbox = Outbox::new(Pipe(sender));
        let text = "x".repeat(FULL / 4);
        // The thread holds one buffer and the queue another one.
        let sending = async {
            for _ in 0..20 {
                outbox.send(&text).await.unwrap();
            }
        };
        let sending = tokio::time::timeout(Duration::from_millis(200), sending).await;
        assert!(sending.is_err(), "nothing held back the sender");
        assert!(outbox.0.lock().buffer.len() < FULL + text.len() + 3);
        let reading = std::thread::spawn(move || reader.into_iter().map(|part| part.len()).sum());
        outbox.send(&"end").await.unwrap();
        outbox.finish().await;
        drop(outbox);
        drop::<std::thread::JoinHandle<usize>>(reading);
    }

    #[tokio::test]
    async fn a_client_that_is_gone_ends_the_waiting() {
        let (sender, reader) = mpsc::sync_channel(0);
        let outbox = Outbox::new(Pipe(sender));
        drop(reader);
        outbox.send(&1).await.unwrap();
        outbox.gone().await;
        outbox.finish().await;
        assert_eq!(outbox.send(&2).await, Err(ClientGone));
    }
}
