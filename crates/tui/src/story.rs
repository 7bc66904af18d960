//! Events of the agent as rows: finished rows, which the terminal keeps, and live rows. Pure.

use std::sync::Arc;
use std::time::Instant;

use pollux_input::{DescribeFailure, narration};
use pollux_protocol::{
    CommandOutcome, Event, PromptOutcome, Severity, Thought, Todo, TodoStatus, UsageReport,
};

use tokio::sync::Notify;

use crate::calls::{CallLimits, LiveCalls};
use crate::code::{CodeBlock, Highlighter};
use crate::fold::{Breaks, Room, cut_to, fold};
use crate::markdown::{AnswerRow, Markdown, MarkupMarks};
use crate::outbox::Outbox;
use crate::row::{Look, Row};
use crate::status::Status;
use crate::ui_settings::UiSettings;

mod replay;
mod rows;
#[cfg(test)]
mod tests;

pub(crate) use replay::compressed;
pub(crate) use rows::{look_of, notice_rows, prompt_rows};

/// Message for work that was stopped.
const CANCELLED: &str = "Request cancelled.";
/// Message for work that ended because the user refused a call.
const REFUSED: &str = "Not applied. Type what to do instead.";
/// Maximum number of rows of a prompt that stay on the screen.
const PROMPT_ROWS: usize = 40;

/// Rows of the conversation.
#[derive(Debug)]
pub(crate) struct Story {
    describe_failure: DescribeFailure,
    settings: UiSettings,
    /// Width of a row, in cells.
    cells: usize,
    /// Model that the user requested: a name, an alias or `auto`.
    requested: String,
    /// Model that was named last.
    model: String,
    pub(crate) calls: LiveCalls,
    pub(crate) status: Status,
    answer: Markdown,
    todos: Vec<Todo>,
    usage: Option<UsageReport>,
    /// Colours of code; `None` on a screen without colours.
    highlighter: Option<Highlighter>,
    /// Number of the answers that have ended.
    answers: u64,
    /// Finished rows that are not on the screen yet.
    finished: Outbox,
    /// Block of the last finished row.
    last: Block,
    /// Message if the current work ends because it is cancelled.
    cancelled: &'static str,
    /// True if the model has written something since the last prompt.
    pub(crate) has_answer: bool,
    /// True before the first text of a turn.
    is_new_turn: bool,
}

/// Blocks of rows, with blank rows between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Start,
    Greeting,
    Prompt,
    Answer,
    Thought,
    Calls,
    Notice,
}

impl Story {
    /// Creates a conversation with a model that is known to the user.
    pub(crate) fn new(
        model: String,
        describe_failure: DescribeFailure,
        cells: usize,
        marks: MarkupMarks,
        now: Instant,
    ) -> Self {
        Self {
            describe_failure,
            settings: UiSettings::default(),
            cells,
            requested: model.clone(),
            model,
            calls: LiveCalls::default(),
            status: Status::new(now),
            answer: Markdown::new(marks),
            todos: Vec::new(),
            usage: None,
            highlighter: (marks == MarkupMarks::Hidden).then(Highlighter::default),
            answers: 0,
            finished: Outbox::default(),
            last: Block::Start,
            cancelled: CANCELLED,
            has_answer: false,
            is_new_turn: false,
        }
    }

    /// Sets the settings for the rows from now on.
    pub(crate) fn set(&mut self, settings: UiSettings) {
        self.status.set(&settings);
        self.settings = settings;
    }

    /// Sets the width of the rows. Finished rows that are not on the screen yet, and are too wide
    /// now, are broken, because the screen would cut them.
    pub(crate) fn resize(&mut self, cells: usize) {
        self.cells = cells;
        self.finished.resize(cells);
    }

    /// Returns the model that the user requested: a name, an alias or `auto`.
    pub(crate) fn requested_model(&self) -> &str {
        &self.requested
    }

    /// Returns the model that was named last.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    /// Returns the used part of the model's context, in percent, if it is known.
    pub(crate) fn context(&self) -> Option<u64> {
        let report = self.usage.as_ref().filter(|report| report.context > 0)?;
        Some(report.usage.all().saturating_mul(100) / report.context)
    }

    /// Returns true if a blank row separates the live rows from those above.
    pub(crate) fn has_rows(&self) -> bool {
        self.last != Block::Start
    }

    /// Returns the rows that are finished since the last call, except for those that wait for
    /// their colours.
    pub(crate) fn take_finished(&mut self, now: Instant) -> Vec<Row> {
        for (ticket, colours) in self.highlighter.iter().flat_map(Highlighter::take) {
            self.finished.colour(ticket, colours);
        }
        self.finished.take(now)
    }

    /// Returns all rows that are finished.
    pub(crate) fn take_all_finished(&mut self) -> Vec<Row> {
        self.finished.take_all()
    }

    /// Returns the time at which finished rows no longer wait for their colours; `None` if none
    /// waits.
    pub(crate) fn colours_end(&self) -> Option<Instant> {
        self.finished.wait_end()
    }

