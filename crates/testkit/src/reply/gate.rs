//! Gate before a reply.

use std::sync::Arc;

use tokio::sync::watch;

/// A gate that holds replies ([`ModelReply::held_by`](crate::ModelReply::held_by)) until the test
/// opens it. All clones share one state.
#[derive(Debug, Clone)]
pub struct ReplyGate(Arc<watch::Sender<bool>>);

impl ReplyGate {
    /// Returns a closed gate.
    pub fn closed() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Opens the gate permanently: all present and later replies pass.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    pub(crate) async fn pass(&self) {
        self.0.subscribe().wait_for(|is_open| *is_open).await.expect("the gate holds the sender");
    }
}
