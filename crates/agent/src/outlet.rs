//! Output for events: they go to the observers first, then to the frontend.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use pollux_protocol::{Envelope, Event, Measurement, Observer, Origin, Severity};
use tokio::sync::mpsc;

/// Maximum number of events in the channel to the frontend. The agent waits while the channel is
/// full.
const CHANNEL: usize = 1024;

/// Sends events to their receivers, in order, together with their origin.
#[derive(Clone)]
pub struct Outlet {
    observers: Arc<[Arc<dyn Observer>]>,
    frontend: mpsc::Sender<Arc<Envelope>>,
    /// Origin of the next event, shared by all clones, so that all of them follow the current
    /// prompt.
    origin: Arc<Mutex<Arc<Origin>>>,
    /// Warnings that the session has had and does not repeat, shared with the subagents.
    warned: Arc<Mutex<HashSet<String>>>,
    /// True for a subagent: the frontend receives only its messages to the user.
    is_quiet: bool,
}

impl Outlet {
    /// Creates the outlet of a session's main agent, and the receiver for the frontend.
    pub fn new(
        session: impl Into<Arc<str>>,
        observers: Vec<Arc<dyn Observer>>,
    ) -> (Self, mpsc::Receiver<Arc<Envelope>>) {
        let (frontend, events) = mpsc::channel(CHANNEL);
        let origin = Origin { session: session.into(), ..Origin::default() };
        let origin = Arc::new(Mutex::new(Arc::new(origin)));
        let observers = observers.into();
        let warned = Arc::default();
        (Self { observers, frontend, origin, warned, is_quiet: false }, events)
    }

    /// Returns the origin of the next event.
    pub fn origin(&self) -> Arc<Origin> {
        Arc::clone(&self.origin.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the outlet of a subagent with this name. Its events reach the same observers. The
    /// frontend receives only its messages to the user, because its work is the output of the call
    /// that runs it. Questions come from the operator of the session.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        let parent = self.origin();
        let origin = Origin { agent: parent.agent.child(name), ..Origin::clone(&parent) };
        Self { is_quiet: true, ..self.at(origin) }
    }

    /// Returns the same outlet with one more observer.
    #[must_use]
    pub fn observed_by(self, observer: Arc<dyn Observer>) -> Self {
        let observers = self.observers.iter().cloned().chain([observer]).collect();
        Self { observers, ..self }
    }

    /// Sets the prompt in the origin of all following events, including those of clones.
    pub(crate) fn set_prompt(&self, prompt: Option<&str>) {
        let mut origin = self.origin.lock().unwrap_or_else(PoisonError::into_inner);
        *origin = Arc::new(Origin { prompt: prompt.map(Arc::from), ..Origin::clone(&origin) });
    }

    /// Returns an outlet whose events always belong to one prompt or command.
    #[must_use]
    pub(crate) fn for_prompt(&self, prompt: &str) -> Self {
        self.at(Origin { prompt: Some(prompt.into()), ..Origin::clone(&self.origin()) })
    }

    fn at(&self, origin: Origin) -> Self {
        Self { origin: Arc::new(Mutex::new(Arc::new(origin))), ..self.clone() }
    }

    /// Sends an event. Waits while the channel is full. Without a frontend the event only reaches
    /// the observers.
    pub async fn emit(&self, event: Event) {
        self.emit_from(self.origin(), event).await;
    }

    /// Sends an event of another agent or prompt of the session, as [`Self::emit`] does.
    pub(crate) async fn emit_from(&self, origin: Arc<Origin>, event: Event) {
        if let Some(envelope) = self.observed(origin, event) {
            // Sending fails only if the receiver is gone. Then no one reads events.
            drop(self.frontend.send(envelope).await);
        }
    }

    /// Sends an event without waiting, for code that cannot wait. The frontend receives it later
    /// than the following events if the channel is full.
    pub(crate) fn emit_at_once(&self, origin: Arc<Origin>, event: Event) {
        let Some(envelope) = self.observed(origin, event) else { return };
        if let Err(mpsc::error::TrySendError::Full(envelope)) = self.frontend.try_send(envelope) {
            let frontend = self.frontend.clone();
            tokio::spawn(async move { drop(frontend.send(envelope).await) });
        }
    }

    /// Sends a warning, unless the session has already had it. Does not wait, as
    /// [`Self::emit_at_once`].
    pub(crate) fn warn_once(&self, text: String) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.insert(text.clone()) {
            drop(warned);
            let severity = Severity::Warning;
            self.emit_at_once(self.origin(), Event::Notice { severity, text });
        }
    }

    /// Creates an envelope and shows it to the observers. Returns it if it is for the frontend,
    /// too.
    fn observed(&self, origin: Arc<Origin>, event: Event) -> Option<Arc<Envelope>> {
        let is_for_user = matches!(event, Event::Notice { .. } | Event::HookMessage { .. });
        let envelope = Envelope { origin, event };
        for observer in self.observers.iter() {
            observer.observe(&envelope);
        }
        (!self.is_quiet || is_for_user).then(|| Arc::new(envelope))
    }

    /// Sends a measurement to the observers.
    pub fn measure(&self, measurement: &Measurement) {
        let origin = self.origin();
        for observer in self.observers.iter() {
            observer.measure(&origin, measurement);
        }
    }
}
