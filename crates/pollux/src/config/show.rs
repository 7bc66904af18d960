//! `config list` and `config get`.

use pollux_config::{
    ExplanationStep, Given, Inspection, Loaded, SourceOutcome, assign, masked, schema,
};
use serde_json::{Value, json};

use super::{Answer, place, shown};
use crate::exit::Failure;

/// Key that editors read and Pollux ignores.
const SCHEMA: &str = "$schema";

/// Returns the settings that are set, or all, each with its effective value and its source.
pub(super) fn list(loaded: &Loaded, given: &[Given], all: bool) -> Answer {
    let inspection = Inspection::new(loaded, given);
    let keys = if all {
        schema::all().map(|setting| setting.key).filter(|key| *key != SCHEMA).collect()
    } else {
        inspection.set_keys()
    };
    let (mut lines, mut items) = (Vec::new(), Vec::new());
    for key in keys {
        let explanation = inspection.explain(key);
        let value = explanation.value.as_ref().map(|value| masked(key, value));
        let value = value.unwrap_or(Value::Null);
        let sources: Vec<&ExplanationStep> = explanation
            .steps
            .iter()
            .filter(|step| matches!(step.outcome, SourceOutcome::Wins | SourceOutcome::Merged))
            .collect();
        let from: Vec<String> = sources.iter().map(|step| source(step)).collect();
        lines.push(format!("{key} = {value}  # {}", from.join(", ")));
        let sources: Vec<_> = sources.iter().map(|step| step.source.as_str()).collect();
        items.push(json!({ "key": key, "value": value, "sources": sources }));
    }
    let is_empty = lines.is_empty();
    let mut answer = Answer::new(lines.join("\n"), json!({ "settings": items }));
    if is_empty {
        answer.notes.push("No setting is set. The defaults are in config list --all.".to_owned());
    }
    if !loaded.unknown_keys.is_empty() {
        let count = loaded.unknown_keys.len();
        answer.notes.push(format!("Unknown keys in the files: {count}. See config report."));
    }
    answer
}

/// Returns a source as text: its file and line, its variable, or its name.
fn source(step: &ExplanationStep) -> String {
    let name = step.source.as_str();
    match (&step.path, step.names.as_slice()) {
        (Some(path), []) => format!("{name} {}", place(path, step.position)),
        (Some(path), names) => format!("{name} {} ({})", names.join(", "), path.display()),
        (None, []) => name.to_owned(),
        (None, names) => format!("{name} {}", names.join(", ")),
    }
}

/// Returns the bare effective value: a text has no quotes, and a group is an object.
pub(super) fn get(loaded: &Loaded, given: &[Given], key: &str) -> Result<Answer, Failure> {
    let inspection = Inspection::new(loaded, given);
    let value = inspection.value(key);
    if value.is_none() && !schema::is_group(key) {
        assign::target(key).map_err(|error| Failure::general(error.to_string()))?;
    }
    let json = |value: Value, is_set: bool| json!({ "key": key, "value": value, "set": is_set });
    Ok(match value {
        Some(value) => {
            let text = match masked(key, value) {
                Value::String(text) => text,
                Value::Object(map) => format!("{:#}", Value::Object(map)),
                _ => shown(key, value),
            };
            Answer::new(text, json(masked(key, value), true))
        }
        None => Answer {
            notes: vec![format!("{key} is not set.")],
            code: 1,
            ..Answer::new(String::new(), json(Value::Null, false))
        },
    })
}
