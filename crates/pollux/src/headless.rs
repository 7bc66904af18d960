//! A run without a person: one prompt in, its events folded into text, JSON or JSON lines.
//!
//! Standard output is payload only; everything else goes to standard error. In the JSON formats exactly
//! one terminal result reaches standard output, whatever happens.

mod json;
mod narration;
mod stream_json;
mod text;

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use futures::{FutureExt, StreamExt};
use pollux_protocol::{AgentHandle, Event, FinishedCall, Op, PromptOutcome, RetryNotice, Severity};
use pollux_session::Statistics;

use crate::arguments::OutputFormat;
use crate::exit::Failure;
use crate::signals::Signals;
use crate::stdout::{Closed, Stdout};

pub(crate) use json::JsonOutput;
pub(crate) use stream_json::StreamJsonOutput;
pub(crate) use text::TextOutput;

/// Turns events into the bytes of one format.
pub(crate) trait Output {
    /// The run begins.
    fn begin(&mut self, out: &mut Stdout, opening: &Opening<'_>);

    /// One event.
    fn event(&mut self, out: &mut Stdout, event: &Event);

    /// The run has ended: the terminal result.
    fn end(&mut self, out: &mut Stdout, ending: &Ending<'_>);
}

/// What the first lines of an output say.
pub(crate) struct Opening<'a> {
    pub(crate) session_id: &'a str,
    /// The model that was asked for.
    pub(crate) model: &'a str,
    /// The prompt as it was given.
    pub(crate) prompt: &'a str,
}

/// What the last lines of an output say.
pub(crate) struct Ending<'a> {
    pub(crate) session_id: Option<&'a str>,
    pub(crate) outcome: Option<&'a PromptOutcome>,
    pub(crate) failure: Option<&'a Failure>,
    pub(crate) statistics: Option<&'a Statistics>,
    /// Since the run began.
    pub(crate) duration: std::time::Duration,
}

/// The output of a format.
pub(crate) fn output_of(format: OutputFormat, raw: bool) -> Box<dyn Output + Send> {
    match format {
        OutputFormat::Text => Box::new(TextOutput::new(raw)),
        OutputFormat::Json => Box::new(JsonOutput::default()),
        OutputFormat::StreamJson => Box::new(StreamJsonOutput::new(raw)),
    }
}

/// One headless run.
pub(crate) struct Run<'a> {
    pub(crate) handle: &'a dyn AgentHandle,
    pub(crate) statistics: &'a Statistics,
    pub(crate) session_id: &'a str,
    pub(crate) model: &'a str,
    /// The prompt as it was given, for the opening.
    pub(crate) prompt: &'a str,
    pub(crate) op: Op,
    pub(crate) json: bool,
    /// Somebody watches: tell what the tools do.
    pub(crate) narrated: bool,
}

/// How a run ended: the exit code, or a reader that went away.
pub(crate) type Ended = Result<u8, Closed>;

impl Run<'_> {
    /// Sends the prompt and tells its events until it ends.
    pub(crate) async fn drive(
        &self,
        output: &mut dyn Output,
        out: &mut Stdout,
        signals: &mut Signals,
    ) -> Ended {
        let started = Instant::now();
        let (session_id, model, prompt) = (self.session_id, self.model, self.prompt);
        output.begin(out, &Opening { session_id, model, prompt });
        let mut events = self.handle.events();
        let mut signalled = None;
        let mut outcome = None;
        if self.handle.send(self.op.clone()).is_ok() {
            while outcome.is_none() {
                let event = tokio::select! {
                    biased;
                    signal = signals.next(), if signalled.is_none() => {
                        signalled = Some(signal);
                        // The end of the prompt comes as an event, soon.
                        if self.handle.send(Op::Cancel).is_err() {
                            break;
                        }
                        continue;
                    }
                    event = events.next() => event,
                };
                let Some(event) = event else { break };
                outcome = self.tell(output, out, &event);
                // What is there already goes out in one write.
                while outcome.is_none()
                    && let Some(Some(event)) = events.next().now_or_never()
                {
                    outcome = self.tell(output, out, &event);
                }
                out.send().await?;
            }
        }
        let failure = match (&outcome, signalled) {
            (_, Some(code)) => Some(Failure::cancelled(code)),
            (Some(outcome), None) => Failure::outcome(outcome),
            (None, None) => {
                Some(Failure::general("The agent ended without a result. This is a bug in Pollux."))
            }
        };
        output.end(
            out,
            &Ending {
                session_id: Some(session_id),
                outcome: outcome.as_ref(),
                failure: failure.as_ref(),
                statistics: Some(self.statistics),
                duration: started.elapsed(),
            },
        );
        out.finish().await?;
        Ok(failure.map_or(0, |failure| failure.exit_code(self.json)))
    }

    /// Tells one event; the outcome when it was the last.
    fn tell(
        &self,
        output: &mut dyn Output,
        out: &mut Stdout,
        event: &Arc<Event>,
    ) -> Option<PromptOutcome> {
        output.event(out, event);
        match event.as_ref() {
            Event::CallsFinished(calls) => {
                for call in calls {
                    tell_tool_error(call);
                }
                if self.narrated {
                    narration::narrate(calls);
                }
            }
            Event::Notice { severity, text } => note(*severity, text),
            Event::Waiting(notice) => tell_waiting(notice),
            Event::PromptEnded { outcome, .. } => return Some(outcome.clone()),
            _ => {}
        }
        None
    }
}

fn tell_tool_error(call: &FinishedCall) {
    if let Some(error) = &call.error {
        stderr_line(&format!("Error executing tool {}: {}", call.call.name, error.message));
    }
}

fn tell_waiting(notice: &RetryNotice) {
    let RetryNotice { attempt, max_attempts, delay, reason, .. } = notice;
    let wait = delay.as_secs_f32();
    stderr_line(&format!(
        "Attempt {attempt} of {max_attempts} failed: {reason} Retrying with backoff in {wait:.1} s..."
    ));
}

fn note(severity: Severity, text: &str) {
    let word = match severity {
        Severity::Info => "INFO",
        Severity::Warning => "WARNING",
        Severity::Error => "ERROR",
    };
    stderr_line(&format!("[{word}] {text}"));
}

/// One line on standard error, without escape sequences. A closed standard error is nobody's loss.
pub(crate) fn stderr_line(text: &str) {
    let line = format!("{}\n", pollux_shell::strip_ansi(text));
    drop(std::io::stderr().lock().write_all(line.as_bytes()));
}
