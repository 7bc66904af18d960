//! State of the conversation at the terminal. Its inputs are keys and events of the agent; its
//! outputs are lines on the page and ops for the agent. It never waits.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pollux_input::{
    Awaited, CommandInput, CompletePath, Completion, ConversationEnd, EditProposal, Interaction,
    KeyDecoder, LineEditor, Opening, QuestionSheet, SheetExtent, StopResult, Submission, Survey,
    TerminalView, Tone, TypedBytes, Unsent, WindowSize, WorkKind, Workload,
};
use pollux_protocol::{
    ApprovalMode, BackgroundCommand, Confirmation, ConfirmationKind, Envelope, Event, Op, Part,
    Question, QuestionId, QuestionOutcome, QuestionSubject, SessionsError,
};

use crate::greeting::greeting;
use crate::page::{Page, PageLook};
use crate::story::Story;

mod answering;
mod completing;
mod label;
mod typing;

/// Time within which a second Ctrl-C ends the program.
const TWICE: Duration = Duration::from_secs(2);
/// Maximum number of characters of a queued prompt that are shown.
const SHOWN: usize = 120;

/// A conversation on a page.
pub(super) struct Conversation<'a> {
    workload: Workload<'a>,
    /// Completes a path in the workspace.
    complete_path: Box<CompletePath<'a>>,
    /// Stores a typed line for the history of later conversations.
    record: Box<dyn Fn(&str) + 'a>,
    /// Folder of the project.
    folder: PathBuf,
    /// True if a screen reader reads the label of the prompt aloud.
    is_for_screen_reader: bool,
    /// True if the session has content from earlier.
    is_resumed: bool,
    page: Page,
    story: Story,
    decoder: KeyDecoder,
    /// Time at which the decoder no longer waits for the rest of an escape sequence.
    escape_end: Option<Instant>,
    draft: LineEditor,
    /// Approval mode, which the label of the prompt shows.
    mode: ApprovalMode,
    /// Completion of the draft, while it is computed.
    completion: Option<Completion>,
    /// Answer to the question on the page.
    answer: LineEditor,
    /// Open questions; the first is on the page.
    questions: VecDeque<Question>,
    /// The first question as it is shown.
    sheet: QuestionSheet,
    /// Proposal that the user wants to change in an external editor.
    to_edit: Option<EditProposal>,
    /// Questions of the model, if the question on the page is one of them.
    survey: Option<Survey>,
    /// Input for a command that waits for it.
    typing: CommandInput,
    /// Time of a Ctrl-C that had nothing to stop and nothing to clear.
    interrupted: Option<Instant>,
    /// True after the end of input: queued prompts still run.
    ending: bool,
    /// Reason of the end, once the conversation is over.
    over: Option<ConversationEnd>,
}

impl<'a> Conversation<'a> {
    /// Starts a conversation with its greeting.
    pub(super) fn begin(mut opening: Opening<'a>) -> Self {
        let unsent = std::mem::take(&mut opening.unsent);
        let (facts, options) = (opening.facts, opening.options);
        let look = PageLook {
            echoing: opening.is_echoing,
            raw: options.raw_output,
            coloured: options.is_coloured,
            one_row: facts.is_for_screen_reader,
        };
        let mut page = Page::new(opening.size.columns.into(), look);
        page.resize(opening.size);
        page.prose(Tone::Plain, &greeting(options.version, facts, &opening.last));
        let (earlier, first) = (opening.earlier.clone(), opening.first_prompt.clone());
        let mut conversation = Self::new(opening, page);
        conversation.remember(&earlier);
        conversation.take_unsent(unsent);
        if let Some(prompt) = first {
            conversation.first_prompt(prompt);
        }
        conversation
    }

    fn new(opening: Opening<'a>, page: Page) -> Self {
        let (facts, options) = (opening.facts, opening.options);
        Self {
            workload: opening.workload,
            complete_path: opening.complete_path,
            record: opening.record,
            folder: facts.folder.clone(),
            is_for_screen_reader: facts.is_for_screen_reader,
            is_resumed: facts.resumed.is_some(),
            page,
            story: Story::new(facts.model.clone(), options.describe_failure),
            decoder: KeyDecoder::default(),
            escape_end: None,
            draft: LineEditor::default(),
            mode: facts.mode,
            completion: None,
            answer: LineEditor::default(),
            questions: VecDeque::new(),
            sheet: QuestionSheet::default(),
            to_edit: None,
            survey: None,
            typing: CommandInput::default(),
            interrupted: None,
            ending: false,
            over: None,
        }
    }

