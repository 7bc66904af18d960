//! Modes of the terminal on Unix: raw mode, what is typed in it, and the job control of the shell.

#![expect(clippy::disallowed_methods, reason = "the terminal of a frontend")]

use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getpgrp, getpid, getsid, kill_process, kill_process_group};
use rustix::stdio::{stderr, stdin, stdout};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize,
    tcsetattr,
};

use super::{InputMode, TypedBytes};

/// State of the terminal. Its lock is held for a change of the modes and for a read, so that
/// the mode of all bytes that are read is known.
static STATE: Mutex<State> = Mutex::new(State { original: None, typed_before: 0 });

struct State {
    /// Original modes; `None` while they are unchanged.
    original: Option<Termios>,
    /// Number of bytes that are not read yet and were typed before raw mode.
    typed_before: usize,
}

/// True while the modes are changed. Can be read while the state is locked.
static IS_RAW: AtomicBool = AtomicBool::new(false);

/// Character that disables a special character (POSIX `_POSIX_VDISABLE`).
const OFF: u8 = if cfg!(target_os = "linux") { 0 } else { 0xff };
/// The usual quit character, Ctrl-\.
const QUIT: u8 = 0x1c;
/// Ctrl-D, the usual end of input.
const END_OF_INPUT: u8 = 4;

/// Modes in which the terminal edits a line itself.
const EDITING: LocalModes = LocalModes::ICANON.union(LocalModes::ECHO).union(LocalModes::IEXTEN);

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes keys arrive one by one and without echo; Ctrl-C and Ctrl-Z remain signals. Returns
/// false if the terminal does not support this.
pub(super) fn enter() -> bool {
    let mut state = state();
    let Ok(before) = tcgetattr(stdin()) else { return false };
    let mut modes = before.clone();
    modes.local_modes &= !EDITING;
    // The Enter key and Ctrl-J stay different keys.
    modes.input_modes &= !InputModes::ICRNL;
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    // The quit character would end the program without restoring the modes.
    modes.special_codes[SpecialCodeIndex::VQUIT] = OFF;
    if tcsetattr(stdin(), OptionalActions::Now, &modes).is_err() {
        return false;
    }
    if before.local_modes.contains(LocalModes::ICANON) {
        // The number includes an unfinished line. It is read after the change because a line
        // that is typed between the two calls must not be missed.
        let waiting = rustix::io::ioctl_fionread(stdin()).unwrap_or(0);
        state.typed_before = usize::try_from(waiting).unwrap_or(usize::MAX);
    }
    state.original.get_or_insert(before);
    IS_RAW.store(true, Ordering::Relaxed);
    true
}

/// Restores the modes of a terminal that an earlier Pollux left in raw mode because it was killed;
/// returns false for every other terminal. Programs that make a terminal raw themselves also switch
/// off its signals, and leave its quit character.
pub(super) fn repair() -> bool {
    if is_raw() {
        return false;
    }
    let Ok(mut modes) = tcgetattr(stdin()) else { return false };
    let is_left = !modes.local_modes.intersects(EDITING)
        && modes.local_modes.contains(LocalModes::ISIG)
        && !modes.input_modes.contains(InputModes::ICRNL)
        && modes.special_codes[SpecialCodeIndex::VQUIT] == OFF;
    if !is_left {
        return false;
    }
    modes.local_modes |= EDITING;
    modes.input_modes |= InputModes::ICRNL;
    modes.special_codes[SpecialCodeIndex::VQUIT] = QUIT;
    tcsetattr(stdin(), OptionalActions::Now, &modes).is_ok()
}

/// Returns true in raw mode.
pub(super) fn is_raw() -> bool {
    IS_RAW.load(Ordering::Relaxed)
}

pub(super) fn restore() {
    IS_RAW.store(false, Ordering::Relaxed);
    if let Some(before) = state().original.take() {
        // A terminal that is closed has no modes to restore.
        tcsetattr(stdin(), OptionalActions::Now, &before).unwrap_or_default();
    }
}

/// Reads bytes that were typed in one mode. Fails with `Interrupted` if nothing can be read
/// without waiting, for example because the modes have just changed.
pub(super) fn read(buffer: &mut [u8]) -> io::Result<TypedBytes> {
    let mut state = state();
    let stdin = stdin();
    if poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&Timespec::default()))? == 0 {
        return Err(ErrorKind::Interrupted.into());
    }
    let is_raw = state.original.is_some();
    let before = if is_raw { state.typed_before.min(buffer.len()) } else { 0 };
    let limit = if before > 0 { before } else { buffer.len() };
    let count = rustix::io::read(stdin, &mut buffer[..limit])?;
    state.typed_before = state.typed_before.saturating_sub(count);
    let (bytes, at) = (&buffer[..count], Instant::now());
    Ok(match (is_raw, before) {
        (true, 0) => TypedBytes { bytes: bytes.to_vec(), mode: InputMode::Raw, at },
        (true, _) => TypedBytes { bytes: typed_ahead(bytes), mode: InputMode::Canonical, at },
        (false, _) => TypedBytes { bytes: bytes.to_vec(), mode: InputMode::Canonical, at },
    })
}

/// Returns what was typed in canonical mode and is read in raw mode. Linux stores Ctrl-D, which
/// ends an unfinished line or the input, as a disabled character.
fn typed_ahead(bytes: &[u8]) -> Vec<u8> {
    let mut typed = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        if byte != OFF || !cfg!(target_os = "linux") {
            typed.push(byte);
            continue;
        }
        if typed.last().is_some_and(|last| *last != b'\n') {
            typed.push(b'\n');
        }
        typed.push(END_OF_INPUT);
    }
    typed
}

/// Returns true unless the terminal was closed.
pub(in super::super) fn is_open() -> bool {
    tcgetattr(stdin()).is_ok()
}

/// Prints a few bytes immediately, ahead of the queued output. Errors are ignored.
pub(super) fn print(bytes: &[u8]) {
    rustix::io::write(stdout(), bytes).unwrap_or_default();
}

/// Prints a message to standard error. Errors are ignored.
pub(super) fn print_error(bytes: &[u8]) {
    rustix::io::write(stderr(), bytes).unwrap_or_default();
}

/// Returns columns and rows, if the terminal reports them.
pub(in super::super) fn size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(stdout()).or_else(|_| tcgetwinsize(stderr())).ok()?;
    (size.ws_col > 0).then_some((size.ws_col, size.ws_row))
}

/// Stops this process until the shell continues it; returns false if it did not stop. Without a
/// shell nobody would continue the process, so it does not stop.
pub(in super::super) fn stop() -> bool {
    let alone = getsid(None).is_ok_and(|session| session == getpgrp());
    !alone && kill_process(getpid(), Signal::STOP).is_ok()
}

/// Sends the signal of Ctrl-C to the processes of the terminal, as the terminal itself does if it
/// does not report the key as a sequence.
pub(in super::super) fn interrupt() {
    kill_process_group(getpgrp(), Signal::INT).unwrap_or_default();
}

/// Sends the signal of Ctrl-Z likewise.
pub(in super::super) fn suspend() {
    kill_process_group(getpgrp(), Signal::TSTP).unwrap_or_default();
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_ctrl_d_that_was_typed_ahead_ends_a_line_and_the_input() {
        for (queued, typed) in [
            (&b"one\ntwo\n"[..], &b"one\ntwo\n"[..]),
            (b"one\n\0", b"one\n\x04"),
            (b"one\0", b"one\n\x04"),
            (b"\0", b"\x04"),
        ] {
            assert_eq!(typed_ahead(queued), typed);
        }
    }
}
