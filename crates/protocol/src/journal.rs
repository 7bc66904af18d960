//! Receivers of events: one journal whose failure stops the run, and observers that cannot affect
//! it.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{Envelope, History, Measurement, Origin, Record};

/// Log on durable storage. A record is appended before its effect takes place.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Appends records in order. After a failure the run stops before the next effect; the first of
    /// the records may then have been written.
    async fn append(&self, records: &[Arc<Record>]) -> Result<(), JournalError>;

    /// Flushes everything appended so far to the storage device. Continues if the caller stops
    /// waiting; a failure is then an error of the next append.
    async fn sync(&self) -> Result<(), JournalError>;

    /// Returns the whole conversation from the log, including entries hidden by compressions.
    async fn recall(&self) -> Result<History, JournalError>;
}

/// Error of a session log that could not be written or read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    /// The disk is full.
    #[error("No space left on device: the session log {path} cannot be written")]
    NoSpace {
        /// Path of the log.
        path: String,
    },
    /// The log could not be read back.
    #[error("The session log {path} cannot be read: {message}")]
    Unreadable {
        /// Path of the log.
        path: String,
        /// Description of the problem.
        message: String,
    },
    /// Any other failure.
    #[error("The session log {path} cannot be written: {message}")]
    Failed {
        /// Path of the log.
        path: String,
        /// Message of the operating system.
        message: String,
    },
}

/// Receiver of every event and every measurement: telemetry, statistics, a recorder. An observer
/// can neither block nor stop the agent, so its methods must return immediately.
pub trait Observer: Send + Sync {
    /// Receives one event, in order.
    fn observe(&self, _envelope: &Envelope) {}

    /// Receives one measurement, in order with the events. Frontends receive no measurements.
    fn measure(&self, _origin: &Origin, _measurement: &Measurement) {}
}
