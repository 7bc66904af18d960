//! Messages at the end of a session, after the frontend has stopped listening to its events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pollux_protocol::{Envelope, Event, FIRST_LISTED, Notices, Observer, Severity};

/// Message of [`Event::StreamRestarted`].
pub const RESTARTED: &str = "The answer broke off or is unusable. It is requested again.";

/// Returns the text of an event that is a message to the user, in the format for standard error;
/// `None` for all other events.
pub fn notice_text(event: &Event) -> Option<String> {
    match event {
        Event::Notice { severity, text } => {
            let label = match severity {
                Severity::Info => "INFO",
                Severity::Warning => "WARNING",
                Severity::Error => "ERROR",
            };
            Some(format!("[{label}] {text}"))
        }
        Event::StreamRestarted => Some(format!("[WARNING] {RESTARTED}")),
        Event::ModelChanged { model, reason } if reason == FIRST_LISTED => Some(format!(
            "Using the model \"{model}\", the first one that the service lists.\nChoose another with --model NAME."
        )),
        Event::HookMessage { message, .. } => Some(format!("Hook system message: {message}")),
        _ => None,
    }
}

/// Observer that passes messages of the agent on to the notices, from the moment the session is
/// closed.
pub(crate) struct ClosingMessages {
    notices: Arc<dyn Notices>,
    closing: AtomicBool,
}

impl ClosingMessages {
    pub(crate) fn new(notices: Arc<dyn Notices>) -> Self {
        Self { notices, closing: AtomicBool::new(false) }
    }

    /// Reports a message about the end of the session.
    pub(crate) fn report(&self, text: &str) {
        self.notices.info(text);
    }

    /// Starts to pass messages on.
    pub(crate) fn listen(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }
}

impl Observer for ClosingMessages {
    fn observe(&self, envelope: &Envelope) {
        if self.closing.load(Ordering::Relaxed)
            && let Some(text) = notice_text(&envelope.event)
        {
            let severity = match &envelope.event {
                Event::Notice { severity, .. } => *severity,
                _ => Severity::Info,
            };
            self.notices.notice(severity, &text);
        }
    }
}
