//! A message in the status row that disappears.

use std::borrow::Cow;
use std::time::{Duration, Instant};

/// Time for which a message is shown, and in which the same key again has its effect.
const SHOWN: Duration = Duration::from_secs(3);
/// The same for a message that must be read.
const WARNED: Duration = Duration::from_secs(10);
/// The same for the Esc key.
const ESCAPE: Duration = Duration::from_millis(500);

/// Key that has an effect when it is pressed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Armed {
    /// Ctrl-C ends the program.
    Interrupt,
    /// Ctrl-D ends the program.
    EndOfInput,
    /// Esc clears the prompt.
    Escape,
    /// Esc in an empty input goes back to an earlier prompt.
    Rewind,
}

/// A message.
#[derive(Debug, Clone)]
pub(crate) struct Toast {
    text: Cow<'static, str>,
    armed: Option<Armed>,
    /// True if the message has named the commands that end with the program.
    has_warned: bool,
    end: Instant,
}

impl Toast {
    /// Creates a message without an armed key.
    pub(crate) fn notice(text: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.into(), armed: None, has_warned: false, end: Instant::now() + SHOWN }
    }

    /// Creates the message about a key that is pressed again, although commands run in the
    /// background.
    pub(crate) fn warn(key: Armed, running: &str) -> Self {
        let name = if key == Armed::EndOfInput { "Ctrl+D" } else { "Ctrl+C" };
        let text = format!("{running} would be ended. Press {name} again to exit.");
        Self { text: text.into(), has_warned: true, end: Instant::now() + WARNED, ..Self::arm(key) }
    }

    /// Creates the message about an armed key. Programs match the texts.
    pub(crate) fn arm(key: Armed) -> Self {
        let (text, time) = match key {
            Armed::Interrupt => ("Press Ctrl+C again to exit.", SHOWN),
            Armed::EndOfInput => ("Press Ctrl+D again to exit.", SHOWN),
            Armed::Escape => ("Press Esc again to clear prompt.", ESCAPE),
            Armed::Rewind => ("Press Esc again to rewind.", ESCAPE),
        };
        Self { text: text.into(), armed: Some(key), has_warned: false, end: Instant::now() + time }
    }

    /// Returns true if the message has named the commands that end with the program.
    pub(crate) fn has_warned(&self) -> bool {
        self.has_warned
    }

    /// Returns true if this key is armed.
    pub(crate) fn arms(&self, key: Armed) -> bool {
        self.armed == Some(key) && Instant::now() < self.end
    }

    /// Returns the text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the time at which the message disappears.
    pub(crate) fn end(&self) -> Instant {
        self.end
    }
}
