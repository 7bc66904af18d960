//! Text about the origin of a value.

use std::fmt::Write as _;

use pollux_config::{Explanation, ExplanationStep, LayerFileState, Loaded, SourceOutcome};

use super::{place, shown};

/// Maximum number of characters of a value in the table.
const LONGEST: usize = 48;

/// Formats the value of every layer, and marks the layer that wins.
pub fn explanation_text(loaded: &Loaded, explanation: &Explanation) -> String {
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