    /// Returns the notification about colours that have arrived, if rows wait for them.
    pub(crate) fn colours(&self) -> Option<Arc<Notify>> {
        let highlighter = self.highlighter.as_ref().filter(|_| self.finished.wait_end().is_some());
        highlighter.map(Highlighter::arrived)
    }

    /// Returns the rows in progress: the answer and the calls.
    pub(crate) fn live_rows(&self, now: Instant) -> Vec<Row> {
        let mut rows = self.finished.waiting_rows();
        rows.extend(self.answer.rows(self.cells));
        if !self.calls.is_empty() {
            let blank = (!rows.is_empty() || self.needs_blank(Block::Calls)).then(Row::default);
            rows.extend(blank);
            rows.extend(self.calls.rows(self.cells, now));
        }
        rows
    }

    /// Returns the rows of the to-do list, at most `height`: the current task, or all of them if
    /// the user wants to see them. There are none if no task is open.
    pub(crate) fn todo_rows(&self, is_whole: bool, height: usize) -> Vec<Row> {
        let Some(title) = self.todo_row() else { return Vec::new() };
        if !is_whole {
            return vec![title];
        }
        let mark = |status| match status {
            TodoStatus::Pending => "[ ]",
            TodoStatus::InProgress => "[>]",
            TodoStatus::Completed => "[x]",
            TodoStatus::Cancelled => "[-]",
            TodoStatus::Blocked => "[!]",
        };
        let done = self.todos.iter().filter(|todo| !todo.status.is_open()).count();
        let title = format!("todo {done}/{} · Ctrl+T hides the list", self.todos.len());
        let row =
            |look, text: &str| Row::new(look, cut_to(&Row::plain(text).into_text(), self.cells));
        let mut rows = vec![row(Look::Dim, &title)];
        let room = height.saturating_sub(1);
        let is_cut = self.todos.len() > room;
        let shown = if is_cut { room.saturating_sub(1) } else { self.todos.len() };
        // The first open task is shown.
        let open = self.todos.iter().position(|todo| todo.status.is_open()).unwrap_or(0);
        let start = open.min(self.todos.len() - shown);
        rows.extend(self.todos.iter().skip(start).take(shown).map(|todo| {
            let look = if todo.status.is_open() { Look::Plain } else { Look::Dim };
            row(look, &format!("  {} {}", mark(todo.status), todo.description))
        }));
        if is_cut {
            rows.push(row(Look::Dim, &format!("  ... (+{} more)", self.todos.len() - shown)));
        }
        rows
    }

    /// Returns the row about the current task; `None` if no task is open.
    fn todo_row(&self) -> Option<Row> {
        let done = self.todos.iter().filter(|todo| !todo.status.is_open()).count();
        let current = self.todos.iter().find(|todo| todo.status == TodoStatus::InProgress);
        let current = current.or_else(|| self.todos.iter().find(|todo| todo.status.is_open()))?;
        let text = format!("todo {done}/{} · {}", self.todos.len(), current.description);
        Some(Row::new(Look::Dim, cut_to(&Row::plain(text).into_text(), self.cells)))
    }

    /// Adds the first rows of the conversation.
    pub(crate) fn greet(&mut self, rows: Vec<Row>) {
        self.last = Block::Greeting;
        self.finished.extend(rows);
    }

    /// Adds a prompt of the user.
    pub(crate) fn prompt(&mut self, text: &str) {
        self.begin(Block::Prompt);
        let rows = prompt_rows(text, self.cells, PROMPT_ROWS);
        self.finished.extend(rows);
        self.has_answer = false;
    }

    /// Adds a message of one or more lines.
    pub(crate) fn notice(&mut self, look: Look, text: &str) {
        self.begin(Block::Notice);
        self.finished.extend(notice_rows(look, text, self.cells));
    }

    /// Records that the user refused a call, which cancels the current work.
    pub(crate) fn call_refused(&mut self) {
        self.cancelled = REFUSED;
    }

    /// Ends the answer in progress.
    pub(crate) fn end_answer(&mut self) {
        let now = Instant::now();
        let rows = self.answer.end(self.cells);
        self.add_answer(rows, now);
        self.answers += 1;
    }

    /// Takes an event.
    pub(crate) fn tell(&mut self, event: &Event, now: Instant) {
        self.status.take(event, now);
        match event {
            Event::Text(text) => self.take_text(text),
            Event::TurnStarted { .. } => self.is_new_turn = true,
            Event::Thought(thought) => self.show_thought(thought),
            Event::Question(_) => self.end_answer(),
            Event::CallRequested(call) => {
                self.end_answer();
                self.has_answer = true;
                self.calls.request(call);
            }
            Event::CallPrepared(prepared) => self.calls.prepare(prepared),
            Event::CallMoved { call_id, status } => self.calls.move_to(call_id, *status, now),
            Event::CallOutput { call_id, output } => self.calls.output(call_id, output),
            Event::CallsFinished(calls) => {
                let limits = CallLimits::new(self.settings.is_compact);
                for call in calls {
                    let rows = self.calls.finish(call, self.cells, limits);
                    self.begin(Block::Calls);
                    self.finished.extend(rows);
                }
                self.calls.clear();
            }
            Event::TodosChanged(todos) => self.todos.clone_from(todos),
            Event::Usage(report) => self.usage = Some(report.clone()),
            Event::ModelChanged { model, reason } => {
                if reason == "command" {
                    self.requested.clone_from(model);
                }
                self.model_changed(model);
            }
            Event::PromptEnded(outcome) => self.end_prompt(outcome),
            event => self.tell_other(event),
        }
    }

