//! Answers to the question on the page.

use pollux_input::{
    EditOutcome, EditProposal, KeyPress, QuestionSheet, SheetDecision, SheetExtent, Survey,
    SurveyStep, Tone, is_about_call, is_words,
};
use pollux_protocol::{
    Confirmation, ConfirmationKind, Modification, Op, Question, QuestionOutcome, QuestionReply,
    QuestionSubject,
};

use super::Conversation;

impl Conversation<'_> {
    /// Handles a key. `is_one_line` is true if the key belongs to a chunk with at most one line.
    /// Chunks with more lines were pasted or typed before the question appeared, and do not answer
    /// it.
    pub(super) fn edit_answer(&mut self, key: KeyPress, is_one_line: bool) {
        match self.answer.press(key) {
            EditOutcome::Line | EditOutcome::ClearScreen | EditOutcome::ExternalEditor => {}
            EditOutcome::Continued | EditOutcome::TooLong => self.ask_again(),
            EditOutcome::Submitted(line) if self.survey.is_some() => {
                self.answer_survey(&line, is_one_line);
            }
            EditOutcome::Submitted(_) if !is_one_line => self.ask_again(),
            EditOutcome::Submitted(line) => match self.sheet.decision(&line) {
                Some(SheetDecision::Reply(outcome)) => self.take(outcome),
                Some(SheetDecision::ShowAll) => self.show_question(SheetExtent::Whole),
                None if self.takes_feedback() && is_words(&line) => {
                    let words = Modification::Feedback(line.trim().to_owned());
                    self.reply_with(QuestionOutcome::ProceedOnce, Some(words));
                }
                None if self.can_be_replaced() && is_instruction(&line) => self.replace(line),
                None => self.ask_again(),
            },
            EditOutcome::EndOfInput => self.reply(QuestionOutcome::Cancel),
        }
    }

    fn takes_feedback(&self) -> bool {
        self.questions.front().is_some_and(Question::takes_feedback)
    }

    /// True if the question is about a call that the user can refuse, to request something else.
    fn can_be_replaced(&self) -> bool {
        self.questions.front().is_some_and(is_about_call)
    }

    /// Refuses the call, and sends this line as the next prompt.
    fn replace(&mut self, line: String) {
        (self.record)(&line);
        self.workload.put_first(line);
        self.reply(QuestionOutcome::Cancel);
    }

    pub(super) fn label(&self) -> String {
        self.sheet.label(self.takes_feedback())
    }

    /// Handles a choice. If the user wants to edit a change, the editor opens before the reply is
    /// sent.
    fn take(&mut self, outcome: QuestionOutcome) {
        let Some(QuestionSubject::Call(Confirmation {
            kind: ConfirmationKind::Edit { path, proposed, .. },
            ..
        })) = self.questions.front().map(|question| &question.subject)
        else {
            return self.reply(outcome);
        };
        if outcome != QuestionOutcome::ModifyWithEditor {
            return self.reply(outcome);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.to_edit = Some(EditProposal { name, text: proposed.clone(), file: None });
        self.page.keep_row();
        self.page.line("Modify in progress: Save and close external editor to continue");
    }

    /// Handles the end of the editor: with a changed text, an unchanged text or an error message.
    pub(super) fn take_edited(&mut self, edited: Result<Option<String>, String>) {
        if self.questions.is_empty() {
            return self.draft_edited(edited);
        }
        let words = match edited {
            Ok(Some(text)) => {
                let changed = Some(Modification::NewContent(text));
                return self.reply_with(QuestionOutcome::ModifyWithEditor, changed);
            }
            Ok(None) => "Nothing was changed.".to_owned(),
            Err(reason) => format!("Nothing was changed. {reason}"),
        };
        self.page.line(&words);
        self.ask();
    }

    /// Handles the end of the editor for the prompt.
    fn draft_edited(&mut self, edited: Result<Option<String>, String>) {
        match edited {
            Ok(Some(text)) => self.draft.replace_whole(text.trim_end().to_owned()),
            Ok(None) => {}
            Err(reason) => self.page.line(&reason),
        }
    }

    fn answer_survey(&mut self, line: &str, is_one_line: bool) {
        let Some(survey) = &mut self.survey else { return };
        let step = if is_one_line { survey.answer(line) } else { Survey::one_line_expected() };
        match step {
            SurveyStep::Done(answers) => {
                self.reply_with(QuestionOutcome::ProceedOnce, Some(answers));
            }
            SurveyStep::Again(remark) => {
                self.answer.clear();
                self.page.keep_row();
                self.page.line(&remark);
            }
            SurveyStep::Next => {
                let text = survey.text();
                self.answer.clear();
                self.page.keep_row();
                self.page.prose(Tone::Plain, &text);
            }
        }
    }

    /// Prints the question at the front of the queue.
    pub(super) fn show_question(&mut self, extent: SheetExtent) {
        self.answer.clear();
        self.page.keep_row();
        let Some(question) = self.questions.front() else { return };
        self.sheet = QuestionSheet::new(question, &self.folder, extent);
        self.page.lines(&self.sheet.lines());
    }

    fn ask_again(&mut self) {
        self.answer.clear();
        self.page.keep_row();
        self.page.line(&self.sheet.remark());
    }

    pub(super) fn reply(&mut self, outcome: QuestionOutcome) {
        self.reply_with(outcome, None);
    }

    fn reply_with(&mut self, outcome: QuestionOutcome, modification: Option<Modification>) {
        self.page.keep_row();
        if let Some(question) = self.questions.pop_front() {
            if outcome == QuestionOutcome::Cancel && is_about_call(&question) {
                self.story.call_refused(self.workload.queue().next().is_some());
            }
            self.wish(Op::Answer(QuestionReply { modification, ..question.reply(outcome) }));
        }
        self.ask();
    }
}

/// Returns true for a line of at least two words, so it is no mistyped answer.
fn is_instruction(line: &str) -> bool {
    is_words(line) && line.split_whitespace().nth(1).is_some()
}
