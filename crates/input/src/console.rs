//! The terminal as an event loop uses it: what it prints, reads and hears, and its modes.

use std::time::Duration;

use futures::future::OptionFuture;
use pollux_protocol::QuestionReply;
use tokio::time::sleep_until;

use crate::keys::{KeyProtocol, KeySignal};
use crate::output::{Broken, Stdout};
use crate::terminal::{self, Change, Changes, MARK_PASTES, Modes, NO_MARKS, Typed, WindowSize};
use crate::view::{QuestionView, TerminalView};

/// Time limit for the last output to a terminal that no longer accepts data.
const FINAL_OUTPUT: Duration = Duration::from_secs(1);

/// Queries for the protocols of kitty and of xterm for keys with modifiers. A terminal that takes
/// the second for a look of the text forgets it with the last sequence.
const ASK_PROTOCOL: &[u8] = b"\x1b[?u\x1b[?4m\x1b[m";
/// Begin and end of the protocol of kitty, of which keys that are ambiguous otherwise are wanted.
const BEGIN_KITTY: &[u8] = b"\x1b[>1u";
const END_KITTY: &[u8] = b"\x1b[<u";
/// Begin and end of that of xterm.
const BEGIN_OTHER_KEYS: &[u8] = b"\x1b[>4;2m";
const END_OTHER_KEYS: &[u8] = b"\x1b[>4m";

fn begin_protocol(protocol: KeyProtocol) -> &'static [u8] {
    match protocol {
        KeyProtocol::Kitty => BEGIN_KITTY,
        KeyProtocol::OtherKeys => BEGIN_OTHER_KEYS,
    }
}

fn end_protocol(protocol: KeyProtocol) -> &'static [u8] {
    match protocol {
        KeyProtocol::Kitty => END_KITTY,
        KeyProtocol::OtherKeys => END_OTHER_KEYS,
    }
}

/// The terminal while a frontend uses it.
pub(crate) struct Console {
    pub(crate) typed: Typed,
    pub(crate) modes: Modes,
    pub(crate) changes: Changes,
    pub(crate) out: Stdout,
    /// True while some output has not been sent to the terminal.
    pub(crate) is_behind: bool,
    /// True after the program has stopped itself; the expected continue signal is then ignored.
    pub(crate) is_stopped: bool,
    /// Size of the terminal that the frontend knows.
    pub(crate) size: WindowSize,
    /// Protocol by which the terminal reports keys with modifiers, once it has said to know one.
    protocol: Option<KeyProtocol>,
    /// True if the protocol was begun for the terminal's own text. The whole screen has its own
    /// state of that of kitty.
    is_begun_in_text: bool,
}

impl Console {
    /// Takes the terminal, in raw mode if that is `wanted`.
    ///
    /// # Errors
    /// Fails if the system does not report terminal events.
    pub(crate) fn open(typed: Option<Typed>, wanted: bool) -> std::io::Result<Self> {
        Ok(Self {
            changes: Changes::listen()?,
            // The modes are repaired before the first read.
            modes: Modes::enter(wanted),
            typed: typed.unwrap_or_else(terminal::read),
            out: Stdout::default(),
            is_behind: false,
            is_stopped: false,
            size: terminal::size(),
            protocol: None,
            is_begun_in_text: false,
        })
    }

    /// Switches on the marks of pasted text.
    pub(crate) fn begin(&mut self) {
        if self.modes.raw {
            self.out.push(MARK_PASTES);
        }
    }

    /// Asks the terminal which protocol for keys it knows. Its answer comes among the keys, late or
    /// never, and nothing waits for it.
    pub(crate) fn ask_protocol(&mut self) {
        if self.modes.raw {
            self.out.push(ASK_PROTOCOL);
        }
    }

    /// Switches on the protocol that the terminal has said to know.
    fn use_protocol(&mut self, protocol: KeyProtocol) {
        // A terminal that knows both uses that of kitty.
        if self.protocol.is_none() && self.modes.raw {
            self.protocol = Some(protocol);
            self.is_begun_in_text = protocol != KeyProtocol::Kitty || !terminal::is_full_screen();
            self.print(begin_protocol(protocol));
            terminal::set_protocol(true);
        }
    }

    /// Takes what keys have asked for: a signal, or a protocol.
    pub(crate) fn take_reports<V: TerminalView + ?Sized>(&mut self, view: &mut V) {
        if let Some(protocol) = view.take_protocol() {
            self.use_protocol(protocol);
        }
        match view.take_signal() {
            Some(KeySignal::Interrupt) => terminal::interrupt(),
            Some(KeySignal::Suspend) => terminal::suspend(),
            None => {}
        }
    }

