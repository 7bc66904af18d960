//! Systems without a usable pseudo-terminal, where commands run over plain pipes.

use std::convert::Infallible;
use std::io;
use std::process::Command;

use super::{Modes, TerminalSize};

/// A terminal that does not exist on this system.
#[derive(Debug)]
pub(crate) struct Terminal(Infallible);

impl Terminal {
    /// Returns an error, because there are no terminals.
    ///
    /// # Errors
    /// Always fails.
    pub(crate) fn attach(_command: &mut Command, _size: TerminalSize) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) async fn read(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }

    pub(crate) async fn write(&self, _bytes: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    pub(crate) fn resize(&self, _size: TerminalSize) {
        match self.0 {}
    }

    pub(crate) fn modes(&self) -> Option<Modes> {
        match self.0 {}
    }
}
