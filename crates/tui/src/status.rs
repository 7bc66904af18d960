//! The status row: what is awaited, and for how long. Pure.

use std::time::{Duration, Instant};

use pollux_input::text_width;
use pollux_protocol::plain_text::{for_terminal, one_line};
use pollux_protocol::{CallStatus, Event, LiveOutput, RetryNotice};

use crate::calls::LiveCalls;
use crate::clock::seconds;
use crate::fold::cut_to;
use crate::row::{Look, Row};
use crate::tips;
use crate::ui_settings::{Phrases, UiSettings};

/// Interval between two changes of the row.
const SECOND: Duration = Duration::from_secs(1);
/// Minimum distance between the state and a phrase, in cells.
const APART: usize = 10;
/// Minimum width of a reason that is cut, in cells.
const SHORTEST: usize = 8;

/// State of the work, as the status row describes it.
#[derive(Debug)]
pub(crate) struct Status {
    awaited: Awaited,
    /// Time since when it is awaited.
    since: Instant,
    /// Subject of the model's last thought.
    thought: String,
    is_stopping: bool,
    /// True if the row does not change with time.
    is_still: bool,
    phrases: Phrases,
}

#[derive(Debug, PartialEq, Eq)]
enum Awaited {
    /// There is no work, or the user must decide.
    Nothing,
    /// Files that a prompt names.
    Files,
    /// The first part of an answer.
    Model,
    /// The rest of an answer.
    Answer,
    Calls,
    /// A command of the user.
    Command,
    Compression,
    /// The next attempt of a request that has failed.
    Retry {
        reason: String,
        attempt: String,
        at: Instant,
    },
}

impl Status {
    /// Creates the state before the work.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            awaited: Awaited::Nothing,
            since: now,
            thought: String::new(),
            is_stopping: false,
            is_still: false,
            phrases: Phrases::default(),
        }
    }

    /// Sets what the row shows besides the state.
    pub(crate) fn set(&mut self, settings: &UiSettings) {
        self.is_still = settings.is_still;
        self.phrases.clone_from(&settings.phrases);
    }

    /// Returns the subject of the model's last thought while it works.
    pub(crate) fn thought(&self) -> Option<&str> {
        Some(self.thought.as_str()).filter(|thought| !thought.is_empty())
    }

    /// Records that a command of the user begins.
    pub(crate) fn begin_command(&mut self, now: Instant) {
        self.expect(Awaited::Command, now);
    }

    /// Records that a prompt begins, whose files may have to be read.
    pub(crate) fn begin_prompt(&mut self, now: Instant) {
        self.expect(Awaited::Files, now);
    }

    /// Records that the work is being stopped.
    pub(crate) fn stop(&mut self) {
        self.is_stopping = self.awaited != Awaited::Nothing;
    }

    /// Records that there is no work.
    pub(crate) fn end(&mut self, now: Instant) {
        self.expect(Awaited::Nothing, now);
        self.is_stopping = false;
    }

    /// Takes an event.
    pub(crate) fn take(&mut self, event: &Event, now: Instant) {
        match event {
            Event::PromptStarted | Event::TurnStarted { .. } | Event::StreamRestarted => {
                self.thought.clear();
                self.expect(Awaited::Model, now);
            }
            Event::Thought(thought) => {
                self.thought = one_line(&for_terminal(&thought.subject));
                if self.awaited != Awaited::Answer {
                    self.keep(Awaited::Model, now);
                }
            }
            Event::Text(_) => self.keep(Awaited::Answer, now),
            Event::CallMoved { status, .. } if !status.is_final() => {
                let waits = *status == CallStatus::AwaitingApproval;
                self.keep(if waits { Awaited::Nothing } else { Awaited::Calls }, now);
            }
            Event::CallOutput { output: LiveOutput::Input(Some(_)), .. } | Event::Question(_) => {
                self.expect(Awaited::Nothing, now);
            }
            Event::CallOutput { output: LiveOutput::Input(None), .. } => {
                self.expect(Awaited::Calls, now);
            }
            Event::CallsFinished(_) => self.expect(Awaited::Model, now),
            Event::Compressing => self.expect(Awaited::Compression, now),
            Event::Waiting(notice) => self.expect(retry(notice, now), now),
            _ => {}
        }
    }

    /// Returns the row; `None` if nothing is awaited.
    pub(crate) fn row(&self, calls: &LiveCalls, now: Instant, cells: usize) -> Option<Row> {
        let thought = Some(self.thought.as_str()).filter(|thought| !thought.is_empty());
        let what = match &self.awaited {
            Awaited::Nothing => return None,
            _ if self.is_stopping => return Some(Row::new(Look::Dim, cut_to("stopping", cells))),
            Awaited::Retry { reason, attempt, at } => {
                let left = at.saturating_duration_since(now).as_millis().div_ceil(1000);
                let left = if self.is_still { String::new() } else { format!(" {left} s") };
                let (begin, end) = (format!("waiting{left}"), format!(" · {attempt} · Esc stops"));
                let room = cells.saturating_sub(text_width(&begin) + text_width(&end) + 3);
                let reason = if room < SHORTEST { String::new() } else { cut_to(reason, room) };
                let middle = if reason.is_empty() { "" } else { " · " };
                let text = format!("{begin}{middle}{reason}{end}");
                return Some(Row::new(Look::Yellow, cut_to(&text, cells)));
            }
            Awaited::Files => "reading files".to_owned(),
            Awaited::Model => thought.unwrap_or("waiting for the model").to_owned(),
            Awaited::Answer => "writing".to_owned(),
            Awaited::Calls => calls
                .running()
                .map_or("preparing calls".to_owned(), |name| format!("running {name}")),
            Awaited::Command => "running the command".to_owned(),
            Awaited::Compression => "compressing the conversation".to_owned(),
        };
        let waited = now.saturating_duration_since(self.since);
        let time = seconds(waited).filter(|_| !self.is_still);
        let time = time.map_or_else(String::new, |time| format!(" · {time}"));
        let rest = format!("{time} · Esc stops");
        let what = cut_to(&what, cells.saturating_sub(rest.chars().count()).max(8));
        let row = Row::new(Look::Dim, cut_to(&format!("{what}{rest}"), cells));
        Some(self.with_phrase(row, waited, cells))
    }

    /// Returns the row with a phrase at its end, if there is room for it.
    fn with_phrase(&self, row: Row, waited: Duration, cells: usize) -> Row {
        let waited = if self.is_still { Duration::ZERO } else { waited };
        let Some(phrase) = tips::text(&self.phrases, waited) else { return row };
        let phrase = one_line(&for_terminal(phrase));
        let room = cells.saturating_sub(row.width());
        if text_width(&phrase) + APART > room {
            return row;
        }
        let blanks = " ".repeat(room - text_width(&phrase));
        row.with(Look::Plain, &blanks).with(Look::Dim, &phrase)
    }

    /// Returns the time of the next change of the row; `None` if nothing is awaited.
    pub(crate) fn next_change(&self, now: Instant) -> Option<Instant> {
        if self.awaited == Awaited::Nothing || self.is_still {
            return None;
        }
        let passed = now.saturating_duration_since(self.since).as_secs();
        Some(self.since + SECOND * u32::try_from(passed + 1).unwrap_or(u32::MAX))
    }

    /// Sets what is awaited from now on.
    fn expect(&mut self, awaited: Awaited, now: Instant) {
        (self.awaited, self.since) = (awaited, now);
    }

    /// Sets what is awaited; the time continues if that is no change.
    fn keep(&mut self, awaited: Awaited, now: Instant) {
        if self.awaited != awaited {
            self.expect(awaited, now);
        }
    }
}

