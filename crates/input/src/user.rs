//! The user at a terminal, as every frontend for one uses it: questions before a session, then the
//! conversation.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt;
use futures::future::BoxFuture;
use pollux_protocol::{
    ApprovalMode, Clipboard, ExternalEditor, NoUser, Notices, Operator, PromptOutcome,
    PromptSource, RunningSession, SessionFacts, SessionRequest, SessionStart, Sessions,
    SessionsError, SettingValues, Severity, TranscriptFrom, TranscriptPage,
};

use crate::clipboard::{ClipboardRead, pasted};
use crate::completion::CompletePath;
use crate::console::Console;
use crate::editor::HISTORY_LINES;
use crate::end::{ConversationEnd, TerminalSignal};
use crate::event_loop::{Chosen, EventLoop, Interaction, Signals, Unsent};
use crate::external_editor::Workbench;
use crate::keys::{KeyDecoder, KeyMap};
use crate::linked_file::{FindLinked, LinkedFile};
use crate::lists::{OpenSession, ReadList};
use crate::notices::PageNotices;
use crate::operator::TerminalOperator;
use crate::resumed::LastMessages;
use crate::shortcuts::ShortcutsCommand;
use crate::terminal::{self, WindowSize};
use crate::terminal_kind::TerminalKind;
use crate::view::ShowQuestion;
use crate::work::{Preparation, Workload};

/// Number of messages of a page of the transcript.
const PAGE: usize = 40;

/// Function that returns the message for a prompt that failed; `None` for every other end.
pub type DescribeFailure = fn(&PromptOutcome) -> Option<String>;

/// Everything that a conversation needs besides its session.
pub struct UserOptions {
    /// Version of the program.
    pub version: &'static str,
    /// Name that the program was called by, for hints.
    pub called_as: String,
    /// True to print escape sequences in the model's text unchanged.
    pub raw_output: bool,
    /// True to colour lines by their meaning.
    pub is_coloured: bool,
    /// True if the terminal cuts rows when it becomes narrower; otherwise it folds them.
    pub cuts_rows: bool,
    /// Properties of the terminal.
    pub terminal: TerminalKind,
    /// Home of the user.
    pub home: Option<PathBuf>,
    /// True to leave the editing of lines to the terminal.
    pub is_dumb: bool,
    /// Prompt that the conversation begins with.
    pub first_prompt: Option<String>,
    /// Editor of the user.
    pub editor: Arc<dyn ExternalEditor>,
    /// Clipboard of the desktop.
    pub clipboard: Arc<dyn Clipboard>,
    /// Message for a prompt that failed.
    pub describe_failure: DescribeFailure,
    /// Sink for messages while no conversation is on the terminal.
    pub notices: Arc<dyn Notices>,
    /// Keys with their effects.
    pub keys: Arc<KeyMap>,
    /// Messages about keys that could not be bound.
    pub key_messages: Vec<String>,
    /// Returns what shows the questions before a session on the screen; `None` to ask line by line.
    pub show_question: Box<dyn Fn() -> Option<ShowQuestion> + Send + Sync>,
}

/// Reading of a page of the transcript.
pub type PageRead<'a> = BoxFuture<'a, Result<TranscriptPage, SessionsError>>;

/// Function that reads a page of the transcript of the session.
pub type ReadPage<'a> = Box<dyn Fn(TranscriptFrom) -> PageRead<'a> + 'a>;

/// The user at the terminal.
pub struct TerminalUser {
    options: Arc<UserOptions>,
    operator: Arc<TerminalOperator>,
    notices: Arc<PageNotices>,
}

/// Start of a conversation, for the frontend that shows it.
pub struct Opening<'a> {
    /// The work, which has not begun.
    pub workload: Workload<'a>,
    /// Completes a path in the workspace.
    pub complete_path: Box<CompletePath<'a>>,
    /// Reads the clipboard of the desktop.
    pub read_clipboard: Box<dyn Fn() -> ClipboardRead + 'a>,
    /// Returns true if the session may read this absolute path. Looks at the disk.
    pub is_readable: Box<dyn Fn(&Path) -> bool + 'a>,
    /// Finds the file that a link may open: by an absolute path, or by a path below the project's
    /// folder. Looks at the disk.
    pub find_linked: FindLinked<'a>,
    /// Reads a page of the transcript of the session.
    pub read_page: ReadPage<'a>,
    /// Answers the requests of lists.
    pub read_list: ReadList<'a>,
    /// Stores a typed line for the history of later conversations.
    pub record: Box<dyn Fn(&str) + 'a>,
    /// Checks that an approval mode is allowed.
    pub check_mode: Box<dyn Fn(ApprovalMode) -> Result<(), SessionsError> + 'a>,
    /// Returns the settings as they were last read.
    pub settings: Box<dyn Fn() -> SettingValues + 'a>,
    /// Facts about the session.
    pub facts: &'a SessionFacts,
    /// Lines of earlier conversations, the oldest first.
    pub earlier: Vec<String>,
    /// Last messages of a resumed session.
    pub last: LastMessages,
    /// Options of the conversation.
    pub options: &'a UserOptions,
    /// Prompt that the conversation begins with.
    pub first_prompt: Option<String>,
    /// Input that was typed in the session before, if this one takes its place.
    pub unsent: Unsent,
    /// True if the terminal itself shows the typed text.
    pub is_echoing: bool,
    /// Size of the terminal.
    pub size: WindowSize,
}

