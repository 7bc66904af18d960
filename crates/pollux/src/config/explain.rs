//! `config explain`: the value of every layer, and the layer that wins.

use pollux_config::{
    Explanation, ExplanationStep, Given, Inspection, Loaded, SourceOutcome, assign, masked, schema,
};
use pollux_host::explanation_text;
use serde_json::{Value, json};

use super::Answer;
use crate::exit::Failure;

/// Explains one key.
pub(super) fn explain(loaded: &Loaded, given: &[Given], key: &str) -> Result<Answer, Failure> {
    let explanation = Inspection::new(loaded, given).explain(key);
    let is_somewhere = explanation.steps.iter().any(|step| step.value.is_some());
    let is_known = explanation.setting.is_some() || is_somewhere && !schema::is_group(key);
    if !is_known || schema::is_group(key) {
        assign::target(key).map_err(|error| Failure::general(error.to_string()))?;
    }
    Ok(Answer::new(explanation_text(loaded, &explanation), to_json(&explanation)))
}

fn to_json(explanation: &Explanation) -> Value {
    let key = &explanation.key;
    let hidden = |value: &Option<Value>| value.as_ref().map(|value| masked(key, value));
    let layer = |step: &ExplanationStep| {
        let reason = match &step.outcome {
            SourceOutcome::Ignored(reason) => Some(reason),
            _ => None,
        };
        json!({
            "source": step.source.as_str(),
            "outcome": step.outcome.as_str(),
            "value": hidden(&step.value),
            "written": hidden(&step.written),
            "path": step.path.as_ref().map(|path| path.display().to_string()),
            "line": step.position.map(|position| position.line),
            "column": step.position.map(|position| position.column),
            "names": step.names,
            "reason": reason,
        })
    };
    let setting = explanation.setting.map(|setting| {
        json!({
            "key": setting.key,
            "type": setting.kind.in_words(),
            "default": setting.default.to_value(),
            "description": setting.description,
            "merge": setting.merge.as_str(),
            "restart": setting.restart,
            "actedOn": setting.acted_on,
        })
    });
    json!({
        "key": key,
        "value": hidden(&explanation.value),
        "setting": setting,
        "layers": explanation.steps.iter().map(layer).collect::<Vec<_>>(),
        "notes": explanation.notes,
    })
}