    /// Takes text of the answer.
    fn take_text(&mut self, text: &str) {
        if std::mem::take(&mut self.is_new_turn) && self.settings.names_model {
            self.begin(Block::Answer);
            self.finished.push(Row::new(Look::Dim, cut_to(&self.model, self.cells)));
        }
        let rows = self.answer.push(text, self.cells);
        self.add_answer(rows, Instant::now());
    }

    /// Adds a thought of the model, if the user wants to read them.
    fn show_thought(&mut self, thought: &Thought) {
        if !self.settings.has_thoughts {
            return;
        }
        self.begin(Block::Thought);
        let text = format!("{}\n{}", thought.subject, thought.description);
        for (index, line) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
            let indent = if index == 0 { 0 } else { 2 };
            let room = Room::new(self.cells).indented(indent);
            let row = Row::new(Look::Dim, line.trim());
            self.finished.extend(fold(&row, room, Breaks::Words));
        }
    }

    fn tell_other(&mut self, event: &Event) {
        match event {
            Event::Citations(_) if !self.settings.has_citations => {}
            Event::Citations(text) | Event::CommandOutput(text) => self.notice(Look::Plain, text),
            Event::StreamRestarted => {
                let text = "(The answer broke off or is unusable. It is requested again.)";
                self.notice(Look::Dim, text);
            }
            Event::Notice { severity, text } => self.severe(*severity, text),
            Event::HookMessage { message, .. } => self.notice(Look::Plain, message),
            Event::CommandEnded(CommandOutcome::Failed(message)) => {
                self.severe(Severity::Error, message);
            }
            event => {
                if let Some(text) = narration::warning(event) {
                    self.severe(Severity::Warning, &text);
                }
            }
        }
    }

    /// Adds rows of the answer.
    fn add_answer(&mut self, rows: Vec<AnswerRow>, now: Instant) {
        if !self.answer.is_empty() || !rows.is_empty() {
            self.has_answer = true;
            // Also ends the block above for the row in progress.
            self.separate(Block::Answer);
        }
        for row in rows {
            self.add_answer_row(row, now);
        }
    }

    fn add_answer_row(&mut self, row: AnswerRow, now: Instant) {
        if let AnswerRow::Code(line, number, language) = &row
            && let Some(highlighter) = &mut self.highlighter
        {
            let language = Arc::clone(language);
            let block = CodeBlock { answer: self.answers, number: *number, language };
            if let Some(ticket) = highlighter.ask(&block, &line.text) {
                return self.finished.push_code(line.clone(), ticket, now);
            }
        }
        self.finished.extend(row.into_rows());
    }

    fn model_changed(&mut self, model: &str) {
        if !narration::is_same_model(&self.model, model) {
            model.clone_into(&mut self.model);
            self.notice(Look::Plain, &format!("Model: {model}"));
        }
    }

    fn severe(&mut self, severity: Severity, text: &str) {
        let (look, text) = look_of(severity, text);
        self.notice(look, &text);
    }

    fn end_prompt(&mut self, outcome: &PromptOutcome) {
        self.end_answer();
        self.calls.clear();
        let cancelled = std::mem::replace(&mut self.cancelled, CANCELLED);
        match outcome {
            PromptOutcome::Done => {}
            PromptOutcome::CutOff(reason) => {
                self.severe(Severity::Warning, &narration::cut_off(reason.as_ref()));
            }
            PromptOutcome::Cancelled => self.notice(Look::Plain, cancelled),
            PromptOutcome::Stopped(reason) => {
                self.notice(Look::Plain, &format!("Agent execution stopped: {reason}"));
            }
            PromptOutcome::InvalidStream(error) => self.severe(Severity::Error, &error.message),
            failed => {
                if let Some(message) = (self.describe_failure)(failed) {
                    self.severe(Severity::Error, &message);
                }
            }
        }
    }

    /// Begins rows of a block; the answer in progress ends before them.
    fn begin(&mut self, block: Block) {
        self.end_answer();
        self.separate(block);
    }

    /// Separates a block from another one above by a blank row.
    fn separate(&mut self, block: Block) {
        if self.needs_blank(block) {
            self.finished.push(Row::default());
        }
        self.last = block;
    }

    fn needs_blank(&self, block: Block) -> bool {
        self.last != Block::Start && (self.last != block || block == Block::Prompt)
    }
}
