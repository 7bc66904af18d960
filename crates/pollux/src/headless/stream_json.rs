//! One JSON object per line, as events arrive.

use std::sync::Arc;

use jiff::Timestamp;
use pollux_host::RESTARTED;
use pollux_input::Stdout;
use pollux_protocol::plain_text::AnsiStripper;
use pollux_protocol::{Call, CallStatus, Display, Event, FinishedCall, PromptOutcome, Record};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Ending, Opening, Output};
use crate::stderr::stderr_line;
use crate::stdout::json_for_stdout;
use pollux_input::narration::warning;

/// Output that writes events as lines; the last line is always a `result`.
pub(crate) struct StreamJsonOutput {
    filter: Option<AnsiStripper>,
    /// Answer that satisfies the schema.
    answer: Option<Arc<Value>>,
    /// Number of lines of the answer that is arriving.
    lines: usize,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Init {
        timestamp: String,
        session_id: &'a str,
        model: &'a str,
    },
    Message {
        timestamp: String,
        role: &'static str,
        content: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        delta: Option<bool>,
    },
    ToolUse {
        timestamp: String,
        tool_name: &'a str,
        tool_id: &'a str,
        parameters: &'a Value,
    },
    ToolResult {
        timestamp: String,
        tool_id: &'a str,
        status: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Value>,
    },
    Error {
        timestamp: String,
        severity: &'static str,
        message: &'a str,
        /// Number of lines of the assistant before this one that are void.
        #[serde(skip_serializing_if = "Option::is_none")]
        voids: Option<usize>,
    },
    Result {
        timestamp: String,
        status: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        stats: Option<Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        structured: Option<&'a Value>,
    },
}

/// Message that callers of Gemini CLI know.
const LOOP_DETECTED: &str = "Loop detected, stopping execution";

impl StreamJsonOutput {
    /// Creates the output. `raw` is true if escape sequences in the model's text are kept.
    pub(crate) fn new(raw: bool) -> Self {
        Self { filter: (!raw).then(AnsiStripper::default), answer: None, lines: 0 }
    }

    fn text(&mut self, out: &mut Stdout, text: &str) {
        let content = match &mut self.filter {
            Some(filter) => filter.strip(text),
            None => text.into(),
        };
        if !content.is_empty() {
            let (timestamp, role) = (now(), "assistant");
            write(out, &Line::Message { timestamp, role, content: &content, delta: Some(true) });
            self.lines += 1;
        }
    }

    /// Reports that the answer has broken off. Its lines cannot be taken back.
    fn restart(&mut self, out: &mut Stdout) {
        self.filter = self.filter.take().map(|_| AnsiStripper::default());
        let lines = std::mem::take(&mut self.lines);
        if lines > 0 {
            let (timestamp, severity, message) = (now(), "warning", RESTARTED);
            write(out, &Line::Error { timestamp, severity, message, voids: Some(lines) });
        }
    }
}

impl Output for StreamJsonOutput {
    fn begin(&mut self, out: &mut Stdout, opening: &Opening<'_>) {
        let Opening { session_id, model, prompt } = *opening;
        write(out, &Line::Init { timestamp: now(), session_id, model });
        write(out, &Line::Message { timestamp: now(), role: "user", content: prompt, delta: None });
    }

    fn event(&mut self, out: &mut Stdout, event: &Event) {
        match event {
            Event::Text(text) => self.text(out, text),
            Event::Answer(value) => self.answer = Some(Arc::clone(value)),
            Event::CallRequested(call) => {
                write(out, &tool_use(call));
                self.lines += 1;
            }
            Event::Recorded(record) if matches!(**record, Record::Model(_)) => self.lines = 0,
            Event::StreamRestarted => self.restart(out),
            Event::CallsFinished(calls) => {
                for call in calls {
                    write(out, &tool_result(call));
                }
            }
            event => {
                if let Some(message) = &warning(event) {
                    write(out, &notice("warning", message));
                }
            }
        }
    }

    fn end(&mut self, out: &mut Stdout, ending: &Ending<'_>) {
        if let Some(PromptOutcome::InvalidStream(error)) = ending.outcome {
            write(out, &notice("error", &error.message));
        }
        if let Some(PromptOutcome::Loop(_)) = ending.outcome {
            write(out, &notice("warning", LOOP_DETECTED));
        }
        let failed = ending.failure.is_some()
            || matches!(ending.outcome, Some(PromptOutcome::InvalidStream(_)));
        let error = ending.failure.map(|failure| {
            stderr_line(&failure.message);
            let mut error = json!({ "type": failure.name, "message": failure.message });
            failure.add_details(&mut error);
            error
        });
        // As in Gemini CLI, a failed run reports a duration of zero.
        let duration = if error.is_some() { std::time::Duration::ZERO } else { ending.duration };
        let stats = ending.statistics.map(|statistics| statistics.stream_stats(duration));
        let status = if failed { "error" } else { "success" };
        let structured = self.answer.as_deref().filter(|_| !failed);
        if let Some(answer) = structured {
            let (role, content) = ("assistant", &answer.to_string());
            write(out, &Line::Message { timestamp: now(), role, content, delta: None });
        }
        write(out, &Line::Result { timestamp: now(), status, error, stats, structured });
    }
}

fn notice<'a>(severity: &'static str, message: &'a str) -> Line<'a> {
    Line::Error { timestamp: now(), severity, message, voids: None }
}

fn tool_use(call: &Call) -> Line<'_> {
    Line::ToolUse {
        timestamp: now(),
        tool_name: &call.name,
        tool_id: call.id.as_str(),
        parameters: &call.args,
    }
}

fn tool_result(finished: &FinishedCall) -> Line<'_> {
    // A cancelled call counts as a success in this format, because it did not fail.
    let failed = finished.status == CallStatus::Error;
    let error = finished.error.as_ref().filter(|_| failed);
    Line::ToolResult {
        timestamp: now(),
        tool_id: finished.call.id.as_str(),
        status: if failed { "error" } else { "success" },
        output: match &finished.display {
            Some(Display::Text(text)) => Some(text),
            _ => None,
        },
        error: error.map(|error| json!({ "type": error.kind.as_str(), "message": error.message })),
    }
}

fn write(out: &mut Stdout, line: &Line<'_>) {
    if let Ok(json) = serde_json::to_string(line) {
        out.push(json_for_stdout(&json).as_bytes());
        out.push(b"\n");
    }
}

/// Returns the current time as ISO 8601 in UTC with milliseconds.
fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}
