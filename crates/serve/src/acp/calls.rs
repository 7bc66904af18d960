//! Tool calls of a session, as the client sees them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use agent_client_protocol_schema::v1::{
    SessionUpdate, ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind,
};
use pollux_protocol::plain_text::{harmless, one_line, visible};
use pollux_protocol::{
    Call, CallId, CallRecord, CallStatus, Display, FinishedCall, LiveOutput, PreparedCall,
    ToolKind as Kind,
};

use super::content;

/// Minimum time between two reports about the output of a call.
const PACE: Duration = Duration::from_millis(200);
/// Maximum size of the output that is shown while a call runs, in bytes: its end.
const SHOWN: usize = 16 << 10;

/// Calls that have not ended.
#[derive(Default)]
pub(crate) struct Calls(HashMap<CallId, Running>);

/// Call that has not ended.
struct Running {
    call: ToolCall,
    is_markdown: bool,
    /// True if the client knows the call.
    is_announced: bool,
    /// End of the output so far.
    output: String,
    /// Time of the last report about the output.
    reported: Option<Instant>,
}

impl Calls {
    /// Takes a call as the model has requested it.
    pub(crate) fn request(&mut self, call: &Call) {
        let shown = ToolCall::new(call.id.as_str().to_owned(), one_line(&call.name));
        let running = Running {
            call: shown,
            is_markdown: false,
            is_announced: false,
            output: String::new(),
            reported: None,
        };
        self.0.insert(call.id.clone(), running);
    }

    /// Takes the name and the kind of a call's tool, as far as the tool is known.
    pub(crate) fn record(&mut self, record: &CallRecord) {
        if let Some(running) = self.0.get_mut(&record.id) {
            running.call.title = one_line(&record.display_name);
            running.call.kind = kind(record.kind);
        }
    }

    /// Takes the description of a call. Returns an update if the client knows the call already.
    pub(crate) fn prepare(&mut self, prepared: &PreparedCall) -> Option<SessionUpdate> {
        let running = self.0.get_mut(&prepared.call_id)?;
        let call = &mut running.call;
        call.title = title(&prepared.display_name, &prepared.description);
        call.kind = kind(Some(prepared.kind));
        call.locations = locations(prepared);
        call.content = folder_of_command(prepared).into_iter().collect();
        running.is_markdown = prepared.is_markdown;
        let fields =
            ToolCallUpdateFields::new().title(call.title.clone()).locations(call.locations.clone());
        running.is_announced.then(|| update(&prepared.call_id, fields))
    }

    /// Takes a new state of a call, and returns what the client must know about it.
    pub(crate) fn status(&mut self, id: &CallId, status: CallStatus) -> Option<SessionUpdate> {
        let status = match status {
            CallStatus::Executing => ToolCallStatus::InProgress,
            CallStatus::AwaitingApproval => ToolCallStatus::Pending,
            // The end of a call is reported with its result.
            CallStatus::Validating
            | CallStatus::Scheduled
            | CallStatus::Success
            | CallStatus::Error
            | CallStatus::Cancelled => return None,
        };
        let running = self.0.get_mut(id)?;
        if std::mem::replace(&mut running.is_announced, true) {
            return Some(update(id, ToolCallUpdateFields::new().status(status)));
        }
        Some(SessionUpdate::ToolCall(running.call.clone().status(status)))
    }

    /// Returns the call that a permission request is about, with its content.
    pub(crate) fn to_approve(&self, id: &CallId, content: Vec<ToolCallContent>) -> ToolCallUpdate {
        let fields = ToolCallUpdateFields::new().status(ToolCallStatus::Pending).content(content);
        let fields = match self.0.get(id) {
            Some(Running { call, .. }) => {
                fields.title(call.title.clone()).kind(call.kind).locations(call.locations.clone())
            }
            None => fields,
        };
        ToolCallUpdate::new(id.as_str().to_owned(), fields)
    }

