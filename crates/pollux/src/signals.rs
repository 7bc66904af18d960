//! SIGINT, SIGTERM and SIGHUP: the first signal asks the run to end, a later one ends the program.

#![expect(clippy::disallowed_methods, reason = "ends the program at a second signal")]

use std::io::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::stream::{BoxStream, StreamExt, poll_fn};
use pollux_input::{TerminalSignal, restore_terminal};
use tokio::sync::mpsc;

use crate::exit::Failure;

/// Exit code of a run that SIGINT ended.
pub(crate) const INTERRUPT: i32 = 130;

/// Time after the first signal in which further signals have no effect. One request to end often
/// comes as several signals: `timeout` of GNU sends one to the program and one to its process
/// group.
const GRACE: Duration = Duration::from_secs(1);

/// Listener for signals, active from its creation.
pub(crate) struct Signals {
    receiver: mpsc::UnboundedReceiver<i32>,
    patient: Arc<AtomicBool>,
}

impl Signals {
    /// Starts to listen, on a separate thread, so that the second signal is handled even if the
    /// program is busy. Disables the default action of the signals.
    pub(crate) fn listen() -> Result<Self> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let patient = Arc::new(AtomicBool::new(false));
        let listener = Listener { sender, patient: Arc::clone(&patient), heard: None };
        let (ready, is_ready) = std::sync::mpsc::channel();
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            match runtime {
                Ok(runtime) => runtime.block_on(hear(listener, &ready)),
                // If this send fails too, the closed channel reports the error.
                Err(error) => drop(ready.send(Err(error))),
            }
        })?;
        is_ready.recv().unwrap_or_else(|_| Err(Error::other("the signal thread has ended")))?;
        Ok(Self { receiver, patient })
    }

    /// From now on every SIGINT is only reported, and none ends the program: the user leaves a
    /// conversation by other means.
    pub(crate) fn be_patient(&self) {
        self.patient.store(true, Ordering::Relaxed);
    }

    /// Returns the exit code for the next signal; waits forever if there can be no more signals.
    pub(crate) async fn next(&mut self) -> i32 {
        match self.receiver.recv().await {
            Some(code) => code,
            None => std::future::pending().await,
        }
    }
}

impl Signals {
    /// Returns the signals in the form for a conversation at the terminal.
    pub(crate) fn stream(&mut self) -> BoxStream<'_, TerminalSignal> {
        let signal = |code| match code {
            INTERRUPT => TerminalSignal::Interrupt,
            code => TerminalSignal::End(code),
        };
        poll_fn(|context| self.receiver.poll_recv(context)).map(signal).boxed()
    }
}

/// Runs a subcommand to its end, or until a signal. Then `work` is dropped, which ends what it has
/// started and removes its temporary files, and the result is that of `stopped` for the exit code.
pub(crate) async fn until_signal<T>(
    work: impl Future<Output = std::result::Result<T, Failure>>,
    stopped: impl FnOnce(u8) -> T,
) -> std::result::Result<T, Failure> {
    let mut signals = Signals::listen()
        .map_err(|error| Failure::general(format!("Cannot handle signals: {error}.")))?;
    tokio::select! {
        biased;
        code = signals.next() => Ok(stopped(u8::try_from(code).unwrap_or(u8::MAX))),
        result = work => result,
    }
}

/// Part of the listener that runs on the thread.
struct Listener {
    sender: mpsc::UnboundedSender<i32>,
    patient: Arc<AtomicBool>,
    /// Time of the first signal.
    heard: Option<Instant>,
}

/// Reaction to a signal.
#[derive(Debug, PartialEq, Eq)]
enum Reaction {
    /// The run is asked to end.
    Report,
    /// Nothing happens.
    Ignore,
    /// The program ends immediately.
    End,
}

impl Listener {
    /// Reports a signal, or ends the program.
    fn deliver(&mut self, code: i32) {
        let is_reported = match self.reaction(code, Instant::now()) {
            Reaction::Report => self.sender.send(code).is_ok(),
            Reaction::Ignore => true,
            Reaction::End => false,
        };
        if !is_reported {
            restore_terminal();
            pollux_shell::reap_all();
            pollux_shell::sandbox::audit_rest();
            std::process::exit(code);
        }
    }

    fn reaction(&mut self, code: i32, now: Instant) -> Reaction {
        if code == INTERRUPT && self.patient.load(Ordering::Relaxed) {
            return Reaction::Report;
        }
        match self.heard {
            None => {
                self.heard = Some(now);
                Reaction::Report
            }
            Some(first) if now.duration_since(first) < GRACE => Reaction::Ignore,
            Some(_) => Reaction::End,
        }
    }
}

#[cfg(unix)]
async fn hear(mut listener: Listener, ready: &std::sync::mpsc::Sender<Result<()>>) {
    use tokio::signal::unix::{SignalKind, signal};

    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let (mut interrupt, mut terminate, mut hangup) = match kinds.map(signal) {
        [Ok(interrupt), Ok(terminate), Ok(hangup)] => (interrupt, terminate, hangup),
        [Err(error), _, _] | [_, Err(error), _] | [_, _, Err(error)] => {
            return drop(ready.send(Err(error)));
        }
    };
    drop(ready.send(Ok(())));
    loop {
        let code = tokio::select! {
            Some(()) = interrupt.recv() => INTERRUPT,
            Some(()) = terminate.recv() => 143,
            Some(()) = hangup.recv() => 129,
            else => return,
        };
        listener.deliver(code);
    }
}

#[cfg(not(unix))]
async fn hear(mut listener: Listener, ready: &std::sync::mpsc::Sender<Result<()>>) {
    drop(ready.send(Ok(())));
    while tokio::signal::ctrl_c().await.is_ok() {
        listener.deliver(INTERRUPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_in_the_grace_period_after_the_first_have_no_effect() {
        let patient = Arc::default();
        let (sender, _receiver) = mpsc::unbounded_channel();
        let mut listener = Listener { sender, patient, heard: None };
        let start = Instant::now();
        for (milliseconds, expected) in [
            (0, Reaction::Report),
            (1, Reaction::Ignore),
            (999, Reaction::Ignore),
            (1000, Reaction::End),
            (1100, Reaction::End),
        ] {
            let now = start + Duration::from_millis(milliseconds);
            assert_eq!(listener.reaction(143, now), expected, "{milliseconds}");
        }
        listener.patient.store(true, Ordering::Relaxed);
        assert_eq!(listener.reaction(INTERRUPT, start), Reaction::Report);
    }
}
