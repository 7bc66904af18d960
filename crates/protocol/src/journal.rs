//! Where events go: one journal that may stop the run, and observers that may not.

use async_trait::async_trait;

use crate::{Envelope, History, Measurement, Origin, Record};

/// The log that outlives the process. A record is appended before its effect.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Appends records, in order. When it fails the run stops before the next effect; a beginning of them may be
    /// written then.
    async fn append(&self, records: &[Record]) -> Result<(), JournalError>;

    /// Brings everything appended so far to the device.
    async fn sync(&self) -> Result<(), JournalError>;

    /// The whole conversation as the log has it, with what compressions have put out of sight.
    async fn recall(&self) -> Result<History, JournalError>;
}

/// The log could not be written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    /// The disk is full.
    #[error("No space left on device: the session log {path} cannot be written")]
    NoSpace {
        /// The log.
        path: String,
    },
    /// It could not be read back.
    #[error("The session log {path} cannot be read: {message}")]
    Unreadable {
        /// The log.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// Any other failure.
    #[error("The session log {path} cannot be written: {message}")]
    Failed {
        /// The log.
        path: String,
        /// What the system said.
        message: String,
    },
}

/// Receives every event and every measurement: telemetry, statistics, a recorder. It can neither stall
/// nor stop the agent, so it must return at once.
pub trait Observer: Send + Sync {
    /// Receives one event, in order.
    fn observe(&self, _envelope: &Envelope) {}

    /// Receives one measurement, in order with the events. Frontends get none.
    fn measure(&self, _origin: &Origin, _measurement: &Measurement) {}
}
