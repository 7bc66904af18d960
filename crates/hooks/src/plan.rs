//! Selection of the programs that run at an event, in parallel or one after the other. Pure.

use std::collections::HashSet;

use pollux_protocol::{HookEvent, HookPayload};

use crate::definition::Hook;

/// Hooks of one event.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) hooks: Vec<&'a Hook>,
    /// True if the hooks run one after the other, in this order.
    pub(crate) sequential: bool,
}

/// Returns the hooks for an event. If several hooks have the same name and command, only the first
/// one runs.
pub(crate) fn plan<'a>(hooks: impl Iterator<Item = &'a Hook>, payload: &HookPayload) -> Plan<'a> {
    let event = payload.event();
    let subject = payload.subject();
    let takes = |hook: &&Hook| match (event, &subject) {
        (HookEvent::BeforeTool | HookEvent::AfterTool, Some(tool)) => {
            hook.compiled.takes_tool(tool)
        }
        (_, Some(reason)) => hook.compiled.takes_reason(reason),
        (_, None) => true,
    };
    let mut seen = HashSet::new();
    let hooks: Vec<&Hook> = hooks
        .filter(|hook| hook.event == event)
        .filter(takes)
        .filter(|hook| seen.insert(hook.key()))
        .collect();
    let sequential = hooks.iter().any(|hook| hook.sequential);
    Plan { hooks, sequential }
}

#[cfg(test)]
mod tests {
    use pollux_config::{Layer, LayerKind};
    use pollux_protocol::{SessionSource, ToolCallPayload};
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "tests hand it a literal")]
    fn planned(hooks: Value, payload: &HookPayload) -> (Vec<String>, bool) {
        let value = json!({ "hooks": hooks });
        let layers = [Layer { kind: LayerKind::User, path: "/s".into(), value }];
        let found = crate::read(&layers).hooks;
        let plan = plan(found.iter(), payload);
        (plan.hooks.iter().map(|hook| hook.label().to_owned()).collect(), plan.sequential)
    }

    fn tool(name: &str) -> HookPayload {
        HookPayload::BeforeTool(ToolCallPayload {
            tool_name: name.to_owned(),
            tool_input: json!({}),
            mcp_context: None,
            original_request_name: None,
        })
    }

    fn command(name: &str) -> Value {
        json!({"type": "command", "command": name})
    }

    #[test]
    fn matchers_choose_and_repeats_fall_out() {
        let hooks = json!({
            "BeforeTool": [
                {"matcher": "glob", "hooks": [command("a"), command("b")]},
                {"hooks": [command("a"), command("c")]},
                {"matcher": "write.*", "sequential": true, "hooks": [command("d")]},
            ],
            "AfterTool": [{"hooks": [command("e")]}],
        });
        let reported = |names: &[&str], sequential| {
            (names.iter().map(|name| (*name).to_owned()).collect(), sequential)
        };
        assert_eq!(planned(hooks.clone(), &tool("glob")), reported(&["a", "b", "c"], false));
        assert_eq!(planned(hooks, &tool("write_file")), reported(&["a", "c", "d"], true));
    }

    #[test]
    fn reasons_are_exact_and_prompts_match_everything() {
        let hooks = json!({
            "SessionStart": [{"matcher": "start.*", "hooks": [command("a")]}, {"matcher": "startup", "hooks": [command("b")]}],
            "BeforeAgent": [{"matcher": "nothing", "hooks": [command("c")]}],
        });
        let start = HookPayload::SessionStart { source: SessionSource::Startup };
        assert_eq!(planned(hooks.clone(), &start).0, ["b"]);
        assert_eq!(planned(hooks, &HookPayload::BeforeAgent { prompt: "x".into() }).0, ["c"]);
    }
}
