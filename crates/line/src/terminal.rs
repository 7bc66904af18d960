//! The terminal: its modes, its input, its size, and the job control of the shell.

#![expect(clippy::disallowed_methods, reason = "this crate is a frontend")]

use std::io::Read;

use tokio::sync::mpsc;

/// Maximum number of bytes of one read.
const CHUNK: usize = 64 << 10;
/// Maximum number of queued chunks. The terminal holds back the rest of a paste, so that it does
/// not fill the memory.
const WAITING: usize = 4;

/// Sequence that makes the terminal mark pasted text, so that line ends in it do not count as the
/// Enter key.
pub(super) const MARK_PASTES: &[u8] = b"\x1b[?2004h";
/// Sequence that switches off these marks.
pub(super) const NO_MARKS: &[u8] = b"\x1b[?2004l";

/// Event of the terminal other than a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Ctrl-Z: the program must stop.
    Stop,
    /// The program continues after a stop.
    Continue,
    /// The size of the window has changed.
    Resize,
}

/// Guard for the raw mode, in which the program handles the keys; dropping it restores the
/// terminal's original modes.
pub(super) struct Modes {
    /// True if the keys arrive one by one and the program shows the input. Otherwise the terminal
    /// edits the line.
    pub(super) raw: bool,
}

impl Modes {
    /// Enters raw mode, if `wanted` and supported by the terminal.
    pub(super) fn enter(wanted: bool) -> Self {
        Self { raw: wanted && modes::enter() }
    }

    /// Restores the original modes while the program is stopped.
    pub(super) fn suspend(&self) {
        if self.raw {
            modes::restore();
        }
    }

    /// Enters raw mode again.
    pub(super) fn resume(&self) {
        if self.raw {
            modes::enter();
        }
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        self.suspend();
        if self.raw && std::thread::panicking() {
            modes::print(NO_MARKS);
        }
    }
}

/// Restores the original modes at an exit that runs no destructors.
pub fn restore() {
    modes::restore();
}

/// Chunks of typed input.
pub(crate) type Typed = mpsc::Receiver<Vec<u8>>;

/// Reads the input on a thread of its own. The stream ends when the terminal is closed, and at
/// Ctrl-D if the terminal itself edits the line.
pub(super) fn read() -> Typed {
    let (sender, receiver) = mpsc::channel(WAITING);
    let mut turn = turns::take();
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut buffer = vec![0; CHUNK];
        loop {
            turn.wait();
            match stdin.read(&mut buffer) {
                Ok(count @ 1..) => {
                    if sender.blocking_send(buffer[..count].to_vec()).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return,
            }
        }
    });
    receiver
}

/// Guard for a lent terminal: while it exists, other programs receive the keys.
pub(super) struct Lent(());

/// Lends the terminal to another program: this process stops reading from it.
pub(super) fn lend() -> Lent {
    turns::change();
    Lent(())
}

impl Drop for Lent {
    fn drop(&mut self) {
        turns::change();
    }
}

pub(super) use changes::Changes;
pub(super) use modes::{size, stop};

/// Pause of the reading thread while the terminal is lent.
#[cfg(unix)]
mod turns {
    use std::io::{PipeReader, PipeWriter, Read, Write};
    use std::sync::OnceLock;

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::stdio::stdin;

    /// Pipe to the reader. A byte lends the terminal, the next byte returns it.
    static CHANGES: OnceLock<PipeWriter> = OnceLock::new();

    /// Side of the reader; without a pipe it cannot be paused.
    pub(super) struct Turn(Option<PipeReader>);

    pub(super) fn take() -> Turn {
        let Ok((reader, writer)) = std::io::pipe() else { return Turn(None) };
        Turn(CHANGES.set(writer).is_ok().then_some(reader))
    }

    impl Turn {
        /// Waits until there is input and the terminal is not lent.
        pub(super) fn wait(&mut self) {
            let Some(changes) = &mut self.0 else { return };
            loop {
                let stdin = stdin();
                let mut ends =
                    [PollFd::new(&stdin, PollFlags::IN), PollFd::new(changes, PollFlags::IN)];
                let polled = poll(&mut ends, None);
                let [keys, lent] = ends.map(|end| !end.revents().is_empty());
                match polled {
                    // The read waits until the terminal is returned. An error means that the pipe
                    // is broken.
                    Ok(_) if lent => {
                        if changes.read_exact(&mut [0; 2]).is_err() {
                            return;
                        }
                    }
                    Ok(_) if keys => return,
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(_) => return,
                }
            }
        }
    }

    /// Lends the terminal, or returns it.
    pub(super) fn change() {
        // A reader that has ended needs no pause.
        if let Some(mut changes) = CHANGES.get() {
            drop(changes.write_all(&[0]));
        }
    }
}

