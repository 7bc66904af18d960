//! Text for a program: only the answer that satisfies the schema.

use std::sync::Arc;

use pollux_input::Stdout;
use pollux_protocol::{Event, PromptOutcome};
use serde_json::Value;

use super::{Ending, Opening, Output};
use crate::stderr::{stderr_failure, stderr_line};
use crate::stdout::{json_for_stdout, text_for_stdout};
use pollux_input::narration::warning;

/// Output that waits for the answer; an answer that does not satisfy the schema is printed
/// unchanged.
#[derive(Default)]
pub(crate) struct StructuredText {
    answer: Option<Arc<Value>>,
}

impl Output for StructuredText {
    fn begin(&mut self, _out: &mut Stdout, _opening: &Opening<'_>) {}

    fn event(&mut self, _out: &mut Stdout, event: &Event) {
        match event {
            Event::Answer(value) => self.answer = Some(Arc::clone(value)),
            event => {
                if let Some(text) = warning(event) {
                    stderr_line(&format!("[WARNING] {text}"));
                }
            }
        }
    }

    fn end(&mut self, out: &mut Stdout, ending: &Ending<'_>) {
        if let Some(failure) = ending.failure {
            stderr_failure(&failure.message);
        }
        match (ending.outcome, &self.answer) {
            (Some(PromptOutcome::Unsatisfied(unsatisfied)), _) => {
                let said = pollux_protocol::plain_text::strip_ansi(&unsatisfied.text);
                let said = format!("{}\n", said.trim_end_matches('\n'));
                out.push(text_for_stdout(&said).as_bytes());
            }
            (_, Some(answer)) if ending.failure.is_none() => {
                out.push(json_for_stdout(&format!("{answer}\n")).as_bytes());
            }
            _ => {}
        }
    }
}