    /// Asks a question; returns `None` if the terminal is closed.
    pub(crate) async fn ask(&mut self, view: &mut dyn QuestionView) -> Option<QuestionReply> {
        self.begin();
        // Text that was typed before the question does not answer it.
        while self.typed.try_recv().is_ok() {}
        loop {
            if let Some(reply) = view.reply() {
                return Some(reply);
            }
            self.show(view);
            let (escape_end, next_tick) = (view.escape_end(), view.next_tick());
            tokio::select! {
                biased;
                printed = self.out.send(), if self.is_behind => self.printed(printed)?,
                change = self.changes.next() => self.change(change, view).await,
                typed = self.typed.recv(), if !self.is_behind => view.typed(&typed?),
                Some(()) = OptionFuture::from(escape_end.map(|end| sleep_until(end.into()))),
                    if !self.is_behind => view.escape_ended(),
                Some(()) = OptionFuture::from(next_tick.map(|at| sleep_until(at.into()))),
                    if !self.is_behind => view.tick(),
            }
        }
    }

    /// Handles the end of an output; returns `None` if the terminal is closed.
    pub(crate) fn printed(&mut self, printed: Result<(), Broken>) -> Option<()> {
        self.is_behind = false;
        printed.ok()
    }

    /// Takes the output for the current state. The size is checked before, because the signal about
    /// a new one may come later, and an output for the wrong size would be in the wrong place.
    /// Returns true if the size is new.
    pub(crate) fn show<V: TerminalView + ?Sized>(&mut self, view: &mut V) -> bool {
        let size = terminal::size();
        let is_new = size != self.size;
        if is_new {
            self.size = size;
            view.resize(size);
        }
        let was_full_screen = terminal::is_full_screen();
        let bytes = view.show();
        let is_full_screen = view.is_full_screen();
        terminal::set_full_screen(is_full_screen);
        // The whole screen has its own state of the protocol.
        let kitty = self.protocol.filter(|protocol| *protocol == KeyProtocol::Kitty);
        if was_full_screen && !is_full_screen && kitty.is_some() {
            self.print(END_KITTY);
        }
        self.print(&bytes);
        if is_full_screen && !was_full_screen && kitty.is_some() {
            self.print(BEGIN_KITTY);
        }
        is_new
    }

    /// Handles an event of the terminal.
    pub(crate) async fn change<V: TerminalView + ?Sized>(&mut self, change: Change, view: &mut V) {
        match change {
            Change::Stop => {
                self.give_back(view).await;
                self.is_stopped = terminal::stop();
                self.take_over(view);
            }
            // The continue signal after the program's own stop is already handled.
            Change::Continue if std::mem::take(&mut self.is_stopped) => {}
            Change::Continue => self.take_over(view),
            // The size is checked before the next output.
            Change::Resize => {}
        }
    }

    /// Prints all pending output, and restores the original modes of the terminal.
    pub(crate) async fn give_back<V: TerminalView + ?Sized>(&mut self, view: &mut V) {
        let bytes = view.leave();
        self.finish(&bytes).await;
    }

    /// Enters raw mode again, and shows the state again.
    pub(crate) fn take_over<V: TerminalView + ?Sized>(&mut self, view: &mut V) {
        self.modes.resume();
        self.begin();
        if let Some(protocol) = self.protocol.take() {
            self.use_protocol(protocol);
        }
        view.take_over(terminal::size());
    }

    /// Prints bytes as soon as the terminal accepts them.
    pub(crate) fn print(&mut self, bytes: &[u8]) {
        self.is_behind |= !bytes.is_empty();
        self.out.push(bytes);
    }

    /// Prints the last bytes, and restores the original modes of the terminal.
    pub(crate) async fn finish(&mut self, bytes: &[u8]) {
        if self.modes.raw {
            self.out.push(NO_MARKS);
        }
        if terminal::is_full_screen() && self.protocol == Some(KeyProtocol::Kitty) {
            self.out.push(END_KITTY);
        }
        self.out.push(bytes);
        if let Some(protocol) = self.protocol {
            if self.is_begun_in_text {
                self.out.push(end_protocol(protocol));
            }
            terminal::set_protocol(false);
        }
        // The bytes of a view leave it.
        terminal::set_full_screen(false);
        // A terminal that is closed is detected at the next output.
        drop(tokio::time::timeout(FINAL_OUTPUT, self.out.finish()).await);
        self.modes.suspend();
    }
}
