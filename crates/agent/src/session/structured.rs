//! An answer that satisfies a schema.
//!
//! The model is told the schema with every request and works as ever. What it says last must be JSON that satisfies the
//! schema; if it does not, it is told what is wrong and asked again, without tools, and by the vendor's own way to ask
//! for JSON where it has one.

use std::sync::Arc;

use pollux_protocol::{
    AnswerSchema, CancellationToken, Choice, Event, ModelErrorKind, Part, PromptOutcome, Request,
    Unsatisfied,
};
use serde_json::Value;

use super::{Answered, End, Session};

/// What answers must be like.
#[derive(Clone)]
pub struct AnswerForm {
    /// The schema that they satisfy.
    pub schema: Arc<dyn AnswerSchema>,
    /// How often one that does not is asked for again.
    pub repairs: u32,
}

/// The form of answers, and how far a prompt has come to it.
#[derive(Default)]
pub(super) struct Form {
    /// The instruction with the schema behind it, and the one without that it was made from.
    instruction: Option<[Arc<str>; 2]>,
    /// An answer is asked for again: without tools, and as JSON.
    repairing: bool,
    /// The service refuses the schema; words must do.
    by_words: bool,
    /// The last answer satisfies it.
    satisfied: bool,
}

impl Session {
    /// A prompt begins: nothing is answered yet.
    pub(super) fn begin_form(&mut self) {
        (self.form.repairing, self.form.satisfied) = (false, false);
    }

    /// Tells the model of the schema.
    pub(super) fn shape(&mut self, mut request: Request) -> Request {
        let Some(wish) = &self.parts.answer else { return request };
        let schema = wish.schema.document();
        if let Some(system) = request.system.take() {
            let kept = self.form.instruction.take().filter(|[bare, _]| Arc::ptr_eq(bare, &system));
            let [bare, told] = kept.unwrap_or_else(|| {
                let told = format!("{system}\n\n# Form of the Answer\n\nYour work ends with an answer that a program reads. That answer, and no other, is one JSON value and nothing else: no words around it, no Markdown fence. It satisfies this JSON Schema:\n\n{schema}");
                [system, told.into()]
            });
            request.system = Some(Arc::clone(&told));
            self.form.instruction = Some([bare, told]);
        }
        if self.form.repairing {
            request.tools = Arc::from([]);
            request.adjustments.schema = (!self.form.by_words).then_some(schema);
        }
        request
    }

    /// Looks at the last answer, and asks again until it satisfies the schema.
    ///
    /// # Errors
    /// It never does ([`PromptOutcome::Unsatisfied`]), or the work ends otherwise.
    pub(super) async fn satisfy(
        &mut self,
        prompt_id: &str,
        choice: &Choice,
        cancel: &CancellationToken,
    ) -> Result<(), End> {
        let Some(wish) = self.parts.answer.clone() else { return Ok(()) };
        self.form.repairing = false;
        let mut left = wish.repairs;
        loop {
            let text = self.answers.last().cloned().unwrap_or_default();
            let problems = match json_text(&text) {
                Ok(value) => {
                    let problems = wish.schema.problems(&value);
                    if problems.is_empty() {
                        self.form.repairing = false;
                        self.form.satisfied = true;
                        self.parts.emitter.emit(Event::Answer(Arc::new(value))).await;
                        return Ok(());
                    }
                    problems
                }
                Err(reason) => vec![reason],
            };
            if left == 0 {
                let unsatisfied = Unsatisfied { text, problems, repairs: wish.repairs };
                return Err(End::Outcome(PromptOutcome::Unsatisfied(Box::new(unsatisfied))));
            }
            left -= 1;
            let words = format!(
                "Your answer does not satisfy the JSON Schema:\n- {}\n\nGive the whole answer again, as one JSON value that satisfies it and nothing else.",
                problems.join("\n- ")
            );
            self.say(vec![Part::text(words)], None).await?;
            let said = self.asked_again(prompt_id, choice, cancel).await?;
            self.answers.push(said);
        }
    }

    /// The words of another attempt at the answer.
    async fn asked_again(
        &mut self,
        prompt_id: &str,
        choice: &Choice,
        cancel: &CancellationToken,
    ) -> Result<String, End> {
        self.form.repairing = true;
        loop {
            self.turns += 1;
            if let Some(limit) = self.turn_limit(0) {
                return Err(End::Outcome(PromptOutcome::TurnLimit(limit)));
            }
            self.parts.emitter.emit(Event::TurnStarted { turn: self.turns }).await;
            let before = self.answers.len();
            match self.ask(prompt_id, choice, cancel).await {
                // Calls of tools that are not there are answered by the history.
                Ok(Answered::Calls(_)) => {
                    let said = self.answers.drain(before..).next_back();
                    return Ok(said.unwrap_or_default());
                }
                Err(End::Outcome(PromptOutcome::Failed(error)))
                    if error.kind == ModelErrorKind::Invalid && !self.form.by_words =>
                {
                    self.form.by_words = true;
                }
                Ok(Answered::Looped(_)) | Err(End::Outcome(PromptOutcome::InvalidStream(_))) => {
                    return Ok(String::new());
                }
                Err(end) => return Err(end),
            }
        }
    }

    /// What comes out of a prompt must satisfy the schema, or say that it does not.
    pub(super) fn formed(&self, outcome: PromptOutcome) -> PromptOutcome {
        let Some(wish) = &self.parts.answer else { return outcome };
        let reason = match &outcome {
            PromptOutcome::Done if !self.form.satisfied => "The work ended without an answer.",
            PromptOutcome::InvalidStream(reason) => reason.message(),
            PromptOutcome::Stopped(reason) => reason,
            _ => return outcome,
        };
        let unsatisfied = Unsatisfied {
            text: self.answers.last().cloned().unwrap_or_default(),
            problems: vec![reason.to_owned()],
            repairs: wish.repairs,
        };
        PromptOutcome::Unsatisfied(Box::new(unsatisfied))
    }
}

/// The value that a text is; a Markdown fence around it is no harm.
fn json_text(text: &str) -> Result<Value, String> {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let bare = inner.map_or(text, |inner| inner.strip_prefix("json").unwrap_or(inner).trim());
    if bare.is_empty() {
        return Err("There is no answer.".to_owned());
    }
    serde_json::from_str(bare).map_err(|error| format!("The answer is no JSON: {error}."))
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
