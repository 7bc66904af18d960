//! Checkpoints: the state of files before calls change them.

use async_trait::async_trait;

use crate::{CallId, Effects};

/// A call that is about to run.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingCall {
    /// The call.
    pub call_id: CallId,
    /// Name of the tool.
    pub name: String,
    /// Arguments of the call.
    pub args: serde_json::Value,
    /// Declared effects.
    pub effects: Effects,
}

/// Error of a checkpoint that could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CheckpointError(pub String);

/// Store of checkpoints. The default methods keep no checkpoints.
#[async_trait]
pub trait Checkpoints: Send + Sync {
    /// Saves a checkpoint before a group of calls runs. If the future is dropped, the calls do not
    /// run.
    ///
    /// # Errors
    /// The calls do not run, because their changes could not be undone.
    async fn before(&self, _calls: &[PendingCall]) -> Result<(), CheckpointError> {
        Ok(())
    }

    /// Called after the same calls have ended, whether they succeeded or failed. Must return
    /// immediately.
    fn after(&self, _calls: &[PendingCall]) {}
}

/// Store that keeps no checkpoints.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCheckpoints;

impl Checkpoints for NoCheckpoints {}
