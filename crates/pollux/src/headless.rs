//! Headless run: one prompt, whose events become text, JSON or JSON lines.
//!
//! Standard output is payload only; everything else goes to standard error. In the JSON formats
//! exactly one terminal result reaches standard output in every case.

mod json;
mod stream_json;
mod structured_text;
mod text;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::OptionFuture;
use futures::{FutureExt, StreamExt};
use pollux_host::notice_text;
use pollux_input::{Broken, Stdout};
use pollux_input::{Tone, TonedLine, narration};
use pollux_line::Progress;
use pollux_protocol::{
    AgentHandle, ApprovalMode, CommandOutcome, Display, Envelope, Event, FinishedCall, Op,
    PromptOutcome, ToolErrorKind,
};
use pollux_session::Statistics;
use tokio::time::sleep_until;

use crate::arguments::OutputFormat;
use crate::exit::Failure;
use crate::signals::Signals;
use crate::stderr::{StatusLine, stderr_toned};

pub(crate) use json::JsonOutput;
pub(crate) use stream_json::StreamJsonOutput;
pub(crate) use text::TextOutput;

/// Writer that turns events into the bytes of one format.
pub(crate) trait Output {
    /// Writes the beginning of the run. The prompt is known, but its references are not resolved
    /// yet.
    fn begin(&mut self, out: &mut Stdout, opening: &Opening<'_>);

    /// Returns true if a line of text has no end yet.
    fn is_mid_line(&self) -> bool {
        false
    }

    /// Ends a line of text that has no end yet.
    fn close_line(&mut self, _out: &mut Stdout) {}

    /// Writes one event.
    fn event(&mut self, out: &mut Stdout, event: &Event);

    /// Writes the terminal result of the run.
    fn end(&mut self, out: &mut Stdout, ending: &Ending<'_>);
}

/// Data for the first lines of an output.
pub(crate) struct Opening<'a> {
    pub(crate) session_id: &'a str,
    /// Requested model.
    pub(crate) model: &'a str,
    /// Prompt as it was given.
    pub(crate) prompt: &'a str,
}

/// Data for the last lines of an output.
pub(crate) struct Ending<'a> {
    pub(crate) session_id: Option<&'a str>,
    pub(crate) outcome: Option<&'a PromptOutcome>,
    pub(crate) failure: Option<&'a Failure>,
    pub(crate) statistics: Option<&'a Statistics>,
    /// Time since the run began.
    pub(crate) duration: Duration,
}

/// Returns the output of a run whose answer must satisfy a schema.
pub(crate) fn structured_output_of(format: OutputFormat, raw: bool) -> Box<dyn Output + Send> {
    match format {
        OutputFormat::Text => Box::new(structured_text::StructuredText::default()),
        other => output_of(other, raw),
    }
}

/// Returns the output of a format.
pub(crate) fn output_of(format: OutputFormat, raw: bool) -> Box<dyn Output + Send> {
    match format {
        OutputFormat::Text => Box::new(TextOutput::new(raw)),
        OutputFormat::Json => Box::new(JsonOutput::default()),
        OutputFormat::StreamJson => Box::new(StreamJsonOutput::new(raw)),
    }
}

/// A headless run.
pub(crate) struct Run<'a> {
    pub(crate) handle: &'a dyn AgentHandle,
    pub(crate) statistics: &'a Statistics,
    pub(crate) session_id: &'a str,
    /// Command that the prompt calls. If the command ends without starting work for the model, the
    /// prompt itself is sent, because there is no screen for the command's output.
    pub(crate) command: Option<Op>,
    pub(crate) prompt: Op,
    /// Time at which the run began.
    pub(crate) started: Instant,
    pub(crate) json: bool,
    /// Approval mode at the start.
    pub(crate) mode: ApprovalMode,
    /// True if a user watches the run: its tool calls are printed.
    pub(crate) narrated: bool,
    /// True if the terminal of standard error can show what is awaited.
    pub(crate) has_status: bool,
}

