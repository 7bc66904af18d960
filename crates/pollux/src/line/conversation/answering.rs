//! How the question on the page is answered.

use pollux_protocol::{Answer, Confirmation, ConfirmationKind, Modification, Op, Outcome};

use super::Conversation;
use crate::line::editor::Edited;
use crate::line::external_editor::Proposal;
use crate::line::keys::Key;
use crate::line::question;
use crate::line::survey::Step;

impl Conversation<'_> {
    /// `is_one_line`: the key came with no line but its own. What came with others was typed ahead of the
    /// question, or pasted, and answers nothing.
    pub(super) fn edit_answer(&mut self, key: Key, is_one_line: bool) {
        match self.answer.press(key) {
            Edited::Line => {}
            Edited::Continued | Edited::TooLong => self.ask_again(),
            Edited::Submitted(line) if self.survey.is_some() => {
                self.answer_survey(&line, is_one_line);
            }
            Edited::Submitted(_) if !is_one_line => self.ask_again(),
            Edited::Submitted(line) if line.is_empty() => match self.preselected() {
                Some(choice) => self.take(self.choices[choice].1),
                None => self.ask_again(),
            },
            Edited::Submitted(line) => match question::chosen(&line, &self.choices) {
                Some(outcome) => self.take(outcome),
                None if self.takes_words() && question::is_words(&line) => {
                    let words = Modification::Feedback(line.trim().to_owned());
                    self.reply_with(Outcome::ProceedOnce, Some(words));
                }
                None => self.ask_again(),
            },
            Edited::EndOfInput => self.reply(Outcome::Cancel),
        }
    }

    /// The choice that Enter makes, by its place.
    fn preselected(&self) -> Option<usize> {
        let kind = &self.questions.front()?.kind;
        question::preselected(kind, &self.choices, self.setting.lasting)
    }

    /// The question on the page can be answered in words.
    fn takes_words(&self) -> bool {
        let kind = self.questions.front().map(|confirmation| &confirmation.kind);
        matches!(kind, Some(ConfirmationKind::Plan { .. }))
    }

    pub(super) fn label(&self) -> String {
        question::label(self.choices.len(), self.preselected(), self.takes_words())
    }

    /// Follows a choice: the editor comes before the answer.
    fn take(&mut self, outcome: Outcome) {
        let Some(ConfirmationKind::Edit { path, proposed, .. }) =
            self.questions.front().map(|confirmation| &confirmation.kind)
        else {
            return self.reply(outcome);
        };
        if outcome != Outcome::ModifyWithEditor {
            return self.reply(outcome);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.to_edit = Some(Proposal { name, text: proposed.clone() });
        self.page.keep_row();
        self.page.line("Modify in progress: Save and close external editor to continue");
    }

    /// The editor has ended: with another text, with the same, or for a reason.
    pub(in crate::line) fn edited(&mut self, edited: Result<Option<String>, String>) {
        let words = match edited {
            Ok(Some(text)) => {
                let changed = Some(Modification::NewContent(text));
                return self.reply_with(Outcome::ModifyWithEditor, changed);
            }
            Ok(None) => "Nothing was changed.".to_owned(),
            Err(reason) => format!("Nothing was changed. {reason}"),
        };
        self.page.line(&words);
        self.ask();
    }

    fn answer_survey(&mut self, line: &str, is_one_line: bool) {
        let Some(survey) = &mut self.survey else { return };
        let line = if is_one_line { line } else { "" };
        match survey.answer(line) {
            Step::Done(answers) => {
                self.reply_with(Outcome::ProceedOnce, Some(Modification::Answers(answers)));
            }
            Step::Again(remark) => {
                self.answer.clear();
                self.page.keep_row();
                self.page.line(&remark);
            }
            Step::Next => {
                let text = survey.text();
                self.answer.clear();
                self.page.keep_row();
                self.page.line(&text);
            }
        }
    }

    fn ask_again(&mut self) {
        self.answer.clear();
        self.page.keep_row();
        self.page.line(&question::remark(self.choices.len()));
    }

    pub(super) fn reply(&mut self, outcome: Outcome) {
        self.reply_with(outcome, None);
    }

    fn reply_with(&mut self, outcome: Outcome, modification: Option<Modification>) {
        self.page.keep_row();
        if let Some(Confirmation { call_id, .. }) = self.questions.pop_front() {
            self.wish(Op::Answer(Answer { call_id, outcome, modification }));
        }
        self.ask();
    }
}
