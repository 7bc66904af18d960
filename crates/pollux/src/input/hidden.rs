//! Input that the terminal does not show while it is typed.

#![cfg_attr(unix, expect(clippy::disallowed_methods, reason = "changes how input is shown"))]

#[cfg(unix)]
use rustix::stdio::stdin;
#[cfg(unix)]
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::stdout::print_unfinished;

/// Reads the first line of standard input like [`super::line_of_stdin`]. A terminal does not show
/// it.
pub(crate) async fn secret_of_stdin() -> Option<String> {
    let hidden = Hidden::begin();
    let line = super::line_of_stdin().await;
    if hidden.is_some() {
        // The terminal has not shown the end of the line, either.
        print_unfinished("\n");
    }
    line
}

/// Time in which the terminal does not show what is typed. It ends when the value is dropped.
#[cfg(unix)]
struct Hidden(Termios);

#[cfg(unix)]
impl Hidden {
    /// Begins the time; `None` if standard input is no terminal.
    fn begin() -> Option<Self> {
        let before = tcgetattr(stdin()).ok()?;
        let mut modes = before.clone();
        modes.local_modes &= !LocalModes::ECHO;
        tcsetattr(stdin(), OptionalActions::Flush, &modes).ok()?;
        Some(Self(before))
    }
}

#[cfg(unix)]
impl Drop for Hidden {
    fn drop(&mut self) {
        // A terminal that is closed has no modes to restore.
        tcsetattr(stdin(), OptionalActions::Now, &self.0).unwrap_or_default();
    }
}

/// Time that never begins: the terminal shows what is typed.
#[cfg(not(unix))]
enum Hidden {}

#[cfg(not(unix))]
impl Hidden {
    fn begin() -> Option<Self> {
        None
    }
}
