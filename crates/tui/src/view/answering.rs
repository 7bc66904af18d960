//! Answers to the question on the screen.

use std::time::Instant;

use pollux_input::{KeyPress, is_about_call};
use pollux_protocol::{Modification, Op, QuestionOutcome, QuestionReply};

use super::View;
use crate::dialog::DialogStep;
use crate::row::Look;

/// Feedback about a plan that the user has changed in its file.
const PLAN_CHANGED: &str = "I have changed the plan in its file. Read it again, revise it where my \
     changes ask for it, and request approval again.";

impl View<'_> {
    /// Handles a key; returns true if it has answered the question.
    pub(super) fn press_in_dialog(&mut self, key: KeyPress, at: Instant) -> bool {
        let Some(dialog) = &mut self.dialog else { return false };
        match dialog.press(key, at) {
            DialogStep::Open => false,
            DialogStep::Reply(reply) => {
                self.reply(reply);
                true
            }
            DialogStep::Edit(proposal) => {
                self.to_edit = Some(proposal);
                let text = "Modify in progress: Save and close external editor to continue";
                self.story.notice(Look::Dim, text);
                true
            }
        }
    }

    /// Handles the end of the editor: with a changed text, an unchanged text or an error message.
    pub(super) fn take_edited(&mut self, edited: Result<Option<String>, String>) {
        let Some(dialog) = &mut self.dialog else { return self.take_prompt(edited) };
        let question = dialog.question();
        match edited {
            // The file of the plan has the change.
            Ok(Some(_)) if question.takes_feedback() => {
                let modification = Some(Modification::Feedback(PLAN_CHANGED.to_owned()));
                let reply = question.reply(QuestionOutcome::ProceedOnce);
                self.reply(QuestionReply { modification, ..reply });
            }
            Ok(Some(text)) => {
                let modification = Some(Modification::NewContent(text));
                let reply = question.reply(QuestionOutcome::ModifyWithEditor);
                self.reply(QuestionReply { modification, ..reply });
            }
            Ok(None) => dialog.remark("Nothing was changed.".to_owned()),
            Err(reason) => dialog.remark(format!("Nothing was changed. {reason}")),
        }
    }

    /// Handles the end of the editor for the prompt.
    fn take_prompt(&mut self, edited: Result<Option<String>, String>) {
        match edited {
            Ok(Some(text)) => self.composer.replace_text(text.trim_end().to_owned()),
            Ok(None) => {}
            Err(reason) => self.story.notice(Look::Red, &format!("x {reason}")),
        }
    }

    fn reply(&mut self, reply: QuestionReply) {
        let is_refusal = reply.outcome == QuestionOutcome::Cancel;
        if is_refusal && self.dialog.as_ref().is_some_and(|dialog| is_about_call(dialog.question()))
        {
            self.story.call_refused();
        }
        self.send(Op::Answer(reply));
        self.ask_next();
    }
}
