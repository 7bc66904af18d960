//! What the tools do, in lines for a person who watches. A headless run prints them on standard error,
//! beside the model's words.

use std::borrow::Cow;

use pollux_protocol::{Call, Display, FinishedCall};
use serde_json::Value;

use super::stderr_line;

/// Lines of a result that are shown.
const SHOWN_LINES: usize = 12;
/// Characters of a line that are shown.
const SHOWN_CHARACTERS: usize = 160;
/// Arguments that say what a call is about, the most telling first.
const TELLING: [&str; 15] = [
    "command",
    "file_path",
    "include",
    "pattern",
    "dir_path",
    "path",
    "query",
    "url",
    "prompt",
    "plan_filename",
    "pid",
    "title",
    "fact",
    "reason",
    "id",
];

/// Tells of calls that have ended.
pub(super) fn narrate(calls: &[std::sync::Arc<FinishedCall>]) {
    for finished in calls {
        stderr_line(&format!("  > {}", headline(&finished.call)));
        for line in result(finished) {
            stderr_line(&format!("    {line}"));
        }
    }
}

/// A call in one line: the tool, and what it is about.
pub(crate) fn headline(call: &Call) -> String {
    let about = TELLING.iter().find_map(|name| match call.args.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(list) => {
            let words: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
            (!words.is_empty()).then(|| words.join(" "))
        }
        _ => None,
    });
    cut(format!("{} {}", call.name, about.unwrap_or_default()).trim_end())
}

/// The first lines of what a person is shown of a result; none of a failure.
pub(crate) fn result(finished: &FinishedCall) -> Vec<String> {
    let text = match (&finished.error, &finished.display) {
        // Standard error is told of failures anyway.
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

/// A summary, or a list of what is to be done; data of other shapes has no words.
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

/// The first line of a text, no longer than is good to read.
pub(crate) fn cut(line: &str) -> String {
    let first = line.lines().next().unwrap_or_default();
    let mut shown: String = first.chars().take(SHOWN_CHARACTERS).collect();
    if shown.len() < line.len() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use pollux_protocol::CallId;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_headline_says_what_a_call_is_about() {
        let table = [
            ("glob", json!({"dir_path": "src", "pattern": "*.rs"}), "glob *.rs"),
            ("google_web_search", json!({"query": "rust 2027"}), "google_web_search rust 2027"),
            (
                "web_fetch",
                json!({"prompt": "read https://a.example/\nnow"}),
                "web_fetch read https://a.example/...",
            ),
            ("web_fetch", json!({"url": "https://a.example/"}), "web_fetch https://a.example/"),
            ("read_many_files", json!({"include": ["a", "src/**", 3]}), "read_many_files a src/**"),
            ("read_many_files", json!({"include": []}), "read_many_files"),
            ("read_background_output", json!({"pid": 7}), "read_background_output 7"),
            ("write_todos", json!({"todos": []}), "write_todos"),
        ];
        for (name, args, expected) in table {
            let call =
                Call { id: CallId::new("c"), name: name.into(), args, prompt_id: "p".into() };
            assert_eq!(headline(&call), expected);
        }
    }
}
