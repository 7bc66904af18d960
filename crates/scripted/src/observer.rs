//! An observer that keeps events.

use pollux_protocol::{Envelope, Event, Measurement, Observer, Origin, PromptOutcome};
use tokio::sync::watch;

/// An observer that keeps all events, in order.
#[derive(Debug)]
pub struct EventLog {
    events: watch::Sender<Vec<Envelope>>,
    measurements: watch::Sender<Vec<Measurement>>,
}

impl Default for EventLog {
    fn default() -> Self {
        Self {
            events: watch::Sender::new(Vec::new()),
            measurements: watch::Sender::new(Vec::new()),
        }
    }
}

impl EventLog {
    /// Returns the events so far.
    pub fn events(&self) -> Vec<Envelope> {
        self.events.borrow().clone()
    }

    /// Returns the values that `pick` returns for the events so far.
    pub fn all<T>(&self, mut pick: impl FnMut(&Event) -> Option<T>) -> Vec<T> {
        self.events.borrow().iter().filter_map(|envelope| pick(&envelope.event)).collect()
    }

    /// Waits for the first past or future event for which `pick` returns a value.
    pub async fn first<T>(&self, mut pick: impl FnMut(&Event) -> Option<T>) -> T {
        self.first_envelope(|envelope| pick(&envelope.event)).await
    }

    /// Waits like [`first`](Self::first); `pick` also sees the origin of the event.
    pub async fn first_envelope<T>(&self, pick: impl FnMut(&Envelope) -> Option<T>) -> T {
        first(&self.events, pick).await
    }

    /// Waits for the first past or future measurement for which `pick` returns a value.
    pub async fn first_measured<T>(&self, pick: impl FnMut(&Measurement) -> Option<T>) -> T {
        first(&self.measurements, pick).await
    }

    /// Returns the text that was streamed.
    pub fn text(&self) -> String {
        let text = |event: &Event| match event {
            Event::Text(text) => Some(text.clone()),
            _ => None,
        };
        self.all(text).concat()
    }

    /// Returns the texts of the notices.
    pub fn notices(&self) -> Vec<String> {
        self.all(|event| match event {
            Event::Notice { text, .. } => Some(text.clone()),
            _ => None,
        })
    }

    /// Returns the reasons of all [`Event::Blocked`] events.
    pub fn blocked(&self) -> Vec<String> {
        self.all(|event| match event {
            Event::Blocked { reason } => Some(reason.clone()),
            _ => None,
        })
    }

    /// Returns the values that `pick` returns for the measurements so far.
    pub fn measured<T>(&self, pick: impl FnMut(&Measurement) -> Option<T>) -> Vec<T> {
        self.measurements.borrow().iter().filter_map(pick).collect()
    }

    /// Waits for the end of the prompt with this id and returns its outcome.
    pub async fn ended(&self, id: &str) -> PromptOutcome {
        self.first_envelope(|envelope| match &envelope.event {
            Event::PromptEnded(outcome) if envelope.origin.prompt.as_deref() == Some(id) => {
                Some(outcome.clone())
            }
            _ => None,
        })
        .await
    }
}

impl Observer for EventLog {
    fn observe(&self, envelope: &Envelope) {
        self.events.send_modify(|events| events.push(envelope.clone()));
    }

    fn measure(&self, _origin: &Origin, measurement: &Measurement) {
        self.measurements.send_modify(|list| list.push(measurement.clone()));
    }
}

/// Waits for the first item of a growing list for which `pick` returns a value.
async fn first<I, T>(list: &watch::Sender<Vec<I>>, mut pick: impl FnMut(&I) -> Option<T>) -> T {
    let mut list = list.subscribe();
    let mut seen = 0;
    loop {
        {
            let list = list.borrow_and_update();
            if let Some(found) = list[seen..].iter().find_map(&mut pick) {
                return found;
            }
            seen = list.len();
        }
        list.changed().await.expect("the log holds the sender");
    }
}
