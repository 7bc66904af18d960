//! Log events of the model that checks calls.

use pollux_protocol::{ConsecaPolicyMeasure, ConsecaVerdictMeasure};
use serde_json::json;

use super::{LogEvent, Rules};
use crate::attributes::{Attributes, pairs, set};
use crate::names::event;

pub(super) fn policy(measure: &ConsecaPolicyMeasure, rules: &Rules<'_>) -> LogEvent {
    let mut attributes = Attributes::new();
    if rules.log_prompts {
        set(&mut attributes, "user_prompt", Some(measure.prompt.as_str()));
        set(&mut attributes, "trusted_content", Some(measure.trusted_content.as_str()));
        set(&mut attributes, "policy", Some(measure.policy.as_str()));
    }
    set(&mut attributes, "error", measure.error.clone());
    LogEvent::new(event::CONSECA_POLICY, "Conseca Policy Generation.", attributes)
}

pub(super) fn verdict(measure: &ConsecaVerdictMeasure, rules: &Rules<'_>) -> LogEvent {
    let mut attributes = pairs([("verdict", json!(measure.verdict))]);
    if rules.log_prompts {
        set(&mut attributes, "user_prompt", Some(measure.prompt.as_str()));
        set(&mut attributes, "policy", Some(measure.policy.as_str()));
        set(&mut attributes, "tool_call", Some(measure.call.as_str()));
        set(&mut attributes, "verdict_rationale", Some(measure.rationale.as_str()));
    }
    set(&mut attributes, "error", measure.error.clone());
    let body = format!("Conseca Verdict: {}.", measure.verdict);
    LogEvent::new(event::CONSECA_VERDICT, body, attributes)
}
