//! SIGINT, SIGTERM and SIGHUP: the first asks the run to end, the second ends the program.

use tokio::sync::mpsc;

/// Hears signals from the moment it is made.
pub(crate) struct Signals {
    receiver: mpsc::UnboundedReceiver<i32>,
}

impl Signals {
    /// Starts to listen. The default action of the signals is off from then on.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::unbounded_channel();
        start(sender)?;
        Ok(Self { receiver })
    }

    /// The exit code that belongs to the next signal; never resolves when none can come.
    pub(crate) async fn next(&mut self) -> i32 {
        match self.receiver.recv().await {
            Some(code) => code,
            None => std::future::pending().await,
        }
    }
}

/// The one who asks twice wants out: the second signal ends the program at once.
fn deliver(sender: &mpsc::UnboundedSender<i32>, code: i32, heard: &mut bool) {
    if std::mem::replace(heard, true) || sender.send(code).is_err() {
        pollux_shell::reap_all();
        std::process::exit(code);
    }
}

#[cfg(unix)]
fn start(sender: mpsc::UnboundedSender<i32>) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        let mut heard = false;
        loop {
            let code = tokio::select! {
                Some(()) = interrupt.recv() => 130,
                Some(()) = terminate.recv() => 143,
                Some(()) = hangup.recv() => 129,
                else => return,
            };
            deliver(&sender, code, &mut heard);
        }
    });
    Ok(())
}

#[cfg(not(unix))]
fn start(sender: mpsc::UnboundedSender<i32>) -> std::io::Result<()> {
    tokio::spawn(async move {
        let mut heard = false;
        while tokio::signal::ctrl_c().await.is_ok() {
            deliver(&sender, 130, &mut heard);
        }
    });
    Ok(())
}
