//! A point at which scripted work waits for the test.

use std::sync::Arc;

use tokio::sync::watch;

/// A gate that is closed until the test opens it. All clones share one state.
#[derive(Debug, Clone)]
pub struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    /// Returns a closed gate.
    pub fn closed() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Opens the gate permanently: all present and later waiters pass.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    /// Waits until the gate is open.
    pub async fn pass(&self) {
        self.0.subscribe().wait_for(|is_open| *is_open).await.expect("the gate holds the sender");
    }
}
