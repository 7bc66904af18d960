//! Frontend: questions before a session, and the conversation in it.

use std::sync::Arc;

use pollux_input::{HISTORY_LINES, Tone, Workbench};
use pollux_protocol::{
    ExternalEditor, Notices, Operator, PromptSource, RunningSession, SessionFacts,
};

use crate::conversation::{Conversation, Preparation, Setting};
use crate::end::ConversationEnd;
use crate::greeting::{LastMessages, greeting};
use crate::notices::PageNotices;
use crate::operator::TerminalOperator;
use crate::page::{Page, PageLook};
use crate::screen::{Screen, Signals, columns, resize};
use crate::story;
use crate::terminal::{self, Changes, Modes};

/// Everything that a conversation needs besides its session.
pub struct LineOptions {
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
    pub describe_failure: story::DescribeFailure,
    /// Sink for messages while no conversation is on the terminal.
    pub notices: Arc<dyn Notices>,
}

/// Frontend for a user at a terminal.
pub struct LineFrontend {
    options: LineOptions,
    operator: Arc<TerminalOperator>,
    notices: Arc<PageNotices>,
}

impl LineFrontend {
    /// Creates the frontend. The terminal is not touched before a question or a conversation needs
    /// it.
    pub fn new(options: LineOptions) -> Self {
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

    /// Runs the conversation until the user ends it.
    ///
    /// # Errors
    /// Fails if the system does not report terminal events.
    pub async fn talk(
        self,
        session: Box<dyn RunningSession>,
        mut signals: Signals<'_>,
    ) -> std::io::Result<ConversationEnd> {
        let changes = Changes::listen()?;
        let typed = self.operator.finish().await;
        let handle = session.handle();
        let facts = session.facts().clone();
        let SessionFacts { id, folder, model, resumed, .. } = facts.clone();
        let setting = Setting {
            handle: handle.as_ref(),
            prepare: Box::new(|prompt| -> Preparation {
                tokio::spawn(session.expand(prompt, PromptSource::Typed))
            }),
            complete_path: Box::new(|partial| tokio::spawn(session.complete_path(partial))),
            record: Box::new(|prompt| session.record_prompt(prompt)),
            folder,
            is_steered: facts.is_steered,
            model,
            mode: facts.mode,
            is_for_screen_reader: facts.is_for_screen_reader,
            describe_failure: self.options.describe_failure,
        };
        let edits = facts.temporary_folder.join("edits");
        let bench = Workbench::new(Arc::clone(&self.options.editor), edits);
        let earlier = session.recent_prompts(HISTORY_LINES);
        let last = match &resumed {
            Some(_) => LastMessages::read(session.as_ref()).await,
            None => LastMessages::default(),
        };

        let modes = Modes::enter(!self.options.is_dumb);
        let typed = typed.unwrap_or_else(terminal::read);
        let messages = self.notices.show_on_page();
        let mut screen = Screen::new(typed, modes, changes, bench, messages);
        let look = PageLook {
            echoing: screen.is_echoing(),
            raw: self.options.raw_output,
            coloured: self.options.is_coloured,
            one_row: facts.is_for_screen_reader,
        };
        let mut page = Page::new(columns(), look);
        resize(&mut page);
        page.prose(Tone::Plain, &greeting(self.options.version, &facts, &last));
        let mut conversation = Conversation::new(setting, page);
        conversation.remember(&earlier);
        let first = self.options.first_prompt.filter(|prompt| !prompt.trim().is_empty());
        if let Some(prompt) = first {
            conversation.first_prompt(prompt);
        }
        let end = screen.talk(&mut conversation, &mut signals).await;
        let has_content = conversation.spoken || resumed.is_some();
        let mut page = conversation.into_page();
        page.keep_row();
        if end == ConversationEnd::Finished && has_content {
            let called_as = &self.options.called_as;
            page.line(&format!("To resume this session: {called_as} --resume {id}"));
        }
        self.notices.leave_page();
        screen.close(&mut page).await;
        drop(handle);
        session.close().await;
        Ok(end)
    }
}
