//! Events of the agent as lines for the user.

use std::collections::HashMap;

use pollux_protocol::{
    CallId, CallStatus, CommandOutcome, Display, Event, FinishedCall, PromptOutcome, RetryNotice,
    Severity,
};

use crate::narration;
use crate::page::Page;

/// Function that returns the message for a prompt that failed; `None` for every other end.
pub type DescribeFailure = fn(&PromptOutcome) -> Option<String>;

/// Printer of events. Remembers data that later events only refer to.
#[derive(Debug)]
pub(super) struct Story {
    describe_failure: DescribeFailure,
    /// Model that was named last.
    model: String,
    calls: HashMap<CallId, Reported>,
}

/// Facts about a call of this turn that are already on the page.
#[derive(Debug, Default)]
struct Reported {
    /// Headline of the call.
    headline: String,
    /// True if the headline was printed when the call started.
    begun: bool,
    /// True if its change was shown in a question.
    asked: bool,
}

impl Story {
    /// Creates a printer after a greeting that has named a model.
    pub(super) fn new(model: String, describe_failure: DescribeFailure) -> Self {
        Self { describe_failure, model, calls: HashMap::new() }
    }

    /// Prints one event, if it has any text.
    pub(super) fn tell(&mut self, page: &mut Page, event: &Event) {
        match event {
            Event::Text(text) => page.stream(text),
            Event::Citations(text) | Event::CommandOutput(text) => page.line(text),
            Event::ModelChanged { model, .. } if *model != self.model => {
                self.model.clone_from(model);
                page.line(&format!("Model: {model}"));
            }
            Event::CallRequested(call) => {
                page.end_stream();
                let headline = call.name.clone();
                self.calls.insert(call.id.clone(), Reported { headline, ..Reported::default() });
            }
            Event::CallPrepared(prepared) => {
                if let Some(call) = self.calls.get_mut(&prepared.call_id) {
                    call.headline = narration::headline(&prepared.name, &prepared.description);
                }
            }
            Event::CallMoved { call_id, status: CallStatus::Executing } => {
                if let Some(call) = self.calls.get_mut(call_id) {
                    call.begun = true;
                    page.line(&format!("  > {}", call.headline));
                }
            }
            Event::Question(question) => {
                page.end_stream();
                let call = question.call_id().and_then(|id| self.calls.get_mut(id));
                if let Some(call) = call {
                    call.asked = true;
                }
            }
            Event::CallsFinished(calls) => {
                let several = calls.len() > 1;
                for call in calls {
                    let reported = self.calls.remove(&call.call.id).unwrap_or_default();
                    tell_result(page, call, &reported, several);
                }
                self.calls.clear();
            }
            Event::StreamRestarted => {
                page.line("(The answer broke off or is unusable. It is requested again.)");
            }
            Event::Waiting(notice) => page.line(&waiting(notice)),
            Event::Compressing => page.line("Compressing chat history..."),
            Event::Notice { severity, text } => page.line(&notice(*severity, text)),
            Event::HookMessage { message, .. } => page.line(message),
            Event::CommandEnded(CommandOutcome::Failed(message)) => {
                page.line(&notice(Severity::Error, message));
            }
            Event::ModeChanged(mode) => page.line(&format!("Mode: {mode}")),
            Event::PromptEnded(outcome) => tell_end(page, outcome, self.describe_failure),
            event => {
                if let Some(text) = narration::warning(event) {
                    page.end_stream();
                    page.line(&notice(Severity::Warning, &text));
                }
            }
        }
    }
}

