//! The current prompt.

use std::borrow::Cow;
use std::sync::Arc;

use pollux_protocol::{CancellationToken, FinishReason, HistoryEntry, Part, text_of};

/// State of one prompt, shared by all parts of the loop.
pub(crate) struct PromptRun<'a> {
    /// Id of the prompt.
    pub(crate) id: &'a str,
    /// Token that stops the work.
    pub(crate) cancel: &'a CancellationToken,
    /// Text of the user: the prompt as typed, and messages added while the model worked.
    pub(crate) text: String,
    /// The model's answers, the latest last. Answers without text are left out.
    pub(crate) answers: Vec<Arc<HistoryEntry>>,
    /// Finish reason of the last answer; `None` if the vendor gave no reason.
    pub(crate) finish: Option<FinishReason>,
}

impl<'a> PromptRun<'a> {
    pub(crate) fn new(id: &'a str, cancel: &'a CancellationToken) -> Self {
        Self { id, cancel, text: String::new(), answers: Vec::new(), finish: None }
    }

    /// Adds messages that the user wrote while the model worked.
    pub(crate) fn add(&mut self, parts: &[Part]) {
        self.text = format!("{}\n\n{}", self.text, text_of(parts));
    }

    /// Returns the text of the last answer; empty without an answer.
    pub(crate) fn last_answer(&self) -> Cow<'_, str> {
        self.answers.last().map(|answer| answer.content().text()).unwrap_or_default()
    }

    /// True if the last answer has the same text as the one before. A further request would
    /// probably return the same text again.
    pub(crate) fn repeats_itself(&self) -> bool {
        let [.., before, last] = self.answers.as_slice() else { return false };
        before.content().text() == last.content().text()
    }
}
