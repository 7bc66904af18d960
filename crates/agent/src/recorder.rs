//! Journal of one agent, and the outlet that reports its records.

use std::sync::Arc;

use pollux_protocol::{Event, History, Journal, JournalError, Record};

use crate::outlet::Outlet;

/// Writes records: first to the journal, then to the outlet.
#[derive(Clone)]
pub struct HistoryRecorder {
    journal: Arc<dyn Journal>,
    outlet: Outlet,
}

impl HistoryRecorder {
    /// Creates the recorder of one agent. A subagent has its own journal.
    pub fn new(journal: Arc<dyn Journal>, outlet: Outlet) -> Self {
        Self { journal, outlet }
    }

    /// Returns the outlet for events that are not recorded.
    pub fn outlet(&self) -> &Outlet {
        &self.outlet
    }

    /// Writes one record.
    ///
    /// # Errors
    /// Returns an error if the log cannot be written. In that case the record was not sent to the
    /// outlet either, and the caller must stop before the recorded action.
    pub async fn record(&self, record: Record) -> Result<(), JournalError> {
        self.record_all(vec![record]).await
    }

    /// Writes several records that belong together, with one access to the log.
    ///
    /// # Errors
    /// Same as [`Self::record`].
    pub async fn record_all(&self, records: Vec<Record>) -> Result<(), JournalError> {
        let records: Vec<Arc<Record>> = records.into_iter().map(Arc::new).collect();
        self.journal.append(&records).await?;
        for record in records {
            self.outlet.emit(Event::Recorded(record)).await;
        }
        Ok(())
    }

    /// Syncs the log to the storage device.
    ///
    /// # Errors
    /// Returns an error if the log cannot be written.
    pub async fn sync(&self) -> Result<(), JournalError> {
        self.journal.sync().await
    }

    /// Reads the whole conversation from the log.
    ///
    /// # Errors
    /// Returns an error if the log cannot be read.
    pub async fn recall(&self) -> Result<History, JournalError> {
        self.journal.recall().await
    }
}
