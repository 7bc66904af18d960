//! Events of the agent as updates for the client.

use std::sync::Arc;

use agent_client_protocol_schema::v1::{
    Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus, SessionUpdate,
};
use pollux_input::narration;
use pollux_protocol::{
    CommandOutcome, CompressionReport, Event, Record, RetryNotice, Severity, Todo, TodoStatus,
};

use super::calls::Calls;
use super::content;
use super::notices::ClientNotices;

/// Updates about a session.
pub(crate) struct Updates {
    pub(crate) calls: Calls,
    notices: Arc<ClientNotices>,
}

impl Updates {
    pub(crate) fn new(notices: Arc<ClientNotices>) -> Self {
        Self { calls: Calls::default(), notices }
    }

    /// Returns the updates that an event other than text leads to, in order.
    pub(crate) fn of(&mut self, event: &Event) -> Vec<SessionUpdate> {
        let one = |update| vec![update];
        match event {
            Event::Citations(text) => one(message(format!("\n{text}"))),
            Event::Thought(thought) => {
                one(SessionUpdate::AgentThoughtChunk(content::chunk(content::thought(thought))))
            }
            Event::CallRequested(call) => {
                self.calls.request(call);
                Vec::new()
            }
            Event::Recorded(record) => {
                if let Record::Model(message) = record.as_ref() {
                    message.calls.iter().for_each(|call| self.calls.record(call));
                }
                Vec::new()
            }
            Event::CallPrepared(call) => self.calls.prepare(call).into_iter().collect(),
            Event::CallMoved { call_id, status } => {
                self.calls.status(call_id, *status).into_iter().collect()
            }
            Event::CallOutput { call_id, output } => {
                self.calls.output(call_id, output).into_iter().collect()
            }
            Event::CallsFinished(calls) => {
                calls.iter().flat_map(|call| self.calls.finish(call)).collect()
            }
            Event::TodosChanged(todos) => one(SessionUpdate::Plan(plan(todos))),
            Event::CommandOutput(text) => {
                one(message(format!("{}\n", content::command_output(text))))
            }
            Event::CommandEnded(CommandOutcome::Failed(text)) => {
                one(message(format!("Error: {text}")))
            }
            event => match notice(event) {
                Some((severity, text)) => one(self.notices.update(severity, &text)),
                None => Vec::new(),
            },
        }
    }
}

/// Returns a piece of the agent's message.
pub(crate) fn message(text: impl Into<String>) -> SessionUpdate {
    SessionUpdate::AgentMessageChunk(content::chunk(text))
}

/// Returns the message to the user that an event contains.
fn notice(event: &Event) -> Option<(Severity, String)> {
    match event {
        Event::Notice { severity, text } => Some((*severity, text.clone())),
        Event::HookMessage { message, .. } => Some((Severity::Info, message.clone())),
        Event::Waiting(notice) => Some((Severity::Warning, waiting(notice))),
        Event::StreamRestarted => {
            Some((Severity::Warning, "The answer is unusable. It is requested again.".to_owned()))
        }
        Event::ContextWillOverflow { estimated, remaining } => Some((
            Severity::Warning,
            format!(
                "The prompt is not sent: it has about {estimated} tokens, and the model has room for {remaining}."
            ),
        )),
        Event::ChatCompressed(CompressionReport { original_tokens, new_tokens, .. }) => Some((
            Severity::Info,
            format!(
                "The conversation was compressed from {original_tokens} to {new_tokens} tokens."
            ),
        )),
        event => narration::warning(event).map(|text| (Severity::Warning, text)),
    }
}

fn waiting(notice: &RetryNotice) -> String {
    let RetryNotice { attempt, max_attempts, delay, reason, .. } = notice;
    let wait = delay.as_secs_f32();
    format!("Attempt {attempt} of {max_attempts} failed: {reason} Retrying in {wait:.1} s.")
}

/// Returns the to-do list. The protocol has no other states.
fn plan(todos: &[Todo]) -> Plan {
    let entry = |todo: &Todo| {
        let status = match todo.status {
            TodoStatus::Pending | TodoStatus::Blocked => PlanEntryStatus::Pending,
            TodoStatus::InProgress => PlanEntryStatus::InProgress,
            TodoStatus::Completed => PlanEntryStatus::Completed,
            TodoStatus::Cancelled => return None,
        };
        Some(PlanEntry::new(todo.description.clone(), PlanEntryPriority::Medium, status))
    };
    Plan::new(todos.iter().filter_map(entry).collect())
}