    /// Takes output of a call. Returns the end of its output from time to time.
    pub(crate) fn output(&mut self, id: &CallId, output: &LiveOutput) -> Option<SessionUpdate> {
        let running = self.0.get_mut(id)?;
        match output {
            LiveOutput::Append(text) => running.output.push_str(text),
            LiveOutput::Replace(text) => running.output.clone_from(text),
            LiveOutput::Screen { lines, .. } => running.output = lines.text(),
            LiveOutput::Ended(_) | LiveOutput::Input(_) | LiveOutput::ProcessGroup(_) => {
                return None;
            }
        }
        let excess = running.output.len().saturating_sub(SHOWN);
        running.output.drain(..running.output.ceil_char_boundary(excess));
        let now = Instant::now();
        if !running.is_announced || running.reported.is_some_and(|at| now - at < PACE) {
            return None;
        }
        running.reported = Some(now);
        let shown = content::code(&harmless(&running.output));
        Some(update(id, ToolCallUpdateFields::new().content(vec![shown])))
    }

    /// Takes the result of a call, and returns what the client must know about it.
    pub(crate) fn finish(&mut self, finished: &FinishedCall) -> Vec<SessionUpdate> {
        let id = &finished.call.id;
        let running = self.0.remove(id);
        let is_markdown = running.as_ref().is_some_and(|running| running.is_markdown);
        let announcement = match running {
            Some(running) if running.is_announced => None,
            Some(running) => Some(running.call),
            None => Some(ToolCall::new(id.as_str().to_owned(), one_line(&finished.call.name))),
        };
        let announcement = announcement
            .map(|call| SessionUpdate::ToolCall(call.status(ToolCallStatus::InProgress)));
        let content = match (&finished.error, &finished.display) {
            (Some(error), None | Some(Display::Structured(_))) => {
                vec![harmless(&error.message).into_owned().into()]
            }
            (_, Some(display)) => content::display(display, is_markdown),
            (None, None) => Vec::new(),
        };
        let fields = ToolCallUpdateFields::new().status(last(finished.status)).content(content);
        announcement.into_iter().chain([update(id, fields)]).collect()
    }
}

/// Returns a call of an earlier conversation.
pub(crate) fn earlier(record: &CallRecord) -> ToolCall {
    let is_markdown = record.render_output_as_markdown;
    let shown = record.result_display.as_ref();
    let name = if record.display_name.is_empty() { &record.name } else { &record.display_name };
    ToolCall::new(record.id.as_str().to_owned(), title(name, &record.description))
        .kind(kind(record.kind))
        .status(last(record.status))
        .locations(record.locations.iter().cloned().map(ToolCallLocation::new).collect())
        .content(shown.map(|shown| content::display(shown, is_markdown)).unwrap_or_default())
}

fn update(id: &CallId, fields: ToolCallUpdateFields) -> SessionUpdate {
    SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id.as_str().to_owned(), fields))
}

fn locations(prepared: &PreparedCall) -> Vec<ToolCallLocation> {
    let mut locations: Vec<_> =
        prepared.locations.iter().cloned().map(ToolCallLocation::new).collect();
    if let Some(first) = locations.first_mut() {
        first.line = prepared.first_line.and_then(|line| u32::try_from(line).ok());
    }
    locations
}

/// Returns the content of a command until it has output: its folder, as in Gemini CLI.
fn folder_of_command(prepared: &PreparedCall) -> Option<ToolCallContent> {
    let folder = prepared.effects.folder.as_ref()?;
    let text = format!("[current working directory {}]", folder.display());
    Some(visible(&text).into())
}

fn title(name: &str, description: &str) -> String {
    one_line(if description.trim().is_empty() { name } else { description })
}

fn last(status: CallStatus) -> ToolCallStatus {
    match status {
        CallStatus::Success => ToolCallStatus::Completed,
        CallStatus::Error | CallStatus::Cancelled => ToolCallStatus::Failed,
        CallStatus::Validating | CallStatus::AwaitingApproval | CallStatus::Scheduled => {
            ToolCallStatus::Pending
        }
        CallStatus::Executing => ToolCallStatus::InProgress,
    }
}

