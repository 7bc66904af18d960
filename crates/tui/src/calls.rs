//! The calls of a turn as rows: one row for each call with a word for its state, and the last lines
//! of its output. Pure.

use std::time::{Duration, Instant};

use pollux_input::{narration, text_width};
use pollux_protocol::plain_text::{for_terminal, one_line, visible};
use pollux_protocol::{
    Call, CallId, CallRecord, CallStatus, Decision, Display, FileDiff, FinishedCall, LiveOutput,
    Part, PreparedCall, ToolError, ToolErrorKind, ToolKind, USER_DENIED,
};

use crate::clock::seconds;
use crate::diff::Change;
use crate::fold::{Breaks, Room, cut_to, fold};
use crate::row::{Look, Row};
use crate::tail::OutputTail;

/// Indent of the rows below a call.
const INDENT: usize = 4;
/// Limits on the rows below a call that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallLimits {
    /// Maximum number of rows of a change.
    change: usize,
    /// Maximum number of output lines of a command.
    command: usize,
    /// Maximum number of lines of another result.
    result: usize,
}

impl CallLimits {
    /// Returns the limits for short results, or for long ones.
    pub(crate) fn new(is_compact: bool) -> Self {
        if is_compact {
            Self { change: 15, command: 10, result: 6 }
        } else {
            Self { change: 200, command: 200, result: 200 }
        }
    }
}

/// The calls that have not ended, in the order of the request.
#[derive(Debug, Default)]
pub(crate) struct LiveCalls(Vec<LiveCall>);

#[derive(Debug)]
struct LiveCall {
    id: CallId,
    name: String,
    description: String,
    is_command: bool,
    status: CallStatus,
    /// Time at which it began to run.
    since: Option<Instant>,
    output: OutputTail,
}

impl LiveCalls {
    /// Adds a call that the model has requested.
    pub(crate) fn request(&mut self, call: &Call) {
        self.0.push(LiveCall::new(call));
    }

    /// Takes the description of a call.
    pub(crate) fn prepare(&mut self, prepared: &PreparedCall) {
        if let Some(call) = self.find(&prepared.call_id) {
            call.name.clone_from(&prepared.display_name);
            // The row of a call that waits for an approval is above the question.
            call.description = shown_description(&prepared.description);
            call.is_command = prepared.kind == ToolKind::Execute;
        }
    }

    /// Takes a new state of a call.
    pub(crate) fn move_to(&mut self, id: &CallId, status: CallStatus, now: Instant) {
        if let Some(call) = self.find(id) {
            call.status = status;
            if status == CallStatus::Executing {
                call.since.get_or_insert(now);
            }
        }
    }

    /// Takes output of a call.
    pub(crate) fn output(&mut self, id: &CallId, output: &LiveOutput) {
        if let Some(call) = self.find(id) {
            call.output.take(output);
        }
    }

    /// Removes all calls.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns true if there are no calls.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the name of the only call that runs, or the number of them.
    pub(crate) fn running(&self) -> Option<String> {
        let mut running = self.0.iter().filter(|call| call.since.is_some());
        let first = running.next()?;
        Some(match running.count() {
            0 => first.name.clone(),
            more => format!("{} calls", more + 1),
        })
    }

    /// Returns the command that runs, if there is exactly one.
    pub(crate) fn running_command(&self) -> Option<&CallId> {
        let mut running = self.0.iter().filter(|call| call.is_command && call.since.is_some());
        running.next().filter(|_| running.next().is_none()).map(|call| &call.id)
    }

    /// Returns the rows of all calls.
    pub(crate) fn rows(&self, cells: usize, now: Instant) -> Vec<Row> {
        self.0.iter().flat_map(|call| call.rows(cells, now)).collect()
    }

    /// Removes a call that has ended; returns its rows.
    pub(crate) fn finish(
        &mut self,
        finished: &FinishedCall,
        cells: usize,
        limits: CallLimits,
    ) -> Vec<Row> {
        let known = self.0.iter().position(|call| call.id == finished.call.id);
        let call = match known {
            Some(at) => self.0.remove(at),
            None => LiveCall::new(&finished.call),
        };
        call.finished(finished, cells, limits)
    }

