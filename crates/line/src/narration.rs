//! Tool calls as lines for a user who watches. A headless run prints them on standard error, next
//! to the model's text.

use std::borrow::Cow;

use pollux_protocol::{Display, Event, FinishedCall};
use serde_json::Value;

/// Maximum number of lines that are shown of a result.
const SHOWN_LINES: usize = 12;
/// Maximum number of characters that are shown of a line.
const SHOWN_CHARACTERS: usize = 160;

/// Returns a call in one line.
pub fn headline(name: &str, description: &str) -> String {
    cut(format!("{name} {description}").trim_end())
}

/// Returns the first lines of a result; empty for a failure.
pub fn result(finished: &FinishedCall) -> Vec<String> {
    let text = match (&finished.error, &finished.display) {
        // Failures are reported by the caller.
        (Some(_), _) | (None, None) => return Vec::new(),
        (None, Some(Display::Text(text))) => Cow::from(text),
        (None, Some(Display::Ansi(lines))) => Cow::from(lines.text()),
        (None, Some(Display::Diff(diff))) => Cow::from(&diff.file_diff),
        (None, Some(Display::Structured(value))) => structured(value),
    };
    let mut lines: Vec<String> = text.lines().take(SHOWN_LINES).map(cut).collect();
    let more = text.lines().count().saturating_sub(SHOWN_LINES);
    if more > 0 {
        lines.push(format!("... {more} more lines"));
    }
    lines
}

/// Returns the summary or the to-do list of a structured result; empty for data of other shapes.
fn structured(value: &Value) -> Cow<'_, str> {
    let Some(todos) = value.get("todos").and_then(Value::as_array) else {
        return Cow::from(value.get("summary").and_then(Value::as_str).unwrap_or_default());
    };
    let words = |todo: &Value| {
        let [status, description] =
            ["status", "description"].map(|key| todo.get(key).and_then(Value::as_str));
        let description = description.unwrap_or_default().split('\n').collect::<Vec<_>>().join(" ");
        format!("[{}] {description}", status.unwrap_or_default())
    };
    Cow::from(todos.iter().map(words).collect::<Vec<_>>().join("\n"))
}

/// Returns the first line of a text, cut if it is too long.
pub fn cut(line: &str) -> String {
    let first = line.lines().next().unwrap_or_default();
    let mut shown: String = first.chars().take(SHOWN_CHARACTERS).collect();
    if shown.len() < line.len() {
        shown.push_str("...");
    }
    shown
}

/// Returns the warning that an event contains; `None` for all other events.
pub fn warning(event: &Event) -> Option<String> {
    match event {
        Event::Blocked { reason } => Some(format!("Agent execution blocked: {reason}")),
        Event::AnswerTruncated => {
            Some("The answer was cut off at the model's output limit.".to_owned())
        }
        _ => None,
    }
}
