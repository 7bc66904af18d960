//! Turns in which the programs of servers start.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Turn to start a program; others wait until it is dropped.
pub(crate) type Turn = OwnedSemaphorePermit;

/// Turns of a session. Many programs that start at once would take all processors from the work on
/// the user's prompt, so half of the processors have a turn. Clones share the turns.
#[derive(Clone)]
pub(crate) struct Starts(Arc<Semaphore>);

impl Starts {
    /// Creates the turns of this computer.
    pub(crate) fn new() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self(Arc::new(Semaphore::new((processors / 2).max(1))))
    }

    /// Waits for a turn.
    pub(crate) async fn turn(&self) -> Option<Turn> {
        Arc::clone(&self.0).acquire_owned().await.ok()
    }
}
