//! A call of a tool: finds or opens its session, and works on the prompt.

use std::sync::Arc;

use pollux_protocol::{SessionStart, Sessions};
use serde_json::Value;

use super::answer::refusal;
use super::server::{Connection, McpOptions};
use super::session::{Caller, Stop};
use super::sessions::{Busy, OpenSessions};
use super::tools::Task;

/// Everything that all calls have in common.
pub(crate) struct Context {
    pub(crate) sessions: Arc<dyn Sessions>,
    pub(crate) options: McpOptions,
    pub(crate) connection: Arc<Connection>,
    pub(crate) open: OpenSessions,
}

/// A call of a tool.
pub(crate) struct Call {
    pub(super) context: Arc<Context>,
    pub(super) caller: Caller,
    /// Id of the session.
    pub(super) session: String,
}

impl Call {
    /// Creates the call that carries out a task.
    pub(crate) fn new(context: Arc<Context>, caller: Caller, task: &Task) -> Self {
        let session = task.session_id.clone();
        let session = session.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        Self { context, caller, session }
    }

    /// Runs the call. Returns its result; `None` if it was cancelled: then there is no answer.
    pub(crate) async fn run(mut self, task: Task) -> Option<Value> {
        match self.work(task).await {
            Ok(result) => Some(result),
            Err(Stop::Cancelled) => None,
            Err(Stop::Refused(reason)) => Some(refusal(&reason)),
            Err(Stop::Ended) => {
                self.context.open.forget(&self.session);
                Some(refusal("The agent has ended. This is a bug in Pollux."))
            }
        }
    }

    async fn work(&mut self, task: Task) -> Result<Value, Stop> {
        let context = Arc::clone(&self.context);
        let cancel = self.caller.cancel.clone();
        let taking = context.open.take(&self.session, &cancel);
        let held = self.caller.unless_cancelled(taking).await?;
        let mut held = held.map_err(|busy| Stop::Refused(reason(busy).to_owned()))?;
        let session = match &mut *held {
            Some(session) => session,
            empty => {
                let start = match &task.session_id {
                    Some(id) => SessionStart::Resume(id.clone()),
                    None => SessionStart::New(Some(self.session.clone())),
                };
                let opened = self.open(start, &task).await;
                let opened = opened.inspect_err(|_| context.open.forget(&self.session))?;
                empty.insert(opened)
            }
        };
        let answer = session.work(task, &mut self.caller, context.options.describe_failure).await;
        answer.map(super::answer::Answer::result)
    }
}

fn reason(busy: Busy) -> &'static str {
    match busy {
        Busy::Session => "The session works on another prompt.",
        Busy::Server => "Too many sessions are working. Try again when a call has ended.",
    }
}
