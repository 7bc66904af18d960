//! Formation of groups of calls that run together.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use pollux_policy::Subject;
use pollux_protocol::{
    Args, CallConfinement, Declaration, Effects, Invocation, Tool, ToolError, ToolErrorKind,
};
use serde_json::Value;

use super::run::words;
use super::{Hooked, Prepared, Queued, Ready, Scheduler};
use crate::toolset::declared_effects;

/// Message of Gemini CLI for arguments that are not an object.
const NO_OBJECT: &str = "Value of params must be an object";

/// Tool and arguments of a call, or the error if there is no such tool.
type Request = Result<(Arc<dyn Tool>, Args), ToolError>;

/// Call that its tool has accepted.
type Accepted = (Arc<dyn Tool>, Box<dyn Invocation>, Effects);

impl Scheduler<'_> {
    /// Takes the next group from the queue and prepares it. The group contains the calls before the
    /// first call that must run alone, or only that call. A call that cannot be prepared fits into
    /// any group, because it will not run.
    pub(super) async fn next_group(&self, queue: &mut VecDeque<Queued>) -> Vec<Prepared> {
        let beside = queue.iter().take_while(|queued| !stands_alone(queued)).count();
        let count = beside.max(1).min(queue.len());
        let mut calls: Vec<Queued> = queue.drain(..count).collect();
        let requests = calls.iter().map(|queued| self.request(queued)).collect();
        let looked_at = self.look_at(requests).await;
        for queued in calls.drain(looked_at.len()..).rev() {
            queue.push_front(queued);
        }
        let prepared = |(queued, looked_at): (Queued, Result<Accepted, ToolError>)| match looked_at
        {
            Ok((tool, invocation, effects)) => {
                let hooked = Hooked::default();
                let parameters = tool.declaration().parameters;
                let caller = self.caller.map(Arc::from);
                Ok(Ready {
                    caller,
                    queued,
                    tool,
                    parameters,
                    invocation,
                    effects,
                    decision: None,
                    allowed_in: None,
                    confinement: CallConfinement::default(),
                    hooked,
                })
            }
            Err(error) => Err(Box::new((queued, error))),
        };
        calls.into_iter().zip(looked_at).map(prepared).collect()
    }

    fn request(&self, queued: &Queued) -> Request {
        let name = &queued.call.name;
        let Some(tool) = self.offered(name) else {
            return Err(ToolError::new(ToolErrorKind::ToolNotRegistered, self.not_found(name)));
        };
        Ok((Arc::clone(tool), arguments(queued)?.clone()))
    }

    /// Checks calls on a blocking thread, because the arguments come from a model and checking them
    /// may take long. A cancel does not wait for the check. The result has the length of the group.
    async fn look_at(&self, requests: Vec<Request>) -> Vec<Result<Accepted, ToolError>> {
        let count = requests.len();
        let all = |error: ToolError| vec![error; count].into_iter().map(Err).collect();
        let work = tokio::task::spawn_blocking(move || accept_together(requests));
        match self.cancel.run_until_cancelled(work).await {
            Some(Ok(looked_at)) => looked_at,
            Some(Err(panic)) => {
                all(ToolError::new(ToolErrorKind::UnhandledException, panic.to_string()))
            }
            None => all(ToolError::new(ToolErrorKind::ExecutionFailed, "The call was cancelled.")),
        }
    }

    /// Returns the tool with this name, if it was offered to the model.
    pub(super) fn offered(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.toolset.get(name).filter(|tool| self.offers(tool.as_ref()))
    }

    /// True if the tool was offered to the model.
    pub(super) fn offers(&self, tool: &dyn Tool) -> bool {
        tool.is_offered_to(self.model, self.limits)
            && self.policy.declares(
                Subject { subagent: self.caller, ..Subject::of(tool) },
                self.services.modes.get(),
            )
    }

    /// Returns the error message for an unknown tool. It suggests only offered tools.
    fn not_found(&self, name: &str) -> String {
        if self.caller.is_some() && self.toolset.get(name).is_none() {
            let name = cut(name);
            return format!("Unauthorized tool call: '{name}' is not available to this agent.");
        }
        let mut offered = self.toolset.clone();
        offered.retain(|tool| self.offers(tool));
        offered.not_found(name)
    }
}

/// Prepares one call after the other, up to the first that must not run in parallel to those before
/// it. That call is prepared again in its own group, because the calls before it may change its
/// preparation.
fn accept_together(requests: Vec<Request>) -> Vec<Result<Accepted, ToolError>> {
    let mut group = Vec::with_capacity(requests.len());
    let mut running = false;
    for request in requests {
        let accepted = request.and_then(|(tool, args)| accept(tool, &args));
        let alone = accepted.as_ref().is_ok_and(|(_, _, effects)| effects.alone);
        if alone && running {
            break;
        }
        running |= accepted.is_ok();
        group.push(accepted);
        if alone {
            break;
        }
    }
    group
}

/// Prepares one call. A panic of the tool affects only this call.
fn accept(tool: Arc<dyn Tool>, args: &Args) -> Result<Accepted, ToolError> {
    let asked = AssertUnwindSafe(|| {
        let invocation = tool.prepare(args)?;
        let effects = declared_effects(tool.as_ref(), invocation.as_ref());
        Ok((invocation, effects))
    });
    let (invocation, effects) = std::panic::catch_unwind(asked).unwrap_or_else(|panic| {
        Err(ToolError::new(ToolErrorKind::UnhandledException, words(panic.as_ref())))
    })?;
    Ok((tool, invocation, effects))
}

fn arguments(queued: &Queued) -> Result<&Args, ToolError> {
    let message = match &queued.call.args {
        Value::Object(arguments) => return Ok(arguments),
        // The validator of Gemini CLI treats a list as an object. Only its schema check refuses the
        // list.
        Value::Array(_) => "params must be object".to_owned(),
        // Arguments that are not JSON arrive as text.
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(_) => NO_OBJECT.to_owned(),
            Err(error) => format!("{NO_OBJECT}: the arguments are not JSON: {error}"),
        },
        _ => NO_OBJECT.to_owned(),
    };
    Err(ToolError::new(ToolErrorKind::InvalidToolParams, message))
}

/// Returns the beginning of a name, which the model may have made long.
fn cut(name: &str) -> &str {
    &name[..name.floor_char_boundary(64)]
}

/// True if the model itself requested that this call waits for those before it.
fn stands_alone(queued: &Queued) -> bool {
    queued.call.args.get(Declaration::WAIT) == Some(&Value::Bool(true))
}
