//! Log event of a hook.

use pollux_protocol::HookCallMeasure;
use serde_json::json;

use super::{LogEvent, Rules, milliseconds};
use crate::attributes::{pairs, set};
use crate::names::event;

pub(super) fn hook_call(measure: &HookCallMeasure, rules: &Rules<'_>) -> LogEvent {
    let duration = milliseconds(measure.duration);
    let name = if rules.log_prompts { measure.name.as_str() } else { short_name(&measure.name) };
    let mut attributes = pairs([
        ("hook_event_name", json!(measure.event.as_str())),
        ("hook_type", json!("command")),
        ("hook_name", json!(name)),
        ("duration_ms", json!(duration)),
        ("success", json!(measure.success)),
    ]);
    set(&mut attributes, "exit_code", measure.exit_code);
    if rules.log_prompts {
        set(&mut attributes, "hook_input", Some(measure.input.as_ref()));
        set(&mut attributes, "hook_output", measure.output.clone());
        set(&mut attributes, "stdout", Some(measure.stdout.as_str()));
        set(&mut attributes, "stderr", Some(measure.stderr.as_str()));
    }
    set(&mut attributes, "error", measure.error.clone());
    let outcome = if measure.success { "succeeded" } else { "failed" };
    let body = format!("Hook call {}.{name} {outcome} in {duration}ms", measure.event);
    LogEvent::new(event::HOOK_CALL, body, attributes)
}

/// Returns the file name of the program in a command line, without arguments and path, which may be
/// confidential.
pub(crate) fn short_name(name: &str) -> &str {
    let first = name.split_whitespace().next().unwrap_or_default();
    let last = first.rsplit(['/', '\\']).next().filter(|last| !last.is_empty());
    last.unwrap_or("unknown-command")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_nothing_away() {
        for (name, short) in [
            ("lint", "lint"),
            ("/home/me/secret/check.sh --token x", "check.sh"),
            ("C:\\tools\\check.exe y", "check.exe"),
            ("a/", "unknown-command"),
            ("  ", "unknown-command"),
        ] {
            assert_eq!(short_name(name), short);
        }
    }
}
