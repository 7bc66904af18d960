//! Progress of the work for a user who watches: lines about calls and their output, and a status
//! that says what is awaited. A headless run at a terminal prints the same lines as a conversation.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use pollux_input::narration::{self, cut};
use pollux_input::{LiveLines, Tone, TonedLine};
use pollux_protocol::{CallId, CallStatus, Display, Event, FinishedCall, LiveOutput, ToolKind};

/// Interval of live output and of the status.
const INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of characters of a tool name in the status.
const NAME: usize = 30;

/// Progress of one agent.
#[derive(Debug)]
pub struct Progress {
    calls: HashMap<CallId, WatchedCall>,
    awaited: Awaited,
    /// Time since when it is awaited.
    since: Instant,
    /// Time of the last tick.
    ticked: Instant,
    /// Call whose output was printed last.
    printed: Option<CallId>,
}

/// State of the work, as the status describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaited {
    /// There is no work, or the user must decide.
    Nothing,
    /// The model answers.
    Model,
    /// Calls run.
    Calls,
    /// A command of the user runs.
    Command,
}

/// A call of this turn.
#[derive(Debug, Default)]
struct WatchedCall {
    name: String,
    headline: String,
    /// True if the headline is printed.
    is_begun: bool,
    /// True if its change was shown in a question.
    is_shown: bool,
    /// True for a command, whose last lines matter.
    is_command: bool,
    output: LiveLines,
}

impl Progress {
    /// Creates the state before the work.
    pub fn new(now: Instant) -> Self {
        Self {
            calls: HashMap::new(),
            awaited: Awaited::Nothing,
            since: now,
            ticked: now,
            printed: None,
        }
    }

    /// Records that a command of the user begins.
    pub fn begin_command(&mut self, now: Instant) {
        self.await_now(Awaited::Command, now);
    }

    /// Takes an event; returns the lines that report it.
    pub fn take(&mut self, event: &Event, now: Instant) -> Vec<TonedLine> {
        match event {
            Event::PromptStarted | Event::TurnStarted { .. } | Event::Text(_) => {
                self.await_now(Awaited::Model, now);
            }
            Event::Compressing | Event::StreamRestarted => self.await_now(Awaited::Model, now),
            Event::CallRequested(call) => {
                let (name, headline) = (call.name.clone(), call.name.clone());
                let watched = WatchedCall { name, headline, ..WatchedCall::default() };
                self.calls.insert(call.id.clone(), watched);
            }
            Event::CallPrepared(prepared) => {
                if let Some(call) = self.calls.get_mut(&prepared.call_id) {
                    call.headline = narration::headline(&prepared.name, &prepared.description);
                    call.is_command = prepared.kind == ToolKind::Execute;
                }
            }
            Event::CallMoved { call_id, status } if !status.is_final() => {
                self.await_now(Awaited::Calls, now);
                if *status == CallStatus::Executing {
                    return self.begin(call_id);
                }
            }
            Event::CallOutput { call_id, output } => self.output(call_id, output, now),
            Event::Question(question) => {
                self.await_now(Awaited::Nothing, now);
                let call = question.call_id().and_then(|id| self.calls.get_mut(id));
                if let Some(call) = call {
                    call.is_shown = true;
                }
            }
            Event::CallsFinished(_) => {
                self.calls.clear();
                self.await_now(Awaited::Model, now);
            }
            Event::PromptEnded(_) => {
                self.calls.clear();
                self.await_now(Awaited::Nothing, now);
            }
            _ => {}
        }
        Vec::new()
    }

    /// Returns the lines about a call that has ended, without its error. `has_company` is true if
    /// other calls ended with it: the call is then named again.
    pub fn finish(&mut self, finished: &FinishedCall, has_company: bool) -> Vec<TonedLine> {
        let call = self.calls.remove(&finished.call.id).unwrap_or_else(|| WatchedCall {
            headline: finished.call.name.clone(),
            ..WatchedCall::default()
        });
        let mut lines = match &finished.display {
            _ if finished.error.is_some() => Vec::new(),
            Some(Display::Diff(_)) if call.is_shown => Vec::new(),
            _ if call.is_command => call.rest(finished),
            _ => narration::result(finished),
        };
        if finished.status == CallStatus::Cancelled && finished.error.is_none() {
            lines.push(TonedLine::new(Tone::Plain, "    Cancelled."));
        }
        if !call.is_begun {
            lines.insert(0, call.begun());
        } else if has_company && (!lines.is_empty() || finished.error.is_some()) {
            lines.insert(0, call.named());
        }
        lines
    }