/// Function that creates the state of a conversation.
pub type Begin = for<'a> fn(Opening<'a>) -> Box<dyn Interaction<'a> + 'a>;

impl TerminalUser {
    /// Creates the connection. The terminal is not touched before a question or a conversation
    /// needs it.
    pub fn new(options: UserOptions) -> Self {
        let notices = Arc::new(PageNotices::new(Arc::clone(&options.notices)));
        let options = Arc::new(options);
        let operator = Arc::new(TerminalOperator::new(Arc::clone(&options)));
        Self { options, operator, notices }
    }

    /// Returns the options.
    pub fn options(&self) -> &UserOptions {
        &self.options
    }

    /// Returns the connection to the user, for questions before a session runs.
    pub fn operator(&self) -> Arc<dyn Operator> {
        Arc::clone(&self.operator) as Arc<dyn Operator>
    }

    /// Returns the sink for messages that belong to no prompt.
    pub fn notices(&self) -> Arc<dyn Notices> {
        Arc::clone(&self.notices) as Arc<dyn Notices>
    }

    /// Ends the line of a question that stays without an answer because the user has interrupted
    /// it.
    pub async fn interrupted(&self) {
        self.operator.interrupted().await;
    }

    /// Runs the conversation, which `begin` creates, until the user ends it, also in other sessions
    /// that the user changes to. `sessions` opens these with what `request` has, except for its
    /// start.
    ///
    /// # Errors
    /// Fails if the system does not report terminal events.
    pub async fn talk(
        self,
        sessions: &dyn Sessions,
        request: &SessionRequest,
        session: Box<dyn RunningSession>,
        mut signals: Signals<'_>,
        begin: Begin,
    ) -> std::io::Result<ConversationEnd> {
        let typed = self.operator.finish().await;
        let edits = edits_folder(session.facts());
        let mut event_loop = EventLoop {
            console: Console::open(typed, !self.options.is_dumb)?,
            bench: Workbench::new(Arc::clone(&self.options.editor), edits),
            folder: session.facts().folder.clone(),
            messages: self.notices.show_on_page(),
            chosen: Chosen::default(),
        };
        for message in &self.options.key_messages {
            self.notices.notice(Severity::Warning, message);
        }
        let first = self.options.first_prompt.clone();
        let mut start = Start {
            first_prompt: first.filter(|prompt| !prompt.trim().is_empty()),
            unsent: Unsent {
                decoder: KeyDecoder::new(Arc::clone(&self.options.keys)),
                ..Unsent::default()
            },
        };
        let mut request = request.clone();
        let mut session = session;
        let (end, open) = loop {
            let open = OpenSession { session: session.as_ref(), sessions, request: &request };
            let mut ended = self.converse(&open, start, &mut event_loop, &mut signals, begin).await;
            let Some(next) = ended.next.take() else { break (ended, Some(session)) };
            event_loop.console.print(&std::mem::take(&mut ended.bytes));
            session.close().await;
            request = SessionRequest { model: Some(next.model), mode: Some(next.mode), ..request };
            match self.open(sessions, &request, next.starts, &mut signals).await {
                Ok(opened) => session = opened,
                Err(end) => break (Ended { end, ..ended }, None),
            }
            start = Start { first_prompt: None, unsent: ended.unsent };
        };
        let failed = if open.is_none() { event_loop.take_messages() } else { Vec::new() };
        self.notices.leave_page();
        event_loop.console.finish(&end.bytes).await;
        drop(event_loop);
        for message in failed {
            self.notices.notice(Severity::Error, &message);
        }
        if let Some(session) = open {
            session.close().await;
        }
        Ok(end.end)
    }

