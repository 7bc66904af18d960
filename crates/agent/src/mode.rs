//! Approval mode of a session, and everything that follows from a change of it.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use pollux_protocol::{ApprovalMode, Event, Live, LiveWatch, Measurement};

use crate::outlet::Outlet;

/// Approval mode, shared by the loop, the scheduler and the handle.
pub struct SessionMode {
    mode: Live<ApprovalMode>,
    since: Mutex<Instant>,
    outlet: Outlet,
}

impl SessionMode {
    /// Creates the mode from the live value that the tools read.
    pub fn new(mode: Live<ApprovalMode>, outlet: Outlet) -> Self {
        Self { mode, since: Mutex::new(Instant::now()), outlet }
    }

    /// Returns the current mode.
    pub(crate) fn get(&self) -> ApprovalMode {
        *self.mode.get()
    }

    /// Watches for changes.
    pub(crate) fn watch(&self) -> LiveWatch<ApprovalMode> {
        self.mode.watch()
    }

    /// Changes the mode immediately and reports the change.
    pub async fn set(&self, mode: ApprovalMode) {
        let from = *self.mode.set(mode);
        if from != mode {
            self.measure_end_of(from);
            self.outlet.measure(&Measurement::ModeSwitch { from, to: mode });
            self.outlet.emit(Event::ModeChanged(mode)).await;
        }
    }

    /// Measures the time since the last change, spent in a mode that ends now.
    pub(crate) fn measure_end_of(&self, mode: ApprovalMode) {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let duration = std::mem::replace(&mut *since, Instant::now()).elapsed();
        self.outlet.measure(&Measurement::ModeDuration { mode, duration });
    }
}
