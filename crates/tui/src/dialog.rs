//! A question to the user: its subject, its choices, and the keys that answer it. Pure.
//!
//! Nothing can be approved before all rows of the question have been on the screen. A question that
//! is higher than the screen is shown in parts; until the last part was shown, only Esc answers it.
//! Keys that were pressed before the question was on the screen never answer it.

use std::path::Path;
use std::time::{Duration, Instant};

use pollux_input::{
    EditOutcome, KeyPress, LineEditor, QuestionSheet, SheetExtent, Survey, SurveyStep, TonedLine,
    is_words,
};
use pollux_protocol::plain_text::visible;
use pollux_protocol::{
    Confirmation, ConfirmationKind, Modification, Question, QuestionChoice, QuestionOutcome,
    QuestionReply, QuestionSubject,
};

use crate::diff::Change;
use crate::fold::{Breaks, Room, cut_to, fold};
use crate::row::{Look, Row};
use crate::surface::Frame;

mod consents;

use consents::Consents;

/// Time without keys after which a question can be answered that appeared while the user typed.
pub(crate) const PAUSE: Duration = Duration::from_millis(500);
/// Time after a key in which the user is typing.
const TYPING: Duration = Duration::from_secs(1);

/// Index of the choice that refuses an item of a project.
const REFUSAL: usize = 1;
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
    /// Questions of the model, or fields of a form.
    survey: Option<Survey>,
    /// Decisions about the items of a project.
    consents: Option<Consents>,
    choices: Vec<QuestionChoice>,
    /// Typed answer.
    answer: LineEditor,
    /// Message about an answer that was not accepted.
    remark: Option<String>,
    selected: usize,
    /// Number that is typed, of a choice with more than one digit.
    number: Option<usize>,
    /// First row on the screen.
    top: usize,
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
}

/// Result of a key.
#[derive(Debug, PartialEq)]
pub(crate) enum DialogStep {
    /// The question stays open.
    Open,
    /// The user has decided.
    Reply(QuestionReply),
    /// The user wants to change the proposal, of a file with this name, in the external editor.
    Edit {
        /// Name of the file.
        name: String,
        /// Proposed text.
        text: String,
    },
}

impl Dialog {
    /// Creates a question of a project in `folder`.
    pub(crate) fn new(question: Question, folder: &Path) -> Self {
        let survey = match &question.subject {
            QuestionSubject::Call(Confirmation {
                kind: ConfirmationKind::Questions(questions),
                ..
            }) => Some(Survey::new(questions.clone())),
            QuestionSubject::Form(form) if !form.fields.is_empty() => Some(Survey::of_form(form)),
            _ => None,
        };
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
        Self {
            selected: question.default.unwrap_or(0),
            choices: question.choices.clone(),
            question,
            subject,
            change,
            survey,
            consents: None,
            number: None,
            answer: LineEditor::default(),
            remark: None,
            top: 0,
            seen: 0,
            size: (0, 0),
            count: usize::MAX,
            shown_at: None,
            armed: None,
            is_pasting: false,
        }
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
        let (rows, selected) = self.rows(cells);
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
            return self.with_cursor(rows, selected);
        }
        let room = height.saturating_sub(1).max(1);
        self.top = self.top.min(rows.len() - room);
        if self.is_seen() && self.top > 0 {
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
        let at = selected.saturating_sub(self.top).min(part.len() - 1);
        self.with_cursor(part, at)
    }

    /// Returns a frame with the cursor in the answer, or at the selected choice.
    fn with_cursor(&self, rows: Vec<Row>, selected: usize) -> Frame {
        let has_answer = self.survey.is_some() || !self.answer.is_empty();
        let column = if has_answer { rows.get(selected).map_or(0, Row::width) } else { 0 };
        Frame { rows, cursor: (selected, column) }
    }

    /// Returns all rows, and the index of the row with the answer or the selected choice.
    fn rows(&self, cells: usize) -> (Vec<Row>, usize) {
        let mut rows = Vec::new();
        if let Some(survey) = &self.survey {
            for line in survey.text().lines() {
                let room = Room::new(cells).hanging(line.len() - line.trim_start().len());
                rows.extend(fold(&Row::plain(line), room, Breaks::Words));
            }
        } else {
            let (title, rest) = self.subject.split_at(self.subject.len().min(1));
            rows.extend(title.iter().flat_map(|line| subject_rows(line, cells)));
            rows.extend(self.change.rows(cells, 2));
            rows.extend(rest.iter().flat_map(|line| subject_rows(line, cells)));
        }
        if !rows.is_empty() {
            let mut marked = Row::new(Look::Yellow, MARK);
            for (look, text) in rows[0].pieces() {
                marked.push(look, text);
            }
            rows.splice(..1, fold(&marked, Room::new(cells), Breaks::Words));
        }
        if let Some(remark) = &self.remark {
            rows.extend(fold(&Row::new(Look::Yellow, remark), Room::new(cells), Breaks::Words));
        }
        if let Some(label) = self.consents.as_ref().and_then(Consents::label) {
            rows.extend(fold(&Row::new(Look::Bold, label), Room::new(cells), Breaks::Words));
        }
        let mut selected = rows.len();
        if self.survey.is_none() {
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
        }
        if let Some(label) = self.answer_label() {
            let typed = format!("{}{}", self.answer.before(), self.answer.after());
            let row = Row::new(Look::Cyan, label).with(Look::Plain, &typed);
            let answer = fold(&row, Room::new(cells), Breaks::Anywhere);
            rows.extend(answer);
            selected = rows.len() - 1;
        }
        (rows, selected)
    }