    /// Adds lines of earlier conversations to the history, the oldest first.
    fn remember(&mut self, lines: &[String]) {
        for line in lines {
            self.draft.remember(line);
        }
    }

    /// Continues with input from another session: starts its first prompt.
    fn take_unsent(&mut self, unsent: Unsent) {
        let Unsent { queue, draft, decoder } = unsent;
        self.decoder = decoder;
        self.draft.replace_whole(draft);
        for line in queue.into_iter().rev() {
            self.workload.put_first(line);
        }
        self.go_on();
    }

    /// Starts the conversation with this prompt.
    fn first_prompt(&mut self, prompt: String) {
        self.page.print_prompt(&self.label_of_prompt(), &prompt);
        self.draft.remember(&prompt);
        (self.record)(&prompt);
        self.begin_work(prompt);
    }

    /// Shows the current state of the input line.
    fn show_input(&mut self) {
        if !self.questions.is_empty() {
            let label = match &self.survey {
                Some(survey) => survey.label(),
                None => self.label(),
            };
            self.page.show(&label, self.answer.before(), self.answer.after());
        } else if let Some((label, before, after)) = self.typing.row() {
            self.page.show(label, before, after);
        } else if self.workload.is_idle() || !self.draft.is_empty() {
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

    /// Stops the work; returns false if there is none, or if it is being stopped already.
    fn stop(&mut self) -> bool {
        match self.workload.stop() {
            StopResult::Nothing => return false,
            StopResult::Dropped => {
                self.drop_queue();
                self.page.line("Request cancelled.");
                self.go_on();
            }
            StopResult::Asked => {
                self.drop_queue();
                self.questions.clear();
            }
        }
        true
    }

    fn submit(&mut self, line: String) {
        if line.trim().is_empty() {
            return;
        }
        (self.record)(&line);
        let shown = first_line(&line);
        match self.workload.submit(line) {
            Submission::Begun(kind) => self.begun(kind),
            Submission::Steered => self.page.line(&format!("hint: {shown}")),
            Submission::Queued => self.page.line(&format!("queued: {shown}")),
            Submission::Refused => {
                self.page.line("Not queued, because too much is waiting.");
            }
            Submission::BesideWork | Submission::Blank => {}
        }
    }

    /// Starts the prompt or command of a line.
    fn begin_work(&mut self, line: String) {
        let kind = self.workload.begin(line);
        self.begun(kind);
    }

    fn begun(&mut self, kind: WorkKind) {
        if kind == WorkKind::Command {
            self.story.begin_command(Instant::now());
        }
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

    fn wish(&self, op: Op) {
        self.workload.send(op);
    }

    /// Handles the end of the work: starts the next queued prompt.
    fn go_on(&mut self) {
        if let Some(next) = self.workload.end() {
            self.page.line(&format!("{}{}", self.label_of_prompt(), first_line(&next)));
            self.begin_work(next);
        } else if self.ending {
            self.over = Some(ConversationEnd::Finished);
        }
    }

    /// Ends the program, after the current work.
    fn end(&mut self) {
        self.ending = true;
        if self.workload.is_idle() {
            self.page.keep_row();
            self.over = Some(ConversationEnd::Finished);
        }
    }

    fn drop_queue(&mut self) {
        let count = self.workload.take_queue().len();
        if count > 0 {
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

impl TerminalView for Conversation<'_> {
    fn show(&mut self) -> Vec<u8> {
        self.show_input();
        self.page.take()
    }

    fn leave(&mut self) -> Vec<u8> {
        self.page.keep_row();
        self.page.take()
    }

    fn take_over(&mut self, size: WindowSize) {
        self.page.resize(size);
        self.page.restart_input_line();
    }

    fn resize(&mut self, size: WindowSize) {
        self.page.resize(size);
    }

    fn typed(&mut self, typed: &TypedBytes) {
        self.type_bytes(&typed.bytes, typed.mode);
    }

    fn escape_end(&self) -> Option<Instant> {
        self.escape_end
    }

    fn escape_ended(&mut self) {
        self.escape_end = None;
        let keys = self.decoder.end_escape();
        self.press(keys);
    }

    fn next_tick(&self) -> Option<Instant> {
        self.story.next_tick()
    }

    /// Prints the output of running commands since the last tick.
    fn tick(&mut self) {
        self.story.tick(&mut self.page, Instant::now());
    }
}

impl<'a> Interaction<'a> for Conversation<'a> {
    fn workload(&mut self) -> &mut Workload<'a> {
        &mut self.workload
    }

    fn awaited(&mut self) -> Awaited<'_, 'a> {
        let (completion, workload) = (self.completion.as_mut(), &mut self.workload);
        Awaited { completion, page: None, list: None, clipboard: None, wake: None, workload }
    }

    fn over(&self) -> Option<ConversationEnd> {
        self.over
    }

    fn take_proposal(&mut self) -> Option<EditProposal> {
        self.to_edit.take()
    }

    fn edited(&mut self, edited: Result<Option<String>, String>) {
        self.take_edited(edited);
    }

    /// Stops the work or clears the line. A second Ctrl-C within two seconds ends the program, if
    /// neither had anything else to do.
    fn interrupt(&mut self) {
        self.decoder.end_paste();
        self.page.restart_input_line();
        let earlier = self.interrupted.take();
        if self.stop() {
            return;
        }
        if !self.draft.is_empty() {
            self.completion = None;
            self.draft.clear();
        } else if earlier.is_some_and(|at| at.elapsed() < TWICE) {
            self.over = Some(ConversationEnd::Finished);
        } else {
            self.page.line("Press Ctrl-C again to exit.");
            self.interrupted = Some(Instant::now());
        }
    }

    fn end_of_input(&mut self) {
        if self.questions.is_empty() {
            self.end_draft();
        } else {
            self.reply(QuestionOutcome::Cancel);
            self.ending = true;
        }
    }

    fn message(&mut self, text: &str) {
        self.page.line(text);
    }

    fn completed(&mut self, lines: &[String]) {
        self.show_completions(lines);
    }

    fn prepared(&mut self, parts: Result<Vec<Part>, SessionsError>) {
        if let Err(error) = self.workload.prepared(parts) {
            self.page.line(&format!("Error: {error}"));
            self.go_on();
        }
    }

    fn event(&mut self, envelope: &Envelope) {
        let Envelope { origin, event } = envelope;
        let is_beside = self.workload.runs_beside(origin.prompt.as_deref());
        if !(is_beside && matches!(event, Event::PromptEnded(_))) {
            self.story.tell(&mut self.page, event, Instant::now());
            if let Some(text) = self.typing.hear(event) {
                self.page.prose(Tone::Plain, &text);
            }
        }
        match event {
            Event::Question(question) => {
                self.questions.push_back(Question::clone(question));
                if self.questions.len() == 1 {
                    self.ask();
                }
            }
            Event::ModeChanged(mode) => self.mode = *mode,
            Event::ForClipboard(text) => self.page.copy(text),
            // What a terminal edits by itself cannot begin with a text.
            Event::ForInput(text) if self.draft.is_empty() && !self.page.is_echoing() => {
                self.draft.replace_whole(text.clone());
            }
            Event::QuestionWithdrawn(id) => self.withdraw(*id),
            Event::PromptEnded(_) if self.workload.is_running(origin.prompt.as_deref()) => {
                self.questions.clear();
                self.answer.clear();
                self.go_on();
            }
            _ => {}
        }
    }

    /// Does nothing: `/tasks` lists them.
    fn background_changed(&mut self, _: &Arc<Vec<BackgroundCommand>>) {}

    fn agent_gone(&mut self) {
        let asked = self.workload.is_idle();
        if !asked {
            self.page.line("Error: The agent ended without a result. This is a bug in Pollux.");
        }
        self.over =
            Some(if asked { ConversationEnd::Finished } else { ConversationEnd::AgentGone });
    }

    fn unsent(&mut self) -> Unsent {
        let decoder = std::mem::take(&mut self.decoder);
        Unsent { queue: self.workload.take_queue(), draft: self.draft.whole(), decoder }
    }

    fn close(&mut self, end: ConversationEnd, resume: Option<&str>) -> Vec<u8> {
        self.page.keep_row();
        let has_content = self.workload.has_spoken() || self.is_resumed;
        if end == ConversationEnd::Finished
            && has_content
            && let Some(resume) = resume
        {
            self.page.line(resume);
        }
        self.page.take()
    }
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