    fn find(&mut self, id: &CallId) -> Option<&mut LiveCall> {
        self.0.iter_mut().find(|call| call.id == *id)
    }
}

impl LiveCall {
    fn new(call: &Call) -> Self {
        Self {
            id: call.id.clone(),
            name: one_line(&for_terminal(&call.name)),
            description: String::new(),
            is_command: false,
            status: CallStatus::Validating,
            since: None,
            output: OutputTail::default(),
        }
    }

    fn rows(&self, cells: usize, now: Instant) -> Vec<Row> {
        let mut state = live_state(self.status).to_owned();
        if self.status == CallStatus::Executing
            && let Some(time) = self.since.and_then(|since| seconds(now.duration_since(since)))
        {
            state = format!("{state} {time}");
        }
        let mut rows = vec![self.headline("- ", Look::Plain, &state, cells)];
        let (lines, earlier) = self.output.shown();
        rows.extend(count_row(earlier, "earlier", cells));
        rows.extend(lines.iter().map(|line| output_row(Look::Plain, line, cells)));
        rows
    }

    /// Returns the row of the call: its mark, name, description and state. The description is cut
    /// if there is no room for all of it.
    fn headline(&self, mark: &str, look: Look, state: &str, cells: usize) -> Row {
        let state = format!(" · {state}");
        let taken = text_width(mark) + text_width(&self.name) + text_width(&state) + 1;
        let description = cut_to(&self.description, cells.saturating_sub(taken));
        let name = cut_to(&self.name, cells.saturating_sub(text_width(mark)));
        let row = Row::new(look, mark).with(Look::Bold, &name);
        let row = if description.is_empty() {
            row
        } else {
            row.with(Look::Plain, " ").with(Look::Plain, &description)
        };
        let room = cells.saturating_sub(row.width());
        row.with(if look == Look::Red { look } else { Look::Dim }, &cut_to(&state, room))
    }

    /// Returns the mark of a call that has ended, and its look.
    fn mark(finished: &FinishedCall) -> (&'static str, Look) {
        let is_failed = finished.status == CallStatus::Error;
        if is_failed { ("x ", Look::Red) } else { ("- ", Look::Plain) }
    }

    /// Returns the word for the state of a call.
    fn state(finished: &FinishedCall) -> &'static str {
        let is_denied = |error: &ToolError| error.kind == ToolErrorKind::PolicyViolation;
        match finished.status {
            CallStatus::Error if finished.error.as_ref().is_some_and(is_denied) => "denied",
            CallStatus::Error => "failed",
            CallStatus::Cancelled if finished.decision == Some(Decision::Reject) => "refused",
            CallStatus::Cancelled => "cancelled",
            CallStatus::Success => "done",
            status => live_state(status),
        }
    }

    fn finished(&self, finished: &FinishedCall, cells: usize, limits: CallLimits) -> Vec<Row> {
        let (mark, look) = Self::mark(finished);
        let mut state = Self::state(finished).to_owned();
        let (summary, details) = self.details(finished, cells, limits);
        for part in [seconds(finished.duration), summary].into_iter().flatten() {
            state.push_str(" · ");
            state.push_str(&part);
        }
        let mut rows = vec![self.headline(mark, look, &state, cells)];
        rows.extend(details);
        if let Some(error) = &finished.error {
            let message = Row::new(Look::Red, narration::cut(&error.message));
            rows.extend(fold(&message, Room::new(cells).indented(INDENT), Breaks::Words));
        }
        let ending = self.output.ending.as_deref().filter(|_| finished.error.is_none());
        rows.extend(ending.map(|ending| output_row(Look::Red, ending, cells)));
        rows
    }

    /// Returns a summary of the result in a few words, and the rows of the rest.
    fn details(
        &self,
        finished: &FinishedCall,
        cells: usize,
        limits: CallLimits,
    ) -> (Option<String>, Vec<Row>) {
        if let Some(Display::Diff(diff)) = &finished.display {
            return (change_size(diff), change_rows(diff, cells, limits.change));
        }
        // The message of a failure is reported by itself.
        if finished.error.is_some() {
            return (None, Vec::new());
        }
        let text = narration::text(finished);
        let text = text.trim_end();
        let lines: Vec<&str> = text.lines().collect();
        let mut rows = Vec::new();
        match &lines[..] {
            [] => {}
            _ if self.is_command => {
                let hidden = lines.len().saturating_sub(limits.command);
                rows.extend(count_row(hidden as u64, "earlier", cells));
                rows.extend(
                    lines[hidden..].iter().map(|line| output_row(Look::Plain, line, cells)),
                );
            }
            [line] if text_width(line) < cells / 2 => return (Some((*line).to_owned()), rows),
            lines => {
                let shown = lines.iter().take(limits.result);
                rows.extend(shown.map(|line| output_row(Look::Plain, line, cells)));
                let more = lines.len().saturating_sub(limits.result);
                rows.extend(count_row(more as u64, "more", cells));
            }
        }
        (None, rows)
    }
}