#[cfg(not(unix))]
mod turns {
    pub(super) struct Turn;

    pub(super) fn take() -> Turn {
        Turn
    }

    impl Turn {
        pub(super) fn wait(&mut self) {}
    }

    pub(super) fn change() {}
}

#[cfg(unix)]
mod modes {
    use std::sync::{Mutex, PoisonError};

    use rustix::process::{Signal, getpgrp, getpid, getsid, kill_process};
    use rustix::stdio::{stdin, stdout};
    use rustix::termios::{
        InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr,
        tcgetwinsize, tcsetattr,
    };

    /// Original modes; `None` while they are unchanged.
    static FOUND: Mutex<Option<Termios>> = Mutex::new(None);

    /// Character that disables a special character (POSIX `_POSIX_VDISABLE`).
    const OFF: u8 = if cfg!(target_os = "linux") { 0 } else { 0xff };

    /// Makes keys arrive one by one and without echo; Ctrl-C and Ctrl-Z remain signals. Returns
    /// false if the terminal does not support this.
    pub(super) fn enter() -> bool {
        let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(before) = tcgetattr(stdin()) else { return false };
        let mut modes = before.clone();
        modes.local_modes &= !(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
        // The Enter key and Ctrl-J stay different keys.
        modes.input_modes &= !InputModes::ICRNL;
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        // The quit character would end the program without restoring the modes.
        modes.special_codes[SpecialCodeIndex::VQUIT] = OFF;
        let entered = tcsetattr(stdin(), OptionalActions::Now, &modes).is_ok();
        if entered {
            found.get_or_insert(before);
        }
        entered
    }

    pub(super) fn restore() {
        let found = FOUND.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(before) = found {
            // A terminal that is closed has no modes to restore.
            tcsetattr(stdin(), OptionalActions::Now, &before).unwrap_or_default();
        }
    }

    /// Prints a few bytes immediately, ahead of the queued output. Errors are ignored.
    pub(super) fn print(bytes: &[u8]) {
        rustix::io::write(stdout(), bytes).unwrap_or_default();
    }

    /// Returns columns and rows, if the terminal reports them.
    pub(in super::super) fn size() -> Option<(u16, u16)> {
        let size = tcgetwinsize(stdout()).ok()?;
        (size.ws_col > 0).then_some((size.ws_col, size.ws_row))
    }

    /// Stops this process until the shell continues it; returns false if it did not stop. Without a
    /// shell nobody would continue the process, so it does not stop.
    pub(in super::super) fn stop() -> bool {
        let alone = getsid(None).is_ok_and(|session| session == getpgrp());
        !alone && kill_process(getpid(), Signal::STOP).is_ok()
    }
}

#[cfg(unix)]
mod changes {
    use rustix::process::Signal as Number;
    use tokio::signal::unix::{Signal, SignalKind, signal};

    use super::Change;

    /// Listener for terminal events. While it exists, Ctrl-Z does not stop the program by itself.
    pub(in super::super) struct Changes {
        stop: Signal,
        resume: Signal,
        resize: Signal,
    }

    impl Changes {
        pub(in super::super) fn listen() -> std::io::Result<Self> {
            let numbered = |number: Number| signal(SignalKind::from_raw(number.as_raw()));
            Ok(Self {
                stop: numbered(Number::TSTP)?,
                resume: numbered(Number::CONT)?,
                resize: signal(SignalKind::window_change())?,
            })
        }

        /// Returns the next event; waits forever if there can be no more events.
        pub(in super::super) async fn next(&mut self) -> Change {
            tokio::select! {
                Some(()) = self.stop.recv() => Change::Stop,
                Some(()) = self.resume.recv() => Change::Continue,
                Some(()) = self.resize.recv() => Change::Resize,
                else => std::future::pending().await,
            }
        }
    }
}

/// Outside of Unix the console itself edits the line.
#[cfg(not(unix))]
mod modes {
    pub(super) fn enter() -> bool {
        false
    }

    pub(super) fn restore() {}

    pub(super) fn print(_bytes: &[u8]) {}

    pub(in super::super) fn size() -> Option<(u16, u16)> {
        None
    }

    pub(in super::super) fn stop() -> bool {
        false
    }
}

#[cfg(not(unix))]
mod changes {
    use super::Change;

    pub(in super::super) struct Changes;

    impl Changes {
        #[expect(clippy::unnecessary_wraps, reason = "listening can fail where there are signals")]
        pub(in super::super) fn listen() -> std::io::Result<Self> {
            Ok(Self)
        }

        pub(in super::super) async fn next(&mut self) -> Change {
            std::future::pending().await
        }
    }
}
