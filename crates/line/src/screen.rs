//! The terminal during a conversation: waits for signals, keys, files and events, and prints the
//! page.

use std::time::Duration;

use futures::future::OptionFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use pollux_input::{EditProposal, Workbench};
use pollux_protocol::{Op, Part, SessionFailure, SessionsError};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::sleep_until;

use crate::conversation::{Completion, Conversation, Work};
use crate::end::ConversationEnd;
use crate::output::Stdout;
use crate::page::Page;
use crate::terminal::{self, Change, Changes, MARK_PASTES, Modes, NO_MARKS, Typed};

/// Time limit for the last output to a terminal that no longer accepts data.
const FINAL_OUTPUT: Duration = Duration::from_secs(1);
/// Number of columns of a terminal that does not report its width.
const COLUMNS: u16 = 80;

/// A signal to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalSignal {
    /// Ctrl-C: stops the work, or clears the line.
    Interrupt,
    /// Request to end the program with this exit code.
    End(i32),
}

/// Stream of signals.
pub(crate) type Signals<'a> = BoxStream<'a, TerminalSignal>;

/// Returns the width of the terminal, in cells.
pub fn columns() -> usize {
    terminal::size().map_or(COLUMNS, |(columns, _)| columns).into()
}

/// Sets the size of the page to that of the terminal.
pub(crate) fn resize(page: &mut Page) {
    page.resize(columns(), terminal::size().map(|(_, rows)| rows.into()));
}

/// The terminal, as the event loop uses it.
pub(crate) struct Screen {
    out: Stdout,
    typed: Typed,
    modes: Modes,
    changes: Changes,
    bench: Workbench,
    /// Messages that belong to no prompt.
    messages: UnboundedReceiver<String>,
    /// True while some output of the page has not been sent to the terminal.
    behind: bool,
    /// True after the program has stopped itself; the expected continue signal is then ignored.
    stopped: bool,
}

impl Screen {
    pub(crate) fn new(
        typed: Typed,
        modes: Modes,
        changes: Changes,
        bench: Workbench,
        messages: UnboundedReceiver<String>,
    ) -> Self {
        Self {
            out: Stdout::default(),
            typed,
            modes,
            changes,
            bench,
            messages,
            behind: false,
            stopped: false,
        }
    }

    /// Returns true if the terminal itself shows the typed text.
    pub(crate) fn is_echoing(&self) -> bool {
        !self.modes.raw
    }

    /// Runs the event loop until the conversation ends.
    pub(crate) async fn talk(
        &mut self,
        talk: &mut Conversation<'_>,
        signals: &mut Signals<'_>,
    ) -> ConversationEnd {
        let mut events = talk.events().fuse();
        let mut listening = true;
        if self.modes.raw {
            self.out.push(MARK_PASTES);
        }
        tell_size(talk);
        loop {
            if let Some(end) = talk.over {
                return end;
            }
            if let Some(proposal) = talk.to_edit.take() {
                match self.edit(&proposal, talk, signals).await {
                    Ok(edited) => talk.edited(edited),
                    Err(end) => return end,
                }
            }
            talk.show();
            let bytes = talk.page.take();
            self.behind |= !bytes.is_empty();
            self.out.push(&bytes);
            // While the terminal accepts no output, the loop handles only signals.
            tokio::select! {
                biased;
                Some(signal) = signals.next() => match signal {
                    TerminalSignal::Interrupt => talk.interrupt(),
                    TerminalSignal::End(code) => return ConversationEnd::Signalled(code),
                },
                printed = self.out.send(), if self.behind => match printed {
                    Ok(()) => self.behind = false,
                    Err(_) => return ConversationEnd::HungUp,
                },
                change = self.changes.next() => self.change(change, talk).await,
                typed = self.typed.recv(), if listening && !self.behind => match typed {
                    Some(typed) => talk.typed(&typed.bytes, typed.mode),
                    None if !terminal::is_open() => return ConversationEnd::HungUp,
                    // Ctrl-D in canonical mode.
                    None => {
                        listening = false;
                        talk.end_of_input();
                    }
                },
                // Comes after the typed bytes, so that a busy program does not cut a sequence.
                Some(()) = OptionFuture::from(talk.escape_end.map(|end| sleep_until(end.into()))),
                    if !self.behind => talk.escape_ended(),
                Some(()) = OptionFuture::from(talk.next_tick().map(|at| sleep_until(at.into()))),
                    if !self.behind => talk.tick(),
                Some(text) = self.messages.recv(), if !self.behind => talk.page.line(&text),
                Some(lines) = OptionFuture::from(talk.completion.as_mut().map(Completion::lines)),
                    if !self.behind => talk.completed(&lines),
                parts = prepared(&mut talk.work), if !self.behind => talk.prepared(parts),
                event = events.next(), if !self.behind => match event {
                    None => talk.agent_gone(),
                    Some(event) => {
                        talk.event(&event);
                        // Events that are already available are printed in one write.
                        while let Some(Some(event)) = events.next().now_or_never() {
                            talk.event(&event);
                        }
                    }
                },
            }
        }
    }

