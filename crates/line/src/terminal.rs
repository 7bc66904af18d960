//! The terminal: its modes, what is typed on it, its size, and what the shell does with its jobs.

use std::io::Read;

use tokio::sync::mpsc;

/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;
/// Chunks that may wait: a paste is held back by the terminal, not kept in memory.
const WAITING: usize = 4;

/// Asks the terminal to mark what is pasted, so that a line end in it is none of the person's.
pub(super) const MARK_PASTES: &[u8] = b"\x1b[?2004h";
/// Ends that.
pub(super) const NO_MARKS: &[u8] = b"\x1b[?2004l";

/// What the terminal has to say, beside keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Ctrl-Z: the program is to stop.
    Stop,
    /// It goes on.
    Continue,
    /// The window has another size.
    Resize,
}

/// Keys pass through the program while this lives; the terminal's own modes come back when it is dropped.
pub(super) struct Modes {
    /// Keys come one by one, and the program shows what is typed. Otherwise the terminal edits the line.
    pub(super) raw: bool,
}

impl Modes {
    /// Takes the keys over, where `wanted` and where the terminal lets us.
    pub(super) fn enter(wanted: bool) -> Self {
        Self { raw: wanted && modes::enter() }
    }

    /// Gives the terminal back for the time that the program is stopped.
    pub(super) fn suspend(&self) {
        if self.raw {
            modes::restore();
        }
    }

    /// Takes it over again.
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

/// Gives the terminal back at an end that unwinds nothing.
pub fn restore() {
    modes::restore();
}

/// What is typed, as it comes.
pub(crate) type Typed = mpsc::Receiver<Vec<u8>>;

/// Reads what is typed, on a thread of its own. The stream ends with the terminal; a line editor of the
/// terminal's own ends it at Ctrl-D too.
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

/// Keys go to whoever else reads while this lives.
pub(super) struct Lent(());

/// Lends the terminal to another program: nothing more is read from it.
pub(super) fn lend() -> Lent {
    turns::rest(true);
    Lent(())
}

impl Drop for Lent {
    fn drop(&mut self) {
        turns::rest(false);
    }
}

pub(super) use changes::Changes;
pub(super) use modes::{size, stop};

/// Whose turn it is to read from the terminal.
#[cfg(unix)]
mod turns {
    use std::io::{PipeReader, PipeWriter, Read, Write};
    use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::stdio::stdin;

    /// Somebody else reads.
    static RESTING: Mutex<bool> = Mutex::new(false);
    static RESTED: Condvar = Condvar::new();
    /// Wakes a reader that waits for keys.
    static WAKER: OnceLock<PipeWriter> = OnceLock::new();

    /// The reader's side; without a pipe it reads at all times.
    pub(super) struct Turn(Option<PipeReader>);

    pub(super) fn take() -> Turn {
        let Ok((reader, writer)) = std::io::pipe() else { return Turn(None) };
        Turn(WAKER.set(writer).is_ok().then_some(reader))
    }

    impl Turn {
        /// Returns when there is something to read, and it is for us.
        pub(super) fn wait(&mut self) {
            let Some(waker) = &mut self.0 else { return };
            loop {
                let mut resting = RESTING.lock().unwrap_or_else(PoisonError::into_inner);
                while *resting {
                    resting = RESTED.wait(resting).unwrap_or_else(PoisonError::into_inner);
                }
                drop(resting);
                let stdin = stdin();
                let mut ends =
                    [PollFd::new(&stdin, PollFlags::IN), PollFd::new(waker, PollFlags::IN)];
                let polled = poll(&mut ends, None);
                let [keys, woken] = ends.map(|end| !end.revents().is_empty());
                match polled {
                    Ok(_) if woken => {
                        // One byte for each rest; none comes of a broken pipe.
                        if waker.read_exact(&mut [0]).is_err() {
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

    pub(super) fn rest(resting: bool) {
        *RESTING.lock().unwrap_or_else(PoisonError::into_inner) = resting;
        if !resting {
            RESTED.notify_all();
        } else if let Some(mut waker) = WAKER.get() {
            // A reader that is gone needs no rest.
            drop(waker.write_all(&[0]));
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

    pub(super) fn rest(_resting: bool) {}
}

#[cfg(unix)]
mod modes {
    use std::sync::{Mutex, PoisonError};

    use rustix::process::{Signal, getpgrp, getpid, getsid, kill_process};
    use rustix::stdio::{stdin, stdout};
    use rustix::termios::{
        LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
    };

    /// The modes as they were found; none while nothing is changed.
    static FOUND: Mutex<Option<Termios>> = Mutex::new(None);

    /// The character that switches a special character off (POSIX `_POSIX_VDISABLE`).
    const OFF: u8 = if cfg!(target_os = "linux") { 0 } else { 0xff };

    /// Keys come one by one and unseen; Ctrl-C and Ctrl-Z stay signals. False where that cannot be had.
    pub(super) fn enter() -> bool {
        let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(before) = tcgetattr(stdin()) else { return false };
        let mut modes = before.clone();
        modes.local_modes &= !(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        // A quit would leave the terminal as it is now.
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
            // A terminal that is gone has no modes.
            tcsetattr(stdin(), OptionalActions::Now, &before).unwrap_or_default();
        }
    }

    /// Prints a few bytes past everything that waits to be printed, as well as it goes.
    pub(super) fn print(bytes: &[u8]) {
        rustix::io::write(stdout(), bytes).unwrap_or_default();
    }

    /// Columns and rows, where the terminal tells them.
    pub(in super::super) fn size() -> Option<(u16, u16)> {
        let size = tcgetwinsize(stdout()).ok()?;
        (size.ws_col > 0).then_some((size.ws_col, size.ws_row))
    }

    /// Stops this process until the shell lets it go on. Without a shell above it nobody would: then it
    /// does not stop.
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

    /// Hears of changes from the moment it is made. Ctrl-Z does not stop the program by itself any more.
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

        /// The next change; never resolves when none can come.
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

/// A console edits its lines itself.
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