/// Tools that a headless run in mode `default` does not offer.
const EDITING_TOOLS: [&str; 2] = ["replace", "write_file"];
/// Explanation for a call of such a tool.
const ONLY_READING: &str = "[INFO] This run may only read. --approval-mode auto_edit allows changes of files, --yolo also allows commands, and -i asks you.";

/// Result of a run: the exit code, or the error of standard output.
pub(crate) type Ended = Result<u8, Broken>;

/// Grace period for a reader that has stopped reading to take the rest, after a signal has ended
/// the run.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(100);

/// State of a run while its events arrive.
struct RunState {
    /// Exit code of the signal that has ended the run.
    signalled: Option<i32>,
    /// End of the command that the prompt calls.
    command: Option<CommandOutcome>,
    progress: Progress,
    /// Messages for standard error that wait until all text of standard output is printed.
    messages: Vec<TonedLine>,
    /// True after the message that says why a tool that changes files is not available.
    has_explained_mode: bool,
    status: StatusLine,
}

impl Run<'_> {
    /// Sends the prompt and handles its events until it ends.
    pub(crate) async fn drive(
        &self,
        output: &mut dyn Output,
        out: &mut Stdout,
        signals: &mut Signals,
    ) -> Ended {
        let mut state = RunState {
            signalled: None,
            command: None,
            progress: Progress::new(Instant::now()),
            messages: Vec::new(),
            has_explained_mode: false,
            status: StatusLine::default(),
        };
        let outcome = self.listen(output, out, signals, &mut state).await?;
        let signalled = state.signalled;
        let failure = match (&outcome, signalled, state.command) {
            (_, Some(code), _) => Some(Failure::cancelled(code)),
            (_, None, Some(CommandOutcome::Failed(message))) => Some(Failure::general(message)),
            (Some(outcome), None, _) => Failure::outcome(outcome),
            (None, None, _) => {
                Some(Failure::general("The agent ended without a result. This is a bug in Pollux."))
            }
        };
        let ending = Ending {
            session_id: Some(self.session_id),
            outcome: outcome.as_ref(),
            failure: failure.as_ref(),
            statistics: Some(self.statistics),
            duration: self.started.elapsed(),
        };
        if self.narrated && signalled.is_none() {
            // An error of standard output is reported below.
            drop(print_text(output, out, signals).await);
        }
        output.end(out, &ending);
        let code = failure.map_or(0, |failure| failure.exit_code(self.json));
        if signalled.is_some() {
            return tokio::time::timeout(SHUTDOWN_GRACE, out.finish())
                .await
                .map_or(Ok(code), |done| done.map(|()| code));
        }
        tokio::select! {
            biased;
            done = out.finish() => done.map(|()| code),
            signal = signals.next() => Ok(u8::try_from(signal).unwrap_or(1)),
        }
    }

    /// Handles events until the last; returns `None` if the agent has ended without a result.
    async fn listen(
        &self,
        output: &mut dyn Output,
        out: &mut Stdout,
        signals: &mut Signals,
        state: &mut RunState,
    ) -> Result<Option<PromptOutcome>, Broken> {
        let mut events = self.handle.events();
        let first = self.command.as_ref().unwrap_or(&self.prompt);
        if self.handle.send(first.clone()).is_err() {
            return Ok(None);
        }
        loop {
            let tick = state.progress.next_tick().filter(|_| self.narrated);
            let event = tokio::select! {
                biased;
                signal = signals.next(), if state.signalled.is_none() => {
                    self.stop(signal, state);
                    continue;
                }
                event = events.next() => event,
                Some(()) = OptionFuture::from(tick.map(|at| sleep_until(at.into()))) => {
                    self.tick(output, state);
                    continue;
                }
            };
            state.status.show(None);
            let Some(event) = event else { return Ok(None) };
            let mut outcome = self.tell(output, out, &event, state);
            // Events that are already available are printed in one write.
            while outcome.is_none()
                && state.messages.is_empty()
                && let Some(Some(event)) = events.next().now_or_never()
            {
                outcome = self.tell(output, out, &event, state);
            }
            // A reader that does not read must not delay the handling of a signal. After a signal
            // the remaining output is written at the end.
            let must_print = self.narrated && !state.messages.is_empty();
            if state.signalled.is_none() && must_print {
                if let Some(signal) = print_text(output, out, signals).await? {
                    self.stop(signal, state);
                }
            } else if state.signalled.is_none() && outcome.is_none() {
                tokio::select! {
                    biased;
                    sent = out.send() => sent?,
                    signal = signals.next() => self.stop(signal, state),
                }
            }
            for line in state.messages.drain(..) {
                stderr_toned(&line);
            }
            if outcome.is_some() {
                return Ok(outcome);
            }
        }
    }

    /// True for a call of a tool that the approval mode does not offer.
    fn lacks_by_mode(&self, call: &FinishedCall) -> bool {
        let kind = call.error.as_ref().map(|error| error.kind);
        self.mode == ApprovalMode::Default
            && kind == Some(ToolErrorKind::ToolNotRegistered)
            && EDITING_TOOLS.contains(&call.call.name.as_str())
    }

    /// Prints the output of running commands, and what is awaited.
    fn tick(&self, output: &dyn Output, state: &mut RunState) {
        state.status.show(None);
        if output.is_mid_line() {
            return;
        }
        let now = Instant::now();
        for line in state.progress.tick(now) {
            stderr_toned(&line);
        }
        if self.has_status {
            state.status.show(state.progress.status(now).as_deref());
        }
    }

    /// Cancels the prompt, whose end then arrives as an event.
    fn stop(&self, signal: i32, state: &mut RunState) {
        state.signalled = Some(signal);
        // If the agent is gone, the end of its events reports that.
        drop(self.handle.send(Op::Cancel));
    }

    /// Handles one event; returns the outcome if it was the last.
    fn tell(
        &self,
        output: &mut dyn Output,
        out: &mut Stdout,
        envelope: &Arc<Envelope>,
        state: &mut RunState,
    ) -> Option<PromptOutcome> {
        let event = &envelope.event;
        let continues = matches!(event, Event::PromptEnded(PromptOutcome::Done))
            && state.command == Some(CommandOutcome::Done);
        output.event(out, event);
        match event {
            Event::CallsFinished(calls) => {
                for call in calls {
                    if self.narrated {
                        state.messages.extend(state.progress.finish(call, calls.len() > 1));
                    }
                    state.messages.extend(tool_error(call));
                    if !state.has_explained_mode && self.lacks_by_mode(call) {
                        state.has_explained_mode = true;
                        state.messages.push(TonedLine::new(Tone::Plain, ONLY_READING));
                    }
                }
            }
            Event::CommandEnded(outcome) => state.command = Some(outcome.clone()),
            Event::PromptEnded(_) if continues => {
                state.command = None;
                // If the agent is gone, its events end.
                drop(self.handle.send(self.prompt.clone()));
            }
            Event::Waiting(notice) => {
                state.messages.push(TonedLine::new(Tone::Warning, narration::next_attempt(notice)));
            }
            Event::PromptEnded(_) => {}
            event => {
                let text = notice_text(event);
                state.messages.extend(text.map(|text| TonedLine::new(Tone::Plain, text)));
            }
        }
        let lines = state.progress.take(event, Instant::now());
        if self.narrated {
            state.messages.extend(lines);
        }
        match event {
            Event::PromptEnded(outcome) => Some(outcome.clone()).filter(|_| !continues),
            _ => None,
        }
    }
}

/// Prints all text of standard output, so that messages on the same terminal come after it. Returns
/// a signal that arrives before a reader has taken the text.
async fn print_text(
    output: &mut dyn Output,
    out: &mut Stdout,
    signals: &mut Signals,
) -> Result<Option<i32>, Broken> {
    output.close_line(out);
    tokio::select! {
        biased;
        printed = out.finish() => printed.map(|()| None),
        signal = signals.next() => Ok(Some(signal)),
    }
}

fn tool_error(call: &FinishedCall) -> Option<TonedLine> {
    let error = call.error.as_ref()?;
    let words = match &call.display {
        Some(Display::Text(text)) => text,
        _ => &error.message,
    };
    let text = format!("Error executing tool {}: {words}", call.call.name);
    Some(TonedLine::new(Tone::Error, text))
}
