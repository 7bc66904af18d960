//! State of the conversation on the screen, between keys and events on one side, and frames and ops
//! on the other. It never waits.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pollux_input::{
    CommandInput, ConversationEnd, EditProposal, KeyProtocol, KeySignal, Opening, StopResult,
    Submission, TerminalView, TypedBytes, Unsent, WindowSize, WorkKind, Workload, is_prompt,
};
use pollux_protocol::plain_text::one_line;
use pollux_protocol::{
    ApprovalMode, BackgroundCommand, CommandSet, Live, Op, Question, QuestionId, SessionsError,
};

use serde_json::Value;

use crate::background::BackgroundPanel;
use crate::composer::Composer;
use crate::dialog::Dialog;
use crate::greeting::greeting;
use crate::markdown::MarkupMarks;
use crate::outside::Outside;
use crate::picker::Picker;
use crate::place_links::PlaceLinks;
use crate::row::{Look, Row};
use crate::screen::Screen;
use crate::scrollback::Scroll;
use crate::story::Story;
use crate::surface::Narrowing;
use crate::theme_command::ThemeCommand;
use crate::toast::Toast;
use crate::ui_settings::UiSettings;
use crate::vim_command::VimCommand;

mod answering;
mod appearance;
mod closing;
mod frame;
mod frames;
mod interaction;
mod keyboard;
mod keys;
mod listing;
mod lists;
mod pasting;
mod signs;
mod transcript;

use appearance::Appearance;
use frame::FooterFacts;
use frames::Frames;
use keyboard::Keyboard;
pub(crate) use keys::{ESCAPE, FAST_RETURN};
use listing::Listing;
use pasting::Pasting;
use transcript::{Reading, Transcript};

/// Interval between two changes of the times in the panel of background commands.
const SECOND: Duration = Duration::from_secs(1);
/// Number of rows of a terminal that does not report it.
const ROWS: u16 = 24;

/// The conversation on the screen.
pub(crate) struct View<'a> {
    workload: Workload<'a>,
    screen: Screen,
    story: Story,
    /// Links to the files that the conversation names.
    place_links: PlaceLinks<'a>,
    composer: Composer<'a>,
    /// Open questions after the one that is on the screen.
    questions: VecDeque<Question>,
    dialog: Option<Dialog>,
    /// Input for a command that waits for it.
    command_input: CommandInput,
    toast: Option<Toast>,
    /// Prompt of the queue that the user has chosen.
    chosen: Option<usize>,
    /// Commands in the background.
    background: Arc<Vec<BackgroundCommand>>,
    panel: Option<BackgroundPanel>,
    /// List in place of the input.
    picker: Option<Picker>,
    vim: VimCommand,
    appearance: Appearance<'a>,
    reading: Reading<'a>,
    listing: Listing<'a>,
    pasting: Pasting<'a>,
    /// The transcript, while it is on the screen.
    transcript: Option<Transcript<'a>>,
    /// Title, progress and notifications.
    outside: Outside,
    /// Facts of the session for the last row.
    session: FooterFacts,
    /// True while the keys are shown.
    has_sheet: bool,
    /// True if the whole to-do list is shown.
    has_todos: bool,
    keyboard: Keyboard,
    /// Time of the last prompt.
    last_submit: Option<Instant>,
    /// Stores a typed line for the history of later conversations.
    record: Box<dyn Fn(&str) + 'a>,
    /// Checks that an approval mode is allowed.
    check_mode: Box<dyn Fn(ApprovalMode) -> Result<(), SessionsError> + 'a>,
    folder: PathBuf,
    /// Folder as it is shown.
    place: String,
    mode: ApprovalMode,
    /// Size of the terminal: columns and rows.
    size: (usize, usize),
    to_edit: Option<EditProposal>,
    /// Prompt that is being worked on, as it was typed.
    prompt: Option<String>,
    started: Instant,
    counts: Counts,
    is_resumed: bool,
    /// True after the end of input: queued prompts still run.
    is_ending: bool,
    over: Option<ConversationEnd>,
    /// True if another session takes the place of this one.
    is_replaced: bool,
    frames: Frames,
}

