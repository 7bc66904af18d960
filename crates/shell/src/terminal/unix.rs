//! Pseudo-terminals of Unix (pty(7)): we hold the master, the command has the slave as standard
//! input, output, error and controlling terminal.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::fs::{CWD, Mode, OFlags, fcntl_setfl, openat};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use tokio::io::unix::AsyncFd;

use super::{Modes, TerminalSize};

/// The master's side of a pseudo-terminal.
#[derive(Debug)]
pub(crate) struct Terminal(AsyncFd<OwnedFd>);

impl Terminal {
    /// Makes a new terminal and gives it to the command as its standard streams. Must be called
    /// inside a tokio runtime.
    ///
    /// # Errors
    /// When the system gives none: there is no `/dev/ptmx`, or there are too many.
    pub(crate) fn attach(command: &mut Command, size: TerminalSize) -> io::Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = openat(CWD, name.as_c_str(), flags, Mode::empty())?;
        tcsetwinsize(&master, window(size))?;
        fcntl_setfl(&master, OFlags::RDWR | OFlags::NONBLOCK)?;
        let terminal = Self(watched(master)?);
        command.stdin(Stdio::from(slave.try_clone()?));
        command.stdout(Stdio::from(slave.try_clone()?));
        command.stderr(Stdio::from(slave));
        Ok(terminal)
    }

    /// Reads what the programs have printed, as much as there is and `buffer` holds; 0 at the end,
    /// when nobody has the terminal open any more. Safe to drop.
    pub(crate) async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        loop {
            let mut guard = self.0.readable().await?;
            // The system hands out a few kilobytes at a time: one call takes all that is there.
            while filled < buffer.len() {
                let rest = &mut buffer[filled..];
                let read = guard.try_io(|master| Ok(rustix::io::read(master, &mut *rest)?));
                match read {
                    Ok(Ok(length)) if length > 0 => filled += length,
                    // What was read before an end is told first; the end is still there the next
                    // time.
                    Ok(_) if filled > 0 => return Ok(filled),
                    Ok(Ok(_)) => return Ok(0),
                    Ok(Err(error)) if is_end(&error) => return Ok(0),
                    Ok(Err(error)) => return Err(error),
                    Err(_would_block) => break,
                }
            }
            if filled > 0 {
                return Ok(filled);
            }
        }
    }

    /// Types some of these bytes, and says how many. Safe to drop.
    pub(crate) async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let mut guard = self.0.writable().await?;
            if let Ok(written) = guard.try_io(|master| Ok(rustix::io::write(master, bytes)?)) {
                return written;
            }
        }
    }

    /// Gives the terminal a new size; its programs are told by SIGWINCH.
    pub(crate) fn resize(&self, size: TerminalSize) {
        // A terminal that is gone has no size.
        tcsetwinsize(&self.0, window(size)).ok();
    }

    /// How it is set at the moment; none when that cannot be told.
    pub(crate) fn modes(&self) -> Option<Modes> {
        let local = tcgetattr(&self.0).ok()?.local_modes;
        Some(Modes {
            echo: local.contains(LocalModes::ECHO),
            lines: local.contains(LocalModes::ICANON),
        })
    }
}

#[expect(unsafe_code, reason = "tokio has no safe call that takes any open file")]
fn watched(master: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the file stays open, under the same number, for as long as the `OwnedFd` lives, which
    // the `AsyncFd` owns.
    unsafe { Ok(AsyncFd::register(master)?) }
}

/// Linux says so when the last slave is closed.
fn is_end(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::IO.raw_os_error())
}

fn window(size: TerminalSize) -> Winsize {
    Winsize { ws_row: size.rows(), ws_col: size.columns(), ws_xpixel: 0, ws_ypixel: 0 }
}
