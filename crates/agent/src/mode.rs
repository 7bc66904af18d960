//! The approval mode of a session, and everything that follows from a change of it.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use pollux_protocol::{ApprovalMode, Event, Live, LiveWatch, Measurement};

use crate::emitter::Emitter;

/// The mode as the loop, the scheduler and the handle share it.
pub(crate) struct SessionMode {
    mode: Live<ApprovalMode>,
    since: Mutex<Instant>,
    emitter: Emitter,
}

impl SessionMode {
    /// Takes over the live value that the tools read.
    pub(crate) fn new(mode: Live<ApprovalMode>, emitter: Emitter) -> Self {
        Self { mode, since: Mutex::new(Instant::now()), emitter }
    }

    /// Returns the present mode.
    pub(crate) fn get(&self) -> ApprovalMode {
        *self.mode.get()
    }

    /// Watches for changes.
    pub(crate) fn watch(&self) -> LiveWatch<ApprovalMode> {
        self.mode.watch()
    }

    /// Changes the mode at once and reports it.
    pub(crate) async fn set(&self, mode: ApprovalMode) {
        let from = *self.mode.set(mode);
        if from != mode {
            self.measure_end_of(from);
            self.emitter.measure(&Measurement::ModeSwitch { from, to: mode });
            self.emitter.emit(Event::ModeChanged(mode)).await;
        }
    }

    /// Measures the time since the last change, spent in a mode that ends now.
    pub(crate) fn measure_end_of(&self, mode: ApprovalMode) {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let duration = std::mem::replace(&mut *since, Instant::now()).elapsed();
        self.emitter.measure(&Measurement::ModeDuration { mode, duration });
    }
}
