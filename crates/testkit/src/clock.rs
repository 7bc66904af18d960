//! Tokio's paused clock, stopped.

use std::sync::mpsc::{Sender, channel};

/// Keeps the paused clock of a runtime (`start_paused`) from advancing when the runtime is idle:
/// until the guard is dropped, only `tokio::time::advance` moves the clock.
pub struct StoppedClock(#[expect(dead_code, reason = "dropped")] Sender<()>);

impl StoppedClock {
    /// Stops the clock. Must be called inside a runtime of one thread with a paused clock.
    #[expect(clippy::new_without_default, reason = "stops a clock, which no default value does")]
    #[must_use]
    pub fn new() -> Self {
        let (sender, receiver) = channel();
        // The clock does not advance by itself while a blocking task runs.
        tokio::task::spawn_blocking(move || receiver.recv().ok());
        Self(sender)
    }
}