/// Prints the result under the line of its call. The call is named again if it is one of several,
/// which run concurrently, or if it never ran.
fn tell_result(page: &mut Page, call: &FinishedCall, reported: &Reported, several: bool) {
    let mut lines = match (&call.error, call.status) {
        (Some(error), _) => vec![format!("Error: {}", narration::cut(&error.message))],
        (None, CallStatus::Cancelled) => vec!["Cancelled.".to_owned()],
        (None, _) if reported.asked && matches!(call.display, Some(Display::Diff(_))) => Vec::new(),
        (None, _) => narration::result(call),
    };
    if (several || !reported.begun) && !lines.is_empty() {
        lines.insert(0, format!("{}:", reported.headline));
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

fn tell_end(page: &mut Page, outcome: &PromptOutcome, describe_failure: DescribeFailure) {
    page.end_stream();
    match outcome {
        PromptOutcome::Done => {}
        PromptOutcome::Cancelled => page.line("Request cancelled."),
        PromptOutcome::Stopped(reason) => page.line(&format!("Agent execution stopped: {reason}")),
        PromptOutcome::InvalidStream(reason) => page.line(&format!("Error: {}", reason.message())),
        failed => {
            if let Some(message) = describe_failure(failed) {
                page.line(&format!("Error: {message}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use pollux_protocol::{
        ApprovalMode, Call, Effects, PreparedCall, ToolError, ToolErrorKind, ToolKind,
    };
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn reported(events: impl IntoIterator<Item = Event>) -> String {
        let mut page = Page::new(80, false, false);
        let describe_failure: DescribeFailure = |outcome| match outcome {
            PromptOutcome::LogFailed(message) => Some(message.clone()),
            _ => None,
        };
        let mut story = Story::new("m".to_owned(), describe_failure);
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

    fn prepared(id: &str, path: &str) -> Event {
        Event::CallPrepared(Arc::new(PreparedCall {
            call_id: CallId::new(id),
            name: "read_file".to_owned(),
            display_name: "ReadFile".to_owned(),
            description: path.to_owned(),
            kind: ToolKind::Read,
            locations: Vec::new(),
            effects: Effects::default(),
            is_markdown: true,
        }))
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
        let text = reported([
            Event::ModelChanged { model: "m".to_owned(), reason: String::new() },
            Event::Text("I look".to_owned()),
            Event::CallRequested(call("1", "a.rs")),
            Event::CallRequested(call("2", "b.rs")),
            prepared("1", "a.rs"),
            prepared("2", "b.rs"),
            moved("1"),
            moved("2"),
            Event::CallsFinished(vec![
                finished(call("1", "a.rs"), "3 lines"),
                finished(call("2", "b.rs"), ""),
            ]),
            Event::Text("Done.".to_owned()),
            Event::PromptEnded(PromptOutcome::Done),
        ]);
        assert_eq!(
            text,
            "I look\n  > read_file a.rs\n  > read_file b.rs\n    read_file a.rs:\n    3 lines\nDone.\n"
        );
    }

    #[test]
    fn a_call_that_never_ran_is_named_with_its_error() {
        let mut call = FinishedCall::clone(&finished(call("1", "a.rs"), ""));
        call.status = CallStatus::Error;
        call.error = Some(ToolError::new(ToolErrorKind::FileNotFound, "There is no a.rs.\nLook."));
        let text = reported([
            Event::CallRequested(call.call.clone()),
            Event::CallsFinished(vec![Arc::new(call)]),
        ]);
        assert_eq!(text, "    read_file:\n    Error: There is no a.rs....\n");
    }

    #[test]
    fn what_else_is_reported() {
        let ended = Event::PromptEnded;
        let text = reported([
            Event::ModelChanged { model: "n".to_owned(), reason: String::new() },
            Event::ModeChanged(ApprovalMode::AutoEdit),
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
            Event::Text("half".to_owned()),
            Event::AnswerTruncated,
            ended(PromptOutcome::Cancelled),
            ended(PromptOutcome::LogFailed("The disk is full.".to_owned())),
        ]);
        assert_eq!(
            text,
            "Model: n\nMode: autoEdit\nWarning: look\nAttempt 1 of 3 failed: Busy. Retrying in 1.5 s...\nhalf\n\
             (The answer broke off or is unusable. It is requested again.)\nhalf\n\
             Warning: The answer was cut off at the model's output limit.\nRequest cancelled.\nError: The disk is full.\n"
        );
    }
}
