//! Which calls run together.

use std::collections::VecDeque;

use pollux_protocol::{Args, Effects, ToolError, ToolErrorKind};
use serde_json::Value;

use super::{Prepared, Queued, Ready, Scheduler};

impl Scheduler<'_> {
    /// Takes the next group from the queue and prepares it: calls that may run beside each other up to
    /// the first that may not, or that one alone. A call that cannot be prepared is beside everything:
    /// it will not run.
    pub(super) fn next_group(&self, queue: &mut VecDeque<Queued>) -> Vec<Prepared> {
        let mut group = Vec::new();
        let mut running = false;
        while let Some(queued) = queue.pop_front() {
            let alone = stands_alone(&queued);
            if alone && running {
                queue.push_front(queued);
                break;
            }
            let ready = match self.prepare(queued) {
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

    fn prepare(&self, queued: Queued) -> Prepared {
        let name = &queued.call.name;
        let declared = self
            .toolset
            .get(name)
            .filter(|tool| self.policy.declares(tool.name(), tool.kind(), self.mode));
        let Some(tool) = declared.cloned() else {
            let error =
                ToolError::new(ToolErrorKind::ToolNotRegistered, self.toolset.not_found(name));
            return Err(Box::new((queued, error)));
        };
        match arguments(&queued).and_then(|args| tool.prepare(args)) {
            Ok(invocation) => {
                let effects: Effects = invocation.effects();
                Ok(Ready { queued, tool, invocation, effects, decision: None })
            }
            Err(error) => Err(Box::new((queued, error))),
        }
    }
}

fn arguments(queued: &Queued) -> Result<&Args, ToolError> {
    queued.call.args.as_object().ok_or_else(|| {
        ToolError::new(ToolErrorKind::InvalidToolParams, "Value of params must be an object")
    })
}

/// The model itself asked that this call waits for those before it.
fn stands_alone(queued: &Queued) -> bool {
    queued.call.name == "update_topic"
        || queued.call.args.get("wait_for_previous") == Some(&Value::Bool(true))
}
