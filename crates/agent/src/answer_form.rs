//! Final answers that must satisfy a JSON Schema.
//!
//! Every request contains the schema, and the model works as usual. Its last answer must be JSON
//! that satisfies the schema. Otherwise Pollux sends the model a list of the problems and asks
//! again, this time without tools, and with the vendor's own JSON mode if there is one.

use std::sync::Arc;

use pollux_protocol::{AnswerSchema, ModelRequest, PromptOutcome, Unsatisfied};
use serde_json::Value;

/// Required form of answers.
#[derive(Clone)]
pub struct AnswerForm {
    /// Schema that answers must satisfy.
    pub schema: Arc<dyn AnswerSchema>,
    /// Maximum number of further attempts after an answer that does not satisfy the schema.
    pub repairs: u32,
}

/// State of one prompt on its way to an answer with the required form.
pub(crate) struct Shaping {
    form: AnswerForm,
    /// System instruction without the schema, and the same instruction with the schema appended.
    instruction: Option<[Arc<str>; 2]>,
    /// Number of further attempts that are left; `None` before the first one.
    left: Option<u32>,
    /// True if the service refuses the schema as a parameter, so that only the prompt text
    /// describes it.
    by_words: bool,
    /// True if the last answer satisfies the schema.
    satisfied: bool,
}

/// Result of checking an answer.
pub(crate) enum Checked {
    /// The answer satisfies the schema.
    Satisfied(Value),
    /// The answer does not satisfy the schema. The model receives this message and is asked again.
    Again(String),
    /// The answer does not satisfy the schema, and no attempt is left.
    Unsatisfied(Box<Unsatisfied>),
}

impl Shaping {
    pub(crate) fn new(form: AnswerForm) -> Self {
        Self { form, instruction: None, left: None, by_words: false, satisfied: false }
    }

    /// Resets the state for a new prompt.
    pub(crate) fn begin(&mut self) {
        (self.left, self.satisfied) = (None, false);
    }

    /// Adds the schema to a request.
    pub(crate) fn shape(&mut self, mut request: ModelRequest) -> ModelRequest {
        let schema = self.form.schema.document();
        if let Some(system) = request.system.take() {
            let kept = self.instruction.take().filter(|[bare, _]| Arc::ptr_eq(bare, &system));
            let [bare, reported] = kept.unwrap_or_else(|| {
                let reported = format!("{system}\n\n# Form of the Answer\n\nA program reads your final answer. The final answer must be exactly one JSON value, without other text and without a Markdown fence. It must satisfy this JSON Schema:\n\n{schema}");
                [system, reported.into()]
            });
            request.system = Some(Arc::clone(&reported));
            self.instruction = Some([bare, reported]);
        }
        if self.left.is_some() {
            request.tools = Arc::from([]);
            request.adjustments.schema = (!self.by_words).then_some(schema);
        }
        request
    }

    /// Checks an answer against the schema.
    pub(crate) fn check(&mut self, text: &str) -> Checked {
        let problems = match json_text(text) {
            Ok(value) => match self.form.schema.problems(&value) {
                problems if problems.is_empty() => {
                    (self.left, self.satisfied) = (None, true);
                    return Checked::Satisfied(value);
                }
                problems => problems,
            },
            Err(reason) => vec![reason],
        };
        let left = self.left.unwrap_or(self.form.repairs);
        if left == 0 {
            return Checked::Unsatisfied(Box::new(self.unsatisfied(text, problems)));
        }
        self.left = Some(left - 1);
        Checked::Again(format!(
            "Your answer does not satisfy the JSON Schema:\n- {}\n\nSend the complete answer again, as exactly one JSON value that satisfies the schema.",
            problems.join("\n- ")
        ))
    }

    /// Returns true once: if a service that has refused a request may accept it without the schema.
    pub(crate) fn try_by_words(&mut self) -> bool {
        !std::mem::replace(&mut self.by_words, true)
    }

    /// Corrects the outcome of a prompt that has no answer which satisfies the schema.
    pub(crate) fn outcome(&self, outcome: PromptOutcome, text: &str) -> PromptOutcome {
        let reason = match &outcome {
            PromptOutcome::Done if !self.satisfied => "The work ended without an answer.",
            PromptOutcome::InvalidStream(error) => &error.message,
            PromptOutcome::Stopped(reason) => reason,
            _ => return outcome,
        };
        PromptOutcome::Unsatisfied(Box::new(self.unsatisfied(text, vec![reason.to_owned()])))
    }

    fn unsatisfied(&self, text: &str, problems: Vec<String>) -> Unsatisfied {
        Unsatisfied { text: text.to_owned(), problems, repairs: self.form.repairs }
    }
}

/// Parses a text as one JSON value. A Markdown fence around the value is ignored.
fn json_text(text: &str) -> Result<Value, String> {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let bare = inner.map_or(text, |inner| inner.strip_prefix("json").unwrap_or(inner).trim());
    if bare.is_empty() {
        return Err("There is no answer.".to_owned());
    }
    serde_json::from_str(bare).map_err(|error| format!("The answer is not JSON: {error}."))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fence_is_no_harm_and_words_are() {
        for text in ["{\"a\":1}", " {\"a\":1}\n", "```json\n{\"a\":1}\n```", "```\n{\"a\":1}```"] {
            assert_eq!(json_text(text), Ok(json!({"a": 1})), "{text}");
        }
        for text in
            ["", "```json\n```", "Here: {\"a\":1}", "{\"a\":1} Done.", "{\"a\":", "```", "NaN"]
        {
            assert!(json_text(text).is_err(), "{text}");
        }
    }
}
