//! The prompt under way.

use pollux_protocol::{CancellationToken, FinishReason, Operator, Part};

use crate::prompt_hooks::text_of;

/// One prompt, as all parts of the loop see it.
pub(crate) struct PromptRun<'a> {
    /// Id of the prompt.
    pub(crate) id: &'a str,
    /// The person who is asked.
    pub(crate) operator: &'a dyn Operator,
    /// Stops the work.
    pub(crate) cancel: &'a CancellationToken,
    /// Text of the person: what they typed, and what they added while the model worked.
    pub(crate) text: String,
    /// Texts of the model's answers, the latest last; those without text are left out.
    pub(crate) answers: Vec<String>,
    /// Reason for the end of the last answer.
    pub(crate) finish: Option<FinishReason>,
}

impl<'a> PromptRun<'a> {
    pub(crate) fn new(
        id: &'a str,
        operator: &'a dyn Operator,
        cancel: &'a CancellationToken,
    ) -> Self {
        Self { id, operator, cancel, text: String::new(), answers: Vec::new(), finish: None }
    }

    /// Adds words that the person said while the model worked.
    pub(crate) fn add(&mut self, parts: &[Part]) {
        self.text = format!("{}\n\n{}", self.text, text_of(parts));
    }

    /// Returns the text of the last answer; empty without one.
    pub(crate) fn last_answer(&self) -> &str {
        self.answers.last().map_or("", String::as_str)
    }

    /// True if the last answer has the words of the one before: asked once more it would come once
    /// more.
    pub(crate) fn repeats_itself(&self) -> bool {
        matches!(self.answers.as_slice(), [.., before, last] if before == last)
    }
}
