//! What the agent tells, in lines for a person.

use std::collections::HashMap;

use pollux_protocol::{
    CallId, CallStatus, Event, FinishedCall, Measurement, PromptOutcome, RetryNotice, Severity,
};

use super::page::Page;
use crate::exit::Failure;
use crate::headless::narration;

/// Tells events. Remembers what later events only name.
#[derive(Debug, Default)]
pub(super) struct Story {
    /// The model that was named last.
    model: String,
    /// What the calls of the turn are about.
    headlines: HashMap<CallId, String>,
}

impl Story {
    /// A story whose greeting has named a model.
    pub(super) fn new(model: String) -> Self {
        Self { model, headlines: HashMap::new() }
    }

    /// Tells one event, if there is something to tell.
    pub(super) fn tell(&mut self, page: &mut Page, event: &Event) {
        match event {
            Event::Text(text) => page.stream(text),
            Event::Citations(text) => page.line(text),
            Event::ModelChosen { model, .. } if *model != self.model => {
                self.model.clone_from(model);
                page.line(&format!("Model: {model}"));
            }
            Event::CallRequested(call) => {
                page.end_stream();
                self.headlines.insert(call.id.clone(), narration::headline(call));
            }
            Event::CallMoved { call_id, status: CallStatus::Executing } => {
                if let Some(headline) = self.headlines.get(call_id) {
                    page.line(&format!("  > {headline}"));
                }
            }
            Event::CallsFinished(calls) => {
                let several = calls.len() > 1;
                calls.iter().for_each(|call| tell_result(page, call, several));
                self.headlines.clear();
            }
            Event::StreamRestarted => page.line("(The answer broke off. It is asked for again.)"),
            Event::Waiting(notice) => page.line(&waiting(notice)),
            Event::Notice { severity, text } => page.line(&notice(*severity, text)),
            Event::Measured(measurement) => {
                if let Measurement::ModeSwitch { to, .. } = measurement.as_ref() {
                    page.line(&format!("Mode: {to}"));
                }
            }
            Event::PromptEnded { outcome, .. } => tell_end(page, outcome),
            _ => {}
        }
    }
}

/// The result under the line of its call. Of several calls each is named once more, because they ran
/// beside each other.
fn tell_result(page: &mut Page, call: &FinishedCall, several: bool) {
    let mut lines = match (&call.error, call.status) {
        (Some(error), _) => vec![format!("Error: {}", narration::cut(&error.message))],
        (None, CallStatus::Cancelled) => vec!["Cancelled.".to_owned()],
        (None, _) => narration::result(call),
    };
    if several && !lines.is_empty() {
        lines.insert(0, format!("{}:", narration::headline(&call.call)));
    }
    for line in lines {
        page.line(&format!("    {line}"));
    }
}

fn waiting(notice: &RetryNotice) -> String {
    let RetryNotice { attempt, max_attempts, delay, reason, .. } = notice;
    let wait = delay.as_secs_f32();
    format!("Attempt {attempt} of {max_attempts} failed: {reason} Retrying in {wait:.1} s...")
}

fn notice(severity: Severity, text: &str) -> String {
    match severity {
        Severity::Info => text.to_owned(),
        Severity::Warning => format!("Warning: {text}"),
        Severity::Error => format!("Error: {text}"),
    }
}

fn tell_end(page: &mut Page, outcome: &PromptOutcome) {
    page.end_stream();
    match outcome {
        PromptOutcome::Done => {}
        PromptOutcome::Cancelled => page.line("Request cancelled."),
        PromptOutcome::Stopped(reason) => page.line(&format!("Agent execution stopped: {reason}")),
        PromptOutcome::InvalidStream(reason) => page.line(&format!("Error: {}", reason.message())),
        failed => {
            if let Some(failure) = Failure::outcome(failed) {
                page.line(&format!("Error: {}", failure.message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use pollux_protocol::{ApprovalMode, Call, Display};
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn told(events: impl IntoIterator<Item = Event>) -> String {
        let mut page = Page::new(80, false, false);
        let mut story = Story::new("m".to_owned());
        events.into_iter().for_each(|event| story.tell(&mut page, &event));
        String::from_utf8(page.take()).unwrap()
    }

    fn call(id: &str, path: &str) -> Call {
        Call {
            id: CallId::new(id),
            name: "read_file".to_owned(),
            args: json!({ "file_path": path }),
            prompt_id: "p".to_owned(),
        }
    }

    fn finished(call: Call, text: &str) -> Arc<FinishedCall> {
        Arc::new(FinishedCall {
            call,
            status: CallStatus::Success,
            response: Vec::new(),
            display: Some(Display::Text(text.to_owned())),
            error: None,
            duration: Duration::ZERO,
            decision: None,
        })
    }

    #[test]
    fn a_turn_with_calls() {
        let moved =
            |id| Event::CallMoved { call_id: CallId::new(id), status: CallStatus::Executing };
        let text = told([
            Event::ModelChosen { model: "m".to_owned(), reason: String::new() },
            Event::Text("I look".to_owned()),
            Event::CallRequested(call("1", "a.rs")),
            Event::CallRequested(call("2", "b.rs")),
            moved("1"),
            moved("2"),
            Event::CallsFinished(vec![
                finished(call("1", "a.rs"), "3 lines"),
                finished(call("2", "b.rs"), ""),
            ]),
            Event::Text("Done.".to_owned()),
            Event::PromptEnded { prompt_id: "p".to_owned(), outcome: PromptOutcome::Done },
        ]);
        assert_eq!(
            text,
            "I look\n  > read_file a.rs\n  > read_file b.rs\n    read_file a.rs:\n    3 lines\nDone.\n"
        );
    }

    #[test]
    fn what_else_is_told() {
        let switch =
            Measurement::ModeSwitch { from: ApprovalMode::Default, to: ApprovalMode::AutoEdit };
        let ended = |outcome| Event::PromptEnded { prompt_id: "p".to_owned(), outcome };
        let text = told([
            Event::ModelChosen { model: "n".to_owned(), reason: String::new() },
            Event::Measured(Box::new(switch)),
            Event::Notice { severity: Severity::Warning, text: "look".to_owned() },
            Event::Waiting(RetryNotice {
                attempt: 1,
                max_attempts: 3,
                delay: Duration::from_millis(1500),
                reason: "Busy.".to_owned(),
                error_type: String::new(),
            }),
            Event::Text("half".to_owned()),
            Event::StreamRestarted,
            ended(PromptOutcome::Cancelled),
            ended(PromptOutcome::LogFailed("The disk is full.".to_owned())),
        ]);
        assert_eq!(
            text,
            "Model: n\nMode: autoEdit\nWarning: look\nAttempt 1 of 3 failed: Busy. Retrying in 1.5 s...\nhalf\n\
             (The answer broke off. It is asked for again.)\nRequest cancelled.\nError: The disk is full.\n"
        );
    }
}
