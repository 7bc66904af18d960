//! The terminal during a conversation: waits for signals, keys, files and events, and prints what
//! the frontend returns.

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::OptionFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use pollux_protocol::{
    ApprovalMode, BackgroundCommand, Envelope, Event, Live, Op, Part, SessionStart, SessionsError,
    TranscriptPage,
};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::sleep_until;

use crate::clipboard::ClipboardRead;
use crate::completion::Completion;
use crate::console::Console;
use crate::end::{ConversationEnd, TerminalSignal};
use crate::external_editor::{EditProposal, FilePlace, Workbench};
use crate::keys::KeyDecoder;
use crate::lists::{ListAnswer, ListRead};
use crate::terminal::{self, Change, WindowSize};
use crate::user::PageRead;
use crate::view::TerminalView;
use crate::work::Workload;

/// Stream of signals.
pub(crate) type Signals<'a> = BoxStream<'a, TerminalSignal>;

/// State of a conversation between keys and events on one side, and the bytes on a terminal and ops
/// for the agent on the other. It never waits.
pub trait Interaction<'a>: TerminalView {
    /// Returns the work of the conversation.
    fn workload(&mut self) -> &mut Workload<'a>;

    /// Returns what the event loop waits for.
    fn awaited(&mut self) -> Awaited<'_, 'a>;

    /// Returns the reason of the end, once the conversation is over.
    fn over(&self) -> Option<ConversationEnd>;

    /// Returns the text that the user wants to change in the external editor.
    fn take_proposal(&mut self) -> Option<EditProposal>;

    /// Handles the end of the editor: with a changed text, an unchanged text or an error message.
    fn edited(&mut self, edited: Result<Option<String>, String>);

    /// Returns the files of which the user wants to open the first that exists.
    fn take_places(&mut self) -> Option<Vec<FilePlace>> {
        None
    }

    /// Handles the end of the editor for one of these files, or the message why it was not opened.
    fn opened(&mut self, _opened: Result<(), String>) {}

    /// Handles the answer to a request of a list, or a message for the user.
    fn listed(&mut self, _answer: Result<ListAnswer, String>) {}

    /// Handles what was read from the clipboard, or a message for the user.
    fn pasted(&mut self, _pasted: Result<String, String>) {}

    /// Handles a page of the transcript.
    fn page_read(&mut self, _page: Result<TranscriptPage, SessionsError>) {}

    /// Handles Ctrl-C.
    fn interrupt(&mut self);

    /// Handles the end of the terminal's input.
    fn end_of_input(&mut self);

    /// Shows a message that belongs to no prompt.
    fn message(&mut self, text: &str);

    /// Handles the completions of the text in progress.
    fn completed(&mut self, lines: &[String]);

    /// Handles the parts of a prompt whose files have been read.
    fn prepared(&mut self, parts: Result<Vec<Part>, SessionsError>);

    /// Handles an event of the agent.
    fn event(&mut self, envelope: &Envelope);

    /// Handles a change of the commands that run in the background.
    fn background_changed(&mut self, commands: &Arc<Vec<BackgroundCommand>>);

    /// Handles the end of the agent: either it was asked to end, or it has failed.
    fn agent_gone(&mut self);

    /// Takes the input that has not been sent, for another session.
    fn unsent(&mut self) -> Unsent;

    /// Returns the last bytes of the conversation; `resume` is the hint how to resume it, if that
    /// is possible.
    fn close(&mut self, end: ConversationEnd, resume: Option<&str>) -> Vec<u8>;
}

/// Sources that the event loop waits for on behalf of a frontend.
pub struct Awaited<'t, 'a> {
    /// Completion of the text in progress.
    pub completion: Option<&'t mut Completion>,
    /// Page of the transcript that is being read.
    pub page: Option<&'t mut PageRead<'a>>,
    /// Answer to a request of a list.
    pub list: Option<&'t mut ListRead<'a>>,
    /// Reading of the clipboard.
    pub clipboard: Option<&'t mut ClipboardRead>,
    /// Notification about work of another thread, after which the frontend shows its state.
    pub wake: Option<Arc<Notify>>,
    /// The work.
    pub workload: &'t mut Workload<'a>,
}

