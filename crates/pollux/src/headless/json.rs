//! One JSON object at the end.

use std::sync::Arc;

use pollux_input::Stdout;
use pollux_protocol::plain_text::strip_ansi;
use pollux_protocol::{Event, PromptOutcome};
use serde_json::{Map, Value, json};

use super::{Ending, Opening, Output};
use crate::stderr::stderr_line;
use crate::stdout::json_for_stdout;
use pollux_input::narration::warning;

/// Output that collects the text of the last turn and prints one object at the end, indented by two
/// spaces, without a final newline.
#[derive(Default)]
pub(crate) struct JsonOutput {
    response: String,
    /// Answer that satisfies the schema.
    answer: Option<Arc<Value>>,
    warnings: Vec<String>,
}

impl Output for JsonOutput {
    fn begin(&mut self, _out: &mut Stdout, _opening: &Opening<'_>) {}

    fn event(&mut self, _out: &mut Stdout, event: &Event) {
        match event {
            Event::TurnStarted { .. } | Event::StreamRestarted => self.response.clear(),
            Event::Text(text) => self.response.push_str(text),
            Event::Answer(value) => self.answer = Some(Arc::clone(value)),
            event => self.warnings.extend(warning(event)),
        }
    }

    fn end(&mut self, out: &mut Stdout, ending: &Ending<'_>) {
        let mut object = Map::new();
        if let Some(id) = ending.session_id {
            object.insert("session_id".into(), id.into());
        }
        if let Some(failure) = ending.failure {
            if let Some(PromptOutcome::Unsatisfied(unsatisfied)) = ending.outcome {
                object.insert("response".into(), unsatisfied.text.as_str().into());
            }
            if let Some(PromptOutcome::CutOff(_)) = ending.outcome {
                object.insert("response".into(), strip_ansi(&self.response).into());
            }
            if let Some(statistics) = ending.statistics.filter(|_| failure.details.is_some()) {
                object.insert("stats".into(), statistics.stats());
            }
            object.insert("error".into(), failure.to_json());
            // Callers of Gemini CLI expect the object on standard error.
            let plain = failure.is_plain.then(|| failure.message.clone());
            stderr_line(&plain.unwrap_or_else(|| pretty(&object)));
        } else {
            let response = strip_ansi(&self.response).into_owned();
            let answer = self.answer.as_ref().map(ToString::to_string);
            object.insert("response".into(), answer.unwrap_or(response).into());
            if let Some(answer) = &self.answer {
                object.insert("structured".into(), Value::clone(answer));
            }
            if let Some(statistics) = ending.statistics {
                object.insert("stats".into(), statistics.stats());
            }
            match ending.outcome {
                Some(PromptOutcome::InvalidStream(error)) => {
                    let error = json!({ "type": "INVALID_STREAM", "message": error.message });
                    object.insert("error".into(), error);
                }
                Some(PromptOutcome::Stopped(reason)) => {
                    self.warnings.push(format!("Agent execution stopped: {reason}"));
                }
                _ => {}
            }
            if !self.warnings.is_empty() {
                object.insert("warnings".into(), json!(self.warnings));
            }
        }
        out.push(json_for_stdout(&pretty(&object)).as_bytes());
    }
}

fn pretty(object: &Map<String, Value>) -> String {
    serde_json::to_string_pretty(object).unwrap_or_default()
}
