//! Times at which the rows are drawn.

use std::time::{Duration, Instant};

/// Minimum time between two frames that no key causes.
const FRAME: Duration = Duration::from_millis(100);

/// Times of frames.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// Time of the last frame.
    last: Option<Instant>,
    /// True if something has changed since.
    is_due: bool,
    /// True if the change must be shown at once.
    is_urgent: bool,
}

impl Frames {
    /// Returns the times before the first frame, which is due.
    pub(super) fn begin() -> Self {
        Self { last: None, is_due: true, is_urgent: true }
    }

    /// Records that all changes were drawn.
    pub(super) fn drawn(&mut self, now: Instant) {
        *self = Self { last: Some(now), ..Self::default() };
    }

    pub(super) fn change(&mut self) {
        self.is_due = true;
    }

    pub(super) fn change_at_once(&mut self) {
        (self.is_due, self.is_urgent) = (true, true);
    }

    /// Returns the time before which no change is drawn that is not urgent.
    #[cfg(test)]
    pub(super) fn next(&self) -> Option<Instant> {
        self.last.map(|last| last + FRAME)
    }

    /// Returns the time at which a change can be shown; `None` without a change.
    pub(super) fn due(&self, now: Instant) -> Option<Instant> {
        let next = self.last.map_or(now, |last| last + FRAME);
        self.is_due.then_some(if self.is_urgent { now } else { next })
    }
}
