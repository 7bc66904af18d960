//! Notices that a command waits for somebody to type.
//!
//! A command that is silent is looked at: a second after its last words, then ever more seldom. On
//! Linux `/proc` tells whether one of its processes is reading a terminal; where it does not, or
//! where the process belongs to somebody else (`sudo`), the terminal's modes and the look of the
//! last line have to do.

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

/// Silence before the first look; also the time between two looks at a command that seems to wait.
const FIRST_LOOK: Duration = Duration::from_secs(1);
/// The longest time between two looks.
const SELDOM: Duration = Duration::from_secs(30);
/// How long a command may wait for nobody: so many seconds if it surely waits, so many if it only
/// looks like it.
const PATIENCE: Duration = Duration::from_secs(3);
const PATIENCE_WITH_GUESSES: Duration = Duration::from_secs(30);
/// Characters of a line that asks.
const LONGEST_PROMPT: usize = 500;

/// What a look has found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    reading: Reading,
    modes: Option<Modes>,
}

/// How sure it is that somebody is to type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    Surely,
    Perhaps,
}

/// What came of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// It waits, or waits no longer: tell.
    pub(crate) is_new: bool,
    /// It waits for nobody, and has done so for long enough.
    pub(crate) is_over: bool,
}

/// The state of noticing for one command.
pub(crate) struct Attention {
    leader: Leader,
    terminal: Option<Arc<Terminal>>,
    /// Somebody can type.
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

    /// What the command waits for.
    pub(crate) fn awaited(&self) -> Option<&AwaitedInput> {
        self.awaited.as_ref()
    }

    pub(crate) fn into_awaited(self) -> Option<AwaitedInput> {
        self.awaited
    }

    /// The next look, when it is time. Safe to drop.
    pub(crate) async fn look(&mut self) -> Look {
        sleep_until(self.look_at).await;
        let leader = self.leader;
        // Reading the process table takes milliseconds on a busy machine.
        let looking = self
            .looking
            .get_or_insert_with(|| tokio::task::spawn_blocking(move || sessions::reading(leader)));
        let Ok(reading) = looking.await else {
            // The runtime is going down.
            return pending().await;
        };
        self.looking = None;
        Look { reading, modes: self.terminal.as_ref().and_then(|terminal| terminal.modes()) }
    }

    /// Something was printed or typed. True when the command was thought to wait.
    pub(crate) fn calm_down(&mut self) -> bool {
        self.looking = None;
        self.pause = FIRST_LOOK;
        self.look_at = Instant::now() + FIRST_LOOK;
        self.awaited.take().is_some()
    }

    /// What a look means for a command whose cursor stands behind `line`.
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

/// Whether a silent command waits for somebody to type. Pure.
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

/// Whether a line looks like one in which a program asks.
fn is_prompt(line: &str) -> bool {
    line.trim_end().ends_with([':', '?', '>', ']', ')', '$', '#', '%'])
}