fn retry(notice: &RetryNotice, now: Instant) -> Awaited {
    let RetryNotice { attempt, max_attempts, delay, reason, .. } = notice;
    let reason = one_line(&for_terminal(reason));
    Awaited::Retry {
        reason: reason.trim_end_matches('.').to_owned(),
        attempt: format!("attempt {} of {max_attempts}", attempt.saturating_add(1)),
        at: now + *delay,
    }
}

#[cfg(test)]
mod tests {
    use pollux_protocol::Thought;
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_row_says_what_is_awaited() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let calls = LiveCalls::default();
        let mut status = Status::new(start);
        let row = |status: &Status, at| status.row(&calls, at, 60).map(|row| row.text());
        assert_eq!((row(&status, start), status.next_change(start)), (None, None));
        status.take(&Event::PromptStarted, start);
        assert_eq!(row(&status, start).unwrap(), "waiting for the model · Esc stops");
        assert_eq!(row(&status, after(6)).unwrap(), "waiting for the model · 6 s · Esc stops");
        assert_eq!(status.next_change(after(6)), Some(after(7)));
        status.take(&Event::Thought(Thought::parse("**Looking** x")), after(7));
        assert_eq!(row(&status, after(7)).unwrap(), "Looking · 7 s · Esc stops");
        status.take(&Event::Text("a".to_owned()), after(8));
        status.take(&Event::Text("b".to_owned()), after(9));
        assert_eq!(row(&status, after(10)).unwrap(), "writing · 2 s · Esc stops");
        let notice = RetryNotice {
            attempt: 1,
            max_attempts: 10,
            delay: Duration::from_secs(4),
            reason: "Rate limit (429).".to_owned(),
            error_type: String::new(),
        };
        status.take(&Event::Waiting(notice), after(10));
        let expected = "waiting 3 s · Rate limit (429) · attempt 2 of 10 · Esc stops";
        assert_eq!(row(&status, after(11)).unwrap(), expected);
        let narrow = |cells| status.row(&calls, after(11), cells).unwrap().text();
        assert_eq!(narrow(52), "waiting 3 s · Rate ... · attempt 2 of 10 · Esc stops");
        assert_eq!(narrow(44), "waiting 3 s · attempt 2 of 10 · Esc stops");
        let own = Phrases { has_tips: false, own: vec!["a phrase".to_owned()] };
        status.set(&UiSettings { is_still: true, phrases: own, ..UiSettings::default() });
        let still = |cells, at| status.row(&calls, after(at), cells).unwrap().text();
        assert_eq!(still(60, 11), "waiting · Rate limit (429) · attempt 2 of 10 · Esc stops");
        status.take(&Event::PromptStarted, after(11));
        let still = |cells, at| status.row(&calls, after(at), cells).unwrap().text();
        assert_eq!(still(60, 30), "waiting for the model · Esc stops                   a phrase");
        assert_eq!(still(45, 30), "waiting for the model · Esc stops");
        assert_eq!(status.next_change(after(11)), None);
        status.stop();
        assert_eq!(row(&status, after(11)).unwrap(), "stopping");
        status.end(after(12));
        assert_eq!(row(&status, after(12)), None);
    }
}
