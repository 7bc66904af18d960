//! Which calls run together.

use std::collections::VecDeque;
use std::sync::Arc;

use pollux_policy::Subject;
use pollux_protocol::{Args, Effects, Tool, ToolError, ToolErrorKind};
use serde_json::Value;

use super::{Hooked, Prepared, Queued, Ready, Scheduler};

impl Scheduler<'_> {
    /// Takes the next group from the queue and prepares it: calls that may run beside each other up to
    /// the first that may not, or that one alone. A call that cannot be prepared is beside everything:
    /// it will not run.
    pub(super) async fn next_group(&self, queue: &mut VecDeque<Queued>) -> Vec<Prepared> {
        let mut group = Vec::new();
        let mut running = false;
        while let Some(queued) = queue.pop_front() {
            let alone = stands_alone(&queued);
            if alone && running {
                queue.push_front(queued);
                break;
            }
            let ready = match self.prepare(queued).await {
                Ok(ready) => ready,
                Err(failed) => {
                    group.push(Err(failed));
                    continue;
                }
            };
            let alone = alone || ready.effects.alone;
            if alone && running {
                // It will be prepared anew when its turn comes: the calls before it may change what it
                // finds.
                queue.push_front(ready.queued);
                break;
            }
            group.push(Ok(ready));
            running = true;
            if alone {
                break;
            }
        }
        group
    }

    /// Checks a call beside the runtime's own thread: arguments are a model's, and looking at them may
    /// take its time. A stop is not kept waiting.
    async fn prepare(&self, queued: Queued) -> Prepared {
        let name = &queued.call.name;
        let found = self.toolset.get(name);
        let Some(tool) = found.filter(|tool| self.offers(tool.as_ref())).cloned() else {
            let error = ToolError::new(ToolErrorKind::ToolNotRegistered, self.not_found(name));
            return Err(Box::new((queued, error)));
        };
        let args = match arguments(&queued) {
            Ok(args) => args.clone(),
            Err(error) => return Err(Box::new((queued, error))),
        };
        let preparing = Arc::clone(&tool);
        let work = tokio::task::spawn_blocking(move || preparing.prepare(&args));
        let prepared = match self.cancel.run_until_cancelled(work).await {
            Some(Ok(prepared)) => prepared,
            Some(Err(panic)) => {
                Err(ToolError::new(ToolErrorKind::UnhandledException, panic.to_string()))
            }
            None => Err(ToolError::new(ToolErrorKind::ExecutionFailed, "The call was cancelled.")),
        };
        match prepared {
            Ok(invocation) => {
                let effects: Effects = invocation.effects();
                Ok(Ready {
                    queued,
                    tool,
                    invocation,
                    effects,
                    decision: None,
                    hooked: Hooked::default(),
                })
            }
            Err(error) => Err(Box::new((queued, error))),
        }
    }

    /// The model was told of this tool.
    fn offers(&self, tool: &dyn Tool) -> bool {
        tool.is_offered_to(self.model, self.limits)
            && self.policy.declares(Subject::of(tool), self.mode)
    }

    /// Suggests only tools that are on offer.
    fn not_found(&self, name: &str) -> String {
        let mut offered = self.toolset.clone();
        offered.retain(|tool| self.offers(tool));
        offered.not_found(name)
    }
}

fn arguments(queued: &Queued) -> Result<&Args, ToolError> {
    match &queued.call.args {
        Value::Object(arguments) => Ok(arguments),
        // A list is an object to the validator of the original; only its schema refuses it.
        Value::Array(_) => Err("params must be object"),
        _ => Err("Value of params must be an object"),
    }
    .map_err(|message| ToolError::new(ToolErrorKind::InvalidToolParams, message))
}

/// The model itself asked that this call waits for those before it.
fn stands_alone(queued: &Queued) -> bool {
    queued.call.name == "update_topic"
        || queued.call.args.get("wait_for_previous") == Some(&Value::Bool(true))
}