    /// Returns the time of the next tick; `None` if nothing is awaited.
    pub fn next_tick(&self) -> Option<Instant> {
        (self.awaited != Awaited::Nothing).then(|| self.ticked.max(self.since) + INTERVAL)
    }

    /// Returns the output of running commands since the last tick.
    pub fn tick(&mut self, now: Instant) -> Vec<TonedLine> {
        self.ticked = now;
        let running = self.calls.values().filter(|call| call.is_begun).count();
        let mut lines = Vec::new();
        for (id, call) in self.calls.iter_mut().filter(|(_, call)| call.is_begun) {
            let output = call.output.flush();
            if output.is_empty() {
                continue;
            }
            if running > 1 && self.printed.as_ref() != Some(id) {
                lines.push(call.named());
            }
            self.printed = Some(id.clone());
            lines.extend(output.iter().map(|line| of_output(line)));
        }
        lines
    }

    /// Returns what is awaited and for how long; `None` in the first second.
    pub fn status(&self, now: Instant) -> Option<String> {
        let seconds = now.saturating_duration_since(self.since).as_secs();
        let running: Vec<&WatchedCall> = self.calls.values().filter(|call| call.is_begun).collect();
        let what = match (self.awaited, &running[..]) {
            (Awaited::Nothing, _) => return None,
            (Awaited::Calls, [call]) => {
                let name: String = call.name.chars().take(NAME).collect();
                format!("running {name}")
            }
            (Awaited::Calls, [_, _, ..]) => format!("running {} calls", running.len()),
            (Awaited::Calls, []) => "preparing calls".to_owned(),
            (Awaited::Model, _) => "waiting for the model".to_owned(),
            (Awaited::Command, _) => "running the command".to_owned(),
        };
        (seconds > 0).then(|| format!("{what}, {seconds} s"))
    }

    fn await_now(&mut self, awaited: Awaited, now: Instant) {
        (self.awaited, self.since) = (awaited, now);
    }

    fn begin(&mut self, id: &CallId) -> Vec<TonedLine> {
        let Some(call) = self.calls.get_mut(id) else { return Vec::new() };
        call.is_begun = true;
        vec![call.begun()]
    }

    fn output(&mut self, id: &CallId, output: &LiveOutput, now: Instant) {
        match output {
            LiveOutput::Input(Some(_)) => {
                // The request for input shows the last lines.
                self.calls.get_mut(id).map(|call| call.output.flush());
                self.await_now(Awaited::Nothing, now);
            }
            LiveOutput::Input(None) => self.await_now(Awaited::Calls, now),
            _ => {
                if let Some(call) = self.calls.get_mut(id) {
                    call.output.take(output);
                }
            }
        }
    }
}

impl WatchedCall {
    fn begun(&self) -> TonedLine {
        TonedLine::prose(Tone::Secondary, format!("  > {}", self.headline))
    }

    fn named(&self) -> TonedLine {
        TonedLine::prose(Tone::Secondary, format!("    {}:", self.headline))
    }

    /// Returns the last lines of a command that are not printed yet, and how it failed.
    fn rest(&self, finished: &FinishedCall) -> Vec<TonedLine> {
        let whole = narration::text(finished);
        let rest = self.output.rest(&whole);
        let ending = self.output.ending.iter().filter(|ending| **ending != whole);
        let ending = ending.map(|ending| TonedLine::prose(Tone::Error, format!("    {ending}")));
        rest.iter().map(|line| of_output(line)).chain(ending).collect()
    }
}

fn of_output(line: &str) -> TonedLine {
    TonedLine::new(Tone::Plain, format!("    {}", cut(line)))
}

#[cfg(test)]
mod tests;