    /// Runs the conversation in one session.
    async fn converse(
        &self,
        open: &OpenSession<'_>,
        start: Start,
        event_loop: &mut EventLoop,
        signals: &mut Signals<'_>,
        begin: Begin,
    ) -> Ended {
        let session = open.session;
        let handle = session.handle();
        handle.commands().update(|set| {
            set.add_built_in(Arc::new(ShortcutsCommand::new(Arc::clone(&self.options.keys))));
        });
        let facts = session.facts();
        let last = match &facts.resumed {
            Some(_) => LastMessages::read(session).await,
            None => LastMessages::default(),
        };
        let prepare =
            |prompt| -> Preparation { tokio::spawn(session.expand(prompt, PromptSource::Typed)) };
        event_loop.console.size = terminal::size();
        let opening = Opening {
            workload: Workload::new(handle.as_ref(), Box::new(prepare), facts.is_steered),
            complete_path: Box::new(|partial, limit| {
                tokio::spawn(session.complete_path(partial, limit))
            }),
            read_clipboard: Box::new(|| {
                let clipboard = Arc::clone(&self.options.clipboard);
                let folder = facts.temporary_folder.clone();
                Box::pin(async move { pasted(&*clipboard, &folder).await })
            }),
            is_readable: Box::new(|path| session.is_readable(path)),
            find_linked: Box::new(|path| {
                LinkedFile::find(path, &facts.folder, |path| session.is_readable(path))
            }),
            read_page: Box::new(|from| session.transcript(from, PAGE)),
            read_list: Box::new(|request| Box::pin(open.read_list(request))),
            record: Box::new(|prompt| session.record_prompt(prompt)),
            check_mode: Box::new(|mode| session.check_mode(mode)),
            settings: Box::new(|| session.settings()),
            facts,
            earlier: session.recent_prompts(HISTORY_LINES),
            last,
            options: &self.options,
            first_prompt: start.first_prompt,
            unsent: start.unsent,
            is_echoing: !event_loop.console.modes.raw,
            size: event_loop.console.size,
        };
        let mut talk = begin(opening);
        event_loop.chosen = Chosen::default();
        let end =
            event_loop.run(talk.as_mut(), handle.events(), &session.background(), signals).await;
        let resume =
            format!("To resume this session: {} --resume {}", self.options.called_as, facts.id);
        let resume = Some(resume.as_str()).filter(|_| !session.is_deleted_at_end());
        let unsent = talk.unsent();
        let has_content = talk.workload().has_spoken() || facts.resumed.is_some();
        let bytes = talk.close(end, resume);
        let chosen = std::mem::take(&mut event_loop.chosen);
        let is_finished = end == ConversationEnd::Finished;
        let next = NextSession::after(facts, has_content, chosen).filter(|_| is_finished);
        Ended { end, bytes, unsent, next }
    }

    /// Opens the first of these sessions that can be opened. A signal ends the conversation, and so
    /// does it if none can be opened.
    async fn open(
        &self,
        sessions: &dyn Sessions,
        request: &SessionRequest,
        starts: [SessionStart; 2],
        signals: &mut Signals<'_>,
    ) -> Result<Box<dyn RunningSession>, ConversationEnd> {
        for start in starts {
            // As when settings are read again: what the user has not decided about yet does not
            // take effect.
            let operator: Option<Arc<dyn Operator>> = Some(Arc::new(NoUser));
            let opening = sessions.open(SessionRequest { start, operator, ..request.clone() });
            let opened = tokio::select! {
                biased;
                code = ended(signals) => return Err(ConversationEnd::Signalled(code)),
                opened = opening => opened,
            };
            match opened {
                Ok(session) => return Ok(session),
                Err(error) => self.notices.notice(Severity::Error, &format!("Error: {error}")),
            }
        }
        Err(ConversationEnd::AgentGone)
    }
}

/// Input that a conversation begins with.
struct Start {
    first_prompt: Option<String>,
    unsent: Unsent,
}

/// End of the conversation in one session.
struct Ended {
    end: ConversationEnd,
    /// Last bytes for the terminal.
    bytes: Vec<u8>,
    unsent: Unsent,
    /// `None` at the end of the program.
    next: Option<NextSession>,
}

/// Session that the conversation continues with.
struct NextSession {
    /// The session, and the one before, which is opened again if that fails.
    starts: [SessionStart; 2],
    model: String,
    mode: ApprovalMode,
}

impl NextSession {
    /// Returns the session that the user has chosen, if any. A session without content is not
    /// stored, so it cannot be opened again.
    fn after(facts: &SessionFacts, has_content: bool, chosen: Chosen) -> Option<Self> {
        let before = if has_content {
            SessionStart::Resume(facts.id.clone())
        } else {
            SessionStart::New(None)
        };
        Some(Self {
            starts: [chosen.next?, before],
            model: chosen.model.unwrap_or_else(|| facts.model.clone()),
            mode: chosen.mode.unwrap_or(facts.mode),
        })
    }
}

/// Waits for a signal that ends the program; returns its exit code.
async fn ended(signals: &mut Signals<'_>) -> i32 {
    loop {
        match signals.next().await {
            Some(TerminalSignal::End(code)) => return code,
            // There is no work to stop.
            Some(TerminalSignal::Interrupt) => {}
            None => std::future::pending().await,
        }
    }
}

/// Returns the folder for the files that the external editor opens.
fn edits_folder(facts: &SessionFacts) -> PathBuf {
    facts.temporary_folder.join("edits")
}