/// Returns the description of a call in one line, with escapes for invisible characters.
fn shown_description(description: &str) -> String {
    visible(&one_line(&for_terminal(description)))
}

/// Returns the rows of a call of an earlier conversation, as the screen shows it.
pub(crate) fn recorded_rows(record: &CallRecord, cells: usize, limits: CallLimits) -> Vec<Row> {
    let (shown, finished) = recorded(record);
    shown.finished(&finished, cells, limits)
}

/// Returns all rows of a call of an earlier conversation, with nothing left out.
pub(crate) fn whole_rows(record: &CallRecord, cells: usize) -> Vec<Row> {
    let (shown, finished) = recorded(record);
    let state = LiveCall::state(&finished);
    let (mark, look) = LiveCall::mark(&finished);
    let mut rows = vec![shown.headline(mark, look, state, cells)];
    let room = Room::new(cells).indented(INDENT);
    if !rows[0].text().contains(&shown.description) {
        rows.extend(fold(&Row::plain(shown.description.as_str()), room, Breaks::Words));
    }
    if let Some(Display::Diff(diff)) = &finished.display {
        rows.extend(Change::of_patch(&diff.file_diff).rows(cells, INDENT));
        return rows;
    }
    let text = narration::text(&finished);
    for line in text.trim_end().lines() {
        let line = for_terminal(line).replace('\t', "    ");
        rows.extend(fold(&Row::plain(line), room, Breaks::Anywhere));
    }
    rows
}

/// Returns the result of a call of an earlier conversation as text.
pub(crate) fn recorded_text(record: &CallRecord) -> String {
    narration::text(&recorded(record).1).into_owned()
}

/// Returns the word for a state in which a call has not ended.
fn live_state(status: CallStatus) -> &'static str {
    match status {
        CallStatus::AwaitingApproval => "needs you",
        CallStatus::Executing => "running",
        _ => "waits",
    }
}

/// Returns true if the response of a call says that the user refused it.
pub(crate) fn is_refused(record: &CallRecord) -> bool {
    let responses = record.result.iter().flatten().filter_map(Part::as_response);
    let errors = responses.filter_map(|response| response.response.get("error")?.as_str());
    errors.map(str::trim_end).any(|error| error.ends_with(USER_DENIED))
}

/// Returns a recorded call in the form of one that has ended now.
fn recorded(record: &CallRecord) -> (LiveCall, FinishedCall) {
    let call = Call {
        id: record.id.clone(),
        name: record.display_name.clone(),
        args: serde_json::Value::Null,
        prompt_id: String::new(),
    };
    let shown = LiveCall {
        description: shown_description(&record.description),
        is_command: record.kind == Some(ToolKind::Execute),
        ..LiveCall::new(&call)
    };
    let finished = FinishedCall {
        call,
        status: record.status,
        response: record.result.clone().unwrap_or_default(),
        display: record.result_display.clone(),
        error: None,
        duration: Duration::ZERO,
        decision: is_refused(record).then_some(Decision::Reject),
    };
    (shown, finished)
}

