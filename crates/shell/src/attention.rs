//! Detection of commands that wait for somebody to type.
//!
//! A silent command is checked one second after its last output, then at growing intervals. On
//! Linux `/proc` shows whether one of its processes is reading a terminal. Where `/proc` is
//! missing, or the process belongs to another user (`sudo`), the terminal modes and the text of the
//! last line are used instead.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use pollux_protocol::AwaitedInput;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::child::ChildProcess;
use crate::sessions::{self, Leader, Reading};
use crate::terminal::{Modes, Terminal};

#[cfg(test)]
mod tests;

/// Silence before the first check, and time between two checks of a command that seems to wait.
const FIRST_LOOK: Duration = Duration::from_secs(1);
/// Maximum time between two checks.
const SELDOM: Duration = Duration::from_secs(30);
/// Time that an unattended command may wait for input before it is ended: `PATIENCE` if it
/// certainly waits, `PATIENCE_WITH_GUESSES` if it only seems to wait.
const PATIENCE: Duration = Duration::from_secs(3);
const PATIENCE_WITH_GUESSES: Duration = Duration::from_secs(30);
/// Maximum number of characters of a reported prompt line.
const LONGEST_PROMPT: usize = 500;

/// Result of one check of a command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    reading: Reading,
    modes: Option<Modes>,
}

/// Certainty that a command waits for somebody to type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    Surely,
    Perhaps,
}

/// Conclusion from one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// True if the command has started or stopped waiting, which must be reported.
    pub(crate) is_new: bool,
    /// True if an unattended command has waited for input for longer than the limit.
    pub(crate) is_over: bool,
}

/// Input detection state of one command.
pub(crate) struct Attention {
    leader: Leader,
    terminal: Option<Arc<Terminal>>,
    /// True if somebody can type.
    attended: bool,
    look_at: Instant,
    pause: Duration,
    looking: Option<JoinHandle<Reading>>,
    awaited: Option<AwaitedInput>,
    since: Instant,
}

impl Attention {
    pub(crate) fn new(child: &ChildProcess, attended: bool) -> Self {
        let now = Instant::now();
        Self {
            leader: child.session.leader(),
            terminal: child.terminal.clone(),
            attended,
            look_at: now + FIRST_LOOK,
            pause: FIRST_LOOK,
            looking: None,
            awaited: None,
            since: now,
        }
    }

    /// Returns the input that the command waits for, if it waits.
    pub(crate) fn awaited(&self) -> Option<&AwaitedInput> {
        self.awaited.as_ref()
    }

    pub(crate) fn into_awaited(self) -> Option<AwaitedInput> {
        self.awaited
    }

    /// Waits until the next check is due and performs it. Cancel safe.
    pub(crate) async fn look(&mut self) -> Look {
        sleep_until(self.look_at).await;
        let leader = self.leader;
        // Reading the process table takes milliseconds on a busy machine.
        let looking = self
            .looking
            .get_or_insert_with(|| tokio::task::spawn_blocking(move || sessions::reading(leader)));
        let Ok(reading) = looking.await else {
            // The runtime is shutting down.
            return pending().await;
        };
        self.looking = None;
        Look { reading, modes: self.terminal.as_ref().and_then(|terminal| terminal.modes()) }
    }

    /// Records that something was printed or typed. Returns true if the command was thought to
    /// wait.
    pub(crate) fn reset_input_wait(&mut self) -> bool {
        self.looking = None;
        self.pause = FIRST_LOOK;
        self.look_at = Instant::now() + FIRST_LOOK;
        self.awaited.take().is_some()
    }

    /// Evaluates a check of a command whose cursor is at the end of `line`.
    pub(crate) fn judge(&mut self, look: Look, line: &str) -> Verdict {
        let waits = waits(look, line);
        let awaited = waits.map(|_| AwaitedInput {
            prompt: line.trim().chars().take(LONGEST_PROMPT).collect(),
            secret: look.modes.is_some_and(|modes| modes.lines && !modes.echo),
        });
        let now = Instant::now();
        let is_new = awaited != self.awaited;
        if self.awaited.is_none() {
            self.since = now;
        }
        self.awaited = awaited;
        self.pause = if waits.is_some() { FIRST_LOOK } else { (2 * self.pause).min(SELDOM) };
        self.look_at = now + self.pause;
        let patience = match waits {
            _ if self.attended => None,
            None => None,
            Some(Waits::Surely) => Some(PATIENCE),
            Some(Waits::Perhaps) => Some(PATIENCE_WITH_GUESSES),
        };
        let is_over = patience.is_some_and(|patience| now - self.since >= patience);
        Verdict { is_new, is_over }
    }
}

/// Returns the certainty that a silent command waits for somebody to type; `None` if it does not.
/// Pure function.
fn waits(look: Look, line: &str) -> Option<Waits> {
    let asks_for_secret = look.modes.is_some_and(|modes| modes.lines && !modes.echo);
    let takes_keys = look.modes.is_some_and(|modes| !modes.lines);
    match look.reading {
        Reading::Blocked => Some(Waits::Surely),
        Reading::Asleep | Reading::Unknown if asks_for_secret => Some(Waits::Surely),
        Reading::Asleep if takes_keys => Some(Waits::Perhaps),
        Reading::Unknown if look.modes.is_some() && (takes_keys || is_prompt(line)) => {
            Some(Waits::Perhaps)
        }
        Reading::Busy | Reading::Asleep | Reading::Unknown => None,
    }
}

/// Returns true if a line looks like a prompt of a program.
fn is_prompt(line: &str) -> bool {
    line.trim_end().ends_with([':', '?', '>', ']', ')', '$', '#', '%'])
}
