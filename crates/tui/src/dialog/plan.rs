//! The question whether a plan is carried out: the plan in Markdown, and a field for changes. Pure.

use std::path::{Path, PathBuf};

use pollux_input::{HAS_EDITOR, KeyPress, TonedLine};
use pollux_protocol::plain_text::visible;
use pollux_protocol::{Question, QuestionOutcome, SurveyOption};

use super::options::{OptionRows, Options};
use crate::fold::{Breaks, Room, fold};
use crate::markdown::{AnswerRow, Markdown, MarkupMarks};
use crate::row::{Look, Row};

/// Text of the empty field, as in Gemini CLI.
const PLACEHOLDER: &str = "Type your feedback...";

/// A plan with the choices about it.
pub(super) struct PlanReview {
    path: PathBuf,
    text: String,
    /// Indexes of the listed choices in those of the question. A refusal is the Esc key, or
    /// feedback.
    indexes: Vec<usize>,
    list: Options,
    marks: MarkupMarks,
    /// Rows of the plan, and the width for which they were laid out.
    laid: (usize, Vec<Row>),
}

/// Answer about a plan.
pub(super) enum PlanAnswer {
    /// Choice at this index of the question.
    Choice(usize),
    Words(String),
}

impl PlanReview {
    pub(super) fn new(question: &Question, path: &Path, text: &str) -> Self {
        let choices = question.choices.iter().enumerate();
        let listed = choices.filter(|(_, choice)| choice.outcome != QuestionOutcome::Cancel);
        let (indexes, options) = listed
            .map(|(index, choice)| {
                let description = match choice.outcome {
                    QuestionOutcome::ProceedAlways => {
                        "Approves plan and allows tools to run automatically"
                    }
                    QuestionOutcome::ProceedOnce => {
                        "Approves plan but requires confirmation for each tool"
                    }
                    _ => "",
                };
                let (label, description) = (visible(&choice.label), description.to_owned());
                (index, SurveyOption { label, description })
            })
            .unzip();
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            indexes,
            list: Options::new(options).with_field(PLACEHOLDER.to_owned(), "Feedback: "),
            marks: MarkupMarks::default(),
            laid: (0, Vec::new()),
        }
    }

    /// Shows or hides the marks of the plan's text.
    pub(super) fn set_marks(&mut self, marks: MarkupMarks) {
        self.marks = marks;
    }

    /// Returns the file of the plan and its text.
    pub(super) fn file(&self) -> (&Path, &str) {
        (&self.path, &self.text)
    }

    /// Returns the rows, with the position of the cursor in them. `subject` has the heading, the
    /// lines of the plan and the question.
    pub(super) fn rows(&mut self, subject: &[TonedLine], cells: usize) -> OptionRows {
        if self.laid.0 != cells {
            self.laid = (cells, self.plan_rows(cells));
        }
        let head = subject.len().saturating_sub(self.text.lines().count() + 1);
        let line = |line: &TonedLine| super::subject_rows(line, cells);
        let mut rows: Vec<Row> = subject[..head].iter().flat_map(line).collect();
        rows.extend(self.laid.1.iter().cloned());
        rows.extend(subject.last().into_iter().flat_map(line));
        let OptionRows { rows: listed, cursor: (row, column) } = self.list.rows(cells);
        let cursor = (rows.len() + row, column);
        rows.extend(listed);
        let enter = if self.list.is_in_field() { "submit" } else { "select" };
        let edit = if HAS_EDITOR { " \u{b7} Ctrl+G to edit plan" } else { "" };
        let hint = format!(
            "Enter to {enter} \u{b7} \u{2191}/\u{2193} to navigate{edit} \u{b7} Esc to cancel"
        );
        rows.extend(fold(&Row::new(Look::Dim, hint), Room::new(cells), Breaks::Words));
        OptionRows { rows, cursor }
    }

    fn plan_rows(&self, cells: usize) -> Vec<Row> {
        let lines = self.text.lines().map(|line| visible(&line.replace('\t', "    ")));
        let text = lines.collect::<Vec<_>>().join("\n");
        let mut plan = Markdown::new(self.marks);
        let mut rows = plan.push(&text, cells);
        rows.extend(plan.end(cells));
        rows.into_iter().flat_map(AnswerRow::into_rows).collect()
    }

    /// Applies a key; returns the answer that it completes. Pasted text only becomes words.
    pub(super) fn press(&mut self, key: KeyPress, is_pasted: bool) -> Option<PlanAnswer> {
        if !self.list.press(key, is_pasted) {
            return None;
        }
        let answer = self.list.answer();
        match answer.options.first() {
            Some(index) => self.indexes.get(*index).copied().map(PlanAnswer::Choice),
            None => Some(PlanAnswer::Words(answer.words)),
        }
    }
}
