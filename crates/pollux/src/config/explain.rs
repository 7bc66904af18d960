//! `config explain`: the value of every layer, and the layer that wins.

use std::fmt::Write as _;

use pollux_config::{
    Explanation, ExplanationStep, Given, Inspection, LayerFileState, Loaded, SourceOutcome, assign,
    masked, schema,
};
use serde_json::{Value, json};

use super::{Answer, place, shown};
use crate::exit::Failure;

/// Maximum number of characters of a value in the table.
const LONGEST: usize = 48;

/// Explains one key.
pub(super) fn explain(loaded: &Loaded, given: &[Given], key: &str) -> Result<Answer, Failure> {
    let explanation = Inspection::new(loaded, given).explain(key);
    let is_somewhere = explanation.steps.iter().any(|step| step.value.is_some());
    let is_known = explanation.setting.is_some() || is_somewhere && !schema::is_group(key);
    if !is_known || schema::is_group(key) {
        assign::target(key).map_err(|error| Failure::general(error.to_string()))?;
    }
    Ok(Answer::new(table(loaded, &explanation), to_json(&explanation)))
}

fn table(loaded: &Loaded, explanation: &Explanation) -> String {
    let key = &explanation.key;
    let value = explanation.value.as_ref().map_or("not set".to_owned(), |value| shown(key, value));
    let mut text = format!("{key} = {value}\n");
    // Writing to a string cannot fail.
    match explanation.setting {
        Some(setting) => {
            let restart = if setting.restart { " Takes effect at the next start." } else { "" };
            let takes = setting.kind.in_words();
            let _infallible = writeln!(text, "  {} Takes {takes}.{restart}", setting.description);
        }
        None => text.push_str("  No setting has this key.\n"),
    }
    text.push('\n');
    let rows: Vec<[String; 4]> =
        explanation.steps.iter().map(|step| row(loaded, key, step)).collect();
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let (sources, values) = (width(1), width(2));
    for [mark, source, value, place] in &rows {
        let line = format!("{mark} {source:<sources$}  {value:<values$}  {place}");
        let _infallible = writeln!(text, "{}", line.trim_end());
    }
    text.push_str("\n* wins   + part of the value");
    for note in &explanation.notes {
        let _infallible = write!(text, "\n{note}");
    }
    text
}

fn row(loaded: &Loaded, key: &str, step: &ExplanationStep) -> [String; 4] {
    let mark = match step.outcome {
        SourceOutcome::Wins => "*",
        SourceOutcome::Merged => "+",
        SourceOutcome::Overridden | SourceOutcome::Unset | SourceOutcome::Ignored(_) => " ",
    };
    let value = step.value.as_ref().or(step.written.as_ref());
    let value = value.map_or("-".to_owned(), |value| cut(&shown(key, value)));
    let mut details = Vec::new();
    details.extend(step.path.as_ref().map(|path| place(path, step.position)));
    details.extend((!step.names.is_empty()).then(|| step.names.join(", ")));
    match &step.outcome {
        SourceOutcome::Ignored(reason) => details.push(format!("({reason})")),
        SourceOutcome::Overridden => details.push("(overridden)".to_owned()),
        SourceOutcome::Unset if is_absent(loaded, step) => details.push("(no file)".to_owned()),
        SourceOutcome::Wins | SourceOutcome::Merged | SourceOutcome::Unset => {}
    }
    if let (Some(written), Some(_)) = (&step.written, &step.value) {
        details.push(format!("(written {})", cut(&shown(key, written))));
    }
    [mark.to_owned(), step.source.as_str().to_owned(), value, details.join(" ")]
}

fn is_absent(loaded: &Loaded, step: &ExplanationStep) -> bool {
    let path = step.path.as_ref();
    loaded.files.iter().any(|file| Some(&file.path) == path && file.state == LayerFileState::Absent)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
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
