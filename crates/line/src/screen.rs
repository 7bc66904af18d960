//! The terminal while a conversation goes on: it waits for signals, keys, files and events, and prints the page.

use std::time::Duration;

use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use pollux_protocol::{Op, Part, SessionsError};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::conversation::{Completion, Conversation, Work};
use crate::end::ConversationEnd;
use crate::external_editor::{Proposal, Workbench};
use crate::output::Stdout;
use crate::page::Page;
use crate::terminal::{self, Change, Changes, MARK_PASTES, Modes, NO_MARKS, Typed};

/// Time for the last output on a terminal that has stopped.
const FINAL_OUTPUT: Duration = Duration::from_secs(1);
/// Columns of a terminal that does not report them.
const COLUMNS: u16 = 80;

/// A signal to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalSignal {
    /// Ctrl-C: stops the work, or clears the line.
    Interrupt,
    /// The program is to end, with this exit code.
    End(i32),
}

/// Signals as they come.
pub(crate) type Signals<'a> = BoxStream<'a, TerminalSignal>;

/// Width of the terminal, in cells.
pub(crate) fn columns() -> usize {
    terminal::size().map_or(COLUMNS, |(columns, _)| columns).into()
}

/// The terminal as the loop sees it.
pub(crate) struct Screen {
    out: Stdout,
    typed: Typed,
    modes: Modes,
    changes: Changes,
    bench: Workbench,
    /// Messages that belong to no prompt.
    messages: UnboundedReceiver<String>,
    /// Not everything that is on the page has been handed over.
    behind: bool,
    /// It has stopped itself, and is told soon that it goes on.
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

    /// Returns true where the terminal shows by itself what is typed.
    pub(crate) fn is_echoing(&self) -> bool {
        !self.modes.raw
    }

    /// The loop: waits for whatever comes first, until it is over.
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
            // While the terminal takes nothing, only signals are heard.
            tokio::select! {
                biased;
                signal = next(signals) => match signal {
                    TerminalSignal::Interrupt => talk.interrupt(),
                    TerminalSignal::End(code) => return ConversationEnd::Signalled(code),
                },
                printed = self.out.send(), if self.behind => match printed {
                    Ok(()) => self.behind = false,
                    Err(_) => return ConversationEnd::HungUp,
                },
                change = self.changes.next() => self.change(change, talk).await,
                bytes = self.typed.recv(), if listening && !self.behind => match bytes {
                    Some(bytes) => talk.typed(&bytes),
                    None if self.modes.raw => return ConversationEnd::HungUp,
                    None => {
                        listening = false;
                        talk.end_of_input();
                    }
                },
                Some(text) = self.messages.recv(), if !self.behind => talk.page.line(&text),
                lines = completed(&mut talk.completion), if !self.behind => talk.completed(&lines),
                parts = prepared(&mut talk.work), if !self.behind => talk.prepared(parts),
                event = events.next(), if !self.behind => match event {
                    None => talk.agent_gone(),
                    Some(event) => {
                        talk.event(&event);
                        // What is there already goes out in one write.
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
                self.give_back(talk).await;
                self.stopped = terminal::stop();
                self.take_over(talk);
            }
            // That of our own stop is known.
            Change::Continue if std::mem::take(&mut self.stopped) => {}
            Change::Continue => self.take_over(talk),
            Change::Resize => {
                talk.page.resize(columns());
                tell_size(talk);
            }
        }
    }

    /// Lends the terminal to the editor; fails when a signal ends the program meanwhile.
    async fn edit(
        &mut self,
        proposal: &Proposal,
        talk: &mut Conversation<'_>,
        signals: &mut Signals<'_>,
    ) -> Result<Result<Option<String>, String>, ConversationEnd> {
        self.give_back(talk).await;
        let lent = terminal::lend();
        let bench = self.bench.clone();
        let editing = bench.edit(proposal);
        tokio::pin!(editing);
        let edited = loop {
            tokio::select! {
                biased;
                edited = &mut editing => break edited,
                signal = next(signals) => match signal {
                    // It is the editor's.
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

    /// Prints what waits, and gives the terminal its own modes.
    async fn give_back(&mut self, talk: &mut Conversation<'_>) {
        talk.page.keep_row();
        if self.modes.raw {
            self.out.push(NO_MARKS);
        }
        self.out.push(&talk.page.take());
        // A terminal that is gone is noticed by the next line.
        drop(tokio::time::timeout(FINAL_OUTPUT, self.out.finish()).await);
        self.modes.suspend();
    }

    fn take_over(&mut self, talk: &mut Conversation<'_>) {
        self.modes.resume();
        if self.modes.raw {
            self.out.push(MARK_PASTES);
        }
        talk.page.resize(columns());
    }

    /// Prints the rest of the page and gives the terminal back.
    pub(crate) async fn close(mut self, page: &mut Page) {
        if self.modes.raw {
            self.out.push(NO_MARKS);
        }
        self.out.push(&page.take());
        drop(tokio::time::timeout(FINAL_OUTPUT, self.out.finish()).await);
        drop(self.modes);
    }
}

/// Programs that run in a terminal of their own get the size of this one.
fn tell_size(talk: &Conversation<'_>) {
    if let Some((columns, rows)) = terminal::size() {
        talk.wish(Op::Resize { columns, rows });
    }
}

/// The next signal; never resolves when none can come.
async fn next(signals: &mut Signals<'_>) -> TerminalSignal {
    match signals.next().await {
        Some(signal) => signal,
        None => std::future::pending().await,
    }
}

/// Returns the lines that a draft may become; never resolves while none is completed.
async fn completed(completion: &mut Option<Completion>) -> Vec<String> {
    match completion {
        Some(completion) => completion.lines().await,
        None => std::future::pending().await,
    }
}

/// The end of a prompt's preparation; never resolves without one.
async fn prepared(work: &mut Work) -> Result<Vec<Part>, SessionsError> {
    match work {
        Work::Preparing { task, .. } => {
            task.await.unwrap_or_else(|error| Err(SessionsError(error.to_string())))
        }
        Work::Idle | Work::Running(_) => std::future::pending().await,
    }
}
