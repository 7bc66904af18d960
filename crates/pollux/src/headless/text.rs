//! Plain text: the model's text, on a screen as it arrives, otherwise by complete answers.

use std::borrow::Cow;

use pollux_input::Stdout;
use pollux_protocol::plain_text::AnsiStripper;
use pollux_protocol::{Event, PromptOutcome, Record};

use super::{Ending, Opening, Output};
use crate::stderr::{stderr_failure, stderr_line};
use crate::stdout::text_for_stdout;
use pollux_input::narration::warning;

/// Output of text. Before a tool runs, and at the end, it completes the line.
pub(crate) struct TextOutput {
    filter: Option<AnsiStripper>,
    line_open: bool,
    /// Text of the answer that is arriving. A program cannot take back what it has read, and the
    /// answer is void if it breaks off.
    unprinted: String,
    /// True if standard output and standard error are the same screen.
    shares_screen: bool,
}

impl TextOutput {
    /// Creates the output. `raw` is true if escape sequences and control characters in the model's
    /// text are kept.
    pub(crate) fn new(raw: bool) -> Self {
        let shares_screen = crate::stdout::is_terminal();
        Self {
            filter: (!raw).then(AnsiStripper::default),
            line_open: false,
            unprinted: String::new(),
            shares_screen,
        }
    }

    fn text(&mut self, out: &mut Stdout, text: &str) {
        let text: Cow<'_, str> = match &mut self.filter {
            Some(filter) => text_for_stdout(&filter.strip(text)).into_owned().into(),
            None => text.into(),
        };
        self.unprinted.push_str(&text);
        if self.shares_screen {
            self.print(out);
        }
    }

    fn print(&mut self, out: &mut Stdout) {
        let text = std::mem::take(&mut self.unprinted);
        if let Some(last) = text.as_bytes().last() {
            self.line_open = *last != b'\n';
        }
        out.push(text.as_bytes());
    }

    /// Discards the answer that broke off. On a screen, the next attempt begins a new line.
    fn restart(&mut self, out: &mut Stdout) {
        self.unprinted.clear();
        self.filter = self.filter.take().map(|_| AnsiStripper::default());
        if self.shares_screen {
            self.close_line(out);
        }
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
            Event::Text(text) => self.text(out, text),
            Event::Recorded(record) if matches!(**record, Record::Model(_)) => self.print(out),
            // The line is closed after all calls of a turn, so that the text of one answer stays
            // together.
            Event::CallsFinished(_) => self.close_line(out),
            Event::StreamRestarted => self.restart(out),
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
        self.print(out);
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
