//! Hooks of a session, and their execution when an event takes place.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesOrdered;
use jiff::Timestamp;
use pollux_config::Accepted;
use pollux_protocol::{CancellationToken, HookEvent, HookPayload};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use crate::consent;
use crate::definition::Hook;
use crate::merge::{HookResult, merge};
use crate::output::HookReply;
use crate::plan::{Plan, plan};
use crate::run::{HookRun, Surroundings};

/// Maximum number of programs of one event that run at the same time. Further programs wait.
const MAX_PARALLEL: usize = 32;

/// Options of a session's hooks.
#[derive(Debug, Clone, Default)]
pub struct HookOptions {
    /// Hooks defined in the settings, see [`crate::read`].
    pub hooks: Vec<Hook>,
    /// Items of the folder that may take effect, including the folder's hooks.
    pub accepted: Accepted,
    /// Names or command lines of disabled hooks (`hooksConfig.disabled`).
    pub disabled: Vec<String>,
    /// Id of the session.
    pub session_id: String,
    /// File of the session.
    pub transcript: Option<PathBuf>,
    /// Folder of the project, as an absolute path.
    pub cwd: PathBuf,
    /// Folder that contains plans.
    pub plans_directory: PathBuf,
    /// Environment of the programs, without variables that hooks must not see.
    pub environment: Vec<(OsString, OsString)>,
}

/// Hooks that may run. Cheap to clone; clones share the set of disabled hooks.
#[derive(Debug, Clone, Default)]
pub struct Hooks(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    hooks: Vec<Hook>,
    disabled: RwLock<BTreeSet<String>>,
    session_id: String,
    transcript: String,
    surroundings: Surroundings,
}

/// Result of an event.
#[derive(Debug, Clone, Default)]
pub struct EventResult {
    /// Combined decision.
    pub result: HookResult,
    /// Combined decision as the object that Gemini CLI builds from the replies; null if no program
    /// replied.
    pub merged: Value,
    /// Runs, in planning order.
    pub runs: Vec<HookRun>,
}

impl Hooks {
    /// Creates the hooks of a session, without the hooks of the folder that may not run.
    pub fn new(options: HookOptions) -> Self {
        let cwd = options.cwd.display().to_string();
        let plans = options.plans_directory.display().to_string();
        let names = vec![
            ("GEMINI_PROJECT_DIR", cwd.clone()),
            ("GEMINI_PLANS_DIR", plans),
            ("GEMINI_CWD", cwd.clone()),
            ("GEMINI_SESSION_ID", options.session_id.clone()),
            ("CLAUDE_PROJECT_DIR", cwd),
        ];
        Self(Arc::new(Inner {
            hooks: consent::allowed(options.hooks, &options.accepted, &options.cwd),
            disabled: RwLock::new(options.disabled.into_iter().collect()),
            session_id: options.session_id,
            transcript: options
                .transcript
                .map_or_else(String::new, |path| path.display().to_string()),
            surroundings: Surroundings {
                cwd: options.cwd,
                environment: options.environment,
                names,
            },
        }))
    }

    /// Returns all hooks that may run, including disabled ones.
    pub fn iter(&self) -> impl Iterator<Item = &Hook> {
        self.0.hooks.iter()
    }

    /// Returns true if a hook is enabled.
    pub fn is_enabled(&self, hook: &Hook) -> bool {
        self.0.disabled.read().is_ok_and(|disabled| !disabled.contains(hook.label()))
    }

    /// Enables or disables all hooks with this name or command line.
    pub fn switch(&self, label: &str, on: bool) {
        if let Ok(mut disabled) = self.0.disabled.write() {
            if on {
                disabled.remove(label);
            } else {
                disabled.insert(label.to_owned());
            }
        }
    }

    /// Returns true if an enabled hook exists for an event. Otherwise the caller need not build the
    /// event's payload.
    pub fn has(&self, event: HookEvent) -> bool {
        self.enabled().any(|hook| hook.event == event)
    }

    /// Returns the maximum total run time of an event's programs.
    pub fn patience(&self, event: HookEvent) -> Duration {
        self.enabled().filter(|hook| hook.event == event).map(|hook| hook.timeout).sum()
    }

    /// Returns the project's folder.
    pub fn folder(&self) -> &Path {
        &self.0.surroundings.cwd
    }

    fn enabled(&self) -> impl Iterator<Item = &Hook> {
        self.iter().filter(|hook| self.is_enabled(hook))
    }