/// Input that has not been sent when a conversation ends.
#[derive(Debug, Default)]
pub struct Unsent {
    /// Prompts and commands that wait, the next one first.
    pub queue: Vec<String>,
    /// Text in progress.
    pub draft: String,
    /// Decoder of the keys, which may have begun a sequence or a paste.
    pub decoder: KeyDecoder,
}

/// Values of a session that another session gets.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    /// Session that takes the place of the present one.
    pub(crate) next: Option<SessionStart>,
    /// Model that the user has requested.
    pub(crate) model: Option<String>,
    /// Approval mode, if it has changed.
    pub(crate) mode: Option<ApprovalMode>,
}

impl Chosen {
    fn note(&mut self, event: &Event) {
        match event {
            Event::SwitchRequested(start) => self.next = Some(start.clone()),
            Event::ModeChanged(mode) => self.mode = Some(*mode),
            Event::ModelChanged { model, reason } if reason == "command" => {
                self.model = Some(model.clone());
            }
            _ => {}
        }
    }
}

/// The terminal, as the event loop uses it.
pub(crate) struct EventLoop {
    pub(crate) console: Console,
    pub(crate) bench: Workbench,
    /// Folder of the project.
    pub(crate) folder: PathBuf,
    /// Messages that belong to no prompt.
    pub(crate) messages: UnboundedReceiver<String>,
    pub(crate) chosen: Chosen,
}

impl EventLoop {
    /// Runs until the conversation ends.
    pub(crate) async fn run(
        &mut self,
        talk: &mut dyn Interaction<'_>,
        mut events: BoxStream<'static, Arc<Envelope>>,
        background: &Live<Vec<BackgroundCommand>>,
        signals: &mut Signals<'_>,
    ) -> ConversationEnd {
        let mut listening = true;
        let mut changes = background.watch();
        talk.background_changed(&background.get());
        self.console.begin();
        if talk.takes_sequences() {
            self.console.ask_protocol();
        }
        tell_size(talk);
        loop {
            if let Some(end) = self.settle(talk, signals).await {
                return end;
            }
            let (escape_end, next_tick) = (talk.escape_end(), talk.next_tick());
            let Awaited { completion, page, list, clipboard, wake, workload } = talk.awaited();
            let console = &mut self.console;
            let is_ready = !console.is_behind;
            // While the terminal accepts no output, the loop handles only signals.
            tokio::select! {
                biased;
                Some(signal) = signals.next() => match signal {
                    TerminalSignal::Interrupt => talk.interrupt(),
                    TerminalSignal::End(code) => return ConversationEnd::Signalled(code),
                },
                printed = console.out.send(), if !is_ready => {
                    if console.printed(printed).is_none() {
                        return ConversationEnd::HungUp;
                    }
                }
                change = console.changes.next() => console.change(change, talk).await,
                typed = console.typed.recv(), if listening && is_ready => match typed {
                    Some(typed) => talk.typed(&typed),
                    None if !terminal::is_open() => return ConversationEnd::HungUp,
                    // Ctrl-D in canonical mode.
                    None => {
                        listening = false;
                        talk.end_of_input();
                    }
                },
                // Comes after the typed bytes, so that a busy program does not cut a sequence.
                Some(()) = OptionFuture::from(escape_end.map(|end| sleep_until(end.into()))),
                    if is_ready => talk.escape_ended(),
                Some(()) = OptionFuture::from(next_tick.map(|at| sleep_until(at.into()))),
                    if is_ready => talk.tick(),
                Some(text) = self.messages.recv(), if is_ready => talk.message(&text),
                Some(lines) = OptionFuture::from(completion.map(Completion::lines)),
                    if is_ready => talk.completed(&lines),
                Some(()) = OptionFuture::from(wake.as_ref().map(|wake| wake.notified())),
                    if is_ready => talk.tick(),
                Some(page) = OptionFuture::from(page), if is_ready => talk.page_read(page),
                Some(answer) = OptionFuture::from(list), if is_ready => talk.listed(answer),
                Some(pasted) = OptionFuture::from(clipboard), if is_ready => talk.pasted(pasted),
                parts = workload.preparation(), if is_ready => talk.prepared(parts),
                commands = changes.changed(), if is_ready => {
                    talk.background_changed(&commands);
                }
                event = events.next(), if is_ready => match event {
                    None => talk.agent_gone(),
                    Some(event) => self.tell(event, &mut events, talk),
                },
            }
        }
    }

