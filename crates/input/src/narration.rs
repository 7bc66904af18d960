//! Tool calls as lines for a user who watches. A headless run prints them on standard error, next
//! to the model's text.

use std::borrow::Cow;

use pollux_protocol::{Display, Event, FinishReason, FinishedCall, RetryNotice};
use serde_json::Value;

use crate::live_lines::SHOWN_LINES;
use crate::tone::{Tone, TonedLine};

/// Maximum number of characters that are shown of a line.
const SHOWN_CHARACTERS: usize = 160;

/// Returns a call in one line.
pub fn headline(name: &str, description: &str) -> String {
    cut(format!("{name} {description}").trim_end())
}

/// Returns the first lines of a result; empty for a failure.
pub fn result(finished: &FinishedCall) -> Vec<TonedLine> {
    // Failures are reported by the caller.
    if finished.error.is_some() {
        return Vec::new();
    }
    let is_patch = matches!(finished.display, Some(Display::Diff(_)));
    let text = text(finished);
    let line = |line: &str| {
        let tone = if is_patch { Tone::of_patch(line) } else { Tone::Plain };
        TonedLine::new(tone, format!("    {}", cut(line)))
    };
    let mut lines: Vec<TonedLine> = text.lines().take(SHOWN_LINES).map(line).collect();
    let more = match text.lines().count().saturating_sub(SHOWN_LINES) {
        0 => return lines,
        1 => "    ... 1 more line".to_owned(),
        more => format!("    ... {more} more lines"),
    };
    lines.push(TonedLine::new(Tone::Secondary, more));
    lines
}

/// Returns the whole output for the user as text.
pub fn text(finished: &FinishedCall) -> Cow<'_, str> {
    match &finished.display {
        None => "".into(),
        Some(Display::Text(text)) => text.into(),
        Some(Display::Ansi(lines)) => lines.text().into(),
        Some(Display::Diff(diff)) => (&diff.file_diff).into(),
        Some(Display::Structured(value)) => structured(value),
    }
}

/// Returns the summary or the to-do list of a structured result, or the end of a subagent; empty
/// for data of other shapes.
fn structured(value: &Value) -> Cow<'_, str> {
    if value.get("isSubagentProgress") == Some(&Value::Bool(true)) {
        return subagent(value).into();
    }
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

/// Returns how a subagent has ended, its number of calls that are known, and its result.
fn subagent(value: &Value) -> String {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    let calls = value.get("recentActivity").and_then(Value::as_array).into_iter().flatten();
    let calls = calls.filter(|item| item["type"] == "tool_call").count();
    let first = format!("{}: {}, {calls} calls", text("agentName"), text("state"));
    format!("{first}\n{}", text("result")).trim_end().to_owned()
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

/// Returns the message about an answer that was cut off, for this reason.
pub fn cut_off(reason: Option<&FinishReason>) -> String {
    match reason {
        None => {
            "The answer may be incomplete: the stream ended without a finish reason.".to_owned()
        }
        Some(FinishReason::MaxTokens) => {
            "The answer was cut off at the model's output limit.".to_owned()
        }
        Some(FinishReason::Safety) => {
            "The answer was cut off by a content filter (finish reason SAFETY).".to_owned()
        }
        Some(reason) => {
            format!("The answer was cut off before its end (finish reason {}).", reason.shown())
        }
    }
}

/// Returns the warning that an event contains; `None` for all other events.
pub fn warning(event: &Event) -> Option<String> {
    match event {
        Event::Blocked { reason } => Some(format!("Agent execution blocked: {reason}")),
        Event::AnswerTruncated(reason) => Some(cut_off(reason.as_ref())),
        _ => None,
    }
}

/// Returns the reason of a failed attempt, and when the next one begins.
pub fn next_attempt(notice: &RetryNotice) -> String {
    let RetryNotice { attempt, max_attempts, delay, reason, .. } = notice;
    let (reason, next) = (sentence(reason), attempt.saturating_add(1));
    // Whole seconds have no decimals.
    let seconds = (delay.as_secs_f64() * 10.0).round() / 10.0;
    format!("{reason} Attempt {next} of {max_attempts} in {seconds} s.")
}

/// Returns a message with a full stop at its end, unless it ends with a punctuation mark.
fn sentence(message: &str) -> String {
    let message = message.trim_end();
    let stop = if message.ends_with(['.', '!', '?', ':']) { "" } else { "." };
    format!("{message}{stop}")
}

/// Returns true if `requested` (`VENDOR/NAME` or `local/NAME@PORT`) is what the user calls the
/// model that its server calls `name`.
pub fn is_same_model(requested: &str, name: &str) -> bool {
    let name = name.strip_suffix(":latest").unwrap_or(name);
    let is_name = |text: &str| text.strip_suffix(":latest").unwrap_or(text) == name;
    let below_vendor = requested.split_once('/').map(|(_, name)| name);
    let without_port = below_vendor.and_then(|text| text.rsplit_once('@')).map(|(name, _)| name);
    [Some(requested), below_vendor, without_port].into_iter().flatten().any(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_keeps_the_name_that_the_user_gave() {
        for (requested, name, is_same) in [
            ("local/tiny.gguf", "tiny.gguf", true),
            ("local/tiny.gguf@8081", "tiny.gguf", true),
            ("local/small", "small:latest", true),
            ("openrouter/a/b", "a/b", true),
            ("m", "m", true),
            ("auto", "gemini-2.5-pro", false),
            ("local/tiny.gguf", "other.gguf", false),
            ("a/b", "a", false),
        ] {
            assert_eq!(is_same_model(requested, name), is_same, "{requested} {name}");
        }
    }
}
