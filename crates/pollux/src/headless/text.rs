//! Plain text: the model's text as it arrives.

use std::borrow::Cow;

use pollux_line::Stdout;
use pollux_protocol::plain_text::AnsiStripper;
use pollux_protocol::{Event, PromptOutcome};

use super::{Ending, Opening, Output};
use crate::stderr::{stderr_failure, stderr_line};
use crate::stdout::text_for_stdout;
use pollux_input::narration::warning;

/// Output that streams text. Before a tool runs, and at the end, it completes the line.
pub(crate) struct TextOutput {
    filter: Option<AnsiStripper>,
    line_open: bool,
    /// True if standard output and standard error are the same screen.
    shares_screen: bool,
}

impl TextOutput {
    /// Creates the output. `raw` is true if escape sequences and control characters in the model's
    /// text are kept.
    pub(crate) fn new(raw: bool) -> Self {
        let shares_screen = crate::stdout::is_terminal();
        Self { filter: (!raw).then(AnsiStripper::default), line_open: false, shares_screen }
    }
}

impl Output for TextOutput {
    fn begin(&mut self, _out: &mut Stdout, _opening: &Opening<'_>) {}

    fn is_mid_line(&self) -> bool {
        self.line_open
    }

    fn close_line(&mut self, out: &mut Stdout) {
        if std::mem::take(&mut self.line_open) {
            out.push(b"\n");
        }
    }

    fn event(&mut self, out: &mut Stdout, event: &Event) {
        match event {
            Event::Text(text) => {
                let text: Cow<'_, str> = match &mut self.filter {
                    Some(filter) => text_for_stdout(&filter.strip(text)).into_owned().into(),
                    None => text.into(),
                };
                if let Some(last) = text.as_bytes().last() {
                    self.line_open = *last != b'\n';
                }
                out.push(text.as_bytes());
            }
            // The line is closed after all calls of a turn, so that the text of one answer stays
            // together.
            Event::CallsFinished(_) | Event::StreamRestarted => self.close_line(out),
            event => {
                if let Some(text) = warning(event) {
                    // A program that reads standard output receives only the model's text.
                    if self.shares_screen {
                        self.close_line(out);
                    }
                    stderr_line(&format!("[WARNING] {text}"));
                }
            }
        }
    }

    fn end(&mut self, out: &mut Stdout, ending: &Ending<'_>) {
        self.close_line(out);
        if let Some(failure) = ending.failure {
            stderr_failure(&failure.message);
        }
        match ending.outcome {
            Some(PromptOutcome::Stopped(reason)) => {
                stderr_line(&format!("Agent execution stopped: {reason}"));
            }
            Some(PromptOutcome::InvalidStream(error)) => {
                stderr_line(&format!("[ERROR] {}", error.message));
            }
            _ => {}
        }
    }
}