    /// Handles what the last event has led to: the end, a text for the editor, or another output.
    async fn settle(
        &mut self,
        talk: &mut dyn Interaction<'_>,
        signals: &mut Signals<'_>,
    ) -> Option<ConversationEnd> {
        let replaced = self.chosen.next.as_ref().map(|_| ConversationEnd::Finished);
        if let Some(end) = talk.over().or(replaced) {
            return Some(end);
        }
        if let Some(proposal) = talk.take_proposal() {
            let bench = self.bench.clone();
            match self.lend(bench.edit(&proposal), talk, signals).await {
                Ok(edited) => talk.edited(edited),
                Err(end) => return Some(end),
            }
        }
        if let Some(places) = talk.take_places() {
            let (bench, folder) = (self.bench.clone(), self.folder.clone());
            match self.lend(bench.open_first(&places, &folder), talk, signals).await {
                Ok(opened) => talk.opened(opened),
                Err(end) => return Some(end),
            }
        }
        self.console.take_reports(talk);
        self.show(talk);
        None
    }

    /// Passes on an event, and those that are already available, so that they are printed in one
    /// write. After a request for another session nothing follows: that session takes the prompts
    /// that wait.
    fn tell(
        &mut self,
        first: Arc<Envelope>,
        events: &mut BoxStream<'static, Arc<Envelope>>,
        talk: &mut dyn Interaction<'_>,
    ) {
        let mut next = Some(first);
        while let Some(envelope) = next {
            self.chosen.note(&envelope.event);
            talk.event(&envelope);
            let is_last = self.chosen.next.is_some();
            next = if is_last { None } else { events.next().now_or_never().flatten() };
        }
    }

    /// Takes the output for the current state.
    fn show(&mut self, talk: &mut dyn Interaction<'_>) {
        for message in terminal::panic_messages() {
            talk.message(&message);
        }
        if self.console.show(talk) {
            tell_size(talk);
        }
    }

    /// Lends the terminal to the editor; fails if a signal ends the program in the meantime.
    async fn lend<T>(
        &mut self,
        editing: impl Future<Output = T>,
        talk: &mut dyn Interaction<'_>,
        signals: &mut Signals<'_>,
    ) -> Result<T, ConversationEnd> {
        self.console.give_back(talk).await;
        let lent = terminal::lend();
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
                change = self.console.changes.next() => match change {
                    Change::Stop => self.console.is_stopped = terminal::stop(),
                    Change::Continue => self.console.is_stopped = false,
                    Change::Resize => {}
                },
            }
        };
        drop(lent);
        self.console.take_over(talk);
        Ok(edited)
    }

    /// Returns the messages that have not been shown.
    pub(crate) fn take_messages(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.messages.try_recv().ok()).collect()
    }
}

/// Reports the size of the terminal, which programs with a pseudo-terminal inherit.
fn tell_size(talk: &mut dyn Interaction<'_>) {
    if let WindowSize { columns, rows: Some(rows) } = terminal::size() {
        talk.workload().send(Op::Resize { columns, rows });
    }
}
