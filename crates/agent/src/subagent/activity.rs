//! Activity of a subagent, for the user: its latest thoughts and calls, as the output of the call
//! that runs it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pollux_protocol::plain_text::one_line;
use pollux_protocol::{CallStatus, Envelope, Event, LiveOutput, Observer, OutputSink};
use serde_json::{Value, json};

/// Maximum number of items that are kept.
const KEPT: usize = 30;
/// Maximum length of a text, in characters.
const LENGTH: usize = 120;

/// Observer of one subagent. Its memory and its output are bounded, whatever the subagent does.
pub struct Activity {
    state: Mutex<State>,
    output: OutputSink,
}

#[derive(Default)]
struct State {
    items: VecDeque<Item>,
    calls: u64,
}

/// Thought or call.
struct Item {
    /// Id of the call; empty for a thought.
    id: String,
    /// Name of the tool, or the subject of the thought.
    content: String,
    /// Name of the tool for users; empty for a thought.
    display_name: String,
    description: String,
    status: ItemStatus,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemStatus {
    Running,
    Waiting,
    Completed,
    Error,
    Cancelled,
}

impl Activity {
    /// Creates the activity of a subagent that has not started. `output` gets its live output.
    pub fn new(output: OutputSink) -> Self {
        Self { state: Mutex::default(), output }
    }

    /// Returns the number of calls so far.
    pub fn calls(&self) -> u64 {
        self.lock().calls
    }

    /// Returns the latest activity in the form of Gemini CLI.
    pub fn recent(&self) -> Value {
        let state = self.lock();
        let item = |(number, item): (usize, &Item)| {
            let status = match item.status {
                ItemStatus::Running | ItemStatus::Waiting => "running",
                ItemStatus::Completed => "completed",
                ItemStatus::Error => "error",
                ItemStatus::Cancelled => "cancelled",
            };
            if item.id.is_empty() {
                let id = format!("thought-{number}");
                json!({"id": id, "type": "thought", "content": item.content, "status": status})
            } else {
                json!({
                    "id": item.id,
                    "type": "tool_call",
                    "content": item.content,
                    "displayName": item.display_name,
                    "description": item.description,
                    "status": status,
                })
            }
        };
        state.items.iter().enumerate().map(item).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes an event. Returns a line about it, if it is worth one.
    fn take(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::Thought(thought) if !thought.subject.is_empty() => {
                let content = short(&thought.subject);
                self.add(Item {
                    id: String::new(),
                    content: content.clone(),
                    display_name: String::new(),
                    description: String::new(),
                    status: ItemStatus::Completed,
                });
                Some(content)
            }
            Event::CallPrepared(call) => {
                let description = short(&call.description);
                if let Some(known) = self.call(call.call_id.as_str()) {
                    known.description = description;
                    return None;
                }
                self.calls += 1;
                let display_name = short(&call.display_name);
                let line = format!("{display_name} {description}").trim_end().to_owned();
                self.add(Item {
                    id: call.call_id.as_str().to_owned(),
                    content: short(&call.name),
                    display_name,
                    description,
                    status: ItemStatus::Running,
                });
                Some(line)
            }
            Event::CallMoved { call_id, status } => {
                let call = self.call(call_id.as_str())?;
                let (status, words) = match status {
                    CallStatus::Success => (ItemStatus::Completed, None),
                    CallStatus::Error => (ItemStatus::Error, Some("failed")),
                    CallStatus::Cancelled => (ItemStatus::Cancelled, Some("was cancelled")),
                    CallStatus::AwaitingApproval => {
                        (ItemStatus::Waiting, Some("waits for your answer"))
                    }
                    _ => (ItemStatus::Running, None),
                };
                let is_new = std::mem::replace(&mut call.status, status) != status;
                words.filter(|_| is_new).map(|words| format!("{} {words}", call.display_name))
            }
            _ => None,
        }
    }

    fn call(&mut self, id: &str) -> Option<&mut Item> {
        self.items.iter_mut().rev().find(|item| item.id == id)
    }

    fn add(&mut self, item: Item) {
        if self.items.len() == KEPT {
            self.items.pop_front();
        }
        self.items.push_back(item);
    }
}

impl Observer for Activity {
    fn observe(&self, envelope: &Envelope) {
        let line = self.lock().take(&envelope.event);
        if let Some(line) = line {
            (self.output)(LiveOutput::Append(line + "\n"));
        }
    }
}

/// Returns a text in one line, cut if it is too long.
fn short(text: &str) -> String {
    let line = one_line(text);
    if line.chars().count() <= LENGTH {
        return line;
    }
    line.chars().take(LENGTH - 3).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pollux_protocol::{CallId, Effects, Origin, PreparedCall, Thought, ToolKind};
    use pretty_assertions::assert_eq;

    use super::*;

    fn prepared(id: &str, description: &str) -> Event {
        Event::CallPrepared(Arc::new(PreparedCall {
            call_id: CallId::new(id),
            name: "read_file".to_owned(),
            display_name: "ReadFile".to_owned(),
            description: description.to_owned(),
            kind: ToolKind::Read,
            locations: Vec::new(),
            first_line: None,
            effects: Effects::default(),
            is_markdown: false,
        }))
    }

    fn moved(id: &str, status: CallStatus) -> Event {
        Event::CallMoved { call_id: CallId::new(id), status }
    }

    fn watched() -> (Activity, Arc<Mutex<Vec<String>>>) {
        let shown = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&shown);
        let output: OutputSink = Arc::new(move |output| match output {
            LiveOutput::Append(text) => sink.lock().unwrap().push(text),
            other => panic!("{other:?}"),
        });
        (Activity::new(output), shown)
    }

    fn tell(activity: &Activity, event: Event) {
        activity.observe(&Envelope { origin: Arc::new(Origin::default()), event });
    }

    #[test]
    fn the_latest_calls_are_shown_with_their_state() {
        let (activity, shown) = watched();
        let thought = Thought { subject: "Look\u{1b}[2J".to_owned(), description: String::new() };
        tell(&activity, Event::Thought(thought));
        tell(&activity, prepared("c0", "a.txt"));
        tell(&activity, moved("c0", CallStatus::AwaitingApproval));
        tell(&activity, moved("c0", CallStatus::Success));
        tell(&activity, prepared("c1", "b.txt"));
        tell(&activity, moved("c1", CallStatus::Error));
        tell(&activity, Event::Text("not shown".to_owned()));
        let expected = [
            "Look [2J\n",
            "ReadFile a.txt\n",
            "ReadFile waits for your answer\n",
            "ReadFile b.txt\n",
            "ReadFile failed\n",
        ];
        assert_eq!(*shown.lock().unwrap(), expected);
        let recent = activity.recent();
        let states: Vec<_> = recent
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["status"].as_str().unwrap())
            .collect();
        assert_eq!(states, ["completed", "completed", "error"]);
    }

    #[test]
    fn a_flood_stays_small() {
        let (activity, shown) = watched();
        for number in 0..2000 {
            tell(&activity, prepared(&format!("c{number}"), &"x".repeat(10_000)));
        }
        assert_eq!((activity.calls(), activity.recent().as_array().unwrap().len()), (2000, KEPT));
        let longest = shown.lock().unwrap().iter().map(String::len).max().unwrap();
        assert!(longest < LENGTH + 40, "{longest}");
    }
}
