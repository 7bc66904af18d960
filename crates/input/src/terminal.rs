//! The terminal: its modes, its input, its size, and the job control of the shell.

#![expect(clippy::disallowed_methods, reason = "the terminal of a frontend")]

use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tokio::sync::mpsc;

use crate::keys::InputMode;

#[cfg(unix)]
mod modes;
mod panics;

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

/// Sequence that switches off reports of the focus, which a frontend may have switched on.
const NO_FOCUS_REPORTS: &[u8] = b"\x1b[?1004l";
/// Sequences that switch off reports of the mouse, which a frontend may have switched on for the
/// whole screen.
const NO_MOUSE_REPORTS: &[u8] = b"\x1b[?1006l\x1b[?1000l";
/// Sequence that shows the terminal's own text again, with the cursor where it was.
const LEAVE_FULL_SCREEN: &[u8] = b"\x1b[?1049l";
/// The same without a move of the cursor, which is harmless if the terminal shows its own text.
const END_FULL_SCREEN: &[u8] = b"\x1b[?1047l";

/// Sequences that end both protocols for keys with modifiers. They are harmless for a terminal that
/// knows none.
const END_PROTOCOLS: &[u8] = b"\x1b[<u\x1b[>4m";

/// True while a frontend uses the whole screen, which hides the terminal's own text.
static IS_FULL_SCREEN: AtomicBool = AtomicBool::new(false);
/// True while the terminal reports keys by a protocol.
static HAS_PROTOCOL: AtomicBool = AtomicBool::new(false);

/// Sequence that erases the row of the cursor and all rows below.
const ERASE_INPUT: &[u8] = b"\r\x1b[J";
/// Sequences that end what a killed program may have begun: a synchronised update, and the look of
/// a text.
const END_UPDATE: &[u8] = b"\x1b[?2026l\x1b[0m";

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
        repair();
        let raw = wanted && modes::enter();
        if raw {
            panics::hold();
        }
        Self { raw }
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
        leave_full_screen();
        self.suspend();
        if self.raw && std::thread::panicking() {
            modes::print(NO_MARKS);
            modes::print(NO_FOCUS_REPORTS);
            modes::print(ERASE_INPUT);
        }
        panics::print();
    }
}

/// Repairs a terminal that an earlier Pollux left in raw mode because it was killed.
pub(super) fn repair() {
    if modes::repair() {
        modes::print(NO_MARKS);
        modes::print(NO_FOCUS_REPORTS);
        modes::print(NO_MOUSE_REPORTS);
        modes::print(END_UPDATE);
        modes::print(END_PROTOCOLS);
        modes::print(END_FULL_SCREEN);
        modes::print(END_PROTOCOLS);
    }
}

/// Takes the messages of panics since raw mode began.
pub(super) fn panic_messages() -> Vec<String> {
    panics::take()
}

/// Records whether a frontend uses the whole screen.
pub(super) fn set_full_screen(is_full_screen: bool) {
    IS_FULL_SCREEN.store(is_full_screen, Ordering::Relaxed);
}

/// Returns true while a frontend uses the whole screen.
pub(super) fn is_full_screen() -> bool {
    IS_FULL_SCREEN.load(Ordering::Relaxed)
}

/// Records whether the terminal reports keys by a protocol.
pub(super) fn set_protocol(has_protocol: bool) {
    HAS_PROTOCOL.store(has_protocol, Ordering::Relaxed);
}

/// Shows the terminal's own text if a frontend that ends now has hidden it, and ends the protocol
/// for keys.
fn leave_full_screen() {
    let has_protocol = HAS_PROTOCOL.swap(false, Ordering::Relaxed);
    if IS_FULL_SCREEN.swap(false, Ordering::Relaxed) {
        if has_protocol {
            modes::print(END_PROTOCOLS);
        }
        modes::print(NO_MOUSE_REPORTS);
        modes::print(LEAVE_FULL_SCREEN);
    }
    if has_protocol {
        modes::print(END_PROTOCOLS);
    }
}

/// Restores the original modes at an exit that runs no destructors.
pub fn restore() {
    leave_full_screen();
    modes::restore();
}

/// Bytes that were typed, with the mode of the terminal at that time.
pub struct TypedBytes {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Mode of the terminal.
    pub mode: InputMode,
    /// Time at which they were read.
    pub at: Instant,
}

/// Chunks of typed input.
pub(crate) type Typed = mpsc::Receiver<TypedBytes>;

/// Reads the input on a thread of its own. The stream ends when the terminal is closed, and at
/// Ctrl-D in canonical mode.
pub(super) fn read() -> Typed {
    let (sender, receiver) = mpsc::channel(WAITING);
    let mut turn = turns::take();
    std::thread::spawn(move || {
        let mut buffer = vec![0; CHUNK];
        loop {
            turn.wait();
            match modes::read(&mut buffer) {
                Ok(typed) if typed.bytes.is_empty() => return,
                Ok(typed) => {
                    if sender.blocking_send(typed).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
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
pub(super) use modes::{interrupt, is_open, stop, suspend};

/// Number of columns of a terminal that does not report its width.
const COLUMNS: u16 = 80;

/// Size of a terminal, in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowSize {
    /// Number of columns; 80 if the terminal does not report it.
    pub columns: u16,
    /// Number of rows, if the terminal reports it.
    pub rows: Option<u16>,
}

/// Returns the present size of the terminal.
pub(crate) fn size() -> WindowSize {
    modes::size().map_or(WindowSize { columns: COLUMNS, rows: None }, |(columns, rows)| {
        WindowSize { columns, rows: (rows > 0).then_some(rows) }
    })
}

/// Returns the width of the terminal, in cells.
pub fn columns() -> usize {
    size().columns.into()
}

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
            let stdin = stdin();
            let Some(changes) = &mut self.0 else {
                // An error is reported by the read.
                poll(&mut [PollFd::new(&stdin, PollFlags::IN)], None).unwrap_or_default();
                return;
            };
            loop {
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
    use std::io::{self, Read};
    use std::time::Instant;

    use super::{InputMode, TypedBytes};

    pub(super) fn enter() -> bool {
        false
    }

    pub(super) fn repair() -> bool {
        false
    }

    pub(super) fn restore() {}

    pub(super) fn is_raw() -> bool {
        false
    }

    pub(super) fn read(buffer: &mut [u8]) -> io::Result<TypedBytes> {
        let count = io::stdin().read(buffer)?;
        let (bytes, at) = (buffer[..count].to_vec(), Instant::now());
        Ok(TypedBytes { bytes, mode: InputMode::Canonical, at })
    }

    pub(in super::super) fn is_open() -> bool {
        true
    }

    pub(super) fn print(_bytes: &[u8]) {}

    pub(super) fn print_error(_bytes: &[u8]) {}

    pub(in super::super) fn size() -> Option<(u16, u16)> {
        None
    }

    pub(in super::super) fn stop() -> bool {
        false
    }

    pub(in super::super) fn interrupt() {}

    pub(in super::super) fn suspend() {}
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

#[cfg(test)]
mod tests;
