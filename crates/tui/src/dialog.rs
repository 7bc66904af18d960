//! A question to the user: its subject, its choices, and the keys that answer it. Pure.
//!
//! Nothing can be approved before all rows of the question have been on the screen. A question that
//! is higher than the screen is shown in parts; until the last part was shown, only Esc answers it.
//! Keys that were pressed before the question was on the screen never answer it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pollux_input::{
    EditProposal, HAS_EDITOR, KeyPress, QuestionSheet, SheetExtent, Survey, Tone, TonedLine,
    is_words,
};
use pollux_protocol::plain_text::visible;
use pollux_protocol::{
    Confirmation, ConfirmationKind, Modification, Question, QuestionChoice, QuestionOutcome,
    QuestionReply, QuestionSubject,
};

use crate::diff::Change;
use crate::fold::{Breaks, Room, cut_to, fold};
use crate::markdown::MarkupMarks;
use crate::row::{Look, Row};
use crate::surface::Frame;
use crate::view::FAST_RETURN;

mod consents;
mod number;
mod options;
mod plan;
mod steps;

use consents::Consents;
use number::TypedNumber;
use options::OptionRows;
use plan::{PlanAnswer, PlanReview};
use steps::{Steps, StepsOutcome};

/// Time without keys after which a question can be answered that appeared while the user typed.
pub(crate) const PAUSE: Duration = Duration::from_millis(500);
/// Time after a key in which the user is typing.
const TYPING: Duration = Duration::from_secs(1);

/// Index of the choice that refuses an item of a project.
const REFUSAL: usize = 1;
/// Title of questions of the model, as in Gemini CLI.
const QUESTIONS: &str = "Answer Questions";
/// Mark of a question, before its first row.
const MARK: &str = "! ";
/// Hint at the choice that the Esc key makes, as in Gemini CLI.
const ESCAPE_HINT: &str = " (esc)";

/// A question on the screen.
pub(crate) struct Dialog {
    question: Question,
    /// Lines of the subject.
    subject: Vec<TonedLine>,
    /// Change of a file, which is shown below the first line.
    change: Change,
    body: Body,
    /// Decisions about the items of a project.
    consents: Option<Consents>,
    choices: Vec<QuestionChoice>,
    /// Message about an answer that was not accepted.
    remark: Option<String>,
    selected: usize,
    number: TypedNumber,
    /// First row on the screen.
    top: usize,
    /// True after a key that shows other rows than those of the choice.
    is_scrolled: bool,
    /// Number of rows, from the first, that have been on the screen.
    seen: usize,
    /// Size for which the rows were counted.
    size: (usize, usize),
    /// Number of all rows.
    count: usize,
    /// Time at which the question was first on the screen.
    shown_at: Option<Instant>,
    /// Time from which on keys can approve.
    armed: Option<Instant>,
    /// True within pasted text, which is words and never a choice.
    is_pasting: bool,
    /// Time of the last typed or pasted text, if no key followed.
    last_text: Option<Instant>,
}

/// Form of a question.
enum Body {
    /// The subject with its choices.
    Choices,
    /// Questions of the model, or fields of a form.
    Steps(Box<Steps>),
    Plan(Box<PlanReview>),
}

/// Result of a key.
#[derive(Debug, PartialEq)]
pub(crate) enum DialogStep {
    /// The question stays open.
    Open,
    /// The user has decided.
    Reply(QuestionReply),
    /// The user wants to change the proposal in the external editor.
    Edit(EditProposal),
}

impl Dialog {
    /// Creates a question of a project in `folder`.
    pub(crate) fn new(question: Question, folder: &Path) -> Self {
        let body = Body::new(&question);
        let mut subject = QuestionSheet::new(&question, folder, SheetExtent::Whole).lines();
        subject.truncate(subject.len().saturating_sub(question.choices.len()));
        let change = match &question.subject {
            QuestionSubject::Call(Confirmation {
                kind: ConfirmationKind::Edit { patch, .. },
                ..
            }) => Change::of_patch(patch),
            _ => Change::default(),
        };
        if !change.is_empty() {
            subject.retain(|line| line.is_prose);
        }
        if subject.is_empty() {
            subject.push(TonedLine::prose(Tone::Plain, QUESTIONS));
        }
        Self {
            selected: question.default.unwrap_or(0),
            choices: question.choices.clone(),
            question,
            subject,
            change,
            body,
            consents: None,
            number: TypedNumber::default(),
            remark: None,
            top: 0,
            is_scrolled: false,
            seen: 0,
            size: (0, 0),
            count: usize::MAX,
            shown_at: None,
            armed: None,
            is_pasting: false,
            last_text: None,
        }
    }

