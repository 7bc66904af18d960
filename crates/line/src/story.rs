//! Events of the agent as lines for the user.

use std::time::Instant;

use pollux_input::{DescribeFailure, Tone, narration};
use pollux_protocol::{CommandOutcome, Event, PromptOutcome, Severity};

use crate::page::Page;
use crate::progress::Progress;

/// Message for work that was stopped.
const CANCELLED: &str = "Request cancelled.";
/// Message for work that ended because the user refused a call.
const REFUSED: &str = "Not applied. Type what to do instead.";
/// Message for work that ended because the user wrote something else instead of an approval.
const REPLACED: &str = "Not applied.";

/// Printer of events. Remembers data that later events only refer to.
#[derive(Debug)]
pub(super) struct Story {
    describe_failure: DescribeFailure,
    /// Model that was named last.
    model: String,
    progress: Progress,
    /// Message if the current work ends because it is cancelled.
    cancelled: &'static str,
}

impl Story {
    /// Creates a printer after a greeting that has named a model.
    pub(super) fn new(model: String, describe_failure: DescribeFailure) -> Self {
        let progress = Progress::new(Instant::now());
        Self { describe_failure, model, progress, cancelled: CANCELLED }
    }

    /// Records that the user refused a call, which cancels the current work. `is_replaced` is true
    /// if the user has already typed what to do instead.
    pub(super) fn call_refused(&mut self, is_replaced: bool) {
        self.cancelled = if is_replaced { REPLACED } else { REFUSED };
    }

    /// Returns the model that was named last.
    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// Records that a command of the user begins.
    pub(super) fn begin_command(&mut self, now: Instant) {
        self.progress.begin_command(now);
    }

    /// Returns the time of the next [`Self::tick`]; `None` if nothing is awaited.
    pub(super) fn next_tick(&self) -> Option<Instant> {
        self.progress.next_tick()
    }

    /// Prints the output of running commands since the last tick.
    pub(super) fn tick(&mut self, page: &mut Page, now: Instant) {
        page.flush_word();
        page.lines(&self.progress.tick(now));
    }

    /// Returns what is awaited, if that takes longer than a second.
    pub(super) fn status(&self, now: Instant) -> Option<String> {
        self.progress.status(now)
    }

    /// Prints one event, if it has any text.
    pub(super) fn tell(&mut self, page: &mut Page, event: &Event, now: Instant) {
        match event {
            Event::Text(text) => page.stream(text),
            Event::Citations(text) | Event::CommandOutput(text) => page.line(text),
            Event::ModelChanged { model, .. } if !narration::is_same_model(&self.model, model) => {
                self.model.clone_from(model);
                page.line(&format!("Model: {model}"));
            }
            Event::CallRequested(_) | Event::Question(_) => page.end_stream(),
            Event::CallsFinished(calls) => {
                for call in calls {
                    page.lines(&self.progress.finish(call, calls.len() > 1));
                    if let Some(error) = &call.error {
                        let error = format!("    Error: {}", narration::cut(&error.message));
                        page.prose(Tone::Error, &error);
                    }
                }
            }
            Event::StreamRestarted => {
                page.line("(The answer broke off or is unusable. It is requested again.)");
            }
            Event::Waiting(notice) => page.toned(Tone::Warning, &narration::next_attempt(notice)),
            Event::Compressing => page.line("Compressing chat history..."),
            Event::Notice { severity, text } => notice(page, *severity, text),
            Event::HookMessage { message, .. } => page.line(message),
            Event::CommandEnded(CommandOutcome::Failed(message)) => {
                notice(page, Severity::Error, message);
            }
            Event::ModeChanged(mode) => page.line(&format!("Mode: {}", mode.flag())),
            Event::PromptEnded(outcome) => {
                let cancelled = std::mem::replace(&mut self.cancelled, CANCELLED);
                tell_end(page, outcome, cancelled, self.describe_failure);
            }
            event => {
                if let Some(text) = narration::warning(event) {
                    page.end_stream();
                    notice(page, Severity::Warning, &text);
                }
            }
        }
        page.lines(&self.progress.take(event, now));
    }
}

fn notice(page: &mut Page, severity: Severity, text: &str) {
    match severity {
        Severity::Info => page.line(text),
        Severity::Warning => page.toned(Tone::Warning, &format!("[WARNING] {text}")),
        Severity::Error => page.toned(Tone::Error, &format!("Error: {text}")),
    }
}

fn tell_end(
    page: &mut Page,
    outcome: &PromptOutcome,
    cancelled: &str,
    describe_failure: DescribeFailure,
) {
    page.end_stream();
    match outcome {
        PromptOutcome::Done => {}
        PromptOutcome::CutOff(reason) => {
            notice(page, Severity::Warning, &narration::cut_off(reason.as_ref()));
        }
        PromptOutcome::Cancelled => page.line(cancelled),
        PromptOutcome::Stopped(reason) => page.line(&format!("Agent execution stopped: {reason}")),
        PromptOutcome::InvalidStream(error) => notice(page, Severity::Error, &error.message),
        failed => {
            if let Some(message) = describe_failure(failed) {
                notice(page, Severity::Error, &message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use pollux_protocol::{
        ApprovalMode, Call, CallId, CallStatus, Display, Effects, FinishReason, FinishedCall,
        PreparedCall, RetryNotice, ToolError, ToolErrorKind, ToolKind,
    };
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::page::PageLook;

    fn reported(events: impl IntoIterator<Item = Event>) -> String {
        let mut page = Page::new(80, PageLook::default());
        let describe_failure: DescribeFailure = |outcome| match outcome {
            PromptOutcome::LogFailed(message) => Some(message.clone()),
            _ => None,
        };
        let mut story = Story::new("m".to_owned(), describe_failure);
        events.into_iter().for_each(|event| story.tell(&mut page, &event, Instant::now()));
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
            first_line: None,
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
        assert_eq!(text, "  > read_file\n    Error: There is no a.rs....\n");
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
            Event::AnswerTruncated(Some(FinishReason::MaxTokens)),
            ended(PromptOutcome::Cancelled),
            ended(PromptOutcome::LogFailed("The disk is full.".to_owned())),
        ]);
        assert_eq!(
            text,
            "Model: n\nMode: auto_edit\n[WARNING] look\nBusy. Attempt 2 of 3 in 1.5 s.\nhalf\n\
             (The answer broke off or is unusable. It is requested again.)\nhalf\n\
             [WARNING] The answer was cut off at the model's output limit.\nRequest cancelled.\nError: The disk is full.\n"
        );
    }
}
