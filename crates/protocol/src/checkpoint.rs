//! Checkpoints: the state of the files before calls change them.

use async_trait::async_trait;

use crate::{CallId, Effects};

/// A call that is about to run.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingCall {
    /// The call.
    pub call_id: CallId,
    /// Declared effects.
    pub effects: Effects,
}

/// A checkpoint could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CheckpointError(pub String);

/// Keeper of checkpoints. The defaults keep none.
#[async_trait]
pub trait Checkpoints: Send + Sync {
    /// Called before calls run together. Dropping the future means that they do not run.
    ///
    /// # Errors
    /// The calls do not run: nothing may change that could not be brought back.
    async fn before(&self, _calls: &[PendingCall]) -> Result<(), CheckpointError> {
        Ok(())
    }

    /// Called after the same calls have ended, whatever came of them. Must return at once.
    fn after(&self, _calls: &[PendingCall]) {}
}

/// Keeps no checkpoints.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCheckpoints;

impl Checkpoints for NoCheckpoints {}
