//! The one way out for events: journal first, then observers, then the frontend.

use std::sync::Arc;

use pollux_protocol::{Event, History, Journal, JournalError, Measurement, Observer, Record};
use tokio::sync::mpsc;

/// Events that may wait in the channel to the frontend before the agent is held back.
const CHANNEL: usize = 1024;

/// Sends events where they belong, in order.
#[derive(Clone)]
pub struct Emitter {
    journal: Arc<dyn Journal>,
    observers: Arc<[Arc<dyn Observer>]>,
    frontend: mpsc::Sender<Arc<Event>>,
}

impl Emitter {
    /// An emitter, and the end of the channel that the frontend reads.
    pub fn new(
        journal: Arc<dyn Journal>,
        observers: Vec<Arc<dyn Observer>>,
    ) -> (Self, mpsc::Receiver<Arc<Event>>) {
        let (frontend, events) = mpsc::channel(CHANNEL);
        (Self { journal, observers: observers.into(), frontend }, events)
    }

    /// Writes a durable event to the log, then tells it. When the log cannot be written nothing is told
    /// and the caller must stop before the effect.
    pub async fn record(&self, record: Record) -> Result<(), JournalError> {
        self.record_all(vec![record]).await
    }

    /// The same for several that belong together: one trip to the log.
    pub async fn record_all(&self, records: Vec<Record>) -> Result<(), JournalError> {
        self.journal.append(&records).await?;
        for record in records {
            self.emit(Event::Recorded(Arc::new(record))).await;
        }
        Ok(())
    }

    /// Brings the log to the device.
    pub async fn sync(&self) -> Result<(), JournalError> {
        self.journal.sync().await
    }

    /// The whole conversation, from the log.
    pub async fn recall(&self) -> Result<History, JournalError> {
        self.journal.recall().await
    }

    /// Tells a passing event. Waits while the frontend is behind; a frontend that is gone is no reason
    /// to stop.
    pub async fn emit(&self, event: Event) {
        for observer in self.observers.iter() {
            observer.observe(&event);
        }
        // The receiver may be gone: then nobody is there to be told.
        drop(self.frontend.send(Arc::new(event)).await);
    }

    /// Tells a figure.
    pub async fn measure(&self, measurement: Measurement) {
        self.emit(Event::Measured(Box::new(measurement))).await;
    }
}

/// A journal that keeps nothing, for tests of what is told beside it.
#[cfg(test)]
pub(crate) struct NoLog;

#[cfg(test)]
#[async_trait::async_trait]
impl Journal for NoLog {
    async fn append(&self, _records: &[Record]) -> Result<(), JournalError> {
        Ok(())
    }

    async fn sync(&self) -> Result<(), JournalError> {
        Ok(())
    }

    async fn recall(&self) -> Result<History, JournalError> {
        Ok(History::new())
    }
}