/// Returns the kind as the protocol names it.
fn kind(kind: Option<Kind>) -> ToolKind {
    match kind {
        Some(Kind::Read) => ToolKind::Read,
        Some(Kind::Edit) => ToolKind::Edit,
        Some(Kind::Delete) => ToolKind::Delete,
        Some(Kind::Move) => ToolKind::Move,
        Some(Kind::Search) => ToolKind::Search,
        Some(Kind::Execute) => ToolKind::Execute,
        Some(Kind::Think | Kind::Agent) => ToolKind::Think,
        Some(Kind::Fetch) => ToolKind::Fetch,
        Some(Kind::Communicate | Kind::Plan | Kind::Other) | None => ToolKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{Effects, ToolError, ToolErrorKind};
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json, to_value};

    use super::*;

    fn call() -> Call {
        let (id, name) = (CallId::new("read__1"), "read\nfile".to_owned());
        Call { id, name, args: json!({}), prompt_id: String::new() }
    }

    fn prepared() -> PreparedCall {
        PreparedCall {
            call_id: call().id,
            name: "read_file".to_owned(),
            display_name: "ReadFile".to_owned(),
            description: "a.txt".to_owned(),
            kind: Kind::Read,
            locations: vec!["/w/a.txt".into(), "/w/b.txt".into()],
            first_line: Some(7),
            effects: Effects::command("cat a.txt", "/w"),
            is_markdown: false,
        }
    }

    fn finished(error: Option<ToolError>, display: Option<Display>) -> FinishedCall {
        FinishedCall {
            call: call(),
            status: if error.is_some() { CallStatus::Error } else { CallStatus::Success },
            response: Vec::new(),
            display,
            error,
            duration: Duration::ZERO,
            decision: None,
        }
    }

    fn shown(updates: impl IntoIterator<Item = SessionUpdate>) -> Vec<(Value, Value)> {
        let kind = |update| {
            let update = to_value(update).unwrap();
            (update["sessionUpdate"].clone(), update["status"].clone())
        };
        updates.into_iter().map(kind).collect()
    }

    #[test]
    fn a_call_is_announced_once_and_before_anything_else() {
        let mut calls = Calls::default();
        calls.request(&call());
        assert_eq!(calls.prepare(&prepared()), None);
        let id = call().id;
        assert_eq!(calls.status(&id, CallStatus::Validating), None);
        let pending = calls.status(&id, CallStatus::AwaitingApproval);
        // This status is the default, and left out.
        assert_eq!(shown(pending.clone()), [(json!("tool_call"), Value::Null)]);
        let pending = to_value(pending).unwrap();
        let locations = json!([{"path": "/w/a.txt", "line": 7}, {"path": "/w/b.txt"}]);
        assert_eq!(pending["locations"], locations);
        let text = &pending["content"][0]["content"]["text"];
        assert_eq!(text, "[current working directory /w]");
        let runs = calls.status(&id, CallStatus::Executing);
        assert_eq!(shown(runs), [(json!("tool_call_update"), json!("in_progress"))]);
        let done = calls.finish(&finished(None, Some(Display::Text("alpha".to_owned()))));
        assert_eq!(shown(done.clone()), [(json!("tool_call_update"), json!("completed"))]);
        let content = &to_value(&done[0]).unwrap()["content"];
        assert_eq!(content[0]["content"]["text"], "```\nalpha\n```");
        assert!(calls.0.is_empty());
    }

    #[test]
    fn a_call_that_never_ran_is_announced_with_its_failure() {
        let mut calls = Calls::default();
        calls.request(&call());
        let error = ToolError::new(ToolErrorKind::ToolNotRegistered, "no such tool");
        let failed = calls.finish(&finished(Some(error), None));
        let expected = [
            (json!("tool_call"), json!("in_progress")),
            (json!("tool_call_update"), json!("failed")),
        ];
        assert_eq!(shown(failed.clone()), expected);
        assert_eq!(to_value(&failed[0]).unwrap()["title"], "read file");
        let text = &to_value(&failed[1]).unwrap()["content"][0]["content"]["text"];
        assert_eq!(text, "no such tool");
    }

    #[test]
    fn only_the_end_of_the_output_is_shown_and_not_each_time() {
        let mut calls = Calls::default();
        calls.request(&call());
        let id = call().id;
        assert_eq!(calls.output(&id, &LiveOutput::Append("early".to_owned())), None);
        calls.status(&id, CallStatus::Executing);
        let long = LiveOutput::Append("é".repeat(SHOWN));
        let first = to_value(calls.output(&id, &long).unwrap()).unwrap();
        let length = first["content"][0]["content"]["text"].as_str().unwrap().len();
        assert!((SHOWN - 8..SHOWN + 16).contains(&length), "{length}");
        assert_eq!(calls.output(&id, &long), None);
    }
}