/// Numbers for the end of the conversation.
#[derive(Debug, Default)]
struct Counts {
    prompts: u64,
    calls: u64,
    tokens: u64,
}

/// Adds the commands of the screen to those of the session.
fn with_own(commands: Live<CommandSet>, vim: &VimCommand) -> Live<CommandSet> {
    commands.update(|set| {
        set.add_built_in(Arc::new(ThemeCommand));
        set.add_built_in(Arc::new(vim.clone()));
    });
    commands
}

impl<'a> View<'a> {
    /// Starts a conversation with its greeting.
    pub(crate) fn begin(opening: Opening<'a>) -> Self {
        let now = Instant::now();
        let (facts, options, size) = (opening.facts, opening.options, size_of(opening.size));
        let settings = (opening.settings)();
        let story = first_rows(&opening, UiSettings::read(&settings), size.0 - 1, now);
        let narrowing = if options.cuts_rows { Narrowing::Cuts } else { Narrowing::Folds };
        let is_alternate = settings.get("ui.useAlternateBuffer") == Some(&Value::Bool(true));
        let vim = VimCommand::default();
        let commands = with_own(opening.workload.handle().commands(), &vim);
        let composer =
            Composer::new(commands, opening.complete_path, opening.is_readable, &opening.earlier);
        let appearance = Appearance::new(opening.settings, options);
        let marks = if options.is_coloured { MarkupMarks::Hidden } else { MarkupMarks::Shown };
        let mut view = Self {
            workload: opening.workload,
            screen: Screen::new(size, appearance.palette(), narrowing, is_alternate),
            story,
            place_links: PlaceLinks::new(opening.find_linked),
            composer,
            questions: VecDeque::new(),
            dialog: None,
            command_input: CommandInput::default(),
            toast: None,
            chosen: None,
            background: Arc::default(),
            panel: None,
            picker: None,
            vim,
            outside: signs::outside(options, facts, &settings),
            appearance,
            session: FooterFacts::of(facts),
            reading: Reading { read_page: opening.read_page, marks },
            listing: Listing::new(opening.read_list, &facts.id),
            pasting: Pasting::new(opening.read_clipboard),
            transcript: None,
            has_sheet: false,
            has_todos: false,
            keyboard: Keyboard::new(Arc::clone(&options.keys)),
            last_submit: None,
            record: opening.record,
            check_mode: opening.check_mode,
            folder: facts.folder.clone(),
            place: frame::place(&facts.folder, options.home.as_deref()),
            mode: facts.mode,
            size,
            to_edit: None,
            prompt: None,
            started: now,
            counts: Counts::default(),
            is_resumed: facts.resumed.is_some(),
            is_ending: false,
            over: None,
            is_replaced: false,
            frames: Frames::begin(),
        };
        view.composer.resize(size.0);
        view.apply_settings();
        view.begin_theme();
        view.read_vim_mode();
        view.take_unsent(opening.unsent, opening.first_prompt);
        view
    }

    /// Continues with input from another session, and then starts the prompt that the conversation
    /// begins with.
    fn take_unsent(&mut self, unsent: Unsent, first_prompt: Option<String>) {
        let Unsent { queue, draft, decoder } = unsent;
        self.keyboard.decoder = decoder;
        if !draft.is_empty() {
            self.composer.replace(draft);
        }
        for line in queue.into_iter().rev() {
            self.workload.put_first(line);
        }
        self.go_on();
        if let Some(prompt) = first_prompt {
            self.composer.remember(&prompt);
            self.submit(prompt.clone(), &prompt);
        }
    }

    /// Takes a prompt or command; `shown` is its text on the screen.
    fn submit(&mut self, line: String, shown: &str) {
        if line.trim().is_empty() {
            return;
        }
        self.screen.scroll(Scroll::End);
        (self.record)(&line);
        // A user who has just sent a prompt waits for what happens.
        (self.keyboard.last_key, self.last_submit) = (None, Some(Instant::now()));
        self.take_line(line, shown);
    }