    /// Shows or hides the marks of text in Markdown.
    pub(crate) fn with_marks(mut self, marks: MarkupMarks) -> Self {
        if let Body::Plan(plan) = &mut self.body {
            plan.set_marks(marks);
        }
        self
    }

    /// Creates a question before a session: items of a project are decided about one by one.
    pub(crate) fn before_session(question: Question) -> Self {
        let dialog = Self::new(question, Path::new(""));
        let QuestionSubject::Consent(items) = &dialog.question.subject else { return dialog };
        let consents = Consents::new(items.clone());
        Self {
            selected: REFUSAL,
            choices: consents.choices(),
            subject: consents.lines(),
            consents: Some(consents),
            ..dialog
        }
    }

    /// Returns the question.
    pub(crate) fn question(&self) -> &Question {
        &self.question
    }

    /// Returns the first line of the subject.
    pub(crate) fn title(&self) -> &str {
        self.subject.first().map_or("", |line| line.text.as_str())
    }

    /// Returns the label of the selected choice.
    pub(crate) fn selected_label(&self) -> Option<&str> {
        self.choices.get(self.selected).map(|choice| choice.label.as_str())
    }

    /// Returns the decisions about the items of a project.
    pub(crate) fn consents(&self) -> Option<&Consents> {
        self.consents.as_ref()
    }

    /// Shows a message below the question.
    pub(crate) fn remark(&mut self, text: String) {
        self.remark = Some(text);
    }

    /// Returns true if all rows have been on the screen.
    fn is_seen(&self) -> bool {
        self.seen >= self.count
    }

    /// Returns the rows that fit on the screen, and records that they were shown. `last_key` is the
    /// time of the last key before the question.
    pub(crate) fn frame(
        &mut self,
        (cells, height): (usize, usize),
        now: Instant,
        last_key: Option<Instant>,
    ) -> Frame {
        let OptionRows { rows, cursor: (selected, column) } = self.rows(cells);
        if self.size != (cells, height) || self.count != rows.len() {
            let was_seen = self.is_seen();
            (self.size, self.count) = ((cells, height), rows.len());
            // The parts are counted again, unless all of them were shown.
            self.seen = if was_seen { rows.len() } else { 0 };
            self.top = if was_seen { rows.len() } else { 0 };
        }
        let is_typing = last_key.is_some_and(|at| now.duration_since(at) < TYPING);
        self.shown_at.get_or_insert(now);
        self.armed.get_or_insert(if is_typing { now + PAUSE } else { now });
        if rows.len() <= height {
            (self.top, self.seen) = (0, rows.len());
            return Frame { rows, cursor: (selected, column) };
        }
        let room = height.saturating_sub(1).max(1);
        self.top = self.top.min(rows.len() - room);
        if self.is_seen() && !self.is_scrolled {
            // The choice or the answer stays on the screen.
            self.top = self.top.clamp((selected + 1).saturating_sub(room), selected);
        }
        let end = self.top + room;
        if self.top <= self.seen {
            self.seen = self.seen.max(end);
        }
        let hint = if self.is_seen() { "Page Up shows earlier rows" } else { "Space shows more" };
        let hint = format!("{hint} · rows {}-{end} of {}", self.top + 1, rows.len());
        let mut part = rows[self.top..end].to_vec();
        if height > 1 {
            part.push(Row::new(Look::Yellow, cut_to(&hint, cells)));
        }
        let is_shown = (self.top..end).contains(&selected);
        let at = selected.saturating_sub(self.top).min(part.len() - 1);
        Frame { rows: part, cursor: (at, if is_shown { column } else { 0 }) }
    }

    /// Returns all rows, with the position of the cursor: the answer, or the selected choice.
    fn rows(&mut self, cells: usize) -> OptionRows {
        let mut shown = match &mut self.body {
            Body::Steps(steps) => steps.rows(&self.subject, cells),
            Body::Plan(plan) => plan.rows(&self.subject, cells),
            Body::Choices => self.choice_rows(cells),
        };
        let before = shown.rows.len();
        if let Some(first) = shown.rows.first() {
            let mut marked = Row::new(Look::Yellow, MARK);
            for (look, text) in first.pieces() {
                marked.push(look, text);
            }
            shown.rows.splice(..1, fold(&marked, Room::new(cells), Breaks::Words));
        }
        shown.cursor.0 += shown.rows.len() - before;
        if let Some(remark) = self.remark.as_ref().filter(|_| !matches!(self.body, Body::Choices)) {
            let remark = Row::new(Look::Yellow, remark);
            shown.rows.extend(fold(&remark, Room::new(cells), Breaks::Words));
        }
        shown
    }

