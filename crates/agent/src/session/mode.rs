//! The approval mode of a session.

use std::time::Instant;

use pollux_protocol::{ApprovalMode, Measurement};

use super::Session;

impl Session {
    /// The approval mode at this moment.
    pub fn mode(&self) -> ApprovalMode {
        self.parts.mode.get()
    }

    /// Changes the approval mode.
    pub async fn set_mode(&mut self, mode: ApprovalMode) {
        let from = self.parts.mode.replace(mode);
        if from != mode {
            self.measure_mode(from).await;
            self.parts.emitter.measure(Measurement::ModeSwitch { from, to: mode }).await;
        }
    }

    /// Tells how long a mode that ends has lasted.
    pub(super) async fn measure_mode(&mut self, mode: ApprovalMode) {
        let duration = self.mode_since.elapsed();
        self.mode_since = Instant::now();
        self.parts.emitter.measure(Measurement::ModeDuration { mode, duration }).await;
    }
}