    async fn change(&mut self, change: Change, talk: &mut Conversation<'_>) {
        match change {
            Change::Stop => {
                self.give_back(&mut talk.page).await;
                self.stopped = terminal::stop();
                self.take_over(talk);
            }
            // The continue signal after the program's own stop is already handled.
            Change::Continue if std::mem::take(&mut self.stopped) => {}
            Change::Continue => self.take_over(talk),
            Change::Resize => {
                resize(&mut talk.page);
                tell_size(talk);
            }
        }
    }

    /// Lends the terminal to the editor; fails if a signal ends the program in the meantime.
    async fn edit(
        &mut self,
        proposal: &EditProposal,
        talk: &mut Conversation<'_>,
        signals: &mut Signals<'_>,
    ) -> Result<Result<Option<String>, String>, ConversationEnd> {
        self.give_back(&mut talk.page).await;
        let lent = terminal::lend();
        let bench = self.bench.clone();
        let editing = bench.edit(proposal);
        tokio::pin!(editing);
        let edited = loop {
            tokio::select! {
                biased;
                edited = &mut editing => break edited,
                Some(signal) = signals.next() => match signal {
                    // Ctrl-C belongs to the editor.
                    TerminalSignal::Interrupt => {}
                    TerminalSignal::End(code) => return Err(ConversationEnd::Signalled(code)),
                },
                change = self.changes.next() => match change {
                    Change::Stop => self.stopped = terminal::stop(),
                    Change::Continue => self.stopped = false,
                    Change::Resize => {}
                },
            }
        };
        drop(lent);
        self.take_over(talk);
        Ok(edited)
    }

    /// Prints all pending output, and restores the original modes of the terminal.
    async fn give_back(&mut self, page: &mut Page) {
        page.keep_row();
        if self.modes.raw {
            self.out.push(NO_MARKS);
        }
        self.out.push(&page.take());
        // A terminal that is closed is detected at the next output.
        drop(tokio::time::timeout(FINAL_OUTPUT, self.out.finish()).await);
        self.modes.suspend();
    }

    fn take_over(&mut self, talk: &mut Conversation<'_>) {
        self.modes.resume();
        if self.modes.raw {
            self.out.push(MARK_PASTES);
        }
        resize(&mut talk.page);
        talk.page.restart_input_line();
    }

    /// Prints the rest of the page, and restores the terminal.
    pub(crate) async fn close(mut self, page: &mut Page) {
        self.give_back(page).await;
    }
}

/// Reports the size of the terminal, which programs with a pseudo-terminal inherit.
fn tell_size(talk: &Conversation<'_>) {
    if let Some((columns, rows)) = terminal::size() {
        talk.wish(Op::Resize { columns, rows });
    }
}

/// Returns the parts of the prompt that is being prepared; waits forever if there is none.
async fn prepared(work: &mut Work) -> Result<Vec<Part>, SessionsError> {
    match work {
        Work::Preparing { task, .. } => {
            task.await.unwrap_or_else(|error| Err(SessionFailure::general(&error).into()))
        }
        Work::Idle | Work::Running(_) => std::future::pending().await,
    }
}
