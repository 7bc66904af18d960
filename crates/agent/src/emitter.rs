//! The one way out for events: journal first, then observers, then the frontend.

use std::sync::{Arc, Mutex, PoisonError};

use pollux_protocol::{
    Envelope, Event, History, Journal, JournalError, Measurement, Observer, Origin, Record,
};
use tokio::sync::mpsc;

/// Maximum number of events that wait in the channel to the frontend before the agent is held back.
const CHANNEL: usize = 1024;

/// Sends events to their receivers, in order, and states their origin.
#[derive(Clone)]
pub struct Emitter {
    journal: Arc<dyn Journal>,
    observers: Arc<[Arc<dyn Observer>]>,
    frontend: mpsc::Sender<Arc<Envelope>>,
    /// Shared by all clones, so that all of them follow the prompt at work.
    origin: Arc<Mutex<Arc<Origin>>>,
}

impl Emitter {
    /// Creates the emitter of a session's main agent, and the end of the channel that the frontend
    /// reads.
    pub fn new(
        session: impl Into<Arc<str>>,
        journal: Arc<dyn Journal>,
        observers: Vec<Arc<dyn Observer>>,
    ) -> (Self, mpsc::Receiver<Arc<Envelope>>) {
        let (frontend, events) = mpsc::channel(CHANNEL);
        let origin = Origin { session: session.into(), ..Origin::default() };
        let origin = Arc::new(Mutex::new(Arc::new(origin)));
        (Self { journal, observers: observers.into(), frontend, origin }, events)
    }

    /// Returns the origin of the next event.
    pub fn origin(&self) -> Arc<Origin> {
        Arc::clone(&self.origin.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// States the prompt at work in all events that follow, those of clones included.
    pub(crate) fn set_prompt(&self, prompt: Option<&str>) {
        let mut origin = self.origin.lock().unwrap_or_else(PoisonError::into_inner);
        *origin = Arc::new(Origin { prompt: prompt.map(Arc::from), ..Origin::clone(&origin) });
    }

    /// Returns an emitter whose events belong to one prompt or command, whatever else is at work.
    #[must_use]
    pub(crate) fn for_prompt(&self, prompt: &str) -> Self {
        let origin = Origin { prompt: Some(prompt.into()), ..Origin::clone(&self.origin()) };
        Self { origin: Arc::new(Mutex::new(Arc::new(origin))), ..self.clone() }
    }

    /// Writes a durable event to the log, then sends it. When the log cannot be written nothing is
    /// sent and the caller must stop before the effect.
    pub async fn record(&self, record: Record) -> Result<(), JournalError> {
        self.record_all(vec![record]).await
    }

    /// Writes several durable events that belong together with one access to the log.
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

    /// Reads the whole conversation from the log.
    pub async fn recall(&self) -> Result<History, JournalError> {
        self.journal.recall().await
    }

    /// Sends a passing event. Waits while the frontend is behind; a frontend that is gone is no
    /// reason to stop.
    pub async fn emit(&self, event: Event) {
        let envelope = Envelope { origin: self.origin(), event };
        for observer in self.observers.iter() {
            observer.observe(&envelope);
        }
        // The receiver may be gone: then nobody reads.
        drop(self.frontend.send(Arc::new(envelope)).await);
    }

    /// Hands a measurement to the observers.
    pub fn measure(&self, measurement: &Measurement) {
        let origin = self.origin();
        for observer in self.observers.iter() {
            observer.measure(&origin, measurement);
        }
    }
}

/// A journal that keeps nothing, for tests of what is sent beside it.
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