    /// Runs the programs for an event and combines their decisions. If `cancel` fires, running
    /// programs are ended and their output is ignored. Always returns within the longest time
    /// limit, or within the sum of the limits if the programs run one after the other.
    pub async fn fire(&self, payload: &HookPayload, cancel: &CancellationToken) -> EventResult {
        let plan = plan(self.enabled(), payload);
        if plan.hooks.is_empty() {
            return EventResult::default();
        }
        let event = payload.event();
        let input = self.input(payload);
        let runs = if plan.sequential {
            self.one_by_one(&plan, event, input, cancel).await
        } else {
            self.run_parallel(&plan, &input, cancel).await
        };
        let replies: Vec<&HookReply> = runs.iter().filter_map(|run| run.reply.as_ref()).collect();
        let (result, merged) = merge(event, &replies);
        EventResult { result, merged, runs }
    }

    /// Returns the JSON object that programs receive on standard input.
    fn input(&self, payload: &HookPayload) -> Map<String, Value> {
        let inner = &self.0;
        let time = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string();
        let base = [
            ("session_id", inner.session_id.clone()),
            ("transcript_path", inner.transcript.clone()),
            ("cwd", inner.surroundings.cwd.display().to_string()),
            ("hook_event_name", payload.event().as_str().to_owned()),
            ("timestamp", time),
        ];
        let base = base.into_iter().map(|(key, value)| (key.to_owned(), Value::from(value)));
        base.chain(payload.fields()).collect()
    }

    async fn run_parallel(
        &self,
        plan: &Plan<'_>,
        input: &Map<String, Value>,
        cancel: &CancellationToken,
    ) -> Vec<HookRun> {
        let input: Arc<str> = text(input);
        let places = Semaphore::new(MAX_PARALLEL);
        let running = plan.hooks.iter().map(|hook| {
            let (input, places) = (Arc::clone(&input), &places);
            async move {
                // The semaphore is never closed.
                let _place = places.acquire().await;
                self.0.surroundings.run(hook, input, cancel).await
            }
        });
        let running: FuturesOrdered<_> = running.collect();
        running.filter_map(std::future::ready).collect().await
    }

    /// Runs the programs one after the other. Each program receives the input with the changes that
    /// the previous programs made.
    async fn one_by_one(
        &self,
        plan: &Plan<'_>,
        event: HookEvent,
        mut input: Map<String, Value>,
        cancel: &CancellationToken,
    ) -> Vec<HookRun> {
        let mut runs = Vec::with_capacity(plan.hooks.len());
        for hook in &plan.hooks {
            let Some(run) = self.0.surroundings.run(hook, text(&input), cancel).await else {
                break;
            };
            if run.succeeded()
                && let Some(reply) = &run.reply
            {
                apply_reply(event, &mut input, reply);
            }
            runs.push(run);
        }
        runs
    }
}

fn text(input: &Map<String, Value>) -> Arc<str> {
    serde_json::to_string(input).unwrap_or_default().into()
}

/// Applies the changes in a program's reply to the input of the next program.
fn apply_reply(event: HookEvent, input: &mut Map<String, Value>, reply: &HookReply) {
    let Some(specific) = reply.specific() else { return };
    let mut overlay = |key: &str| {
        let changes = specific.get(key).and_then(Value::as_object);
        if let (Some(Value::Object(fields)), Some(changes)) = (input.get_mut(key), changes) {
            fields.extend(changes.clone());
        }
    };
    match event {
        HookEvent::BeforeTool => overlay("tool_input"),
        HookEvent::BeforeModel => overlay("llm_request"),
        HookEvent::BeforeAgent => {
            let context = specific.get("additionalContext").and_then(Value::as_str);
            if let (Some(Value::String(prompt)), Some(context)) = (input.get_mut("prompt"), context)
                && !context.is_empty()
            {
                prompt.push_str("\n\n");
                prompt.push_str(context);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn later_programs_see_what_earlier_ones_changed() {
        let reply = |specific: Value| {
            HookReply(Map::from_iter([("hookSpecificOutput".to_owned(), specific)]))
        };
        let table = [
            (
                HookEvent::BeforeTool,
                json!({"tool_input": {"a": 1, "b": 1}}),
                json!({"tool_input": {"b": 2}}),
                json!({"tool_input": {"a": 1, "b": 2}}),
            ),
            (
                HookEvent::BeforeModel,
                json!({"llm_request": {"model": "m", "messages": []}}),
                json!({"llm_request": {"model": "n"}}),
                json!({"llm_request": {"model": "n", "messages": []}}),
            ),
            (
                HookEvent::BeforeAgent,
                json!({"prompt": "p"}),
                json!({"additionalContext": "c"}),
                json!({"prompt": "p\n\nc"}),
            ),
            (
                HookEvent::AfterTool,
                json!({"tool_input": {"a": 1}}),
                json!({"tool_input": {"a": 2}}),
                json!({"tool_input": {"a": 1}}),
            ),
        ];
        for (event, input, specific, expected) in table {
            let mut input = input.as_object().unwrap().clone();
            apply_reply(event, &mut input, &reply(specific));
            assert_eq!(Value::Object(input), expected, "{event}");
        }
    }
}
