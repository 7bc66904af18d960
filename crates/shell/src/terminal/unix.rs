//! Pseudo-terminals of Unix (pty(7)): Pollux holds the master, and the slave is standard input,
//! output, error and controlling terminal of the command.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::fs::{CWD, Mode, OFlags, fcntl_setfl, openat};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use tokio::io::unix::AsyncFd;

use super::{Modes, TerminalSize};

/// The master side of a pseudo-terminal.
#[derive(Debug)]
pub(crate) struct Terminal(AsyncFd<OwnedFd>);

impl Terminal {
    /// Creates a new terminal and makes it the standard streams of the command. Must be called
    /// inside a tokio runtime.
    ///
    /// # Errors
    /// Fails if the system provides no terminal: `/dev/ptmx` is missing, or there are too many
    /// terminals.
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

    /// Reads the available output of the programs, as much as fits in `buffer`. Returns 0 at the
    /// end, when no process has the terminal open any more. Cancel safe.
    pub(crate) async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        loop {
            let mut guard = self.0.readable().await?;
            // The system returns a few kilobytes at a time, so the loop reads until nothing is
            // left.
            while filled < buffer.len() {
                let rest = &mut buffer[filled..];
                let read = guard.try_io(|master| Ok(rustix::io::read(master, &mut *rest)?));
                match read {
                    Ok(Ok(length)) if length > 0 => filled += length,
                    // The bytes read so far are returned first; the end of the output is found
                    // again by the next call.
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

    /// Types some of these bytes and returns their number. Cancel safe.
    pub(crate) async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let mut guard = self.0.writable().await?;
            if let Ok(written) = guard.try_io(|master| Ok(rustix::io::write(master, bytes)?)) {
                return written;
            }
        }
    }

    /// Sets a new size of the terminal; its programs get SIGWINCH.
    pub(crate) fn resize(&self, size: TerminalSize) {
        // A terminal that is gone has no size.
        tcsetwinsize(&self.0, window(size)).ok();
    }

    /// Returns the current settings; `None` if they cannot be read.
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
    // SAFETY: the file stays open, under the same number, as long as the `OwnedFd` lives, which the
    // `AsyncFd` owns.
    unsafe { Ok(AsyncFd::register(master)?) }
}

/// Returns true for the error that Linux reports after the last slave was closed.
fn is_end(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::IO.raw_os_error())
}

fn window(size: TerminalSize) -> Winsize {
    Winsize { ws_row: size.rows(), ws_col: size.columns(), ws_xpixel: 0, ws_ypixel: 0 }
}
