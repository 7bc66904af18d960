//! The user at a terminal, as every frontend for one uses it: questions before a session, then the
//! conversation.

use std::path::PathBuf;
use std::sync::Arc;

use pollux_protocol::{
    ExternalEditor, Notices, Operator, PromptOutcome, PromptSource, RunningSession, SessionFacts,
};
use tokio::task::JoinHandle;

use crate::editor::HISTORY_LINES;
use crate::end::ConversationEnd;
use crate::event_loop::{EventLoop, Interaction, Signals};
use crate::external_editor::Workbench;
use crate::notices::PageNotices;
use crate::operator::TerminalOperator;
use crate::output::Stdout;
use crate::resumed::LastMessages;
use crate::terminal::{self, Changes, Modes, WindowSize};
use crate::work::{Preparation, Workload};

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
    /// True to leave the editing of lines to the terminal.
    pub is_dumb: bool,
    /// Prompt that the conversation begins with.
    pub first_prompt: Option<String>,
    /// Editor of the user.
    pub editor: Arc<dyn ExternalEditor>,
    /// Message for a prompt that failed.
    pub describe_failure: DescribeFailure,
    /// Sink for messages while no conversation is on the terminal.
    pub notices: Arc<dyn Notices>,
}

/// The user at the terminal.
pub struct TerminalUser {
    options: UserOptions,
    operator: Arc<TerminalOperator>,
    notices: Arc<PageNotices>,
}

/// Start of a conversation, for the frontend that shows it.
pub struct Opening<'a> {
    /// The work, which has not begun.
    pub workload: Workload<'a>,
    /// Completes a path in the workspace.
    pub complete_path: Box<dyn Fn(String) -> JoinHandle<Vec<String>> + 'a>,
    /// Stores a typed line for the history of later conversations.
    pub record: Box<dyn Fn(&str) + 'a>,
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
        Self { options, operator: Arc::default(), notices }
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

    /// Runs the conversation, which `begin` creates, until the user ends it.
    ///
    /// # Errors
    /// Fails if the system does not report terminal events.
    pub async fn talk(
        self,
        session: Box<dyn RunningSession>,
        mut signals: Signals<'_>,
        begin: Begin,
    ) -> std::io::Result<ConversationEnd> {
        let changes = Changes::listen()?;
        let typed = self.operator.finish().await;
        let handle = session.handle();
        let facts = session.facts();
        let last = match &facts.resumed {
            Some(_) => LastMessages::read(session.as_ref()).await,
            None => LastMessages::default(),
        };
        let bench = Workbench::new(Arc::clone(&self.options.editor), edits_folder(facts));
        let modes = Modes::enter(!self.options.is_dumb);
        let prepare =
            |prompt| -> Preparation { tokio::spawn(session.expand(prompt, PromptSource::Typed)) };
        let first = self.options.first_prompt.clone();
        let opening = Opening {
            workload: Workload::new(handle.as_ref(), Box::new(prepare), facts.is_steered),
            complete_path: Box::new(|partial| tokio::spawn(session.complete_path(partial))),
            record: Box::new(|prompt| session.record_prompt(prompt)),
            facts,
            earlier: session.recent_prompts(HISTORY_LINES),
            last,
            options: &self.options,
            first_prompt: first.filter(|prompt| !prompt.trim().is_empty()),
            is_echoing: !modes.raw,
            size: terminal::size(),
        };
        let mut event_loop = EventLoop {
            typed: typed.unwrap_or_else(terminal::read),
            modes,
            changes,
            bench,
            messages: self.notices.show_on_page(),
            out: Stdout::default(),
            is_behind: false,
            is_stopped: false,
        };
        let mut talk = begin(opening);
        let end = event_loop.run(talk.as_mut(), handle.events(), &mut signals).await;
        let resume =
            format!("To resume this session: {} --resume {}", self.options.called_as, facts.id);
        let bytes = talk.close(end, &resume);
        drop(talk);
        self.notices.leave_page();
        event_loop.finish(&bytes).await;
        drop((event_loop, handle));
        session.close().await;
        Ok(end)
    }
}

/// Returns the folder for the files that the external editor opens.
fn edits_folder(facts: &SessionFacts) -> PathBuf {
    facts.temporary_folder.join("edits")
}
