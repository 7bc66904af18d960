//! The journal of one agent, and the outlet that reports what is written to it.

use std::sync::Arc;

use pollux_protocol::{Event, History, Journal, JournalError, Record};

use crate::outlet::Outlet;

/// Writes durable events: first to the journal, then to the outlet.
#[derive(Clone)]
pub struct Recorder {
    journal: Arc<dyn Journal>,
    outlet: Outlet,
}

impl Recorder {
    /// Creates the recorder of one agent. A subagent has a journal of its own.
    pub fn new(journal: Arc<dyn Journal>, outlet: Outlet) -> Self {
        Self { journal, outlet }
    }

    /// Returns the way out for events that are not durable.
    pub fn outlet(&self) -> &Outlet {
        &self.outlet
    }

    /// Writes one record.
    ///
    /// # Errors
    /// The log cannot be written. Nothing is sent then, and the caller must stop before the effect.
    pub async fn record(&self, record: Record) -> Result<(), JournalError> {
        self.record_all(vec![record]).await
    }

    /// Writes several records that belong together with one access to the log.
    ///
    /// # Errors
    /// As [`Self::record`].
    pub async fn record_all(&self, records: Vec<Record>) -> Result<(), JournalError> {
        self.journal.append(&records).await?;
        for record in records {
            self.outlet.emit(Event::Recorded(Arc::new(record))).await;
        }
        Ok(())
    }

    /// Brings the log to the device.
    ///
    /// # Errors
    /// The log cannot be written.
    pub async fn sync(&self) -> Result<(), JournalError> {
        self.journal.sync().await
    }

    /// Reads the whole conversation from the log.
    ///
    /// # Errors
    /// The log cannot be read.
    pub async fn recall(&self) -> Result<History, JournalError> {
        self.journal.recall().await
    }
}