    /// Returns the rows of a subject and its choices.
    fn choice_rows(&self, cells: usize) -> OptionRows {
        let mut rows = Vec::new();
        let (title, rest) = self.subject.split_at(self.subject.len().min(1));
        rows.extend(title.iter().flat_map(|line| subject_rows(line, cells)));
        rows.extend(self.change.rows(cells, 2));
        rows.extend(rest.iter().flat_map(|line| subject_rows(line, cells)));
        if let Some(remark) = &self.remark {
            rows.extend(fold(&Row::new(Look::Yellow, remark), Room::new(cells), Breaks::Words));
        }
        if let Some(label) = self.consents.as_ref().and_then(Consents::label) {
            rows.extend(fold(&Row::new(Look::Bold, label), Room::new(cells), Breaks::Words));
        }
        let mut selected = rows.len();
        for (index, choice) in self.choices.iter().enumerate() {
            let is_selected = index == self.selected;
            if is_selected {
                selected = rows.len();
            }
            let mark = if is_selected { "\u{25cf} " } else { "  " };
            let look = if is_selected { Look::Cyan } else { Look::Plain };
            let label = visible(&choice.label);
            let hint = if choice.outcome == QuestionOutcome::Cancel { ESCAPE_HINT } else { "" };
            let row = Row::new(look, format!("{mark}{}. {label}{hint}", index + 1));
            rows.extend(fold(&row, Room::new(cells).hanging(5), Breaks::Words));
        }
        OptionRows { rows, cursor: (selected, 0) }
    }

    /// Applies a key that was read at this time.
    pub(crate) fn press(&mut self, key: KeyPress, at: Instant) -> DialogStep {
        match key {
            KeyPress::PasteBegin => self.is_pasting = true,
            KeyPress::PasteEnd => self.is_pasting = false,
            _ => {}
        }
        if key == KeyPress::Escape && self.shown_at.is_some_and(|shown| at >= shown) {
            return DialogStep::Reply(self.question.reply(QuestionOutcome::Cancel));
        }
        match self.armed {
            Some(armed) if at >= armed => {}
            // The user still types something else.
            Some(_) => {
                self.armed = Some(at + PAUSE);
                return DialogStep::Open;
            }
            None => return DialogStep::Open,
        }
        if !self.is_seen() {
            if !self.is_pasting {
                self.scroll(&key);
            }
            return DialogStep::Open;
        }
        self.is_scrolled = matches!(key, KeyPress::PageUp | KeyPress::PageDown);
        if self.is_scrolled {
            self.scroll(&key);
            return DialogStep::Open;
        }
        let key = self.without_burst(key, at);
        match self.body {
            Body::Steps(_) => self.press_in_steps(key),
            Body::Plan(_) => self.press_in_plan(key),
            Body::Choices => self.choose(&key),
        }
    }

    /// Returns a line end in place of an Enter key that is too fast to be a key: it belongs to text
    /// that was pasted into a terminal that does not mark it.
    fn without_burst(&mut self, key: KeyPress, at: Instant) -> KeyPress {
        let is_fast = self.last_text.is_some_and(|last| at.duration_since(last) <= FAST_RETURN);
        let is_text = matches!(key, KeyPress::Text(_) | KeyPress::PasteEnd);
        self.last_text = is_text.then_some(at);
        if key == KeyPress::Enter && is_fast { KeyPress::Newline } else { key }
    }

    /// Shows another part.
    fn scroll(&mut self, key: &KeyPress) {
        let page = self.size.1.saturating_sub(2).max(1);
        match key {
            KeyPress::Text(text) if text.starts_with(' ') => self.top += page,
            KeyPress::PageDown => self.top += page,
            KeyPress::Down => self.top += 1,
            KeyPress::Up => self.top = self.top.saturating_sub(1),
            KeyPress::PageUp => self.top = self.top.saturating_sub(page),
            _ => {}
        }
    }

    fn choose(&mut self, key: &KeyPress) -> DialogStep {
        let count = self.choices.len();
        let mut number = std::mem::take(&mut self.number);
        match key {
            KeyPress::Text(_) if self.is_pasting => {}
            KeyPress::Text(text) => {
                let digit = text.parse().ok().filter(|_| text.len() == 1);
                let Some(digit) = digit else {
                    return self.letter(text).map_or(DialogStep::Open, |index| self.decide(index));
                };
                match number.take(digit, count) {
                    Some((index, true)) => return self.decide(index),
                    Some((index, false)) => (self.selected, self.number) = (index, number),
                    None => {}
                }
            }
            KeyPress::Enter if count > 0 => return self.decide(self.selected),
            KeyPress::Down if count > 0 => self.selected = (self.selected + 1) % count,
            KeyPress::Up if count > 0 => self.selected = (self.selected + count - 1) % count,
            _ => {}
        }
        DialogStep::Open
    }

