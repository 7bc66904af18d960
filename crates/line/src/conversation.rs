//! State of the conversation at the terminal. Its inputs are keys and events of the agent; its
//! outputs are lines on the page and ops for the agent. It never waits.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::stream::BoxStream;
use pollux_input::{
    EditProposal, KeyDecoder, LineEditor, QuestionSheet, SheetExtent, Survey, Tone,
};
use pollux_protocol::{
    AgentHandle, ApprovalMode, Confirmation, ConfirmationKind, Envelope, Event, Op, Part, PromptId, PromptInput,
    Question, QuestionId, QuestionOutcome, QuestionSubject, SessionsError,
};
use tokio::task::JoinHandle;

use crate::end::ConversationEnd;
use crate::page::Page;
use crate::story::{DescribeFailure, Story};
use crate::typing::Typing;

mod answering;
mod completing;
mod label;
mod typing;

pub(super) use completing::Completion;

/// Time within which a second Ctrl-C ends the program.
const TWICE: Duration = Duration::from_secs(2);
/// Maximum number of queued prompts. It limits a paste of many lines into a terminal without
/// bracketed paste.
const WAITING: usize = 100;
/// Maximum total size of the queued prompts, in bytes.
const WAITING_BYTES: usize = 16 << 20;
/// Maximum number of characters of a queued prompt that are shown.
const SHOWN: usize = 120;

/// Name of the command that runs the command line after a `!`.
const SHELL: &str = "shell";

/// Task that reads the files that a prompt refers to.
pub(super) type Preparation = JoinHandle<Result<Vec<Part>, SessionsError>>;

/// State of the current work.
pub(super) enum Work {
    /// No work: a prompt starts immediately.
    Idle,
    /// The files that a prompt names are being read.
    Preparing {
        /// Prompt as it was typed.
        prompt: String,
        /// Task that reads the files.
        task: Preparation,
    },
    /// The agent runs a prompt or command with this id.
    Running(PromptId),
}

/// Inputs that a conversation takes from its run.
pub(super) struct Setting<'a> {
    pub(super) handle: &'a dyn AgentHandle,
    /// Reads the files that a prompt refers to.
    pub(super) prepare: Box<dyn Fn(String) -> Preparation + 'a>,
    /// Completes a path in the workspace.
    pub(super) complete_path: Box<dyn Fn(String) -> JoinHandle<Vec<String>> + 'a>,
    /// Stores a typed line for the history of later conversations.
    pub(super) record: Box<dyn Fn(&str) + 'a>,
    /// Folder of the project.
    pub(super) folder: PathBuf,
    /// True if text that is typed during a prompt is sent to the model immediately.
    pub(super) is_steered: bool,
    /// Model that the greeting has named.
    pub(super) model: String,
    /// Approval mode at the start.
    pub(super) mode: ApprovalMode,
    /// True if a screen reader reads the label of the prompt aloud.
    pub(super) is_for_screen_reader: bool,
    /// Message for a prompt that failed.
    pub(super) describe_failure: DescribeFailure,
}