/// Returns the numbers of added and removed lines.
fn change_size(diff: &FileDiff) -> Option<String> {
    let stat = diff.diff_stat?;
    let added = stat.model_added_lines + stat.user_added_lines;
    let removed = stat.model_removed_lines + stat.user_removed_lines;
    Some(format!("+{added} -{removed}"))
}

/// Returns the first rows of a change.
fn change_rows(diff: &FileDiff, cells: usize, most: usize) -> Vec<Row> {
    let change = Change::of_patch(&diff.file_diff);
    let mut rows = change.first_rows(most, cells, INDENT);
    rows.extend(count_row(change.len().saturating_sub(most) as u64, "more", cells));
    rows
}

/// Returns a line of output as one row.
fn output_row(look: Look, line: &str, cells: usize) -> Row {
    let line = for_terminal(line).replace('\t', "    ");
    let room = cells.saturating_sub(INDENT);
    Row::plain(" ".repeat(INDENT.min(cells / 2))).with(look, &cut_to(&line, room))
}

/// Returns the row about lines that are not shown; `None` if there are none.
fn count_row(count: u64, which: &str, cells: usize) -> Option<Row> {
    let lines = if count == 1 { "line" } else { "lines" };
    (count > 0).then(|| output_row(Look::Dim, &format!("{count} {which} {lines}"), cells))
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{DiffStat, Effects};
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn call(name: &str) -> Call {
        Call {
            id: CallId::new("1"),
            name: name.to_owned(),
            args: json!({}),
            prompt_id: "p".to_owned(),
        }
    }

    fn calls(name: &str, description: &str, kind: ToolKind) -> LiveCalls {
        let mut calls = LiveCalls::default();
        calls.request(&call(name));
        calls.prepare(&PreparedCall {
            call_id: CallId::new("1"),
            name: name.to_owned(),
            display_name: name.to_owned(),
            description: description.to_owned(),
            kind,
            locations: Vec::new(),
            first_line: None,
            effects: Effects::default(),
            is_markdown: false,
        });
        calls
    }

    fn finished(name: &str, display: Option<Display>) -> FinishedCall {
        FinishedCall {
            call: call(name),
            status: CallStatus::Success,
            response: Vec::new(),
            display,
            error: None,
            duration: Duration::from_secs(12),
            decision: None,
        }
    }

    fn texts(rows: &[Row]) -> Vec<String> {
        rows.iter().map(Row::text).collect()
    }

    #[test]
    fn a_running_command_shows_its_last_lines_and_its_time() {
        let now = Instant::now();
        let mut calls = calls("Shell", "make test", ToolKind::Execute);
        assert_eq!(texts(&calls.rows(40, now)), ["- Shell make test · waits"]);
        calls.move_to(&CallId::new("1"), CallStatus::Executing, now);
        let lines: Vec<String> = (1..=9).map(|number| format!("line\t{number}\n")).collect();
        calls.output(&CallId::new("1"), &LiveOutput::Append(lines.concat()));
        let later = now + Duration::from_secs(3);
        assert_eq!(
            texts(&calls.rows(40, later)),
            [
                "- Shell make test · running 3 s",
                "    4 earlier lines",
                "    line    5",
                "    line    6",
                "    line    7",
                "    line    8",
                "    line    9",
            ]
        );
        assert_eq!(texts(&calls.rows(26, later))[0], "- Shell make · running 3 s");
    }

    #[test]
    fn a_call_that_has_ended_is_one_row_with_its_result_below() {
        let text = |text: &str| Some(Display::Text(text.to_owned()));
        let read = calls("ReadFile", "a.rs", ToolKind::Read).finish(
            &finished("ReadFile", text("3 lines")),
            60,
            CallLimits::new(true),
        );
        assert_eq!(texts(&read), ["- ReadFile a.rs · done · 12 s · 3 lines"]);
        let many = (1..=12).map(|number| number.to_string()).collect::<Vec<_>>().join("\n");
        let run = calls("Shell", "seq 12", ToolKind::Execute).finish(
            &finished("Shell", text(&many)),
            60,
            CallLimits::new(true),
        );
        let run = texts(&run);
        assert_eq!(run[..3], ["- Shell seq 12 · done · 12 s", "    2 earlier lines", "    3"]);
        let mut failed = finished("Edit", None);
        failed.status = CallStatus::Error;
        failed.error =
            Some(ToolError::new(ToolErrorKind::FileNotFound, "There is no a.rs.\nLook."));
        let failed =
            calls("Edit", "a.rs", ToolKind::Edit).finish(&failed, 60, CallLimits::new(true));
        assert_eq!(texts(&failed), ["x Edit a.rs · failed · 12 s", "    There is no a.rs...."]);
    }

    #[test]
    fn a_change_stays_with_its_call() {
        let diff = FileDiff {
            file_diff: "--- a\n+++ a\n@@ -1 +1 @@\n-old\n+new".to_owned(),
            file_name: "a".to_owned(),
            file_path: "/p/a".into(),
            original_content: None,
            new_content: "new".to_owned(),
            diff_stat: Some(DiffStat {
                model_added_lines: 1,
                model_removed_lines: 1,
                ..DiffStat::default()
            }),
            is_new_file: None,
        };
        let done = finished("Edit", Some(Display::Diff(Box::new(diff))));
        let rows =
            texts(&calls("Edit", "a", ToolKind::Edit).finish(&done, 60, CallLimits::new(true)));
        assert_eq!(rows, ["- Edit a · done · 12 s · +1 -1", "    1 - old", "    1 + new"]);
    }

    #[test]
    fn a_call_that_a_rule_denies_says_so_with_the_reason() {
        let mut denied = finished("Shell", None);
        denied.status = CallStatus::Error;
        denied.error = Some(ToolError::new(ToolErrorKind::PolicyViolation, "A rule denies it."));
        let rows =
            calls("Shell", "rm a", ToolKind::Execute).finish(&denied, 60, CallLimits::new(true));
        assert_eq!(texts(&rows), ["x Shell rm a · denied · 12 s", "    A rule denies it."]);
    }

    #[test]
    fn recorded_calls_have_the_words_of_their_states() {
        let record = |status, result| CallRecord {
            id: CallId::new("1"),
            name: "read_file".to_owned(),
            args: json!({}),
            status,
            result,
            result_display: None,
            description: "a.rs".to_owned(),
            display_name: "ReadFile".to_owned(),
            kind: Some(ToolKind::Read),
            locations: Vec::new(),
            render_output_as_markdown: false,
        };
        let error = |text: &str| Some(vec![Part::error("1", "read_file", text)]);
        let refused = "[Operation Cancelled] Reason: User denied execution.";
        for (status, result, word) in [
            (CallStatus::Validating, None, "waits"),
            (CallStatus::AwaitingApproval, None, "needs you"),
            (CallStatus::Executing, None, "running"),
            (CallStatus::Success, None, "done"),
            (CallStatus::Cancelled, error(refused), "refused"),
            (CallStatus::Cancelled, error("[Operation Cancelled] Reason: Esc."), "cancelled"),
            (CallStatus::Error, error("x"), "failed"),
        ] {
            let record = record(status, result);
            let expected = format!("ReadFile a.rs · {word}");
            for rows in [recorded_rows(&record, 60, CallLimits::new(true)), whole_rows(&record, 60)]
            {
                assert_eq!(rows[0].text()[2..], expected);
            }
        }
    }

    #[test]
    fn every_row_fits() {
        let mut calls = calls("Shell", &"long ".repeat(40), ToolKind::Execute);
        let now = Instant::now();
        calls.output(&CallId::new("1"), &LiveOutput::Append("漢".repeat(100)));
        for cells in 8..60 {
            let all = calls.rows(cells, now);
            assert!(all.iter().all(|row| row.width() <= cells), "{cells} {:?}", texts(&all));
        }
    }
}