    /// Takes a prompt or command that is not part of the history.
    fn take_line(&mut self, line: String, shown: &str) {
        if self.open_list(line.trim()) {
            return;
        }
        match self.workload.submit(line) {
            Submission::Begun(kind) => self.begun(kind, shown),
            Submission::Steered => self.story.notice(Look::Dim, &format!("hint: {shown}")),
            Submission::BesideWork => self.story.prompt(shown),
            Submission::Refused => {
                self.toast = Some(Toast::notice("Not queued, because too much is waiting."));
            }
            Submission::Queued | Submission::Blank => {}
        }
    }

    fn begun(&mut self, kind: WorkKind, shown: &str) {
        let now = Instant::now();
        self.story.prompt(shown);
        match kind {
            WorkKind::Command => self.story.status.begin_command(now),
            WorkKind::Prompt => {
                self.prompt = Some(shown.to_owned());
                self.counts.prompts += 1;
                self.story.status.begin_prompt(now);
            }
        }
    }

    /// Handles the end of the work: starts what waits.
    fn go_on(&mut self) {
        self.story.status.end(Instant::now());
        (self.prompt, self.chosen) = (None, None);
        if let Some(next) = self.workload.end_together() {
            let kind = self.workload.begin(next.clone());
            self.begun(kind, &next);
        } else if self.is_ending {
            self.over = Some(ConversationEnd::Finished);
        }
    }

    /// Stops the work; returns false if there is none, or if it is being stopped already. The
    /// queue, and a prompt that has no answer yet, go back to the input.
    fn stop(&mut self) -> bool {
        match self.workload.stop() {
            StopResult::Nothing => return false,
            StopResult::Dropped => {
                self.take_back();
                self.story.notice(Look::Plain, "Request cancelled.");
                self.go_on();
            }
            StopResult::Asked => {
                self.take_back();
                self.questions.clear();
                self.dialog = None;
                self.story.status.stop();
            }
        }
        true
    }

    /// Empties the queue. Its prompts go back to the input; commands between them would be sent as
    /// a part of the prompt, so that only a single one takes their place.
    fn take_back(&mut self) {
        self.chosen = None;
        let queued = self.workload.take_queue();
        let (prompts, mut commands): (Vec<_>, Vec<_>) =
            queued.into_iter().partition(|line| is_prompt(line));
        if !prompts.is_empty() {
            self.composer.put_before(&prompts.join("\n\n"));
        } else if commands.len() == 1
            && self.composer.is_empty()
            && let Some(command) = commands.pop()
        {
            self.composer.replace(command);
        } else if !self.story.has_answer
            && self.composer.is_empty()
            && let Some(prompt) = self.prompt.take()
        {
            self.composer.replace(prompt);
        }
        if !commands.is_empty() {
            let commands: Vec<String> = commands.iter().map(|line| one_line(line)).collect();
            let text = format!("Not run: {}", commands.join(" \u{b7} "));
            self.story.notice(Look::Dim, &text);
        }
    }

    /// Puts the next open question on the screen.
    fn ask_next(&mut self) {
        self.dialog = None;
        if let Some(question) = self.questions.pop_front() {
            let dialog = Dialog::new(question, &self.folder);
            self.dialog = Some(dialog.with_marks(self.reading.marks));
        }
    }

    /// Removes a question that no longer needs a reply.
    fn withdraw(&mut self, id: QuestionId) {
        self.questions.retain(|question| question.id != id);
        if self.dialog.as_ref().is_some_and(|dialog| dialog.question().id == id) {
            self.ask_next();
        }
    }

    fn set_size(&mut self, size: WindowSize) {
        self.size = size_of(size);
        self.story.resize(self.size.0 - 1);
        self.composer.resize(self.size.0);
        if let Some(transcript) = &mut self.transcript {
            transcript.resize(self.size);
        } else {
            self.screen.resize(self.size);
        }
        self.frames.change_at_once();
    }
}