/// A conversation on a page.
pub(super) struct Conversation<'a> {
    setting: Setting<'a>,
    pub(super) page: Page,
    pub(super) work: Work,
    story: Story,
    decoder: KeyDecoder,
    /// Time at which the decoder no longer waits for the rest of an escape sequence.
    pub(super) escape_end: Option<Instant>,
    draft: LineEditor,
    /// Approval mode, which the label of the prompt shows.
    mode: ApprovalMode,
    /// Completion of the draft, while it is computed.
    pub(super) completion: Option<Completion>,
    /// Answer to the question on the page.
    answer: LineEditor,
    /// Open questions; the first is on the page.
    questions: VecDeque<Question>,
    /// The first question as it is shown.
    sheet: QuestionSheet,
    /// Proposal that the user wants to change in an external editor.
    pub(super) to_edit: Option<EditProposal>,
    /// Questions of the model, if the question on the page is one of them.
    survey: Option<Survey>,
    /// Input for a command that waits for it.
    typing: Typing,
    queue: VecDeque<String>,
    /// Time of a Ctrl-C that had nothing to stop and nothing to clear.
    interrupted: Option<Instant>,
    /// True after the agent was asked to stop the work.
    is_stopping: bool,
    /// True after the end of input: queued prompts still run.
    ending: bool,
    /// True if the user has sent at least one prompt or command in this session.
    pub(super) spoken: bool,
    /// Reason of the end, once the conversation is over.
    pub(super) over: Option<ConversationEnd>,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(setting: Setting<'a>, page: Page) -> Self {
        Self {
            page,
            work: Work::Idle,
            story: Story::new(setting.model.clone(), setting.describe_failure),
            decoder: KeyDecoder::default(),
            escape_end: None,
            draft: LineEditor::default(),
            mode: setting.mode,
            completion: None,
            answer: LineEditor::default(),
            questions: VecDeque::new(),
            sheet: QuestionSheet::default(),
            to_edit: None,
            survey: None,
            typing: Typing::default(),
            queue: VecDeque::new(),
            interrupted: None,
            is_stopping: false,
            ending: false,
            spoken: false,
            over: None,
            setting,
        }
    }

    /// Ends the conversation and returns its page.
    pub(super) fn into_page(self) -> Page {
        self.page
    }

    /// Returns the events of the agent. Called once.
    pub(super) fn events(&self) -> BoxStream<'static, Arc<Envelope>> {
        self.setting.handle.events()
    }

    /// Adds lines of earlier conversations to the history, the oldest first.
    pub(super) fn remember(&mut self, lines: &[String]) {
        for line in lines {
            self.draft.remember(line);
        }
    }

    /// Starts the conversation with this prompt.
    pub(super) fn first_prompt(&mut self, prompt: String) {
        self.page.print_prompt(&self.label_of_prompt(), &prompt);
        self.draft.remember(&prompt);
        (self.setting.record)(&prompt);
        self.begin(prompt);
    }

    /// Shows the current state of the input line.
    pub(super) fn show(&mut self) {
        if !self.questions.is_empty() {
            let label = match &self.survey {
                Some(survey) => survey.label(),
                None => self.label(),
            };
            self.page.show(&label, self.answer.before(), self.answer.after());
        } else if let Some((label, before, after)) = self.typing.row() {
            self.page.show(label, before, after);
        } else if matches!(self.work, Work::Idle) || !self.draft.is_empty() {
            let label = self.draft.search_label();
            let label = label.unwrap_or_else(|| self.draft_label());
            let before = if self.page.has_one_row() || !self.draft.is_continued() {
                Cow::Borrowed(self.draft.before())
            } else {
                Cow::Owned([self.draft.above(), self.draft.before()].concat())
            };
            self.page.show(&label, &before, self.draft.after());
        } else if let Some(status) = self.story.status(Instant::now()) {
            self.page.show_status(&status);
        } else {
            self.page.hide();
        }
    }

    /// Returns the time of the next [`Self::tick`]; `None` if nothing is awaited.
    pub(super) fn next_tick(&self) -> Option<Instant> {
        self.story.next_tick()
    }

    /// Prints the output of running commands since the last tick.
    pub(super) fn tick(&mut self) {
        self.story.tick(&mut self.page, Instant::now());
    }

    /// Handles the end of the terminal's input.
    pub(super) fn end_of_input(&mut self) {
        if self.questions.is_empty() {
            self.end_draft();
        } else {
            self.reply(QuestionOutcome::Cancel);
            self.ending = true;
        }
    }

    /// Handles Ctrl-C: stops the work or clears the line. A second one within two seconds ends the
    /// program, if neither had anything else to do.
    pub(super) fn interrupt(&mut self) {
        self.decoder.end_paste();
        self.page.restart_input_line();
        let earlier = self.interrupted.take();
        if self.stop() {
            return;
        }
        if !self.draft.is_empty() {
            self.draft.clear();
        } else if earlier.is_some_and(|at| at.elapsed() < TWICE) {
            self.over = Some(ConversationEnd::Finished);
        } else {
            self.page.line("Press Ctrl-C again to exit.");
            self.interrupted = Some(Instant::now());
        }
    }

    /// Stops the work; returns false if there is none, or if it is being stopped already.
    fn stop(&mut self) -> bool {
        match &self.work {
            Work::Idle => return false,
            Work::Preparing { task, .. } => {
                task.abort();
                self.drop_queue();
                self.page.line("Request cancelled.");
                self.go_on();
            }
            Work::Running(_) if self.is_stopping => return false,
            Work::Running(_) => {
                self.is_stopping = true;
                self.drop_queue();
                self.questions.clear();
                self.wish(Op::Cancel);
            }
        }
        true
    }

    /// Handles an event of the agent.
    pub(super) fn event(&mut self, envelope: &Envelope) {
        let Envelope { origin, event } = envelope;
        self.story.tell(&mut self.page, event, Instant::now());
        if let Some(text) = self.typing.hear(event) {
            self.page.prose(Tone::Plain, &text);
        }
        match event {
            Event::Question(question) => {
                self.questions.push_back(Question::clone(question));
                if self.questions.len() == 1 {
                    self.ask();
                }
            }
            Event::ModeChanged(mode) => self.mode = *mode,
            Event::QuestionWithdrawn(id) => self.withdraw(*id),
            // The event may belong to a command that ran at the same time as the prompt.
            Event::PromptEnded(_) if self.is_running(origin.prompt.as_deref()) => {
                self.questions.clear();
                self.answer.clear();
                self.go_on();
            }
            _ => {}
        }
    }

    /// Handles the end of the agent: either it was asked to end, or it has failed.
    pub(super) fn agent_gone(&mut self) {
        let asked = matches!(self.work, Work::Idle);
        if !asked {
            self.page.line("Error: The agent ended without a result. This is a bug in Pollux.");
        }
        self.over =
            Some(if asked { ConversationEnd::Finished } else { ConversationEnd::AgentGone });
    }

    /// Handles the parts of a prompt whose files have been read.
    pub(super) fn prepared(&mut self, parts: Result<Vec<Part>, SessionsError>) {
        let Work::Preparing { prompt, .. } = std::mem::replace(&mut self.work, Work::Idle) else {
            return;
        };
        match parts {
            Ok(parts) => self.send(prompt, parts),
            Err(error) => {
                self.page.line(&format!("Error: {error}"));
                self.go_on();
            }
        }
    }

    fn submit(&mut self, line: String) {
        let waiting: usize = self.queue.iter().map(String::len).sum();
        if line.trim().is_empty() {
            return;
        }
        (self.setting.record)(&line);
        if matches!(self.work, Work::Idle) {
            self.begin(line);
        } else if let Some(op) = self.command_beside_work(&line) {
            self.wish(op);
        } else if self.setting.is_steered && !is_command(&line) && !line.starts_with('!') {
            self.page.line(&format!("hint: {}", first_line(&line)));
            self.wish(Op::Steer(line));
        } else if self.queue.len() >= WAITING || waiting + line.len() > WAITING_BYTES {
            self.page.line("Not queued, because too much is waiting.");
        } else {
            self.page.line(&format!("queued: {}", first_line(&line)));
            self.queue.push_back(line);
        }
    }

    /// Starts the prompt or command of a line.
    fn begin(&mut self, line: String) {
        // As in shells.
        let line = if matches!(line.trim(), "exit" | "quit") { "/quit".to_owned() } else { line };
        if let Some(command) = line.strip_prefix('!') {
            let (id, arguments) = (new_id(), command.trim().to_owned());
            self.work = Work::Running(id.clone());
            self.spoken = true;
            self.story.begin_command(Instant::now());
            self.wish(Op::Command { id, name: SHELL.to_owned(), arguments });
        } else if is_command(&line) {
            let commands = self.setting.handle.commands().get();
            let (name, arguments) = match commands.find(&line) {
                Some((command, rest)) => (command.name().to_owned(), rest.to_owned()),
                None => {
                    (line[1..].split_whitespace().next().unwrap_or("").to_owned(), String::new())
                }
            };
            let id = new_id();
            self.work = Work::Running(id.clone());
            self.story.begin_command(Instant::now());
            self.wish(Op::Command { id, name, arguments });
        } else if line.contains('@') {
            let task = (self.setting.prepare)(line.clone());
            self.work = Work::Preparing { prompt: line, task };
        } else {
            let parts = vec![Part::text(line.as_str())];
            self.send(line, parts);
        }
    }

    fn send(&mut self, prompt: String, parts: Vec<Part>) {
        let as_typed = matches!(&parts[..], [part] if part.as_text() == Some(&prompt));
        let id = new_id();
        self.work = Work::Running(id.clone());
        self.spoken = true;
        self.wish(Op::Prompt { id, input: PromptInput::shown(parts, (!as_typed).then_some(prompt)) });
    }

    /// Returns the command that a line calls, if it may run during other work.
    fn command_beside_work(&self, line: &str) -> Option<Op> {
        let commands = self.setting.handle.commands().get();
        let (command, rest) = commands.find(line).filter(|_| is_command(line))?;
        command.runs_while_working().then(|| Op::Command {
            id: new_id(),
            name: command.name().to_owned(),
            arguments: rest.to_owned(),
        })
    }

    fn is_running(&self, prompt: Option<&str>) -> bool {
        matches!(&self.work, Work::Running(id) if Some(id.as_str()) == prompt)
    }

    /// Removes a question that no longer needs a reply.
    fn withdraw(&mut self, id: QuestionId) {
        let was_shown = self.questions.front().is_some_and(|question| question.id == id);
        self.questions.retain(|question| question.id != id);
        if was_shown {
            self.page.keep_row();
            self.ask();
        }
    }

    /// Sends an op. If the agent is gone, the end of its events reports that.
    pub(super) fn wish(&self, op: Op) {
        drop(self.setting.handle.send(op));
    }

    /// Handles the end of the work: starts the next queued prompt.
    fn go_on(&mut self) {
        self.work = Work::Idle;
        self.is_stopping = false;
        if let Some(next) = self.queue.pop_front() {
            self.page.line(&format!("{}{}", self.label_of_prompt(), first_line(&next)));
            self.begin(next);
        } else if self.ending {
            self.over = Some(ConversationEnd::Finished);
        }
    }

    /// Ends the program, after the current work.
    fn end(&mut self) {
        self.ending = true;
        if matches!(self.work, Work::Idle) {
            self.page.keep_row();
            self.over = Some(ConversationEnd::Finished);
        }
    }

    fn drop_queue(&mut self) {
        if !self.queue.is_empty() {
            let count = self.queue.len();
            self.queue.clear();
            self.page.line(&format!(
                "Queued prompts that are not sent: {count}. The arrow up brings them back."
            ));
        }
    }

    fn ask(&mut self) {
        self.answer.clear();
        self.survey = None;
        let Some(question) = self.questions.front() else { return };
        let survey = match &question.subject {
            QuestionSubject::Call(Confirmation {
                kind: ConfirmationKind::Questions(questions),
                ..
            }) => Survey::new(questions.clone()),
            QuestionSubject::Form(form) if !form.fields.is_empty() => Survey::of_form(form),
            _ => return self.show_question(SheetExtent::default()),
        };
        self.page.prose(Tone::Plain, &survey.text());
        self.survey = Some(survey);
    }
}

/// Returns true for a line that calls a command. A line that begins with a path, such as
/// `/etc/hosts`, is a prompt.
fn is_command(line: &str) -> bool {
    let Some(rest) = line.strip_prefix('/') else { return false };
    let name = rest.split_whitespace().next().unwrap_or_default();
    !name.contains('/') && !name.starts_with('*')
}

fn new_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

/// Returns the first line of a prompt, cut if it is too long.
fn first_line(text: &str) -> String {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let mut shown: String = first.chars().take(SHOWN).collect();
    if shown.len() < text.trim().len() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests;