    /// Returns the index of the choice that `y` or `n` stands for.
    fn letter(&self, words: &str) -> Option<usize> {
        let letter = match words.trim() {
            "y" | "Y" => 'y',
            "n" | "N" => 'n',
            _ => return None,
        };
        self.choices.iter().position(|choice| choice.shortcut == Some(letter))
    }

    /// Makes the choice at this index.
    fn decide(&mut self, index: usize) -> DialogStep {
        self.selected = index;
        if let Some(consents) = &mut self.consents {
            let Some(answers) = consents.choose(index) else {
                (self.choices, self.selected) = (consents.choices(), REFUSAL);
                // The next item is a new question.
                (self.shown_at, self.armed) = (None, None);
                return DialogStep::Open;
            };
            return self.reply_with(Modification::Consents(answers));
        }
        let outcome = self.choices.get(index).map(|choice| choice.outcome);
        if let QuestionSubject::Call(Confirmation {
            kind: ConfirmationKind::Edit { path, proposed, .. },
            ..
        }) = &self.question.subject
            && outcome == Some(QuestionOutcome::ModifyWithEditor)
        {
            return edit(path, proposed, None);
        }
        self.question.choose(index).map_or(DialogStep::Open, DialogStep::Reply)
    }

    fn press_in_steps(&mut self, key: KeyPress) -> DialogStep {
        let Body::Steps(steps) = &mut self.body else { return DialogStep::Open };
        match steps.press(key, self.is_pasting) {
            StepsOutcome::Stays => return DialogStep::Open,
            StepsOutcome::Done(answers) => return self.reply_with(answers),
            StepsOutcome::Moved => self.remark = None,
            StepsOutcome::Again(hint) => self.remark = Some(hint),
        }
        // The step is shown, and seen, like a new question.
        (self.seen, self.top, self.count) = (0, 0, usize::MAX);
        (self.shown_at, self.armed) = (None, None);
        DialogStep::Open
    }

    fn press_in_plan(&mut self, key: KeyPress) -> DialogStep {
        let Body::Plan(plan) = &mut self.body else { return DialogStep::Open };
        if key == KeyPress::ExternalEditor && HAS_EDITOR {
            let (path, text) = plan.file();
            return edit(path, text, Some(path.to_owned()));
        }
        match plan.press(key, self.is_pasting) {
            Some(PlanAnswer::Choice(index)) => self.decide(index),
            Some(PlanAnswer::Words(words)) => match self.letter(&words) {
                Some(index) => self.decide(index),
                None if is_words(&words) => self.reply_with(Modification::Feedback(words)),
                None => DialogStep::Open,
            },
            None => DialogStep::Open,
        }
    }

    fn reply_with(&self, modification: Modification) -> DialogStep {
        let reply = self.question.reply(QuestionOutcome::ProceedOnce);
        DialogStep::Reply(QuestionReply { modification: Some(modification), ..reply })
    }
}

impl Body {
    fn new(question: &Question) -> Self {
        match &question.subject {
            QuestionSubject::Call(Confirmation {
                kind: ConfirmationKind::Questions(questions),
                ..
            }) => Self::Steps(Box::new(Steps::new(Survey::new(questions.clone())))),
            QuestionSubject::Call(Confirmation {
                kind: ConfirmationKind::Plan { path, text },
                ..
            }) => Self::Plan(Box::new(PlanReview::new(question, path, text))),
            QuestionSubject::Form(form) if !form.fields.is_empty() => {
                Self::Steps(Box::new(Steps::new(Survey::of_form(form))))
            }
            _ => Self::Choices,
        }
    }
}

/// Returns the step that opens the text of a file in the external editor, in place if `file` is
/// given.
fn edit(path: &Path, text: &str, file: Option<PathBuf>) -> DialogStep {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    DialogStep::Edit(EditProposal { name, text: text.to_owned(), file })
}

/// Returns a line of the subject as rows. Code is never broken between words, which would drop
/// blanks.
fn subject_rows(line: &TonedLine, cells: usize) -> Vec<Row> {
    let text = line.text.replace('\t', "    ");
    let indent = text.len() - text.trim_start_matches(' ').len();
    let breaks = if indent > 0 && !line.is_prose { Breaks::Anywhere } else { Breaks::Words };
    fold(&Row::new(line.tone.into(), text), Room::new(cells).hanging(indent), breaks)
}

#[cfg(test)]
mod tests;