/// Returns the conversation with its first rows: the greeting, and the end of a resumed session.
fn first_rows(opening: &Opening<'_>, settings: UiSettings, cells: usize, now: Instant) -> Story {
    let (facts, options) = (opening.facts, opening.options);
    let marks = if options.is_coloured { MarkupMarks::Hidden } else { MarkupMarks::Shown };
    let mut story = Story::new(facts.model.clone(), options.describe_failure, cells, marks, now);
    let place = frame::place(&facts.folder, options.home.as_deref());
    let is_new_user = opening.earlier.is_empty();
    story.greet(greeting(options.version, facts, &place, is_new_user, &settings, cells));
    story.set(settings);
    story.replay(opening.last.items(), opening.last.has_earlier());
    story
}

/// Returns columns and rows; at least two columns and one row.
pub(crate) fn size_of(size: WindowSize) -> (usize, usize) {
    (usize::from(size.columns).max(2), usize::from(size.rows.unwrap_or(ROWS)).max(1))
}

impl TerminalView for View<'_> {
    fn show(&mut self) -> Vec<u8> {
        let now = Instant::now();
        if self.frames.due(now).is_none_or(|due| due > now) {
            return Vec::new();
        }
        self.frames.drawn(now);
        if self.transcript.is_some() {
            return self.show_transcript();
        }
        let mut finished = self.story.take_finished(now);
        self.link_places(&mut finished);
        self.show_signs();
        let (live, below) = self.rows(now);
        self.screen.draw(finished, live, below)
    }

    fn is_full_screen(&self) -> bool {
        self.screen.is_shown() || self.transcript.as_ref().is_some_and(Transcript::is_shown)
    }

    fn takes_sequences(&self) -> bool {
        true
    }

    fn take_signal(&mut self) -> Option<KeySignal> {
        self.keyboard.signal.take()
    }

    fn take_protocol(&mut self) -> Option<KeyProtocol> {
        self.keyboard.protocol.take()
    }

    fn leave(&mut self) -> Vec<u8> {
        self.hide_transcript();
        let rows = self.take_all_finished();
        self.leave_with(rows)
    }

    fn take_over(&mut self, size: WindowSize) {
        self.screen.forget();
        self.screen.resize(size_of(size));
        self.set_size(size);
    }

    fn resize(&mut self, size: WindowSize) {
        self.set_size(size);
    }

    fn typed(&mut self, typed: &TypedBytes) {
        self.type_bytes(typed);
    }

    fn escape_end(&self) -> Option<Instant> {
        self.keyboard.escape_end
    }

    fn escape_ended(&mut self) {
        self.end_escape();
    }

    fn next_tick(&self) -> Option<Instant> {
        let now = Instant::now();
        if self.transcript.is_some() {
            return self.frames.due(now);
        }
        let toast = self.toast.as_ref().map(Toast::end);
        // A question hides the status.
        let status = self.story.status.next_change(now).filter(|_| self.dialog.is_none());
        let panel = self.panel.is_some().then(|| now + SECOND);
        let colours = self.story.colours_end();
        let draft = self.keyboard.draft_end.filter(|_| self.command_input.is_asked());
        let list = self.listing.again();
        let times = [self.frames.due(now), toast, status, panel, colours, draft, list];
        times.into_iter().flatten().min()
    }

    fn tick(&mut self) {
        let now = Instant::now();
        self.toast.take_if(|toast| toast.end() <= now);
        self.keyboard.draft_end.take_if(|end| *end <= now);
        self.follow_list(now);
        self.frames.change();
    }
}

impl View<'_> {
    /// Sends an op to the agent.
    fn send(&self, op: Op) {
        self.workload.send(op);
    }

    /// Returns all rows that are finished.
    fn take_all_finished(&mut self) -> Vec<Row> {
        let mut rows = self.story.take_all_finished();
        self.link_places(&mut rows);
        rows
    }

    /// Links the places in files that these rows name.
    fn link_places(&mut self, rows: &mut [Row]) {
        if self.screen.palette().has_links() {
            self.place_links.link(rows, self.size.0 - 1);
        }
    }

    /// Ends the program, after the current work.
    fn end(&mut self) {
        self.is_ending = true;
        if self.workload.is_idle() {
            self.over = Some(ConversationEnd::Finished);
        }
    }
}

#[cfg(test)]
mod tests;