    /// Returns the label of the typed answer, if there is one.
    fn answer_label(&self) -> Option<String> {
        match &self.survey {
            Some(survey) => Some(survey.label()),
            None => (!self.answer.is_empty()).then(|| "Feedback: ".to_owned()),
        }
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
        if self.survey.is_some() {
            return self.answer_survey(key);
        }
        self.choose(key)
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

    fn choose(&mut self, key: KeyPress) -> DialogStep {
        let count = self.choices.len();
        let takes_words = self.question.takes_feedback();
        let begun = self.number.take();
        match key {
            KeyPress::Text(_) if self.is_pasting && !takes_words => {}
            KeyPress::Text(_) if self.is_pasting => drop(self.answer.press(key)),
            KeyPress::Text(text) if self.answer.is_empty() && is_number(&text) => {
                let digit = text.chars().next().and_then(|digit| digit.to_digit(10)).unwrap_or(0);
                return self.take_digit(begun, digit as usize);
            }
            KeyPress::Text(text) if !takes_words => {
                if let Some(index) = self.letter(&text) {
                    return self.decide(index);
                }
            }
            KeyPress::Enter if !self.answer.is_empty() => {
                let EditOutcome::Submitted(words) = self.answer.press(KeyPress::Enter) else {
                    return DialogStep::Open;
                };
                if let Some(index) = self.letter(&words) {
                    return self.decide(index);
                }
                if is_words(&words) {
                    let words = Modification::Feedback(words.trim().to_owned());
                    return self.reply_with(words);
                }
            }
            KeyPress::Enter if count > 0 => return self.decide(self.selected),
            KeyPress::Down if count > 0 => self.selected = (self.selected + 1) % count,
            KeyPress::Up if count > 0 => self.selected = (self.selected + count - 1) % count,
            KeyPress::PageUp | KeyPress::PageDown => self.scroll(&key),
            key if takes_words => drop(self.answer.press(key)),
            _ => {}
        }
        DialogStep::Open
    }

    /// Takes a digit of the number of a choice, of which some digits may be typed already. A number
    /// that cannot be longer decides.
    fn take_digit(&mut self, begun: Option<usize>, digit: usize) -> DialogStep {
        let count = self.choices.len();
        let longer = begun.map(|begun| begun * 10 + digit).filter(|number| *number <= count);
        let number = longer.unwrap_or(digit);
        match number.checked_sub(1).filter(|index| *index < count) {
            Some(index) if number * 10 > count => self.decide(index),
            Some(index) => {
                (self.selected, self.number) = (index, Some(number));
                DialogStep::Open
            }
            None => DialogStep::Open,
        }
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
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return DialogStep::Edit { name, text: proposed.clone() };
        }
        self.question.choose(index).map_or(DialogStep::Open, DialogStep::Reply)
    }

    fn answer_survey(&mut self, key: KeyPress) -> DialogStep {
        let Some(survey) = &mut self.survey else { return DialogStep::Open };
        let line = match key {
            KeyPress::Text(text)
                if !self.is_pasting
                    && self.answer.is_empty()
                    && survey.takes_one_number()
                    && is_number(&text) =>
            {
                text.chars().take(1).collect()
            }
            key => match self.answer.press(key) {
                EditOutcome::Submitted(line) => line,
                _ => return DialogStep::Open,
            },
        };
        self.remark = None;
        let step = survey.answer(&line);
        self.answer.clear();
        match step {
            SurveyStep::Done(answers) => return self.reply_with(answers),
            SurveyStep::Again(remark) => self.remark = Some(remark),
            // The next question is shown, and seen, like a new one.
            SurveyStep::Next => (self.seen, self.top, self.count) = (0, 0, usize::MAX),
        }
        DialogStep::Open
    }

    fn reply_with(&self, modification: Modification) -> DialogStep {
        let reply = self.question.reply(QuestionOutcome::ProceedOnce);
        DialogStep::Reply(QuestionReply { modification: Some(modification), ..reply })
    }
}

/// Returns true for digits alone. Other text that begins with a digit was not typed to choose.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit())
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
